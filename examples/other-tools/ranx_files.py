"""Files that ranx saves, scored by karat: the same numbers, with intervals.

python examples/other-tools/ranx_files.py      (needs ranx, which compiles itself for a minute)
"""

from pathlib import Path

from ranx import Qrels, Run, evaluate

import karat as kt

FILES = Path(__file__).parents[1] / "python-docs"

qrels = Qrels.from_file(str(FILES / "qrels.txt"), kind="trec")
run = Run.from_file(str(FILES / "bm25.run"), kind="trec")
theirs = evaluate(qrels, run, ["ndcg@10", "map", "mrr"])
for labels, ranking in (("qrels.json", "bm25.json"), ("qrels.json", "bm25.lz4"), ("qrels.parquet", "bm25.parquet")):
    qrels.save(labels)
    run.save(ranking)
    scores = kt.score(kt.read_judgments(labels), kt.read_runs(ranking), ["nDCG@10", "AP", "RR"])
    ours = scores.means["value"].to_list()
    for name, mine, other in zip(theirs, ours, theirs.values(), strict=True):
        print(f"{ranking} {name}: karat {mine:.6f}, ranx {other:.6f}")

# And back: files that ranx reads.
kt.write(kt.read_judgments(FILES / "qrels.txt"), "back.json", "ranx")
kt.write(kt.read_runs(FILES / "bm25.run"), "run.json", "ranx")
again = evaluate(Qrels.from_file("back.json"), Run.from_file("run.json"), ["ndcg@10", "map", "mrr"])
print(
    "ranx has the same of what karat writes:",
    {k: round(v, 9) for k, v in again.items()} == {k: round(v, 9) for k, v in theirs.items()},
)
