"""`karat train`: what do these labels do to a ranker?"""

from __future__ import annotations

from typing import Any

import click
import polars as pl

from karat import validity
from karat.cli import options
from karat.cli.inputs import Reading
from karat.cli.results import print_result, tell
from karat.errors import BadInput
from karat.formats import FORMATS, read_documents, read_queries, read_runs
from karat.formats.open_files import File
from karat.judges import add_features
from karat.records import Judgments

#: What of the table is printed; --json has the rest.
SHOWN = ["train", "test", "features", "ndcg", "difference", "p", "significant", "n_queries"]

EXAMPLES = """\b
Examples:
  karat train crowd.csv pro.csv --runs bm25.run --feature wikipedia --documents docs.jsonl
  karat train labels.csv --features features.csv --set bm25=bm25 --set all=bm25,clicks --json

A file without a column group is a group of its own, named by the file. The first set of features is the baseline."""


@click.command(epilog=EXAMPLES, short_help="Train and test rankers on each group's labels.")
@click.argument("labels", metavar="LABELS...", nargs=-1, required=True)
@options.runs
@click.option("--feature", multiple=True, metavar="NAME", help="A feature of query and document, as wikipedia.")
@click.option("--features", metavar="FILE", help="A table of query, doc and a column for each feature.")
@options.documents
@options.queries
@click.option("--set", "sets", multiple=True, metavar="NAME=COLUMNS", help="A set of features, as both=bm25,wikipedia.")
@options.measure(default="nDCG@10")
@options.folds
@options.resampling
@options.labels
@options.form
def train(
    labels: tuple[str, ...],
    runs: tuple[str, ...],
    feature: tuple[str, ...],
    features: str | None,
    documents: str | None,
    queries: str | None,
    sets: tuple[str, ...],
    measure: str,
    folds: int,
    chance: dict[str, Any],
    reading: Reading,
    form: options.Form,
) -> None:
    """Train rankers on each group's labels and test them on each group's.

    LambdaRank in --folds by query, with each set of features: the scores of --runs, each --feature of query and
    document, and the columns of --features. The measure is nDCG with a cutoff. The table tells how much labels
    with a habit gain on themselves and lose on others. Needs lightgbm: pip install 'karat[train]'.
    """
    read = reading.groups(labels)
    found = validity.train(
        read,
        _table(read, runs, feature, features, documents, queries),
        feature_sets=_sets(sets),
        measure=measure,
        folds=folds,
        **chance,
    )
    tell({"Rankers": found}, form, lambda title, result: print_result(result, SHOWN))


def _table(
    judgments: Judgments,
    runs: tuple[str, ...],
    feature: tuple[str, ...],
    features: str | None,
    documents: str | None,
    queries: str | None,
) -> pl.DataFrame:
    """One row per document with all features asked for."""
    table = judgments.frame.select("query", "doc").unique(maintain_order=True)
    for path in runs:
        scores = read_runs(path).frame.pivot(on="system", index=["query", "doc"], values="score")
        table = table.join(scores, on=["query", "doc"], how="left")
    if feature:
        known = add_features(
            judgments,
            list(feature),
            queries=None if queries is None else read_queries(queries),
            documents=None if documents is None else read_documents(documents),
        ).frame
        table = table.join(
            known.select("query", "doc", *feature).unique(["query", "doc"]), on=["query", "doc"], how="left"
        )
    if features is not None:
        given, source = FORMATS["parquet" if features.endswith(".parquet") else "csv"].rows(File(features), "features")
        if not {"query", "doc"} <= {*given.columns}:
            raise BadInput.at(source.name, expected="the columns query and doc", found=", ".join(given.columns))
        numbers = [
            pl.col(name).cast(pl.Float64, strict=False) for name in given.columns if name not in ("query", "doc")
        ]
        table = table.join(given.with_columns(numbers), on=["query", "doc"], how="left")
    if table.width == 2:
        raise BadInput("no features to train on: give --runs, --feature or --features")
    return table


def _sets(sets: tuple[str, ...]) -> dict[str, list[str]] | None:
    found = {}
    for text in sets:
        name, equals, columns = text.partition("=")
        if not equals or not name or not columns:
            raise BadInput.at("--set", expected="NAME=COLUMNS, as both=bm25,wikipedia", found=f'"{text}"')
        found[name] = [column.strip() for column in columns.split(",")]
    return found or None
