"""Preferences between two documents of a query, as TREC's `.pref` files and trec_eval's prefs have them.

A line of a `.pref` file is `query document document preferred`. A line of trec_eval's prefs is `query user group
document level`: whoever gave two documents of a group different levels prefers the one with the higher.
"""

from __future__ import annotations

import polars as pl

from karat.formats.format_registry import Format, Narrow, Rows, add_format
from karat.formats.open_files import File
from karat.formats.whitespace_columns import first_line, read_columns
from karat.labels.document_order import grades_of_preferences
from karat.records import Judgments, Preferences, Scale, Source

PAIRS = ["query", "left", "right", "preferred"]
LEVELS = ["query", "judge", "group", "doc", "level"]
#: What some write in place of a document that is preferred.
EQUAL = ("equal", "tie")


def read_pref(file: File) -> Rows:
    """Answers `query, left, right, choice`, in which left and right are documents."""
    if len(first_line(file).split()) == len(LEVELS):
        return _of_levels(file)
    table = "query,left,right,choice"
    frame, source = read_columns(file, PAIRS, PAIRS, hint="", table=table)
    winner = pl.col("preferred")
    choice = (
        pl.when(winner == pl.col("left"))
        .then(pl.lit("left"))
        .when(winner == pl.col("right"))
        .then(pl.lit("right"))
        .when(winner.str.to_lowercase().is_in(EQUAL))
        .then(pl.lit("equal"))
    )
    frame = frame.with_columns(choice=choice)
    source.refuse(
        frame["choice"].is_null(),
        expected="one of the two documents as the preferred one, or equal",
        found=lambda row: f'"{frame["preferred"][row]}"',
    )
    return frame.drop("preferred"), source


def _of_levels(file: File) -> Rows:
    """Every two documents of a user's group, the one with the higher level preferred; equal levels say nothing."""
    frame, source = read_columns(file, LEVELS, LEVELS, numbers=("level",), hint="", table="query,left,right,choice")
    key = ["query", "judge", "group"]
    first = frame.select(pl.col("level").first().over([*key, "doc"])).to_series()
    source.refuse(
        frame["level"] != first,
        expected="one level of a user for a document of a group",
        found=lambda row: f"{frame['level'][row]:g} for {frame['doc'][row]} after {first[row]:g}",
    )
    frame = frame.with_row_index("row")
    both = frame.join(frame, on=key, suffix="_b", maintain_order="left").filter(pl.col("row") < pl.col("row_b"))
    both = both.filter(pl.col("level") != pl.col("level_b"), pl.col("doc") != pl.col("doc_b"))
    choice = pl.when(pl.col("level") > pl.col("level_b")).then(pl.lit("left")).otherwise(pl.lit("right"))
    pairs = both.select("query", left="doc", right="doc_b", choice=choice, judge="judge")
    # A user who said the same of two documents in two groups said it once.
    pairs = pairs.unique(["query", "judge", "left", "right", "choice"], maintain_order=True)
    return pairs, Source(file.name, notes=source.notes)


def read_as_labels(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """The documents of each query in the order that its preferences make, as labels."""
    frame, source = read_pref(file)
    return grades_of_preferences(Preferences.check(frame, source=source))


def write_pref(preferences: Preferences, name: str) -> bytes:
    """Lines of `query document document preferred`."""
    side = pl.when(pl.col("choice") == "left").then("left").when(pl.col("choice") == "right").then("right")
    lines = preferences.frame.select(
        pl.concat_str("query", "left", "right", side.otherwise(pl.lit("equal")), separator=" ")
    )
    return ("\n".join(lines.to_series().to_list()) + "\n").encode() if lines.height else b""


add_format(
    Format(
        "pref",
        read_pref,
        endings=(".pref", ".prefs"),
        sniff=lambda file, schema: file.ending in (".pref", ".prefs"),
        records={
            Judgments: Narrow(read_as_labels),
            Preferences: Narrow(
                write=write_pref, columns=frozenset({"query", "left", "right", "choice"}), several=True
            ),
        },
        holds=lambda file: "preferences",
    ),
    __name__,
)
