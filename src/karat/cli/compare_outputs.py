"""What `karat compare` tells: the verdict and its tables in the terminal, and what is asked for beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.cli.results import print_result
from karat.cli.tables import console, say, side_by_side
from karat.comparison import Comparison, GroupComparison
from karat.comparison.moved import moved_table
from karat.records import Result
from karat.records.base import count
from karat.records.number_format import figure
from karat.records.result import ResultBase

#: The name of the table of queries that lost and won most.
MOVED = "queries that moved"
#: As many letters of a title as a line has room for.
TITLE = 44

#: The methods of the table in a few words each; inversion-independent goes with inversion.
ABOUT = {
    "plain": "plain, the labels as they are",
    "ppi": "ppi, corrected with gold labels",
    "inversion": "inversion, right for a judge who errs alike on all systems (-independent: each system apart)",
}


@dataclass(frozen=True)
class Extras:
    """What is told beside the verdict, where it was asked for."""

    measures: Result | None = None
    groups: tuple[GroupComparison, ...] = ()
    moved: list[dict[str, Any]] | None = None
    #: The comparisons whose scores of every query are wanted, one for each measure.
    by_query: tuple[Comparison, ...] = ()
    #: What the rule for continuous integration says, for each measure.
    gate: tuple[str, ...] = ()

    def tables(self, found: Comparison) -> dict[str, Result]:
        """All tables by name, what was asked for first."""
        every = {f"by {part.column}": Result(part.to_frame(), part.finding, part.notes) for part in self.groups}
        if self.measures is not None:
            every["by measure"] = self.measures
        if self.by_query:
            every["by query"] = Result(self.scores_by_query(), found.finding, found.notes)
        if self.moved is not None:
            every[MOVED] = moved_table(found, self.moved)
        every["methods"] = Result(found.methods, found.finding, found.notes)
        if len(found.systems) > 2:
            every["pairs"] = every["ranks"] = every["methods"]
        return every

    def scores_by_query(self) -> pl.DataFrame:
        """Every query's scores by the labels, of several measures one below the other."""
        if len(self.by_query) == 1:
            return self.by_query[0].by_query
        parts = [
            one.by_query.select("query", pl.lit(one.measure).alias("measure"), pl.exclude("query"))
            for one in self.by_query
        ]
        return pl.concat(parts, how="diagonal_relaxed")

    def drawn(self, found: Comparison) -> dict[str, ResultBase]:
        """What charts are of: what was asked for beside the verdict, or else the verdict."""
        every: dict[str, ResultBase] = {f"by {part.column}": part for part in self.groups}
        if self.measures is not None:
            every["by measure"] = self.measures
        if self.moved is not None:
            every[MOVED] = moved_table(found, self.moved)
        return every or {"": found}

    def papers(self, found: Comparison) -> dict[str, ResultBase]:
        """The tables for people: the outcome of the gate, the systems, and what was asked for beside them."""
        tables: dict[str, ResultBase] = {"Gate": self._gate_table()} if self.gate else {}
        tables["Comparison"] = found
        if self.measures is not None:
            tables["By measure"] = self.measures
        tables |= {f"By {part.column}": part for part in self.groups}
        if self.by_query:
            tables["By query"] = Result(self.scores_by_query(), "Every query's scores by the labels.")
        if self.moved is not None:
            tables["Queries that moved"] = moved_table(found, self.moved)
        return tables

    def _gate_table(self) -> Result:
        """Whether the second system passes the rule, with a row for each measure."""
        rows = [said.partition(": ")[::2] for said in self.gate]
        frame = pl.DataFrame(rows, schema=["outcome", "reason"], orient="row")
        failed = frame.filter(pl.col("outcome") == "failed")
        first = (failed if failed.height else frame).row(0, named=True)
        return Result(frame, f"{first['outcome'].capitalize()}: {first['reason']}.")

    def to_dict(self) -> dict[str, Any]:
        """The parts that are there, for one document."""
        found: dict[str, Any] = {} if self.measures is None else {"measures": self.measures.to_dict()}
        if self.groups:
            found["groups"] = [table.to_dict() for table in self.groups]
        if self.by_query:
            found["by_query"] = self.scores_by_query().to_dicts()
        return found | ({} if self.moved is None else {"moved": self.moved})


