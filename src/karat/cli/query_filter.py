"""--only: some of the queries, by a column of theirs or as a file lists them, in labels, gold labels and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import polars as pl

from karat.errors import BadInput, EmptyRun
from karat.formats import read_queries
from karat.records import Judgments, Queries, Runs
from karat.records.table import count
from karat.study import Study

#: So many values of a column are named where another was typed.
MOST_NAMED = 8

only = click.option(
    "--only",
    metavar="COLUMN=VALUE|FILE",
    help="Only these queries: kind=head by a column of --queries, length or question (or question=any); query=ID by id "
    "or text; or a file's.",
)


@dataclass(frozen=True, eq=False)
class Kept:
    """The queries that are kept, all of them where nothing was asked."""

    queries: pl.Series | None = None

    def runs(self, runs: Runs) -> Runs:
        """The runs of these queries."""
        return runs if self.queries is None else replace(runs, frame=self._of(runs.frame))

    def all_runs(self, runs: Sequence[Runs]) -> list[Runs]:
        """Several whole runs of these queries; `EmptyRun` names a run that has none of them."""
        kept = [self.runs(run) for run in runs]
        for one, whole in zip(kept, runs, strict=True):
            if not len(one):
                raise EmptyRun.at(
                    f"the run of {whole.systems[0]}", expected="some of the queries of --only", found="none"
                )
        return kept

    def labels(self, labels: Judgments | None) -> Judgments | None:
        """The labels of these queries."""
        return labels if self.queries is None or labels is None else replace(labels, frame=self._of(labels.frame))

    def _of(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("query").is_in(self.queries.implode())) if self.queries is not None else frame


def only_of(study: Study, asked: str | None) -> tuple[Study, Kept]:
    """The study with the labels and gold labels of the queries that were asked for, and these queries."""
    if asked is None:
        return study, Kept()
    judged = study.judged.frame["query"].unique(maintain_order=True)
    chosen = _by_column(asked, study.queries, judged) if _is_column(asked) else read_queries(asked).frame["query"]
    queries = judged.filter(judged.is_in(chosen.implode()))
    if not len(queries):
        raise BadInput.at(f"--only {asked}", expected="queries that have labels", found="none of them")
    kept = Kept(queries)
    labels, gold = kept.labels(study.labels), kept.labels(study.gold)
    assert labels is not None
    if gold is not None and not gold.has("label"):
        raise BadInput.at(f"--only {asked}", expected="queries with gold labels", found="none of them")
    note = f"only {count(len(queries), 'query', 'queries')} of {len(judged):,} with labels: {asked}"
    return replace(study, labels=replace(labels, notes=(note, *labels.notes)), gold=gold), kept


def _is_column(asked: str) -> bool:
    return "=" in asked and not Path(asked).exists()


def _by_column(asked: str, known: Queries | None, judged: pl.Series) -> pl.Series:
    """The queries whose column has one of these values."""
    # Scores of all queries need not wait for it.
    from karat.comparison.query_groups import ANY_QUESTION, NO_QUESTION, groups_of

    column, _, values = asked.partition("=")
    if column.strip() == "query":
        return _named(values, known, judged)
    wanted = [value.strip() for value in values.split(",")]
    groups = groups_of(known if known is not None else Queries.of({"query": judged.to_list()}), column.strip())
    names = groups["group"].drop_nulls().unique(maintain_order=True).to_list()
    if column.strip() == "question" and "any" not in names:
        words = [name for name in names if name not in (NO_QUESTION, ANY_QUESTION)]
        wanted = [word for value in wanted for word in (words if value in ("any", ANY_QUESTION) else [value])]
    strange = [value for value in wanted if value not in names]
    if strange:
        there = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        raise BadInput.at(
            "--only", expected=f"a {column} of the queries ({there or 'there is none'})", found=strange[0]
        )
    return groups.filter(pl.col("group").is_in(wanted))["query"].unique(maintain_order=True)


def _named(values: str, known: Queries | None, judged: pl.Series) -> pl.Series:
    """The queries with these ids or texts; a text may have commas in it."""
    names = pl.DataFrame({"query": judged, "name": judged})
    if known is not None and known.has("text"):
        names = pl.concat([names, known.frame.select("query", name="text").drop_nulls()])
    names = names.with_columns(pl.col("name").str.strip_chars())
    found = []
    for value in [values] if values.strip() in names["name"] else values.split(","):
        mine = names.filter(pl.col("name") == value.strip())
        if not mine.height:
            mine = names.filter(pl.col("name").str.to_lowercase() == value.strip().lower())
        if not mine.height:
            few = ", ".join(judged.head(MOST_NAMED)) + (", ..." if len(judged) > MOST_NAMED else "")
            has_text = known is not None and known.has("text")
            raise BadInput.at(
                "--only",
                expected=f"the id{' or text' if has_text else ''} of a query with labels ({few})",
                found=f'"{value.strip()}"',
                remedy="" if has_text else "texts of queries are read with --queries",
            )
        found.append(mine["query"])
    return pl.concat(found).unique(maintain_order=True)
