"""Documents that were both labelled and clicked, laid out by number: one label each per group, most clicked first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.slices import features_of, sliced
from karat.labels import Panel
from karat.labels.consensus import How
from karat.records import ClickLog, Clicks, LabelsLike
from karat.records.base import count
from karat.records.blocks import Blocks
from karat.stats import FEWEST, Resampling

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Which clicks count: all, or those with a dwell of 30 s or more.
Counting = Literal["clicks", "satisfied"]
#: Of texts with more values than this, such as sites, the rarer ones are taken together under one name.
MOST_VALUES = 20
OTHER = "other"

DOCUMENT = ["query", "doc"]


@dataclass(frozen=True, eq=False)
class Clicked:
    """The documents with labels: row i is a document of `query[i]` with `clicks[i]`, best clicked first in its query.

    Documents without enough clicks have -1 and come last, so that the labels of a whole query can still be compared.
    """

    queries: int
    query: Ints
    clicks: Ints
    #: One label for each group (row) and document (column), NaN where the group gave none.
    label: Floats
    groups: tuple[str, ...]
    #: The feature's slice for each document, null where unknown.
    value: pl.Series | None
    #: Whether the feature is had or not had, and the words for both.
    words: tuple[str, str] | None
    #: The two highest grades, unless there are no others; and whether a scale tells them.
    highest: tuple[float, float] | None
    scaled: bool
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        labels: Panel | LabelsLike,
        clicks: Clicks | ClickLog,
        *,
        by: str | None,
        minimum: int,
        counting: Counting,
        consensus: How,
    ) -> Clicked:
        """The labels of these judgments beside these clicks; `Undefined` where no document has both."""
        if minimum < 1:
            raise BadInput.at("minimum_clicks", expected="1 or more", found=str(minimum))
        counts = Clicks.of(clicks)
        if counting not in ("clicks", "satisfied"):
            raise BadInput.at("counting", expected="clicks or satisfied", found=repr(counting))
        number = counts.need(counting, "counting them")
        enough = counts.frame.select(*DOCUMENT, counted=number).filter(pl.col("counted") >= minimum)
        panel = Panel.of(labels)
        if panel.items.columns != DOCUMENT:
            about = ", ".join(name for name in panel.items.columns if name not in DOCUMENT)
            raise Undefined(f"clicks are of documents for queries, the labels of each {about}: none can be compared")
        one = panel.consensus(consensus)
        notes = [note for note in (*panel.notes, one.note()) if note]
        documents = panel.items.with_row_index("item")
        documents = documents.join(enough, on=DOCUMENT, how="left").with_columns(pl.col("counted").fill_null(-1))
        found = int((documents["counted"] > 0).sum())
        if not found:
            raise Undefined(f"no document that was judged has {count(minimum, 'click')} or more")
        notes.append(
            f"{found:,} of {count(documents.height, 'judged document')} have {count(minimum, 'click')} or more"
            + (" with 30 s or more" if counting == "satisfied" else "")
        )
        documents = documents.sort("query", "counted", "doc", descending=[False, True, False])
        value, words = (None, None) if by is None else _feature(panel, by, documents, notes)
        if value is not None and value.null_count() == len(value):
            raise Undefined(f"{by} is unknown for every document that was judged")
        if value is not None and value.null_count():
            notes.append(f"{by} is unknown for {count(value.null_count(), 'document')}, left aside")
        label = np.full((len(panel.groups), documents.height), np.nan)
        group, item, grade = (one.frame[name].to_numpy() for name in ("group", "item", "label"))
        label[group, np.argsort(documents["item"].to_numpy())[item]] = grade
        notes.append("figures are of these judges, not of others like them: intervals are over queries")
        blocks = Blocks.of(documents, ["query"])
        return cls(
            queries=blocks.keys.height,
            query=blocks.of_row.astype(np.int64),
            clicks=documents["counted"].to_numpy(),
            label=label,
            groups=panel.groups,
            value=value,
            words=words,
            highest=(float(panel.grades[-2]), panel.top) if len(panel.grades) > 2 else None,
            scaled=panel.scale is not None,
            notes=tuple(notes),
        )

    def kinds(self) -> list[str]:
        """The values in the order of a table: having the feature before not having it."""
        if self.words is not None:
            return list(self.words)
        return [] if self.value is None else self.value.drop_nulls().unique().sort().cast(pl.String).to_list()


def _feature(
    panel: Panel, by: str, documents: pl.DataFrame, notes: list[str]
) -> tuple[pl.Series, tuple[str, str] | None]:
    """The slice of each document, and if the feature is had or not had, the words for both."""
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
    kinds, words = values.unique().to_list(), None
    if values.dtype == pl.Boolean:
        words = ("true", "false")
    elif values.dtype == pl.String:
        # Texts such as WP and nWP say that a document has something, or has not.
        without = [kind for kind in kinds if kind[:1] == "n" and kind[1:2].isupper()]
        if len(without) == 1 and set(kinds) <= {without[0], without[0][1:]}:
            words = (without[0][1:], without[0])
    if not values.dtype.is_numeric() and len(kinds) > MOST_VALUES:
        common = (
            values.value_counts(name="n")
            .sort("n", "value", descending=[True, False])
            .head(MOST_VALUES)["value"]
            .to_list()
        )
        notes.append(f"{by} has {len(kinds):,} values; all but the {MOST_VALUES} most frequent count as {OTHER}")
        values = pl.select(pl.when(values.is_in(common)).then(values).otherwise(pl.lit(OTHER))).to_series()
    cut = given.select(DOCUMENT).with_columns(value=sliced(values))
    joined = documents.select(DOCUMENT).join(cut, on=DOCUMENT, how="left", maintain_order="left")
    return joined["value"], words


def shares(part: Floats, whole: Floats, resampling: Resampling) -> tuple[Floats, Floats, Floats]:
    """Sums over queries (the last axis) as shares, with bootstrap ends; NaN where the queries cannot tell."""
    whole = np.broadcast_to(whole, part.shape)
    shape, queries = part.shape[:-1], part.shape[-1]
    yes, asked = part.reshape(-1, queries), whole.reshape(-1, queries)
    low, high = np.full(len(yes), np.nan), np.full(len(yes), np.nan)
    with np.errstate(invalid="ignore"):
        share = yes.sum(axis=1) / asked.sum(axis=1)
        n = (asked > 0).sum(axis=1)
        enough = np.flatnonzero(n >= FEWEST) if resampling.draws else np.zeros(0, np.int64)
        if len(enough):
            drawn = np.concatenate(
                [(times @ yes[enough].T) / (times @ asked[enough].T) for times in resampling.times(queries)]
            )
            for place, cell in enumerate(enough):
                # A draw may miss all queries of a rare cell; the others tell.
                ends = resampling.ends(drawn[:, place], int(n[cell]), undefined=1.0)
                if ends[0] < ends[1]:
                    low[cell], high[cell] = ends
    return share.reshape(shape), low.reshape(shape), high.reshape(shape)


def in_percent(row: dict[str, float], name: str, level: float) -> str:
    """A share with its interval, in percent."""
    text = f"{row[name] * 100:.0f} %"
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return text if np.isnan(low) else f"{text} ({level * 100:g} % interval {low * 100:.0f} to {high * 100:.0f})"
