"""Do two judges of the same document agree, alone and in context?"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.context.aspect_sheets import Sheets
from karat.errors import Undefined
from karat.labels.selection import ITEM, OVERALL
from karat.records import LabelsLike, Result
from karat.records.table import count
from karat.stats.agreement_coefficients import cohen_kappa
from karat.stats.arrays import Counts, Floats, Ints, distinct
from karat.stats.paired_statistics import Cells, Figure, Scale, compared, in_words, interval_note

#: The row of all aspects together.
TOGETHER = "all together"


def setting_agreement(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """Cohen's kappa and the Jaccard coefficient of judges of the same document, alone and in context.

    >>> said = {"ann": [2, 0, 1, 2, 0, 1], "bob": [2, 0, 1, 1, 0, 2]}
    >>> rows = [{"query": f"q{i}", "doc": "d", "label": label, "judge": judge, "context": context}
    ...         for judge, labels in said.items() for i, label in enumerate(labels) for context in (None, "c")]
    >>> setting_agreement(rows, draws=0).frame.select("aspect", "figure", "alone", "context").rows()
    [('overall', 'kappa', 0.5, 0.5), ('overall', 'jaccard', 0.5, 0.5)]

    Every two judges of a document (and of the one read before) are a pair, and all pairs go into one table, each in
    both orders: nobody is the first of two, so chance is that of the grades of all judges together, and names change
    nothing. The Jaccard coefficient is of the sets of (document, grade) that the two gave: pairs alike, of all that one
    or the other said. N/A is left aside, and so are documents that one of the two gave no overall grade. `agreement`
    in `karat.judges` has more figures, which allow for the order of the grades.

    Reference: Golbus et al. (WWW 2014), section 4.1; Cohen (Educational and Psychological Measurement 1960).
    """
    sheets = Sheets.of(judgments)
    first, second = _twice(sheets)
    if not len(first):
        raise Undefined("No document was graded by two judges in the same setting: no agreement to measure.")
    aspects = len(sheets.aspects)
    cells, cell = _cells(sheets, first, second)
    settings = (sheets.alone[first], ~sheets.alone[first])
    tables = [_tables(sheets, first[rows], second[rows], cell[rows], len(cells.query)) for rows in settings]
    number = [part.whole.sum(axis=(1, 2)) for part in tables]
    names = [*sheets.aspects, *([TOGETHER] if aspects > 1 else [])]
    parts, notes = [], [*sheets.notes, *sheets.setting_notes]
    for figure, measure, scale in FIGURES:
        found = compared(tables, measure, cells, scale, level=level, draws=draws, seed=seed)
        notes += interval_note(found.low, found.value, draws, cells)
        parts.append(found.frame({"aspect": names, "figure": [figure] * len(names)}, number))
    order = pl.Enum(names)
    frame = pl.concat(parts).sort(pl.col("aspect").cast(order), maintain_order=True)
    columns = ("aspect", "figure", "alone", "context", "n_alone", "n_context")
    return Result(frame, _finding(frame, level), tuple(dict.fromkeys(notes)), columns=columns)


def _twice(sheets: Sheets) -> tuple[Ints, Ints]:
    """Two rows for every two judges who gave an overall grade to the same document in the same setting."""
    item = [name for name in ITEM if name in sheets.keys.columns]
    rows = sheets.keys.select(item).with_row_index("_row").filter(pl.Series(sheets.rated))
    several = rows.filter(pl.len().over(item) > 1)
    both = several.join(several, on=item, nulls_equal=True, suffix="_2").filter(pl.col("_row") < pl.col("_row_2"))
    both = both.sort("_row", "_row_2")
    return both["_row"].cast(pl.Int64).to_numpy(), both["_row_2"].cast(pl.Int64).to_numpy()


def _cells(sheets: Sheets, first: Ints, second: Ints) -> tuple[Cells, Ints]:
    """The cells of a query and two judges, and the cell of each pair of rows."""
    judges = int(sheets.judge.max(initial=0)) + 1
    pairs = (sheets.query[first] * judges + sheets.judge[first]) * judges + sheets.judge[second]
    each, cell, _ = distinct(pairs)
    sampled = sheets.sampled(np.concatenate([first, second]))
    judged = np.tile(np.arange(len(each)), 2), np.concatenate([each // judges % judges, each % judges])
    return Cells(each // judges**2, judged if sampled else None), cell


def _tables(sheets: Sheets, first: Ints, second: Ints, cell: Ints, cells: int) -> Counts:
    """How often every two grades met, by cell, half of each pair in either order.

    A table for each aspect, and where there are several, one of all of them.
    """
    aspects, grades = len(sheets.aspects), len(sheets.grades)
    several, places, where = aspects > 1, list[Ints](), list[Ints]()
    for aspect in range(aspects):
        one, two = sheets.labels[first, aspect], sheets.labels[second, aspect]
        known = ~np.isnan(one) & ~np.isnan(two)
        left, right = (np.searchsorted(sheets.grades, labels[known]) for labels in (one, two))
        for table in (aspect, aspects)[: 1 + several]:
            for row, column in ((left, right), (right, left)):
                places.append((table * grades + row) * grades + column)
                where.append(cell[known])
    shape = (aspects + several, grades, grades)
    return Counts.of(np.concatenate(where), np.concatenate(places), cells, shape, weight=0.5)


def _jaccard(table: Floats) -> Floats:
    alike, total = np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1))
    shares: Floats = alike / np.where(total > 0, 2 * total - alike, np.nan)
    return shares


#: What is told of pairs of judges, and the scale of its intervals.
FIGURES: tuple[tuple[str, Figure, Scale], ...] = (("kappa", cohen_kappa, "kappa"), ("jaccard", _jaccard, "share"))


def _finding(frame: pl.DataFrame, level: float) -> str:
    row = frame.filter((pl.col("figure") == "kappa") & (pl.col("aspect") == OVERALL)).row(0, named=True)
    said = [
        f"{in_words(row[name], row[f'{name}_low'], row[f'{name}_high'], level)} {where} "
        f"({count(row[f'n_{name}'], 'pair')} of judgments)"
        for name, where in (("alone", "alone"), ("context", "in context"))
        if not np.isnan(row[name])
    ]
    if not said:
        pairs = count(row["n_alone"] + row["n_context"], "pair")
        return f"All overall grades are alike ({pairs} of judgments): agreement beyond chance is undefined."
    text = f"On overall, two judges agree with Cohen's kappa {' and '.join(said)}"
    if np.isnan(row["difference_low"]):
        return f"{text}."
    if row["difference_low"] > 0 or row["difference_high"] < 0:
        return f"{text}: {'more' if row['difference'] > 0 else 'less'} in context."
    return f"{text}: no difference beyond chance."
