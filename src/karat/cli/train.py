"""`karat train`: what do these labels do to a ranker?"""

from __future__ import annotations

from typing import Any

import click
import polars as pl

import karat as kt
from karat.cli import options
from karat.cli.inputs import Reading, runs_in
from karat.cli.options import named
from karat.cli.results import Tables
from karat.cli.subcommand import part
from karat.errors import BadInput
from karat.formats import FORMATS, read_runs
from karat.formats.open_files import File
from karat.judges import add_features
from karat.records import Result
from karat.records.list_order import with_given_scores
from karat.users.ranker_training import Kind

EXAMPLES = """karat train crowd.csv pro.csv --runs bm25.run --feature wikipedia --documents docs.jsonl
karat train labels.csv --features features.csv --set bm25=bm25 --set all=bm25,clicks --json
karat train my-study --feature wikipedia
karat train my-study --runs my-study/runs/bm25.run --feature wikipedia --ranker linear"""


@part(
    click.argument("labels", metavar="LABELS...", nargs=-1, required=True),
    options.runs,
    click.option("--feature", multiple=True, metavar="NAME", help="A feature of query and document, as wikipedia."),
    click.option("--features", metavar="FILE", help="A table of query, doc and a column for each feature."),
    options.documents,
    options.queries,
    click.option(
        "--set", "sets", multiple=True, metavar="NAME=COLUMNS", help="A set of features, as both=bm25,wikipedia."
    ),
    options.measure(default="nDCG@10"),
    options.folds,
    click.option(
        "--fold-seed", type=int, default=0, show_default=True, help="Seed of the split of queries into folds."
    ),
    click.option(
        "--ranker",
        "rankers",
        multiple=True,
        default=["trees"],
        show_default=True,
        type=click.Choice(["trees", "linear"]),
        help="What is trained by LambdaRank: trees, or a weight for each feature (linear); may be repeated.",
    ),
    options.resampling,
    options.scored,
    examples=EXAMPLES,
)
def train(
    labels: tuple[str, ...],
    runs: tuple[str, ...],
    feature: tuple[str, ...],
    features: str | None,
    documents: str | None,
    queries: str | None,
    sets: tuple[str, ...],
    rankers: tuple[Kind, ...],
    reading: Reading,
    **asked: Any,
) -> Tables:
    """Train rankers on each group's labels and test them on each group's.

    LambdaRank in --folds by query, with each set of features: the scores of --runs, each --feature of query and
    document, and the columns of --features. The measure is nDCG with a cutoff. The first set of features is the
    baseline. A file without a column group is a group of its own, named by the file; a study's folder stands for its
    labels and runs. The table tells how much labels with a habit gain on themselves and lose on others. Needs
    lightgbm: pip install 'karat[train]'.
    """
    if not feature:
        options.refuse("documents", "queries", why="only a --feature is taken from it")
    given = reading.study(labels, only=("documents", "queries"), documents=documents, queries=queries)
    judged = given.with_gold
    table = judged.frame.select("query", "doc").unique(maintain_order=True)
    for path in runs or runs_in(labels[0]):
        scores = with_given_scores(read_runs(path).frame).pivot(on="system", index=["query", "doc"], values="score")
        table = table.join(scores, on=["query", "doc"], how="left")
    if feature:
        known = add_features(judged, list(feature), queries=given.queries, documents=given.documents).frame
        known = known.select("query", "doc", *feature).unique(["query", "doc"])
        table = table.join(known, on=["query", "doc"], how="left")
    if features is not None:
        table = table.join(_numbers(features), on=["query", "doc"], how="left")
    if table.width == 2:
        raise BadInput("no features to train on: give --runs, --feature or --features")
    wanted = named("--set", sets, _columns, expected="NAME=COLUMNS, as both=bm25,wikipedia")
    tables = dict[str, Result]()
    for kind in rankers:
        found = kt.users.train(judged, table, feature_sets=wanted or None, ranker=kind, **asked)
        tables["Rankers" if kind == "trees" else "Linear rankers"] = found
        if found.weights.height:
            said = "What labels teach: the mean weight of each feature, and in how many parts it is above 0."
            tables["Weights"] = Result(found.weights, said)
    return tables


def _numbers(path: str) -> pl.DataFrame:
    """The table of features, as numbers."""
    given, source = FORMATS["parquet" if path.endswith(".parquet") else "csv"].rows(File(path), "features")
    if not {"query", "doc"} <= {*given.columns}:
        raise BadInput.at(source.name, expected="the columns query and doc", found=", ".join(given.columns))
    if not given.height:
        raise BadInput.at(source.name, expected="a line for each query and document", found="a first line only")
    numbers = given.with_columns(pl.exclude("query", "doc").cast(pl.Float64, strict=False))
    for name in [name for name in given.columns if name not in ("query", "doc")]:
        source.refuse(
            numbers[name].is_null() & given[name].is_not_null(),
            expected=f"a number as {name}",
            found=lambda row, name=name: f'"{given[name][row]}"',  # type: ignore[misc]
            remedy="a table of features has a number in each cell, or nothing",
        )
    return numbers


def _columns(text: str) -> list[str]:
    names = [column.strip() for column in text.split(",")]
    if not all(names):
        raise ValueError(text)
    return names
