"""Clicks as gold: do the labels prefer what users click?

Reference: Kazai, Craswell, Yilmaz and Tahaghoghi, An Analysis of Systematic Judging Errors in Information Retrieval
(CIKM 2012), section 6.1: Figure 2 and Table 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.slices import features_of, ordered, sliced
from karat.labels import ALL, Panel
from karat.records import ClickLog, Clicks, FrameLike, LabelsLike, Result
from karat.records.table import Blocks, count, pairs_within
from karat.stats import FEWEST, Resampling, ratio, ratio_intervals
from karat.stats.arrays import Floats, Ints, place_within

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


Pairs = Literal["all", "top two", "both"]
OUTCOMES = ("correct", "incorrect", "insensitive")
#: The value of a pair whose documents are of different kinds.
DIFFERENT = "different"


def against_clicks(
    labels: Panel | LabelsLike,
    clicks: Clicks | ClickLog | FrameLike,
    *,
    by: str | None = None,
    pairs: Pairs = "all",
    minimum_clicks: int = 10,
    least_difference: float | None = None,
    most_pairs: int = 2_000_000,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often labels prefer the document that users click more: correct, incorrect, or the same label for both.

    >>> clicks = Clicks.of({"query": ["q"] * 3, "doc": list("abc"), "clicks": [90, 50, 40]})
    >>> result = against_clicks({"q": {"a": 2, "b": 2, "c": 0}}, clicks)
    >>> result.frame.select("correct", "incorrect", "insensitive", "n_pairs").row(0)
    (0.5, 0.0, 0.5, 2)

    Documents of a query with labels and `minimum_clicks` form pairs; those whose clicks differ by at least the median
    difference over all pairs, or by `least_difference`, say what users prefer. `pairs` takes all of them, the two most
    clicked documents of each query ("top two"), or both one after the other. Each group has one label for a document,
    the median: it keeps the scale's grades, so that "insensitive" is about the scale as it is used. The figures are of
    these judges. `by` names a column of the judgments: the rows then tell whether one, both or none of the two
    documents has the feature (WP1, WP2 and nWP for the values WP and nWP), or which value or slice they share.
    Intervals are bootstrap intervals over queries.

    Long lists have too many pairs: beyond `most_pairs` in all, documents of the longest lists are drawn at random, and
    a note says so. Clicks follow what was shown first as well as what was good; they are users' word, not the truth.
    """
    if pairs not in ("all", "top two", "both"):
        raise BadInput.at("pairs", expected="all, top two or both", found=repr(pairs))
    if least_difference is not None and not least_difference > 0:
        raise BadInput.at("least_difference", expected="a number above 0", found=f"{least_difference:g}")
    data = Clicked.of(labels, clicks, by, minimum_clicks)
    notes = list(data.notes)
    rows = np.flatnonzero(data.clicks > 0)
    kept = _thinned(rows, data, most_pairs, seed, notes)
    one, other = pairs_within(data.query[kept])
    two = {"all": (kept[one], kept[other]), "top two": _top_two(rows, data.query)}
    gaps = data.clicks[two["all"][0]] - data.clicks[two["all"][1]]
    if not gaps.any():
        raise Undefined("no two documents of a query have labels and different numbers of clicks")
    least = float(np.median(gaps)) if least_difference is None else least_difference
    how = "the median" if least_difference is None else f"{(gaps >= least).mean() * 100:.0f} %"
    notes.append(f"a click difference of {least:g} or more ({how} of {count(len(gaps), 'pair')}) is a preference")
    _note_ties(rows, data, pairs, notes)
    cells, counts = list[tuple[str, ...]](), []
    for kind in ("all", "top two") if pairs == "both" else (pairs,):
        more, less = two[kind]
        gap = data.clicks[more] - data.clicks[less]
        # Equal clicks prefer nothing, whatever the least difference.
        told = (gap >= least) & (gap > 0)
        more, less = more[told], less[told]
        value, values = _pair_values(data, more, less)
        # +1, -1 and 0 for correct, incorrect and insensitive; NaN where the group did not label both.
        sign = np.sign(data.label[:, more] - data.label[:, less])
        for place, name in enumerate(values):
            for group, signs in zip(data.panel.groups, sign, strict=True):
                cells.append((group, kind, name))
                mine = value == place
                counts.append(
                    [np.bincount(data.query[more[mine & (signs == s)]], minlength=data.queries) for s in (1, -1, 0)]
                )
    table = np.array(counts, dtype=np.float64)  # cells x outcomes x queries
    size = table.sum(axis=1)
    share, low, high = shares(table, size[:, None], Resampling(level, draws, seed))
    names = ["group", "pairs", "value"] if by is not None else ["group", "pairs"]
    frame = pl.DataFrame([cell[: len(names)] for cell in cells], schema=names, orient="row").with_columns(
        *(pl.Series(name, share[:, n]) for n, name in enumerate(OUTCOMES)),
        *(
            pl.Series(f"{name}_{end}", ends[:, n])
            for n, name in enumerate(OUTCOMES)
            for end, ends in (("low", low), ("high", high))
        ),
        *(pl.Series(f"n_{name}", table[:, n].sum(axis=1).astype(np.int64)) for n, name in enumerate(OUTCOMES)),
        pl.Series("n_pairs", size.sum(axis=1).astype(np.int64)),
        pl.Series("n_queries", (size > 0).sum(axis=1)),
    )
    if draws and np.isnan(low).any():
        notes.append(f"no interval where fewer than {FEWEST} queries have pairs, or all of them agree")
    shown = (*names, "correct", "incorrect", "insensitive", "n_pairs")
    return Result(frame, _preference_finding(frame, level), tuple(notes), columns=shown)


