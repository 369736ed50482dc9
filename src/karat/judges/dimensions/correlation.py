"""Which aspects go with overall, and which aspects change together in context."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import Undefined
from karat.judges.dimensions.sheets import Sheets
from karat.labels.selection import OVERALL
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.cell_sums import Counts
from karat.stats.paired_figures import compared, in_words, interval_note, one_setting
from karat.stats.ranks import spearman

#: The grade that a document got alone, set against its grade in context.
ALONE = "overall alone"


def overall_correlation(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """Spearman's rank correlation of each aspect with overall, alone and in context.

    >>> grades = [(0, 0), (1, 2), (2, 1), (3, 3), (4, 4), (1, 0)]
    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": label, "context": context}
    ...         for i, pair in enumerate(grades) for context in (None, "c")
    ...         for aspect, label in zip(("overall", "novelty"), pair)]
    >>> overall_correlation(rows, draws=0).frame.select("aspect", "alone", "context").rows()
    [('novelty', 0.8676470588235294, 0.8676470588235294), ('overall alone', nan, 1.0)]

    Only documents with a grade in every aspect count, so that all rows are about the same ones; in context the overall
    grade alone is set beside the aspects. That an aspect goes with overall does not say that it is why; judges may
    grade all aspects by one impression.

    Reference: Golbus et al. (WWW 2014), Table 2.
    """
    sheets = Sheets.of(judgments)
    if len(sheets.aspects) < 2:
        raise Undefined("Nothing was asked but overall: there is no aspect to correlate with it.")
    complete = sheets.complete
    if not complete.any():
        raise Undefined("No document has a grade in every aspect.")
    before = np.full(len(complete), np.nan)
    known = np.flatnonzero(~sheets.alone)[sheets.alone_row >= 0]
    before[known] = sheets.labels[sheets.alone_row[sheets.alone_row >= 0], 0]
    columns = [*sheets.labels[:, 1:].T, before]
    sums = [
        _tables(
            sheets.cell,
            [(column, sheets.labels[:, 0], rows & ~np.isnan(column)) for column in columns],
            sheets.grades,
            sheets,
        )
        for rows in (complete & sheets.alone, complete & ~sheets.alone)
    ]
    cells = sheets.cells(complete)
    found = compared(sums, spearman, cells, "rho", level=level, draws=draws, seed=seed)
    frame = found.frame({"aspect": [*sheets.aspects[1:], ALONE]}, [part.whole.sum(axis=(1, 2)) for part in sums])
    if not (~sheets.alone).any():
        frame = frame.filter(pl.col("aspect") != ALONE)
    last = "alone" if sheets.alone.any() and not frame["alone"].is_nan().all() else "context"
    frame = frame.sort(pl.col("aspect") == ALONE, pl.col(last).fill_nan(-2), descending=[False, True])
    notes = [*sheets.notes, *sheets.setting_notes, *interval_note(found.low, found.value, draws, cells)]
    left = int((sheets.rated & ~complete).sum())
    if left:
        notes.append(f"{count(left, 'document')} with N/A in some aspect left out")
    shown = ("aspect", "alone", "context", "difference", "n_alone", "n_context")
    return Result(frame, _finding(frame, last, level), tuple(notes), columns=shown)


def change_correlation(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """Spearman's rank correlation between the changes of every two aspects, from alone to in context.

    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": 2 + move * (context is not None),
    ...          "context": context} for i, move in enumerate([0, 1, -1, 1, 2]) for context in (None, "c")
    ...         for aspect in ("overall", "novelty")]
    >>> change_correlation(rows, draws=0).frame.select("first", "second", "rho", "n").rows()
    [('overall', 'novelty', 1.0, 5)]

    For each two aspects, all documents count that have these two grades and an overall grade in both settings, so that
    rows are not all about the same documents. Aspects that rise and fall together may be one thing to the judges.

    Reference: Golbus et al. (WWW 2014), Table 3.
    """
    sheets = Sheets.of(judgments)
    if len(sheets.aspects) < 2:
        raise Undefined("Nothing was asked but overall: there are no two aspects whose changes could be compared.")
    if sheets.alone.all():
        raise Undefined("No document was judged in context: there is no change to tell.")
    change = sheets.change
    rated = ~np.isnan(change[:, 0])
    if not rated.any():
        raise Undefined("No judge gave an overall grade to the same document both alone and in context.")
    levels = np.unique(change[~np.isnan(change)])
    cell, later = sheets.cell[~sheets.alone], np.flatnonzero(~sheets.alone)
    cells = sheets.cells(np.isin(np.arange(len(sheets.alone)), later[rated]))
    pairs = list(combinations(range(len(sheets.aspects)), 2))
    met = [(change[:, a], change[:, b], rated & ~np.isnan(change[:, [a, b]]).any(axis=1)) for a, b in pairs]
    sums = _tables(cell, met, levels, sheets)
    rho, low, high, queries = one_setting(sums, spearman, cells, "rho", level=level, draws=draws, seed=seed)
    frame = pl.DataFrame(
        {
            "first": [sheets.aspects[a] for a, _ in pairs],
            "second": [sheets.aspects[b] for _, b in pairs],
            "rho": rho,
            "rho_low": low,
            "rho_high": high,
            "n": sums.whole.sum(axis=(1, 2)).astype(np.int64),
            "n_queries": queries,
        }
    )
    notes = [*sheets.notes, *interval_note(low, rho, draws, cells)]
    still = frame.filter(pl.col("rho").is_nan() & (pl.col("n") > 0)).height
    if still:
        notes.append(f"no correlation for {count(still, 'pair')} of aspects of which one changes alike everywhere")
    return Result(frame, _change_said(frame, level), tuple(notes))


def _tables(
    cell: npt.NDArray[np.int64], met: Sequence[tuple[Floats, Floats, Bools]], levels: Floats, sheets: Sheets
) -> Counts:
    """How often every two levels met, by cell: pairs of columns x levels x levels."""
    shape, places, where = (len(met), len(levels), len(levels)), list[Ints](), list[Ints]()
    for pair, (first, second, rows) in enumerate(met):
        one, two = (np.searchsorted(levels, values[rows]) for values in (first, second))
        places.append((pair * len(levels) + one) * len(levels) + two)
        where.append(cell[rows])
    return Counts.of(np.concatenate(where), np.concatenate(places), int(sheets.cell.max()) + 1, shape)


def _finding(frame: pl.DataFrame, setting: str, level: float) -> str:
    aspects = frame.filter(pl.col("aspect") != ALONE).filter(pl.col(setting).is_not_nan())
    if not aspects.height:
        whole = int(frame.select((pl.col("n_alone") + pl.col("n_context")).max()).item())
        documents = count(whole, "document")
        return f"No correlation is defined: grades do not vary over {documents} with a grade in every aspect."
    best, worst = aspects.row(0, named=True), aspects.row(-1, named=True)
    where = "Alone" if setting == "alone" else "In context"
    rho = in_words(best[setting], best[f"{setting}_low"], best[f"{setting}_high"], level)
    said = f"{where}, overall goes most with {best['aspect']}: Spearman's rho {rho}"
    if aspects.height > 1:
        said += f"; least with {worst['aspect']} ({worst[setting]:.2f})"
    if setting == "alone" and not np.isnan(best["difference_low"]):
        change = in_words(best["difference"], best["difference_low"], best["difference_high"], level, signed=True)
        said += f". In context rho with {best['aspect']} is {best['context']:.2f}, a difference of {change}"
    return f"{said}."


def _change_said(frame: pl.DataFrame, level: float) -> str:
    known = frame.filter(pl.col("rho").is_not_nan()).sort("rho", descending=True)
    if not known.height:
        return "No two aspects have changes that could be compared."
    row = known.row(0, named=True)
    rho = in_words(row["rho"], row["rho_low"], row["rho_high"], level)
    said = f"{row['first']} and {row['second']} change together most: Spearman's rho {rho}"
    with_overall = known.filter(pl.col("first") == OVERALL)
    if with_overall.height > 1:
        last = with_overall.row(-1, named=True)
        said += f"; with overall, {last['second']} changes least ({last['rho']:.2f})"
    return f"{said[:1].upper()}{said[1:]}."
