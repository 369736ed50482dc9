"""Search Python's own documentation with two small engines and write their runs.

    python examples/python-docs/make_runs.py

The documents are the topics of `help()`, read from this Python; the engines are a match of words in the topic's name
and first line, and BM25 over the full text. The labels in qrels.txt were given by hand, by reading the topics.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from math import log
from pathlib import Path
from pydoc_data.topics import topics

HERE = Path(__file__).parent
DEPTH = 10


def words(text: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"[a-z]+", text.lower())]


def by_title(query: list[str]) -> dict[str, float]:
    titles = {doc: Counter(words(doc + " " + text.strip().partition("\n")[0])) for doc, text in topics.items()}
    return {doc: sum(min(title[w], 2) for w in query) / (1 + sum(title.values())) for doc, title in titles.items()}


def by_bm25(query: list[str], k: float = 1.2, b: float = 0.75) -> dict[str, float]:
    counts = {doc: Counter(words(text)) for doc, text in topics.items()}
    length = {doc: sum(c.values()) for doc, c in counts.items()}
    mean = sum(length.values()) / len(length)
    scores: dict[str, float] = dict.fromkeys(topics, 0.0)
    for word in query:
        found = sum(word in c for c in counts.values())
        rarity = log(1 + (len(topics) - found + 0.5) / (found + 0.5))
        for doc, c in counts.items():
            scores[doc] += rarity * c[word] * (k + 1) / (c[word] + k * (1 - b + b * length[doc] / mean))
    return scores


def main() -> None:
    with (HERE / "queries.csv").open() as stream:
        queries = list(csv.DictReader(stream))
    for name, engine in {"title": by_title, "bm25": by_bm25}.items():
        lines = []
        for query in queries:
            scores = engine(words(query["text"]))
            best = sorted((doc for doc in scores if scores[doc] > 0), key=lambda d: (-scores[d], d))[:DEPTH]
            lines += [f"{query['query']} Q0 {doc} {r} {scores[doc]:.6f} {name}" for r, doc in enumerate(best, 1)]
        (HERE / f"{name}.run").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
