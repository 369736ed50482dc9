"""Measures of ir_measures, computed by karat: its own objects go in, the same numbers come out with intervals.

python examples/other-tools/ir_measures_scores.py      (needs ir-measures)
"""

from pathlib import Path

import ir_measures
from ir_measures import AP, RR, P, R, nDCG

import karat as kt

FILES = Path(__file__).parents[1] / "python-docs"
MEASURES = [nDCG @ 10, AP, P(rel=1) @ 5, RR, R @ 10]

qrels = list(ir_measures.read_trec_qrels(str(FILES / "qrels.txt")))
run = list(ir_measures.read_trec_run(str(FILES / "bm25.run")))
theirs = ir_measures.calc_aggregate(MEASURES, qrels, run)
scores = kt.score(kt.read_judgments(FILES / "qrels.txt"), kt.read_runs(FILES / "bm25.run"), MEASURES)
print(scores)
for measure, ours in zip(MEASURES, scores.means["value"], strict=True):
    print(f"{measure}: karat {ours:.6f}, ir_measures {theirs[measure]:.6f}")
