"""How grades spread over each aspect, alone and in context."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import Undefined
from karat.judges.dimensions.settings import Compared, by_query, compared, in_words, interval_note, share
from karat.judges.dimensions.sheets import Sheets
from karat.records import Judgments, Result
from karat.records.base import count

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

#: Which documents the shares are of: those with a grade in every aspect, and those with an overall grade.
SETS = ("all aspects", "overall")


def aspect_distribution(judgments: Judgments, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """The share of each grade in each aspect, alone and in context, for two sets of documents.

    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": i % 2, "context": context}
    ...         for i in range(8) for context in (None, "c") for aspect in ("overall", "novelty")]
    >>> found = aspect_distribution(Judgments.of(rows), draws=0).frame
    >>> found.select("documents", "aspect", "grade", "alone", "context").row(0)
    ('all aspects', 'overall', 0.0, 0.5, 0.5)

    `documents` says of which: those with a grade in all aspects, so that the aspects can be compared (the paper's upper
    plots); and those with an overall grade, each aspect without its N/A (the lower plots). Compare aspects in the
    first set only: in the second, each is of other documents.

    Reference: Golbus et al. (WWW 2014), Fig. 2.
    """
    sheets = Sheets.of(judgments)
    if not sheets.rated.any():
        raise Undefined("No document has an overall grade: every one is N/A.")
    parts, notes, means = [], [*sheets.notes, *sheets.setting_notes], None
    for name, rows in zip(SETS, (sheets.complete, sheets.rated), strict=True):
        if not rows.any():
            notes.append(f"no document has a grade in every aspect: no shares for the set {name}")
            continue
        found, counts = _shares(sheets, rows, level, draws, seed)
        parts.append(_table(sheets, name, found, counts))
        notes += interval_note(found.low, found.value, draws)
        means = _means(sheets, sheets.rated, level, draws, seed)
    left = int((~sheets.rated).sum())
    if left:
        notes.append(f"{count(left, 'document')} with an overall grade of N/A left out")
    finding = "No grades." if means is None else _finding(sheets, means, level)
    return Result(pl.concat(parts), finding, tuple(dict.fromkeys(notes)))


def _shares(sheets: Sheets, rows: Bools, level: float, draws: int, seed: int) -> tuple[Compared, Floats]:
    """The shares of all grades in all aspects (aspect by aspect), and how often each was given: 2 x figures x 2."""
    is_grade = (sheets.labels[:, :, None] == sheets.grades).reshape(len(rows), -1)
    known = np.repeat(~np.isnan(sheets.labels), len(sheets.grades), axis=1)
    sums = [
        by_query(sheets.query[chosen], np.stack([is_grade[chosen], known[chosen]], axis=2), sheets.n_queries)
        for chosen in (rows & sheets.alone, rows & ~sheets.alone)
    ]
    found = compared(sums, share, level=level, draws=draws, seed=seed, shares=True)
    return found, np.stack([part.sum(axis=0) for part in sums])


def _table(sheets: Sheets, name: str, found: Compared, counts: Floats) -> pl.DataFrame:
    grades = len(sheets.grades)
    return pl.DataFrame(
        {
            "documents": [name] * (grades * len(sheets.aspects)),
            "aspect": np.repeat(sheets.aspects, grades),
            "grade": np.tile(sheets.grades, len(sheets.aspects)),
        }
    ).with_columns(
        *found.columns(),
        pl.Series("n_alone", counts[0, :, 1].astype(np.int64)),
        pl.Series("n_context", counts[1, :, 1].astype(np.int64)),
        pl.Series("n_queries", found.queries[2]),
    )


def _means(sheets: Sheets, rows: Bools, level: float, draws: int, seed: int) -> Compared:
    """The mean grade of each aspect."""
    known = ~np.isnan(sheets.labels)
    values = np.stack([np.nan_to_num(sheets.labels), known], axis=2)
    sums = [
        by_query(sheets.query[chosen], values[chosen], sheets.n_queries)
        for chosen in (rows & sheets.alone, rows & ~sheets.alone)
    ]
    return compared(sums, share, level=level, draws=draws, seed=seed)


def _finding(sheets: Sheets, means: Compared, level: float) -> str:
    settings = [place for place in (0, 1) if not np.isnan(means.value[place]).all()]
    if len(settings) == 1:
        place = settings[0]
        where = ("alone", "in context")[place]
        said = in_words(means.value[place, 0], means.low[place, 0], means.high[place, 0], level)
        return f"Judged {where}, documents have a mean overall grade of {said}."
    gap = np.nan_to_num(np.abs(means.value[2]))
    sure = (means.low[2] > 0) | (means.high[2] < 0)
    if not sure.any():
        return "Grades are used alike alone and in context: no aspect's mean grade differs beyond chance."
    most = int(np.argmax(np.where(sure, gap, -1.0)))
    change = in_words(means.value[2, most], means.low[2, most], means.high[2, most], level, signed=True)
    return (
        f"{int(sure.sum())} of {count(len(sure), 'aspect')} have another mean grade in context than alone; most "
        f"{sheets.aspects[most]}: {means.value[0, most]:.2f} alone, {means.value[1, most]:.2f} in context, a "
        f"difference of {change}."
    )
