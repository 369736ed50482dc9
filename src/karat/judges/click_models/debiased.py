"""Labels from clicks, freed of the rank at which results were shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.click_models.intervals import Ratio, ratios
from karat.judges.click_models.position_model import Examination, examination
from karat.judges.click_models.shown import GROUPS, Cells, Shown
from karat.records import ClickLog, Judgments, Result
from karat.records.base import count
from karat.records.result import Caution
from karat.stats import totals
from karat.stats.arrays import Floats
from karat.stats.bootstrap import check_level

#: What a label may be made of, the best first.
KINDS = ("attractiveness", "coec", "rate")
#: Examination known to less than this share of itself is a guess.
VAGUE = 0.5
#: Results shown less often say little each; a note counts them.
FEW = 30


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
    shown = Shown.of(read, satisfied_after)
    cells, n = shown.cells, len(shown.ranks)
    if not cells.clicks.any():
        raise Undefined("nobody clicked on anything: nothing can be told from clicks")
    looked = examination(shown)
    mean = cells.by_rank(cells.clicks, n) / cells.by_rank(cells.shown, n)
    clustering = shown.clustering(_expected(cells, mean))
    no_error = np.zeros((n, n))
    rate = ratios(cells, np.ones(n), no_error, clustering, level, 1.0)
    coec = ratios(cells, mean, _of_means(shown, cells, mean), clustering, level)
    attraction = ratios(cells, looked.chance, looked.covariance, clustering, level, 1.0)
    frame = shown.items.with_columns(
        impressions=pl.Series(cells.by_item(cells.shown), dtype=pl.Int64),
        clicks=pl.Series(cells.by_item(cells.clicks), dtype=pl.Int64),
        ranks=pl.Series(np.bincount(cells.item, minlength=cells.items), dtype=pl.Int64),
        **_columns("rate", rate),
        **_columns("coec", coec),
        **_columns("attractiveness", attraction),
    ).sort("query", "attractiveness", "coec", descending=[False, True, True], nulls_last=True)
    notes = [*read.notes, *_notes(shown, looked, clustering)]
    columns = ("query", "doc", "impressions", "clicks", "rate", "coec", "attractiveness")
    ranks = _ranks(shown, cells, mean, looked, level)
    return ClickLabels(frame, _finding(frame, ranks), tuple(notes), columns=columns, ranks=ranks)


def _of_means(shown: Shown, cells: Cells, mean: Floats) -> Floats:
    """The covariance of the logarithms of the ranks' mean rates, over groups of sessions."""
    n = len(shown.ranks)
    expected, table = _expected(cells, mean), np.zeros((GROUPS, n))
    for rows in shown.parts():
        left = shown.clicked[rows] - expected[cells.of_row[rows]]
        table += totals(shown.group(rows) * n + shown.rank[rows], left, GROUPS * n).reshape(GROUPS, n)
    groups = int((table != 0).any(axis=1).sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = table / (cells.by_rank(cells.shown, n) * mean)
    slopes[:, ~np.isfinite(slopes).all(axis=0)] = 0.0
    found: Floats = slopes.T @ slopes * groups / max(groups - 1, 1)
    return found


def _expected(cells: Cells, mean: Floats) -> Floats:
    """The chance of a click in each cell: the rank's rate times how much more or less its item is clicked."""
    expected = cells.by_item(cells.shown * mean[cells.rank])
    ratio = np.divide(cells.by_item(cells.clicks), expected, out=np.zeros(cells.items), where=expected > 0)
    return np.minimum(mean[cells.rank] * ratio[cells.item], 1.0)


def _columns(name: str, found: Ratio) -> dict[str, pl.Series]:
    ends = {"": found.value, "_low": found.low, "_high": found.high}
    return {name + end: pl.Series(values, dtype=pl.Float64) for end, values in ends.items()}


def _ranks(shown: Shown, cells: Cells, mean: Floats, looked: Examination, level: float) -> pl.DataFrame:
    n = len(shown.ranks)
    # The rank that is looked at most is 1 by definition, and has no interval.
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.where(looked.chance < 1, looked.error, np.nan)
    ends = [np.minimum(looked.chance * np.exp(sign * reach), 1.0) for sign in (-1, 1)]
    return pl.DataFrame(
        {
            "rank": shown.ranks,
            "impressions": cells.by_rank(cells.shown, n).astype(np.int64),
            "clicks": cells.by_rank(cells.clicks, n).astype(np.int64),
            "rate": mean,
            "examination": looked.chance,
            "examination_low": ends[0],
            "examination_high": ends[1],
        }
    )


def _notes(shown: Shown, looked: Examination, clustering: float) -> list[str]:
    notes: list[str] = []
    items = shown.items.height
    unknown = shown.ranks[np.isnan(looked.chance)]
    if len(unknown) == len(shown.ranks):
        notes.append(
            Caution(
                "rank and document cannot be told apart: hardly a document with clicks was shown at two ranks or more, "
                "so there is no attractiveness; show some results at other ranks, at random, for a while"
            )
        )
    else:
        notes.append(f"{count(looked.telling, 'document')} of {items:,} shown at several ranks tell how ranks are seen")
    if 0 < len(unknown) < len(shown.ranks):
        some = ", ".join(map(str, unknown[:5])) + (" ..." if len(unknown) > 5 else "")
        notes.append(f"rank {some} cannot be told apart from its documents, which no other rank has shown")
    if not looked.converged:
        notes.append(Caution("the position-based model did not settle: its figures are a guess"))
    vague = int(np.nansum(looked.error > VAGUE))
    if vague:
        notes.append(
            Caution(f"how likely {count(vague, 'rank')} are looked at is known to within a factor of two only")
        )
    if shown.session is None:
        notes.append(
            "no sessions: every result shown counts as independent of the others, so intervals may be too narrow"
        )
    elif clustering > 1.005:
        notes.append(f"clicks of one session hang together: variances are {clustering:.2f} times those of a coin's")
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
