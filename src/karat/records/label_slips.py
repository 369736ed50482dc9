"""Labels that may be slips: a few numbers far from all others, where no scale says what is a grade."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.advice import advise
from karat.records.base import count
from karat.records.source import Source

#: TREC's grades for what is not judged and for junk: far from the others, and no slip.
JUNK = (-1.0, -2.0)
#: Grades in a row that are a scale by themselves: what follows them with a grade left out is out of place. With fewer,
#: the grade may be one that nobody gave, as where two of 0..3 are rare.
IN_A_ROW = 4
#: So many labels must be left before one of them can be out of place, and so few of them may be: one, or this share.
FEWEST, SHARE = 10, 0.01


def slip_note(labels: pl.Series, source: Source) -> str:
    """What to say of labels that may be slips; empty where none looks like one.

    >>> slip_note(pl.Series([0, 1, 2, 3] * 5 + [33]), Source("qrels.txt", first_line=1))
    'qrels.txt line 21: 1 label of 33, all others 0..3: a slip? scale="0..3" refuses it'
    >>> slip_note(pl.Series([0, 1, 2, 3] * 5 + [-2, 4]), Source("qrels.txt"))
    ''
    """
    counts = labels.drop_nulls().value_counts(name="n")
    value, n = (counts.sort(labels.name)[name].to_numpy() for name in (labels.name, "n"))
    junk = np.isin(value, JUNK)
    known, value, n = value[junk], value[~junk], n[~junk]
    if not len(value):
        return ""
    # Grades in runs of neighbours: the run with most labels is the scale, what lies outside may be slips.
    scale = _with_most(value, n, 1)
    scale = scale if scale.sum() >= IN_A_ROW else _with_most(value, n, 2)
    kept, lost = int(n[scale].sum()), int(n[~scale].sum())
    whole = bool((value[scale] == np.round(value[scale])).all())
    if not lost or scale.sum() < 2 or not whole or kept < FEWEST or lost > max(1, SHARE * kept):
        return ""
    low, high = min(*known, *value[scale]), value[scale][-1]
    row = int(labels.is_in(value[~scale].tolist()).arg_max() or 0)
    strange = ", ".join(f"{one:g}" for one in value[~scale][:3]) + (", ..." if (~scale).sum() > 3 else "")
    said = f"{count(lost, 'label')} of {strange}, all others {low:g}..{high:g}: "
    said += "a slip?" if lost == 1 else "slips?"
    option = advise(f"--scale {low:g}..{high:g}", f'scale="{low:g}..{high:g}"')
    return f"{source.at(row)}: {said} {option} refuses {'it' if lost == 1 else 'them'}"


def _with_most(value: npt.NDArray[np.float64], n: npt.NDArray[np.int64], apart: float) -> npt.NDArray[np.bool_]:
    """Which values are in the run with most labels; in a run no two neighbours are further apart than this."""
    run = np.cumsum(np.diff(value, prepend=value[0]) > apart)
    return np.asarray(run == np.bincount(run, n).argmax())
