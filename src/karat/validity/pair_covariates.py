"""Covariates of a pair of lists, to split agreement by: how long the lists are, and what snippets they had."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import polars.selectors as cs

from karat.errors import BadInput
from karat.records import Documents, Preferences, Runs
from karat.validity.votes import counted, trusted

#: What the shown lists tell by themselves, and what they tell with the documents' snippets.
OF_LISTS = ("list_length",)
OF_SNIPPETS = ("missing_snippets", "snippet_length")


def with_covariates(
    pairs: pl.DataFrame,
    preferences: Preferences,
    runs: Runs,
    names: Sequence[str],
    *,
    documents: Documents | None = None,
    depth: int = 10,
) -> pl.DataFrame:
    """The pairs with a column for each of these names that the answers, the lists or the documents tell.

    >>> pairs = pl.DataFrame({"query": ["q"], "a": ["x"], "b": ["y"]})
    >>> said = Preferences.of([{"query": "q", "left": "y", "right": "x", "choice": "left", "device": "phone"}])
    >>> runs = Runs.of({"x": {"q": {"d1": 2.0, "d2": 1.0}}, "y": {"q": {"d1": 1.0}}})
    >>> with_covariates(pairs, said, runs, ["list_length", "device"]).row(0)
    ('q', 'x', 'y', 1.5, 'phone')

    A column of the preferences is taken as it is where it is text and as a mean over the pair's answers where it is a
    number; with `left_NAME` and `right_NAME`, NAME is the mean of the two sides. Of the lists, down to `depth`:
    `list_length`, their mean number of results, and with `documents` `missing_snippets`, how many results of a list
    have no snippet, and `snippet_length`, the mean number of characters of those that have one. Other names are left
    alone.
    """
    key = [name for name in ("query", "subtopic", "a", "b") if name in pairs.columns]
    answers = counted(trusted(preferences)).frame
    for name in dict.fromkeys(names):
        if name in pairs.columns:
            continue
        sides = [f"{side}_{name}" for side in ("left", "right")]
        if name in answers.columns:
            value = pl.col(name)
        elif {*sides} <= {*answers.columns}:
            value = pl.mean_horizontal(sides)
            if not all(answers[side].dtype.is_numeric() for side in sides):
                expected = f"numbers in {' and '.join(sides)}"
                raise BadInput.at(f"the split {name}", expected=expected, found=str(answers[sides[0]].dtype))
        elif name in (*OF_LISTS, *OF_SNIPPETS):
            pairs = _of_both(pairs, _of_lists(runs, documents, depth, name), name)
            continue
        else:
            continue
        told = answers.select(*key, value.alias(name)).group_by(key).agg(cs.numeric().mean(), (~cs.numeric()).first())
        pairs = pairs.join(told, on=key, how="left", nulls_equal=True, maintain_order="left")
    return pairs


def _of_both(pairs: pl.DataFrame, lists: pl.DataFrame, name: str) -> pl.DataFrame:
    """The mean of both lists of each pair; a system without a list has 0 of everything."""
    for side in ("a", "b"):
        lists_of = lists.rename({"system": side, name: f"_{side}"})
        pairs = pairs.join(lists_of, on=["query", side], how="left", maintain_order="left")
    mean = pl.mean_horizontal(pl.col("_a").fill_null(0), pl.col("_b").fill_null(0))
    return pairs.with_columns(mean.alias(name)).drop("_a", "_b")


def _of_lists(runs: Runs, documents: Documents | None, depth: int, name: str) -> pl.DataFrame:
    """The covariate of every list: system, query, value."""
    place = pl.struct("score", "doc").rank("ordinal", descending=True).over("system", "query")
    shown = runs.frame.filter(place <= depth).select("system", "query", "doc")
    value = pl.len().cast(pl.Float64)
    if name in OF_SNIPPETS:
        if documents is None or not documents.has("snippet"):
            found = "no documents" if documents is None else ", ".join(documents.frame.columns)
            remedy = "give the documents as users saw them, with a column snippet"
            raise BadInput.at(f"the split {name}", expected="documents with snippets", found=found, remedy=remedy)
        snippets = documents.frame.select("doc", _length=pl.col("snippet").str.strip_chars().str.len_chars())
        shown = shown.join(snippets, on="doc", how="left")
        length = pl.col("_length").fill_null(0)
        value = (length == 0).sum() if name == "missing_snippets" else length.filter(length > 0).mean().fill_null(0)
    return shown.group_by("system", "query").agg(value.cast(pl.Float64).alias(name))