def print_comparison(found: Comparison, more: Extras) -> None:
    """The verdict, what each method says, what was asked for beside it, and the notes."""
    out = console()
    many = len(found.systems) > 2
    say(out, found.finding)
    for warning in found.warnings:
        say(out, f"Warning: {warning}.")
    methods = found.methods.drop("system_a", "system_b") if not many else found.methods.drop("system_a")
    names = {"n_queries": "queries", "n_gold": "gold"} | ({"system_b": "system"} if many else {})
    heads = {"a": found.systems[0], "b": "score" if many else found.systems[1]}
    print_result(Result(methods.rename(names), ""), heads=heads)
    if found.pairs.height:
        out.print()
    if many and found.ranks.height:
        every = "Every pair" if found.baseline is None else f"Every system against {found.baseline}"
        print_result(Result(found.ranks.rename({"best_rank": "from", "worst_rank": "to"}), "Places each may have:"))
        out.print()
        print_result(Result(found.pairs.drop("effect"), f"{every}, b - a:"))
    elif found.pairs.height:
        row = found.pairs.row(0, named=True)
        said = f"By the labels {found.systems[1]} wins {row['wins']}, ties {row['ties']}, loses "
        said += count(row["losses"], "query", "queries")
        if found.method in ("plain", "inversion") and found.tests is not None:
            effect = "" if math.isnan(row["effect"]) else f"; effect size {row['effect']:.2f}"
            print_result(Result(found.tests, f"{said}{effect}."))
        else:
            say(out, f"{said}.")
    if found.judge is not None:
        out.print()
        print_result(Result(found.judge, "The judge's error, gain by label less gain by gold label:"))
    if (beside := more.measures) is not None:
        out.print()
        print_result(Result(beside.to_frame(), beside.finding, beside.notes, columns=beside.columns))
    for part in more.groups:
        out.print()
        left = ("with_gold",) if found.method == "plain" else ()
        columns = tuple(name for name in part.columns if name not in left)
        groups = Result(part.to_frame().drop(left), part.finding, part.notes, columns=columns)
        print_result(groups, heads=dict(zip("ab", found.systems, strict=True)))
    for one in more.moved or ():
        out.print()
        _print_moved(found, one)
    for one_measure in more.by_query:
        if not one_measure.by_query.height:
            continue
        rows = [[row["query"], *(figure(row[s], 4) for s in found.systems)] for row in one_measure.by_query.to_dicts()]
        out.print()
        what = "scores" if len(more.by_query) == 1 else one_measure.measure
        say(out, f"Every query's {what} by the labels:")
        for table in side_by_side(["query", *found.systems], rows, out.width):
            out.print(table)
    for note in found.notes:
        if note not in found.warnings:
            say(out, f"- {note}")
    shown = [ABOUT[name] for name in found.methods["method"].unique(maintain_order=True) if name in ABOUT]
    if len(shown) > 1:
        say(out, f"Methods: {'; '.join(shown)}. More: docs/compare.md")


def _print_moved(found: Comparison, one: dict[str, Any]) -> None:
    """A query that lost or won: both lists side by side, by the best rank of each document."""
    a, b = found.systems
    called = f"{one['query']} ({one['text']})" if one["text"] else str(one["query"])
    said = f"{called}: {one['difference']:+z.3f} by the labels ({a} {one['a']:.3f}, {b} {one['b']:.3f})"
    # A grade by gold, not a number of gold labels: written as labels are.
    frame = pl.DataFrame(one["documents"], infer_schema_length=None).rename({"gold": "grade"}, strict=False)
    if "title" in frame.columns:
        cut = pl.col("title").str.slice(0, TITLE - 3) + "..."
        frame = frame.with_columns(
            title=pl.when(pl.col("title").str.len_chars() > TITLE).then(cut).otherwise(pl.col("title").fill_null("-"))
        )
    print_result(Result(frame, said), heads={"rank a": a, "rank b": b, "grade": "gold"})
