"""How often judges have an answer to an aspect at all, alone and in context."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.dimensions.sheets import Sheets
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.stats.many import holm
from karat.stats.paired_figures import compared, in_words, interval_note, share

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
    return Result(frame, _finding(frame, level), tuple(notes), columns=columns)


def _finding(frame: pl.DataFrame, level: float) -> str:
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
