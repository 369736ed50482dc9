"""Where is a system better? The verdict for each group of queries, with p values that allow for many looks."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.comparison.comparison import Comparison
from karat.comparison.verdict import missing_in, with_missing
from karat.correction.estimate import Estimate
from karat.errors import BadInput
from karat.records import FrameLike, Queries
from karat.records.result import ResultBase, rows_of
from karat.records.table import count
from karat.stats.multiple_testing import holm

#: A mean of fewer queries, or of fewer with gold labels where these correct it, has no interval worth the name.
FEWEST = 5
#: Gold labels in fewer than this share of a group's queries leave its figure to the model.
SHARE = 0.6
#: What a query may be called by its text alone: the rules that `groups_of` knows beside columns.
NO_QUESTION, ANY_QUESTION = "no question word", "any question word"
QUESTION = re.compile(r"^(who|what|when|where|why|which|how|is|are|can|do|does)\b", re.IGNORECASE)


@dataclass(frozen=True, eq=False, repr=False)
class GroupComparison(ResultBase):
    """Two systems on each group of queries: difference b - a with its interval, p, and p among all groups (Holm)."""

    frame: pl.DataFrame
    column: str
    found: Comparison
    notes: tuple[str, ...] = ()

    columns = ("group", "queries", "with_gold", "a", "b", "difference", "low", "high", "p", "holm", "verdict")

    @property
    def finding(self) -> str:
        """Where one system is shown better, in a sentence, and how many judged queries are missing."""
        return f"{with_missing(self._told(), missing_in(self.found))}."

    def _told(self) -> str:
        a, b = self.found.systems
        told = []
        for verdict, word in (("better", f"{b} is better than {a}"), ("worse", f"{a} is better than {b}")):
            names = self.frame.filter(pl.col("verdict") == verdict)["group"].to_list()
            if names:
                told.append(f"{word} by {self.found.measure} on {self.column} {', '.join(names)}")
        if told:
            return "; ".join(told)
        if not self.frame.filter(pl.col("p").is_not_nan()).height:
            return f"No group of queries by {self.column} has enough queries, or queries with gold labels, to tell"
        many = self.frame.height > 1
        said = f"No group of queries by {self.column} shows" if many else f"{self.frame['group'][0]} does not show"
        among = f"allowing for {count(self.frame.height, 'group')}" if many else f"the only group by {self.column}"
        return f"{said} a difference between {a} and {b} by {self.found.measure}, {among}"

    def to_frame(self) -> pl.DataFrame:
        """A row for each group: by number where groups are numbers, otherwise the largest first."""
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """The comparison of groups as one document."""
        return {"finding": self.finding, "by": self.column, "rows": rows_of(self.frame), "notes": list(self.notes)}


def by_group(found: Comparison, groups: pl.DataFrame, column: str = "group") -> GroupComparison:
    """The verdict on each group of queries, from a comparison of two systems; `groups` has the columns query and group.

    >>> import karat as kt
    >>> labels = {f"q{i}": {"good": 1, "bad": 0} for i in range(20)}
    >>> a = {f"q{i}": {"good": 1.0, "bad": 2.0} if i % 4 else {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> b = {f"q{i}": {"good": 2.0, "bad": 1.0} for i in range(20)}
    >>> groups = pl.DataFrame({"query": list(labels), "group": ["head", "tail"] * 10})
    >>> by_group(kt.compare(labels, {"a": a, "b": b}, "P@1"), groups).finding
    'b is better than a by P@1 on group head, tail.'

    Each query's values by the method that decides are averaged over the group's queries: corrected with gold labels
    where the comparison is.
    """
    if len(found.systems) != 2:
        raise BadInput.at("groups of queries", expected="two systems", found=f"{len(found.systems)}")
    if found.values is None:
        raise BadInput.at(
            "groups of queries",
            expected="a verdict from each query's values",
            found=f"none: {found.reason}" if found.verdict == "cannot say" else "a verdict about these queries only",
            remedy="" if found.verdict == "cannot say" else "take queries for a sample",
        )
    missing = [name for name in ("query", "group") if name not in getattr(groups, "columns", ())]
    if missing:
        raise BadInput.at(
            "the groups", expected="a table of query and group (groups_of makes it)", found=f"no {missing[0]}"
        )
    known = found.values.join(groups, on="query", how="left", maintain_order="left")
    notes = []
    lost = known["group"].null_count()
    if lost:
        notes.append(f"{count(lost, 'query', 'queries')} without a {column} left aside")
        notes.append(f"the verdict over all queries counts {'it' if lost == 1 else 'them'}, too{_leave_out()}")
    if lost == known.height:
        raise BadInput.at("groups of queries", expected=f"a {column} of these queries", found="none")
    rows = []
    corrected, golden = found.method != "plain", set(found.gold_queries)
    own = not corrected or not found.ranks["score"].is_nan().all()
    for (name,), part in known.drop_nulls("group").group_by(["group"], maintain_order=True):
        values = part.select(found.systems).to_numpy()
        size, gold = len(values), len(golden & set(part["query"]))
        means = values.mean(axis=0) if own else np.full(2, np.nan)
        # No more degrees of freedom than queries with a gold label that counts: the others say what the model says.
        tell = gold if corrected else size
        if tell < FEWEST or (corrected and gold < SHARE * size):
            rows.append((str(name), size, gold, *means, np.nan, np.nan, np.nan, np.nan))
            continue
        df = np.full((2, 2), tell - 1.0)
        estimate = Estimate.of_values(found.method, found.systems, values, df=df, score_range=found.score_range)
        one = estimate.difference(0, 1, found.level)
        rows.append((str(name), size, gold, *means, one.difference, one.low, one.high, one.p))
    names = ["group", "queries", "with_gold", "a", "b", "difference", "low", "high", "p"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    adjusted = holm(frame["p"].to_numpy())
    better = (pl.col("holm") <= 1 - found.level) & (pl.col("difference") != 0)
    frame = frame.with_columns(holm=pl.Series(adjusted)).with_columns(
        verdict=pl.when(pl.col("p").is_nan())
        .then(pl.lit("too few gold labels" if corrected else "too few queries"))
        .when(better & (pl.col("difference") > 0))
        .then(pl.lit("better"))
        .when(better)
        .then(pl.lit("worse"))
        .otherwise(pl.lit("no difference shown"))
    )
    return GroupComparison(_in_order(frame), column, found, tuple(notes))


def _in_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Groups that begin with a number, such as lengths, by that number; others the largest first."""
    number = frame["group"].str.extract(r"^(-?\d+(?:\.\d+)?)").cast(pl.Float64)
    if number.null_count():
        return frame.sort("queries", "group", descending=[True, False])
    return frame.with_columns(number=number).sort("number", "group").drop("number")


def groups_of(queries: Queries | FrameLike, column: str) -> pl.DataFrame:
    """The group of each query: by a column of the queries' table, or by a rule about their text.

    >>> queries = Queries.of({"query": ["1", "2"], "text": ["how tall is it", "karat"]})
    >>> groups_of(queries, "length")["group"].to_list(), groups_of(queries, "question")["group"].to_list()
    (['4 words', '1 word'], ['how', 'no question word'])

    By question, those of several words are in two groups: of their word, and of any.
    """
    frame = Queries.of(queries).frame
    if column in frame.columns and column != "query":
        return frame.select("query", group=pl.col(column).cast(pl.String))
    if column not in RULES:
        known = [name for name in frame.columns if name not in ("query", "text")]
        raise BadInput.at(
            f'groups of queries by "{column}"',
            expected=f"a column of the queries ({', '.join(known) or 'there is none'}) or {' or '.join(RULES)}",
            found="neither",
            remedy="" if known else advise("give the queries' table with --queries", "give queries with such a column"),
        )
    if "text" not in frame.columns:
        raise BadInput.at(
            f"groups of queries by {column}",
            expected="the queries' text",
            found="none",
            remedy=advise("give it with --queries", "give queries with a column text"),
        )
    rule = RULES[column]
    groups = pl.DataFrame(
        {"query": frame["query"], "group": [None if text is None else rule(text) for text in frame["text"]]},
        schema={"query": pl.String, "group": pl.String},
    )
    asked = groups.filter(pl.col("group") != NO_QUESTION) if column == "question" else groups.clear()
    if asked["group"].n_unique() < 2:
        return groups
    # Questions of every word are a group as well, beside those of each.
    return pl.concat([groups, asked.with_columns(group=pl.lit(ANY_QUESTION))])


def _length(text: str) -> str:
    words = len(text.split())
    return "6 words or more" if words > 5 else count(words, "word")


def _question(text: str) -> str:
    found = QUESTION.match(text.strip())
    return found.group(1).lower() if found else NO_QUESTION


RULES: dict[str, Callable[[str], str]] = {"length": _length, "question": _question}


def _leave_out() -> str:
    return advise(": karat compare --only leaves them out", "; compare rankings of the other queries to leave them out")
