"""Writes the catalogue, the queries, the labels of an LLM-like judge and the gold labels of this example.

What a product is worth for a query is known, because both are made of the same parts: 2 where everything that was asked
for is there, 1 where the kind is right, else 0. The judge errs: it looks at titles, and underrates what only a text
shows. Gold labels are the truth for what `karat plan gold` draws.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from itertools import product
from pathlib import Path

HERE = Path(__file__).parent
KINDS = {
    "kettle": ("kitchen", "boils water"),
    "lamp": ("living room", "lights a desk"),
    "mug": ("kitchen", "holds coffee"),
    "rug": ("living room", "covers the floor"),
    "towel": ("bathroom", "dries hands"),
    "chair": ("living room", "for the desk"),
    "shelf": ("living room", "holds books"),
    "pan": ("kitchen", "fries eggs"),
}
MATERIALS = ("steel", "wooden", "cotton", "glass")
COLOURS = ("red", "blue", "white", "black")


def made() -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """The catalogue and the queries, with the parts that they are made of."""
    rng = random.Random(7)
    shop = [
        {
            "doc": f"p{number:03}",
            "title": f"{colour} {material} {kind}"
            if rng.random() < 0.85
            else f"{kind} {rng.choice(['classic', 'pro', 'mini'])}",
            "text": f"A {kind} that {KINDS[kind][1]}, {colour}, {material}, for the {KINDS[kind][0]}."
            + (" Goes well with a " + rng.choice(list(KINDS)) + "." if rng.random() < 0.5 else ""),
            "parts": f"{kind} {material} {colour}",
        }
        for number, (kind, material, colour) in enumerate(product(KINDS, MATERIALS, COLOURS), 1)
    ]
    queries = [
        {"query": f"q{number:02}", "text": f"{wanted} {kind}", "parts": f"{kind} {wanted}"}
        for number, (kind, wanted) in enumerate(product(KINDS, ("red", "steel", "white", "wooden", "cotton")), 1)
    ]
    return shop, queries


def main() -> None:
    shop, queries = made()
    write("catalogue.csv", ["doc", "title", "text"], shop)
    write("queries.csv", ["query", "text"], queries)
    runs = []
    for engine in ("live", "new"):
        found = subprocess.run([sys.executable, HERE / "search.py", engine], capture_output=True, text=True, check=True)
        (HERE / f"{engine}.run").write_text(found.stdout)
        runs += [line.split() for line in found.stdout.splitlines()]
    by_doc, by_query = {one["doc"]: one for one in shop}, {one["query"]: one for one in queries}
    pairs = sorted({(row[0], row[2]) for row in runs})
    truth = {}
    rng = random.Random(11)
    labels = []
    for query, doc in pairs:
        kind, wanted = by_query[query]["parts"].split()
        parts = by_doc[doc]["parts"].split()
        truth[query, doc] = 2 if {kind, wanted} <= {*parts} else int(kind in parts)
        same = sum(word in by_doc[doc]["title"] for word in (kind, wanted))
        label = truth[query, doc] - 2 * (same < 2 and rng.random() < 0.9)
        labels.append(
            {"query": query, "doc": doc, "label": str(min(max(int(label), 0), 2)), "judge": "llm", "group": "llm"}
        )
    write("llm.csv", ["query", "doc", "label", "judge", "group"], labels)
    (HERE / "gold.csv").unlink(missing_ok=True)
    plan = ["plan", "gold", "llm.csv", "live.run", "new.run", "-n", "120", "--seed", "3", "--out", "gold.csv"]
    subprocess.run([sys.executable, "-m", "karat", *plan], cwd=HERE, check=True, capture_output=True)
    with (HERE / "gold.csv").open() as file:
        drawn = list(csv.DictReader(file))
    for row in drawn:
        row["label"] = str(truth[row["query"], row["doc"]])
    write("gold.csv", list(drawn[0]), drawn)


def write(name: str, columns: list[str], rows: list[dict[str, str]]) -> None:
    with (HERE / name).open("w", newline="") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
