"""A folder as BEIR and MTEB have it: made by karat, read as BEIR's loader reads it, and scored.

python examples/other-tools/beir_folder.py
"""

import json
from pathlib import Path

import karat as kt

FILES = Path(__file__).parents[1] / "python-docs"
folder = Path("beir")
(folder / "qrels").mkdir(parents=True, exist_ok=True)

labels, queries = kt.read_judgments(FILES / "qrels.txt"), kt.read_queries(FILES / "queries.csv")
texts = kt.Documents.of([{"doc": doc, "text": f"All about {doc}"} for doc in labels.frame["doc"].unique().sort()])
kt.write(texts, folder / "corpus.jsonl", "beir")
kt.write(queries, folder / "queries.jsonl", "beir")
kt.write(labels, folder / "qrels" / "test.tsv", "beir")
print(json.loads((folder / "queries.jsonl").read_text().splitlines()[0]))
print((folder / "qrels" / "test.tsv").read_text().splitlines()[:2])

# Any BEIR or MTEB folder is read so; nothing has to be said of it.
print(kt.read_documents(folder / "corpus.jsonl"), kt.read_queries(folder / "queries.jsonl"), sep="; ")
print(kt.score(kt.read_judgments(folder / "qrels" / "test.tsv"), kt.read_runs(FILES / "bm25.run"), ["nDCG@10"]))
