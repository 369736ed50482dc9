"""A folder as BEIR and MTEB have it: written by karat, loaded and scored by BEIR itself, with karat's numbers beside.

pip install --no-deps beir tqdm pytrec_eval-terrier     (its other requirements are for encoders, and not used)
python examples/other-tools/beir_folder.py
"""

import json
from pathlib import Path

from beir.datasets.data_loader import GenericDataLoader
from beir.retrieval.evaluation import EvaluateRetrieval

import karat as kt

FILES = Path(__file__).parents[1] / "python-docs"
folder = Path("beir")
(folder / "qrels").mkdir(parents=True, exist_ok=True)

labels, queries = kt.read_judgments(FILES / "qrels.txt"), kt.read_queries(FILES / "queries.csv")
texts = kt.Documents.of([{"doc": doc, "text": f"All about {doc}"} for doc in labels.frame["doc"].unique().sort()])
kt.write(texts, folder / "corpus.jsonl", "beir")
kt.write(queries, folder / "queries.jsonl", "beir")
kt.write(labels, folder / "qrels" / "test.tsv", "beir")
corpus, topics, qrels = GenericDataLoader(str(folder)).load("test")
print(f"BEIR loads {len(corpus)} documents, {len(topics)} queries, {sum(map(len, qrels.values()))} labels")

# What BEIR's searches return is {query: {document: score}}; karat reads it as JSON.
kt.write(kt.read_runs(FILES / "bm25.run"), "bm25.json", "ranx")
results = json.loads(Path("bm25.json").read_text())
ndcg, average, *_ = EvaluateRetrieval.evaluate(qrels, results, [10])
scores = kt.score(kt.read_judgments(folder / "qrels" / "test.tsv"), kt.read_runs("bm25.json"), ["nDCG@10", "AP@10"])
for theirs, ours in zip((ndcg["NDCG@10"], average["MAP@10"]), scores.means["value"], strict=True):
    print(f"karat {ours:.5f}, BEIR {theirs:.5f}")
print(scores)

# Any BEIR or MTEB folder is read so; nothing has to be said of it.
print(kt.read_documents(folder / "corpus.jsonl"), kt.read_queries(folder / "queries.jsonl"), sep="; ")
