"""Labels from clicks, freed of the rank at which results were shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.records import ClickLog, Judgments, Result
from karat.records.result import Caution
from karat.records.table import count
from karat.stats.arrays import Floats
from karat.stats.bootstrap import check_level
from karat.users.click_counts import Cells, Here, Known, Shown, dealing
from karat.users.rank_examination import RankModel


@dataclass(frozen=True, eq=False)
class Ratio:
    """Clicks by what was expected of them, with the ends of an interval; NaN where nothing was expected."""

    value: Floats
    low: Floats
    high: Floats


def ratios(
    cells: Cells, chance: Floats, covariance: Floats, clustering: float, level: float, most: float = np.inf
) -> Ratio:
    """Each item's clicks by its sum of `chance`, a figure of the ranks with its covariance (of the logarithms).

    The interval has all ratios that the clicks do not refuse (Wilson's, for one rank): with r the ratio, clicks have a
    mean of r E and a variance of r E - r^2 Q, where E and Q are the sums of chances and of their squares, times what
    `clustering` adds; and E itself is known with an error. An item without a click has an upper end, too.
    """
    known = ~np.isnan(chance[cells.rank])
    at = np.where(known, chance[cells.rank], 0.0)
    clicks = cells.by_item(cells.clicks * known)
    expected = cells.by_item(cells.shown * at)
    squares = cells.by_item(cells.shown * at**2)
    unsure = _variance(cells, cells.shown * at, covariance)
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(expected > 0, clicks / expected, np.nan)
        # (clicks - r E)^2 = z^2 (clustering (r E - r^2 Q) + r^2 variance of E): two roots.
        a = expected**2 + z2 * (clustering * squares - unsure)
        b = 2 * clicks * expected + z2 * clustering * expected
        root = np.sqrt(np.maximum(b**2 - 4 * a * clicks**2, 0.0))
        low = np.where(b + root > 0, 2 * clicks**2 / (b + root), 0.0)
        high = np.where(a > 0, (b + root) / (2 * a), np.inf)
    nothing = expected <= 0
    ends = [np.where(nothing, np.nan, np.minimum(end, most)) for end in (low, high)]
    return Ratio(np.minimum(value, most), ends[0], ends[1])


def _variance(cells: Cells, weight: Floats, covariance: Floats) -> Floats:
    """The variance of each item's sum of weights that depend on the ranks' figures."""
    from scipy.sparse import csr_array

    if not covariance.any():
        return np.zeros(cells.items)
    table = csr_array((weight, (cells.item, cells.rank)), shape=(cells.items, len(covariance)))
    return np.asarray((table @ covariance * table).sum(axis=1)).ravel()


#: What a label may be made of, the best first.
KINDS = ("attractiveness", "coec", "rate")
#: Examination known to less than this share of itself is a guess.
VAGUE = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class ClickLabels(Result):
    """What clicks say of each document: its rate, COEC and attractiveness, and how ranks were looked at.

    The frame has a row for each query and document: impressions, clicks, and for each figure its interval. `ranks`
    has rank, impressions, clicks, rate and examination.
    """

    ranks: pl.DataFrame = field(default_factory=pl.DataFrame)
    beside: ClassVar[tuple[str, ...]] = ("ranks",)

    def labels(self, kind: str | None = None) -> Judgments:
        """One of the figures as labels of documents; by default the attractiveness, or COEC where ranks cannot tell."""
        if kind is None:
            kind = "attractiveness" if self.frame["attractiveness"].is_not_nan().any() else "coec"
        if kind not in KINDS:
            raise BadInput.at("the label", expected=" or ".join(KINDS), found=f'"{kind}"')
        known = self.frame.filter(pl.col(kind).is_not_nan())
        if not known.height:
            raise Undefined(f"no document has a known {kind}")
        chosen = known.select("query", "doc", label=kind, low=f"{kind}_low", high=f"{kind}_high")
        lost = self.frame.height - known.height
        notes = [f"{count(lost, 'document')} without a known {kind} left out"] if lost else []
        return Judgments(chosen, (f"the label is the {kind} of clicks", *notes))


def click_labels_by_rank(log: Any, *, satisfied_after: float | None = None, level: float = 0.95) -> ClickLabels:
    """What clicks say of documents once it is known at which ranks they were shown.

    >>> rows = [{"query": "q", "doc": d, "rank": r, "clicked": n < c} for d, r, c in
    ...         [("a", 1, 40), ("a", 2, 20), ("b", 1, 20), ("b", 2, 10), ("c", 2, 30)] for n in range(100)]
    >>> found = click_labels_by_rank(rows)
    >>> found.frame.select("doc", pl.col("rate", "coec", "attractiveness").round(2)).rows()
    [('c', 0.3, 1.5, 0.6), ('a', 0.3, 1.2, 0.4), ('b', 0.15, 0.6, 0.2)]

    Three figures for each query and document, with intervals. The **rate** is clicks by impressions: a document at the
    top gets more of them whatever it is worth. **COEC**, clicks over expected clicks, divides by the mean rate of the
    ranks at which it was shown: 1 is ordinary for its place. Where better documents stand higher, which is what
    rankers are for, the mean rate of a rank has their quality in it, and COEC is too low for them. The
    **attractiveness** is clicks by the chances that its ranks were looked at: the chance of a click at the rank that is
    looked at most. Those chances come from the position-based model, by EM, and can be told only where documents were
    shown at several ranks; where they were not, it is NaN and a note says so.

    A log has a row for each result shown (query, doc, rank, clicked, maybe session and dwell). Rows of one session hang
    together and are treated so; with `satisfied_after`, only a click with a stay of so many seconds counts.
    Reference: Zhang and Jones, Comparing Click Logs and Editorial Labels for Training Query Rewriting (2007), for COEC;
    Craswell et al. (WSDM 2008) for the model.
    """
    check_level(level)
    read = ClickLog.of(log)
    known = Known.of(read.frame).check(satisfied_after)
    shown = Shown.of(read, known, satisfied_after)
    return _labels(Here([lambda: shown]), known, level, read.notes)


def click_labels_of_parts(
    parts: Iterable[ClickLog], rows: int, *, satisfied_after: float | None = None, level: float = 0.95
) -> ClickLabels:
    """The same of a log of about so many rows that comes in parts: those of each item are brought together on disk."""
    check_level(level)
    with dealing(rows) as table:
        table.deal(parts)
        known = (table.known or Known(0, (), {})).check(satisfied_after)
        return _labels(table.dealt(satisfied_after), known, level, tuple(table.notes))


def _labels(buckets: Here, known: Known, level: float, notes: tuple[str, ...]) -> ClickLabels:
    model = RankModel.of(buckets, known)
    frame = buckets.each(partial(figures, model, level)).sort(
        "query", "attractiveness", "coec", "doc", descending=[False, True, True, False], nulls_last=True
    )
    return described(model, frame, level, notes)


#: The figures of documents.
FIGURES: dict[str, type[pl.DataType]] = {"query": pl.String, "doc": pl.String} | dict.fromkeys(
    ("impressions", "clicks", "ranks"), pl.Int64
)
FIGURES |= {name + end: pl.Float64 for name in ("rate", "coec", "attractiveness") for end in ("", "_low", "_high")}


def figures(model: RankModel, level: float, shown: Shown) -> pl.DataFrame:
    """The figures of a bucket's documents, with intervals."""
    means = model.means
    cells, n = shown.among(means.ranks), len(means.ranks)
    rate = ratios(cells, np.ones(n), np.zeros((n, n)), model.clustering, level, 1.0)
    coec = ratios(cells, means.rate, model.of_rates, model.clustering, level)
    attraction = ratios(cells, means.looked.chance, model.of_examination, model.clustering, level, 1.0)
    return shown.items.with_columns(
        impressions=pl.Series(cells.by_item(cells.shown), dtype=pl.Int64),
        clicks=pl.Series(cells.by_item(cells.clicks), dtype=pl.Int64),
        ranks=pl.Series(np.bincount(cells.item, minlength=cells.items), dtype=pl.Int64),
        **_columns("rate", rate),
        **_columns("coec", coec),
        **_columns("attractiveness", attraction),
    )


def described(model: RankModel, frame: pl.DataFrame, level: float, notes: tuple[str, ...]) -> ClickLabels:
    """The figures of all documents in words."""
    columns = ("query", "doc", "impressions", "clicks", "rate", "coec", "attractiveness")
    ranks = ranks_of(model, level)
    told = (*notes, *notes_of(model))
    return ClickLabels(frame, _finding(frame, ranks), told, columns=columns, ranks=ranks)


def _columns(name: str, found: Ratio) -> dict[str, pl.Series]:
    ends = {"": found.value, "_low": found.low, "_high": found.high}
    return {name + end: pl.Series(values, dtype=pl.Float64) for end, values in ends.items()}


def ranks_of(model: RankModel, level: float) -> pl.DataFrame:
    """What is known of each rank."""
    means, chance = model.means, model.means.looked.chance
    # The rank that is looked at most is 1 by definition, and has no interval.
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.where(chance < 1, model.error, np.nan)
    ends = [np.minimum(chance * np.exp(sign * reach), 1.0) for sign in (-1, 1)]
    return pl.DataFrame(
        {
            "rank": means.ranks,
            "impressions": means.impressions.astype(np.int64),
            "clicks": means.clicks.astype(np.int64),
            "rate": means.rate,
            "examination": chance,
            "examination_low": ends[0],
            "examination_high": ends[1],
        }
    )


def notes_of(model: RankModel) -> list[str]:
    """What a reader of the figures should know."""
    notes: list[str] = []
    looked, ranks = model.means.looked, model.means.ranks
    unknown = ranks[~looked.linked]
    if len(unknown) == len(ranks):
        notes.append(
            Caution(
                "rank and document cannot be told apart: hardly a document with clicks was shown at two ranks or more, "
                "so there is no attractiveness; show some results at other ranks, at random, for a while"
            )
        )
    else:
        notes.append(
            f"{count(looked.telling, 'document')} of {model.items:,} shown at several ranks tell how ranks are seen"
        )
    if 0 < len(unknown) < len(ranks):
        some = ", ".join(map(str, unknown[:5])) + (" ..." if len(unknown) > 5 else "")
        notes.append(f"rank {some} cannot be told apart from its documents, which no other rank has shown")
    if not looked.converged:
        notes.append(Caution("the position-based model did not settle: its figures are a guess"))
    vague = int(np.nansum(model.error > VAGUE))
    if vague:
        notes.append(
            Caution(f"how likely {count(vague, 'rank')} are looked at is known to within a factor of two only")
        )
    if not model.sessions:
        notes.append(
            "no sessions: every result shown counts as independent of the others, so intervals may be too narrow"
        )
    elif model.clustering > 1.005:
        notes.append(
            f"clicks of one session hang together: variances are {model.clustering:.2f} times those of a coin's"
        )
    return notes


def _finding(frame: pl.DataFrame, ranks: pl.DataFrame) -> str:
    shown, clicks = int(frame["impressions"].sum()), int(frame["clicks"].sum())
    queries = count(frame["query"].n_unique(), "query", "queries")
    text = (
        f"{count(clicks, 'click')} in {count(shown, 'impression')} of {count(frame.height, 'document')} for {queries}"
    )
    known = ranks.filter(pl.col("examination").is_not_nan())
    if known.height < 2:
        return f"{text}; what ranks and what documents do to clicks cannot be told apart."
    first, last = known.row(0, named=True), known.row(-1, named=True)
    fewer = last["examination"] / first["examination"]
    return f"{text}; rank {last['rank']} is looked at {fewer:.2f} times as often as rank {first['rank']}."