def _thinned(rows: Ints, data: Clicked, most_pairs: int, seed: int, notes: list[str]) -> Ints:
    """The rows, or so many drawn from each longer list that all pairs stay within bounds."""
    size = np.bincount(data.query[rows], minlength=data.queries)
    low, high = 2, int(size.max())
    if _n_pairs(size, high) <= most_pairs:
        return rows
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _n_pairs(size, middle) <= most_pairs else (low, middle - 1)
    shuffled = np.argsort(np.random.default_rng(seed).random(len(rows)))
    notes.append(f"{low:,} documents drawn from each longer list, so as not to have more than {most_pairs:,} pairs")
    kept = shuffled[place_within(data.query[rows[shuffled]]) < low]
    return rows[np.sort(kept)]


def _n_pairs(size: Ints, at_most: int) -> int:
    cut = np.minimum(size, at_most)
    return int((cut * (cut - 1) // 2).sum())


def _top_two(rows: Ints, query: Ints) -> tuple[Ints, Ints]:
    """The first two rows of each query that has two."""
    of_row = query[rows]
    first = np.searchsorted(of_row, np.unique(of_row))
    first = first[(first + 1 < len(rows)) & (of_row[np.minimum(first + 1, len(rows) - 1)] == of_row[first])]
    return rows[first], rows[first + 1]


def _note_ties(rows: Ints, data: Clicked, pairs: Pairs, notes: list[str]) -> None:
    if pairs == "all":
        return
    second = _top_two(rows, data.query)[1]
    second = second[second + 1 < len(data.query)]
    tied = (data.query[second] == data.query[second + 1]) & (data.clicks[second] == data.clicks[second + 1])
    if tied.any():
        where = count(int(tied.sum()), "query", "queries")
        notes.append(f"in {where} the second and third most clicked are clicked equally often: doc ids decided")


def _pair_values(data: Clicked, more: Ints, less: Ints) -> tuple[Ints, list[str]]:
    """The number of each pair's value, -1 where unknown, and the values: how many have it, or what they share."""
    one, other = data.kind[more], data.kind[less]
    if data.had:
        # 0 is having it: one, both, none.
        value = np.array([1, 0, 2])[np.abs(one) + np.abs(other)]
        has, has_not = data.kinds
        names = ["one", "both", "none"] if has == "true" else [f"{has}1", f"{has}2", has_not]
    else:
        value, names = np.where(one == other, one, len(data.kinds)), data.kinds
    value = np.where((one < 0) | (other < 0), -1, value)
    return value, [*names, DIFFERENT] if (value == len(names)).any() else names


def _preference_finding(frame: pl.DataFrame, level: float) -> str:
    """The group that agrees best with clicks, and the others; by feature, where a group agrees least and best."""
    known = frame.filter(pl.col("correct").is_not_nan() & (pl.col("pairs") == frame["pairs"][0]))
    if not known.height:
        return "No group labelled both documents of a pair that clicks tell apart."
    if "value" in frame.columns:
        return _by_value_finding(known, level)
    ranked = known.sort("correct", descending=True, maintain_order=True)
    first = ranked.row(0, named=True)
    pairs = count(first["n_pairs"], "click preference")
    who = "Labels" if first["group"] == ALL else f"Labels of {first['group']}"
    text = (
        f"{who} agree with {in_percent(first, 'correct', level)} of {pairs}, "
        f"contradict {first['incorrect'] * 100:.0f} % and are equal in {first['insensitive'] * 100:.0f} %"
    )
    rest = [f"{row['group']} agrees with {row['correct'] * 100:.0f} %" for row in ranked[1:].iter_rows(named=True)]
    return "; ".join([text, *rest]) + "."


def _by_value_finding(known: pl.DataFrame, level: float) -> str:
    """Where a group agrees least and best with clicks: the widest gap between intervals, or else that there is none."""
    sure = known.filter(pl.col("n_queries") >= FEWEST).sort("correct", maintain_order=True)
    gaps = sure.group_by("group", maintain_order=True).agg(
        apart=pl.col("correct_low").last() - pl.col("correct_high").first(),
        gap=pl.col("correct").last() - pl.col("correct").first(),
        n=pl.len(),
    )
    gaps = gaps.filter(pl.col("n") > 1).with_columns(pl.col("apart").fill_nan(-1.0)).sort("apart", descending=True)
    if not gaps.height:
        return "Too few queries to tell where labels agree with clicks."
    mine = sure.filter(pl.col("group") == gaps["group"][0])
    worst, best = mine.row(0, named=True), mine.row(-1, named=True)
    text = (
        f"abels of {worst['group']} agree with {in_percent(worst, 'correct', level)} of click preferences for "
        f"{worst['value']} ({count(worst['n_pairs'], 'pair')}) and with {in_percent(best, 'correct', level)} for "
        f"{best['value']} ({count(best['n_pairs'], 'pair')})."
    )
    return f"L{text}" if gaps["apart"][0] > 0 else f"No group differs clearly: l{text}"


def most_clicked(
    labels: Panel | LabelsLike,
    clicks: Clicks | ClickLog | FrameLike,
    *,
    by: str | None = None,
    minimum_clicks: int = 100,
    high: float | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often the most clicked document of a query gets a high label (p_a), and none a higher one (p_r).

    >>> clicks = Clicks.of({"query": ["q", "q"], "doc": ["a", "b"], "clicks": [900, 300]})
    >>> found = most_clicked({"q": {"a": 2, "b": 3, "c": 0}}, clicks)
    >>> found.frame.select("p_a", "p_r", "n_queries").row(0)
    (1.0, 0.0, 1)

    Per group: the most clicked of the documents that the group labelled, if it has `minimum_clicks`. p_a is the share
    of queries where it has one of the two highest labels of the scale (or `high` and above); without a scale, of the
    labels that the group itself gave, so that a group on a scale of three grades is not held against another's five.
    `high_label` is the least label that counts as high. p_r is the share where no document that the group labelled for
    the query has a higher label; queries with one labelled document say nothing there. Documents clicked equally often
    share their query's figure. `by` splits the queries by what the most clicked document is. A lenient group has a high
    p_a and a low p_r.
    """
    data = Clicked.of(labels, clicks, by, minimum_clicks)
    notes = list(data.notes)
    high_labels = _high_labels(data.panel, high, notes)
    cells, parts = list[tuple[str, ...]](), []
    tied = single = 0
    for group, label, least in zip(data.panel.groups, data.label, high_labels, strict=True):
        given = ~np.isnan(label)
        best = _largest(data.query, np.where(given, data.clicks, -1), data.queries)
        top = given & (data.clicks > 0) & (data.clicks == best[data.query])
        highest = _largest(data.query, np.where(given, label, -np.inf), data.queries)
        of_query = np.bincount(data.query[top], minlength=data.queries)
        alone = np.bincount(data.query[given], minlength=data.queries) < 2
        tied += int((of_query > 1).sum())
        single += int((alone & (of_query > 0)).sum())
        weight = 1 / np.maximum(of_query, 1)[data.query]
        for number, kind in enumerate(data.kinds):
            mine = top & (data.kind == number)
            cells.append((group, kind))
            relative = mine & ~alone[data.query]
            found = [
                (mine & (label >= least), mine if not np.isnan(least) else np.zeros_like(mine)),
                (relative & (label >= highest[data.query]), relative),
            ]
            parts.append(
                [[np.bincount(data.query[m], weight[m], data.queries) for m in (yes, asked)] for yes, asked in found]
            )
    table = np.array(parts)  # cells x (p_a, p_r) x (yes, asked) x queries
    share, low, high_end = shares(table[:, :, 0], table[:, :, 1], Resampling(level, draws, seed))
    asked = (table[:, :, 1] > 0).sum(axis=2)
    if tied:
        notes.append(f"{tied:,} times documents were clicked equally often and share their query's answer")
    if single:
        notes.append(f"{single:,} times a group labelled one document of the query: left out of p_r")
    names = ["group", "value"] if by is not None else ["group"]
    frame = pl.DataFrame([cell[: len(names)] for cell in cells], schema=names, orient="row").with_columns(
        *(
            pl.Series(name + end, ends[:, n])
            for n, name in enumerate(("p_a", "p_r"))
            for end, ends in (("", share), ("_low", low), ("_high", high_end))
        ),
        pl.Series("n_queries", np.where(asked[:, 0] > 0, asked[:, 0], (table.max(axis=(1, 2)) > 0).sum(axis=1))),
        pl.Series("n_relative", asked[:, 1]),
        pl.Series("high_label", np.repeat(high_labels, len(data.kinds))),
    )
    if draws and np.isnan(low).any():
        notes.append(f"no interval for fewer than {FEWEST} queries, or where all of them agree")
    return Result(frame, _most_clicked_finding(frame, level), tuple(notes))


def _largest(query: Ints, values: Floats | Ints, queries: int) -> Floats:
    """The largest value of each query."""
    largest = np.full(queries, -np.inf)
    np.maximum.at(largest, query, values.astype(np.float64))
    return largest


def _high_labels(panel: Panel, high: float | None, notes: list[str]) -> list[float]:
    """The least of the high labels of each group: the second highest of its scale; NaN where that says nothing."""
    if high is not None:
        return [high] * len(panel.groups)
    given = [np.unique(panel.value[panel.group == number]) for number in range(len(panel.groups))]
    scales = given if panel.scale is None else [panel.grades] * len(panel.groups)
    found = [float(grades[-2]) if len(grades) > 2 else float("nan") for grades in scales]
    undefined = [group for group, least in zip(panel.groups, found, strict=True) if np.isnan(least)]
    if undefined:
        whose = f" for {', '.join(undefined)}" if len(undefined) < len(found) else ""
        notes.append(f"p_a is undefined{whose}: both of two labels would be high; name the least high grade with high")
    if panel.scale is None and len(undefined) < len(found):
        each = [
            f"{grades[-2]:g} and {grades[-1]:g}" + (f" of {group}" if panel.has_groups else "")
            for group, grades in zip(panel.groups, scales, strict=True)
            if len(grades) > 2
        ]
        notes.append(f"no scale given: the two highest labels given count as high: {', '.join(each)}")
    return found


def _most_clicked_finding(frame: pl.DataFrame, level: float) -> str:
    figure = "p_r" if frame["p_a"].is_nan().all() else "p_a"
    known = frame.filter(pl.col(figure).is_not_nan()).sort(figure, descending=True, maintain_order=True)
    if not known.height:
        return "No group labelled the most clicked document of a query."
    row = known.row(0, named=True)
    who = f"{row['group']} ({row['value']})" if "value" in row else row["group"]
    high = f"gets {row['high_label']:g} or more from {who} in {in_percent(row, 'p_a', level)} of "
    relative = "" if np.isnan(row["p_r"]) else in_percent(row, "p_r", level)
    queries = count(row["n_queries"], "query", "queries")
    if figure == "p_r":
        return f"The most clicked document is labelled no lower than any other by {who} in {relative} of {queries}."
    return f"The most clicked document {high}{queries}" + (
        f", and none is labelled higher in {relative}." if relative else "."
    )
