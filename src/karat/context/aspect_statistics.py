"""How grades spread over each aspect, alone and in context."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.context.aspect_sheets import Sheets
from karat.errors import Undefined
from karat.labels.selection import OVERALL
from karat.records import LabelsLike, Result
from karat.records.table import count
from karat.stats.arrays import Bools
from karat.stats.multiple_testing import holm
from karat.stats.paired_statistics import Compared, compared, in_words, interval_note, share

#: Which documents the shares are of: those with a grade in every aspect, and those with an overall grade.
SETS = ("all aspects", OVERALL)


def aspect_distribution(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """The share of each grade in each aspect, alone and in context, for two sets of documents.

    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": i % 2, "context": context}
    ...         for i in range(8) for context in (None, "c") for aspect in ("overall", "novelty")]
    >>> found = aspect_distribution(rows, draws=0).frame
    >>> found.select("documents", "aspect", "grade", "alone", "context").row(0)
    ('all aspects', 'overall', 0.0, 0.5, 0.5)

    `documents` says of which: those with a grade in all aspects, so that the aspects can be compared (the paper's upper
    plots); and those with an overall grade, each aspect without its N/A (the lower plots). Compare aspects in the
    first set only: in the second, each is of other documents. Alone and in context are not of the same documents
    either, where a first rank has no context; `mean_change` compares like with like.

    Reference: Golbus et al. (WWW 2014), Fig. 2.
    """
    sheets = Sheets.of(judgments)
    if not sheets.rated.any():
        raise Undefined("No document has an overall grade: every one is N/A.")
    parts, notes = [], [*sheets.notes, *sheets.setting_notes]
    for name, rows in zip(SETS, (sheets.complete, sheets.rated), strict=True):
        if not rows.any():
            notes.append(f"no document has a grade in every aspect: no shares for the set {name}")
            continue
        frame, said = _shares(sheets, name, rows, level, draws, seed)
        parts.append(frame)
        notes += said
    left = int((~sheets.rated).sum())
    if left:
        notes.append(f"{count(left, 'document')} with an overall grade of N/A left out")
    frame = pl.concat(parts)
    finding = _finding(sheets, frame, _means(sheets, sheets.rated, level, draws, seed), level)
    return Result(frame, finding, tuple(dict.fromkeys(notes)))


def _shares(
    sheets: Sheets, name: str, rows: Bools, level: float, draws: int, seed: int
) -> tuple[pl.DataFrame, list[str]]:
    """The shares of all grades in all aspects, aspect by aspect, and what to say of their intervals."""
    grades = len(sheets.grades)
    is_grade = (sheets.labels[:, :, None] == sheets.grades).reshape(len(rows), -1)
    both = np.stack([is_grade, np.repeat(~np.isnan(sheets.labels), grades, axis=1)], axis=2)
    sums = [sheets.sums(chosen, both[chosen]) for chosen in (rows & sheets.alone, rows & ~sheets.alone)]
    cells = sheets.cells(rows)
    found = compared(sums, share, cells, "share", level=level, draws=draws, seed=seed)
    of = {
        "documents": [name] * (grades * len(sheets.aspects)),
        "aspect": np.repeat(sheets.aspects, grades),
        "grade": np.tile(sheets.grades, len(sheets.aspects)),
    }
    frame = found.frame(of, [part.sum(axis=0)[:, 1] for part in sums])
    return frame, interval_note(found.low, found.value, draws, cells)


def _means(sheets: Sheets, rows: Bools, level: float, draws: int, seed: int) -> Compared:
    """The mean grade of each aspect."""
    known = ~np.isnan(sheets.labels)
    values = np.stack([np.nan_to_num(sheets.labels), known], axis=2)
    sums = [sheets.sums(chosen, values[chosen]) for chosen in (rows & sheets.alone, rows & ~sheets.alone)]
    return compared(sums, share, sheets.cells(rows), "plain", level=level, draws=draws, seed=seed)


def _finding(sheets: Sheets, frame: pl.DataFrame, means: Compared, level: float) -> str:
    value, low, high = means.value[:, 0], means.low[:, 0], means.high[:, 0]
    if np.isnan(value[2]):
        place = int(np.isnan(value[0]))
        said = in_words(value[place], low[place], high[place], level)
        text = f"Judged {('alone', 'in context')[place]}, documents have a mean overall grade of {said}"
    else:
        gap = in_words(value[2], low[2], high[2], level, signed=True)
        text = (
            f"The mean overall grade is {value[0]:.2f} alone and {value[1]:.2f} in context, a difference of {gap}, "
            "though not all of the same documents"
        )
    spread = _unlike_overall(sheets, frame)
    if len(spread) > 1:
        near, far = min(spread, key=lambda name: spread[name]), max(spread, key=lambda name: spread[name])
        moved = f"{100 * spread[near]:.0f} % of the grades would have to move"
        if f"{100 * spread[near]:.0f}" == f"{100 * spread[far]:.0f}":
            text += f". All aspects are equally like overall in spread ({moved})"
        else:
            text += f". {near.capitalize()} is spread most like overall ({moved}), {far} least "
            text += f"({100 * spread[far]:.0f} %)"
    return f"{text}."


def _unlike_overall(sheets: Sheets, frame: pl.DataFrame) -> dict[str, float]:
    """How far each aspect's shares are from overall's, on documents that have all (in context, where there are any)."""
    rows = frame.filter(pl.col("documents") == SETS[0])
    setting = "alone" if rows["context"].is_nan().all() else "context"
    if not rows.height or rows[setting].is_nan().all():
        return {}
    shares = rows[setting].to_numpy().reshape(len(sheets.aspects), -1)
    far = np.abs(shares[1:] - shares[0]).sum(axis=1) / 2
    return dict(zip(sheets.aspects[1:], far.tolist(), strict=True))


#: The name of the row of documents that have a grade in every aspect.
EVERY = "all aspects"


def aspect_coverage(judgments: LabelsLike, *, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Result:
    """The share of documents that have a grade, not N/A, in each aspect and in all of them, alone and in context.

    >>> rows = [{"query": f"q{i}", "doc": "d", "aspect": aspect, "label": label, "context": context}
    ...         for i in range(8) for context in (None, "c")
    ...         for aspect, label in (("overall", 2), ("novelty", None if i % 2 and context is None else 3))]
    >>> aspect_coverage(rows, draws=0).frame.select("aspect", "alone", "context").rows()
    [('novelty', 0.5, 1.0), ('all aspects', 0.5, 1.0)]

    Documents whose overall grade is N/A, spam mostly, are left out, as in the paper. An aspect that was not asked about
    is not N/A: shares are of those who were asked. A document counts once for each judge and each document read before.
    `p_holm` is of no difference between the settings, and allows for the number of rows.

    Reference: Golbus et al., Contextual and Dimensional Relevance Judgments (WWW 2014), Table 1.
    """
    sheets = Sheets.of(judgments)
    if len(sheets.aspects) < 2:
        raise Undefined("Nothing was asked but overall: there is no aspect whose coverage could be told.")
    rated = sheets.rated
    if not rated.any():
        raise Undefined("No document has an overall grade: every one is N/A.")
    asked = np.column_stack([sheets.asked[:, 1:], sheets.asked.all(axis=1)])
    answered = np.column_stack([~np.isnan(sheets.labels[:, 1:]), sheets.complete])
    both = np.stack([answered & asked, asked], axis=2)
    sums = [sheets.sums(rows, both[rows]) for rows in (rated & sheets.alone, rated & ~sheets.alone)]
    cells = sheets.cells(rated)
    found = compared(sums, share, cells, "share", level=level, draws=draws, seed=seed)
    number = [part.sum(axis=0)[:, 1] for part in sums]
    frame = found.frame({"aspect": [*sheets.aspects[1:], EVERY]}, number, p_holm=holm(found.p))
    notes = [*sheets.notes, *sheets.setting_notes]
    left = int((~rated).sum())
    if left:
        notes.append(f"{count(left, 'document')} with an overall grade of N/A left out")
    notes += interval_note(found.low, found.value, draws, cells)
    columns = ("aspect", "alone", "context", "difference", "n_alone", "n_context")
    return Result(frame, _coverage_finding(frame, level), tuple(notes), columns=columns)


def _coverage_finding(frame: pl.DataFrame, level: float) -> str:
    row = frame.row(-1, named=True)
    alone, context = (
        in_words(row[name], row[f"{name}_low"], row[f"{name}_high"], level, percent=True)
        for name in ("alone", "context")
    )
    if np.isnan(row["context"]) or np.isnan(row["alone"]):
        where, said = ("read alone", alone) if np.isnan(row["context"]) else ("in context", context)
        return f"Of the documents {where}, {said} have a grade in every aspect."
    said = f"Alone, {alone} of documents have a grade in every aspect; in context {context}."
    known = frame[:-1].filter(pl.col("p_holm").is_not_nan())
    if not known.height:
        return said
    sure = known.filter(pl.col("p_holm") <= 0.05)
    if not sure.height:
        return f"{said} No aspect is answered more often in one than in the other beyond chance."
    most = sure.sort(pl.col("difference").abs(), descending=True).row(0, named=True)
    more = "more" if most["difference"] > 0 else "less"
    return (
        f"{said} In context judges have an answer {more} often above all on {most['aspect']}: "
        f"{100 * most['alone']:.1f} % alone, {100 * most['context']:.1f} % in context."
    )
