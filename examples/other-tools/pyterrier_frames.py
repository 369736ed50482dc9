"""Frames of PyTerrier, scored by karat: the same numbers, with intervals. Needs pyterrier (no Java for this).

python examples/other-tools/pyterrier_frames.py
"""

from pathlib import Path

import pandas
import pyterrier as pt

import karat as kt

FILES = Path(__file__).parents[1] / "python-docs"

topics = pandas.read_csv(FILES / "queries.csv", dtype=str).rename(columns={"query": "qid", "text": "query"})
qrels = pt.io.read_qrels(str(FILES / "qrels.txt"))
results = pt.io.read_results(str(FILES / "bm25.run"))
# What a retriever of PyTerrier returns: the query's text beside its id, an internal docid beside the docno.
frame = results.merge(topics[["qid", "query"]], on="qid").assign(docid=range(len(results)))
print("columns:", ", ".join(frame.columns))

scores = kt.score(qrels, {"bm25": frame}, ["nDCG@10", "AP"])
print(scores)
theirs = pt.Evaluate(results, qrels, metrics=["ndcg_cut_10", "map"])
ours = dict(scores.means.select("measure", "value").iter_rows())
for name, other in (("nDCG@10", "ndcg_cut_10"), ("AP", "map")):
    print(f"{name}: karat {ours[name]:.6f}, PyTerrier {theirs[other]:.6f}")

# And back: a file that PyTerrier reads.
kt.write(kt.Runs.of(frame), "bm25.csv", "pyterrier")
print("bm25.csv:", ", ".join(pandas.read_csv("bm25.csv").columns))
