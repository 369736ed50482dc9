"""Documents that were both labelled and clicked, laid out by number: one label each per group, most clicked first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.slices import features_of, ordered, sliced
from karat.labels import Panel
from karat.records import ClickLog, Clicks, FrameLike, LabelsLike
from karat.records.base import count
from karat.records.blocks import Blocks
from karat.stats import Resampling, ratio, ratio_intervals
from karat.stats.arrays import Floats, Ints

#: Of texts with more values than this, such as sites, the rarer ones are taken together under one name.
MOST_VALUES = 20
OTHER = "other"

DOCUMENT = ["query", "doc"]


@dataclass(frozen=True, eq=False)
class Clicked:
    """The documents with labels: row i is a document of `query[i]` with `clicks[i]`, best clicked first in its query.

    Documents without enough clicks have -1 and come last, so that the labels of a whole query can still be compared.
    """

    panel: Panel
    queries: int
    query: Ints
    clicks: Ints
    #: One label for each group (row) and document (column), NaN where the group gave none: the median.
    label: Floats
    #: The number of each document's kind, -1 where it is unknown, and the kinds: one, where no feature tells them.
    kind: Ints
    kinds: list[str]
    #: Whether the first kind is having a feature, and the second not having it.
    had: bool
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls, labels: Panel | LabelsLike, clicks: Clicks | ClickLog | FrameLike, by: str | None, minimum: int
    ) -> Clicked:
        """The labels of these judgments beside these clicks; `Undefined` where no document has both."""
        if minimum < 1:
            raise BadInput.at("minimum_clicks", expected="1 or more", found=str(minimum))
        counts = Clicks.of(clicks)
        counted = counts.need("clicks", "counting them")
        enough = counts.frame.select(*DOCUMENT, counted=counted).filter(pl.col("counted") >= minimum)
        panel = Panel.of(labels)
        if panel.items.columns != DOCUMENT:
            about = ", ".join(name for name in panel.items.columns if name not in DOCUMENT)
            raise Undefined(f"clicks are of documents for queries, the labels of each {about}: none can be compared")
        one = panel.consensus()
        notes = [note for note in (*panel.notes, one.note()) if note]
        documents = panel.items.with_row_index("item")
        documents = documents.join(enough, on=DOCUMENT, how="left").with_columns(pl.col("counted").fill_null(-1))
        found = int((documents["counted"] > 0).sum())
        if not found:
            raise Undefined(f"no document that was judged has {count(minimum, 'click')} or more")
        judged = count(documents.height, "judged document")
        notes.append(f"{found:,} of {judged} have {count(minimum, 'click')} or more")
        documents = documents.sort("query", "counted", "doc", descending=[False, True, False])
        kind, kinds, had = np.zeros(documents.height, np.int64), [""], False
        if by is not None:
            kind, kinds, had = _kinds(panel, by, documents, notes)
        label = np.full((len(panel.groups), documents.height), np.nan)
        group, item, grade = (one.frame[name].to_numpy() for name in ("group", "item", "label"))
        label[group, np.argsort(documents["item"].to_numpy())[item]] = grade
        notes.append("figures are of these judges, not of others like them: intervals are over queries")
        blocks = Blocks.of(documents, ["query"])
        return cls(
            panel=panel,
            queries=blocks.keys.height,
            query=blocks.of_row.astype(np.int64),
            clicks=documents["counted"].to_numpy(),
            label=label,
            kind=kind,
            kinds=kinds,
            had=had,
            notes=tuple(notes),
        )


def _kinds(panel: Panel, by: str, documents: pl.DataFrame, notes: list[str]) -> tuple[Ints, list[str], bool]:
    """The number of each document's slice, the slices in order, and whether they are having a feature and not."""
    features_of(panel, by)
    given = panel.frame.select(DOCUMENT).with_columns(value=panel.feature(by)).drop_nulls().unique(maintain_order=True)
    again = given.filter(given.select(DOCUMENT).is_duplicated())
    if again.height:
        first = again.row(0, named=True)
        raise BadInput.at(
            f"the feature {by}",
            expected=f"one value of {by} for a document",
            found=f"several for {first['doc']} of query {first['query']}",
        )
    values = given["value"]
    if values.dtype.is_numeric() and set(values.unique().to_list()) <= {0, 1}:
        values = values.cast(pl.Boolean)
    if not values.dtype.is_numeric() and values.n_unique() > MOST_VALUES:
        often = values.value_counts(name="n").sort("n", "value", descending=[True, False]).head(MOST_VALUES)
        notes.append(f"{by} has {values.n_unique():,} values; all but the {MOST_VALUES} most frequent count as {OTHER}")
        known = pl.when(values.is_in(often["value"].to_list())).then(values).otherwise(pl.lit(OTHER))
        values = pl.select(known).to_series()
    cut = given.select(DOCUMENT).with_columns(value=sliced(values))
    value = documents.select(DOCUMENT).join(cut, on=DOCUMENT, how="left", maintain_order="left")["value"]
    if value.null_count() == len(value):
        raise Undefined(f"{by} is unknown for every document that was judged")
    if value.null_count():
        notes.append(f"{by} is unknown for {count(value.null_count(), 'document')}, left aside")
    kinds = ordered(value.drop_nulls())
    had = values.dtype == pl.Boolean
    # Texts such as WP and nWP say that a document has something, or has not.
    without = [kind for kind in kinds if kind[:1] == "n" and kind[1:2].isupper()]
    if len(without) == 1 and {*kinds} <= {without[0], without[0][1:]}:
        kinds, had = [without[0][1:], without[0]], True
    elif had:
        kinds = ["true", "false"]
    number = value.cast(pl.String).replace_strict(kinds, range(len(kinds)), default=-1, return_dtype=pl.Int64)
    return number.fill_null(-1).to_numpy(), kinds, had


def shares(part: Floats, whole: Floats, resampling: Resampling) -> tuple[Floats, Floats, Floats]:
    """Sums over queries (the last axis) as shares, with bootstrap ends; NaN where the queries cannot tell."""
    yes, asked = (of.reshape(-1, part.shape[-1]).T for of in (part, np.broadcast_to(whole, part.shape)))
    low, high = ratio_intervals(yes, asked, resampling, (asked > 0).sum(axis=0))
    share = ratio(yes.sum(axis=0), asked.sum(axis=0))
    return share.reshape(part.shape[:-1]), low.reshape(part.shape[:-1]), high.reshape(part.shape[:-1])


def in_percent(row: dict[str, float], name: str, level: float) -> str:
    """A share with its interval, in percent."""
    text = f"{row[name] * 100:.0f} %"
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return text if np.isnan(low) else f"{text} ({level * 100:g} % interval {low * 100:.0f} to {high * 100:.0f})"
