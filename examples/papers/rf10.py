"""The labels of the TREC 2010 Relevance Feedback track as three files, for the rows of Demeester et al. (WSDM 2014).

    python examples/papers/rf10.py data/rf10/trec-rf10-data.txt.gz --out rf10

`crowd.csv` has the workers' labels, `nist.csv` NIST's gold labels, and `users.csv` both, NIST as one more user. Answers
that a page did not load (-2) are left out.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import polars as pl


def main(data: str, out: str) -> None:
    """Write the three files."""
    rows = pl.read_csv(gzip.decompress(Path(data).read_bytes()), separator="\t")
    rows = rows.rename({"topicID": "query", "docID": "doc", "workerID": "judge"})
    nist = rows.filter(pl.col("gold") >= 0).select("query", "doc", label="gold").unique(maintain_order=True)
    crowd = rows.filter(pl.col("label") >= 0).select("query", "doc", "judge", "label")
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    crowd.write_csv(folder / "crowd.csv")
    nist.write_csv(folder / "nist.csv")
    users = pl.concat([crowd, nist.select("query", "doc", "label", judge=pl.lit("NIST"))], how="diagonal")
    users.write_csv(folder / "users.csv")
    print(f"{crowd.height:,} labels of the crowd and {nist.height:,} of NIST: {folder}")
    every = rows.filter(pl.col("gold") >= 0)
    equal = every.filter(pl.col("label") == pl.col("gold")).height
    print(f"{equal:,} of {every.height:,} answers about documents with a gold label equal it, those that did not load")
    print(f"counted as wrong: {equal / every.height:.1%}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="trec-rf10-data.txt.gz")
    parser.add_argument("--out", default="rf10", help="the folder to write to")
    asked = parser.parse_args()
    main(asked.data, asked.out)
