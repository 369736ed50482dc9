"""Two small search engines over a shop's catalogue: `live` matches words of titles, `new` weighs all words by BM25.

python search.py live > live.run        (TREC's six columns, ten results a query)
"""

from __future__ import annotations

import csv
import math
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
K1, B, TITLE = 1.2, 0.6, 1


def words(text: str) -> list[str]:
    return [word.rstrip("s") for word in text.lower().replace("-", " ").split()]


def scored(engine: str, query: str, shop: list[dict[str, str]]) -> list[tuple[float, str]]:
    """The score of every product that has a word of the query."""
    asked = words(query)
    if engine == "live":
        found = [(float(len({*asked} & {*words(one["title"])})), one["doc"]) for one in shop]
        return [pair for pair in found if pair[0]]
    texts = {one["doc"]: Counter(words(one["title"]) * TITLE + words(one["text"])) for one in shop}
    length = sum(text.total() for text in texts.values()) / len(texts)
    found = []
    for doc, text in texts.items():
        score = 0.0
        for word in asked:
            known = sum(word in other for other in texts.values())
            weight = math.log(1 + (len(texts) - known + 0.5) / (known + 0.5))
            score += weight * text[word] * (K1 + 1) / (text[word] + K1 * (1 - B + B * text.total() / length))
        if score:
            found.append((score, doc))
    return found


def main(engine: str) -> None:
    with (HERE / "catalogue.csv").open() as file:
        shop = list(csv.DictReader(file))
    with (HERE / "queries.csv").open() as file:
        queries = list(csv.DictReader(file))
    for query in queries:
        best = sorted(scored(engine, query["text"], shop), reverse=True)[:10]
        for rank, (score, doc) in enumerate(best, 1):
            print(query["query"], "Q0", doc, rank, f"{score:.4f}", engine)


if __name__ == "__main__":
    main(sys.argv[1])
