"""From preferences between documents to an order of each query's documents, as grades."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.records import Judgments, Preferences
from karat.records.table import count
from karat.stats.davidson import fit_davidson

#: So many others each document is taken to have met before, as their equal: a single win proves little.
MET_BEFORE = 1.0
#: Strengths that differ by less than this differ by rounding only.
ROUNDING = 1e-6
#: What each document won and tied, and where it stands.
ORDER = ["query", "doc", "wins", "ties", "losses", "strength", "grade"]


def document_order(preferences: Preferences) -> pl.DataFrame:
    """The documents of each query from the most to the least preferred, with what they won, tied and lost.

    >>> said = [{"query": "q", "left": a, "right": b, "choice": "left"} for a, b in ("xy", "xz", "yz")]
    >>> document_order(Preferences.of(said)).select("doc", "wins", "grade").rows()
    [('x', 2, 3), ('y', 1, 2), ('z', 0, 1)]

    `left` and `right` are documents. `strength` is that of Bradley and Terry's model with Davidson's ties, for each
    query by itself; `grade` is 1 for the least preferred, 2 for the next, and so on, equal where strengths are. A
    document that was never compared with others of its query, directly or through them, is held for an average one.
    """
    frame = preferences.frame
    if not frame.height:
        raise Undefined("no answer is left to order documents by")
    parts = [_of_query(part).insert_column(0, pl.Series("query", [name] * height)) for name, part, height in _by(frame)]
    return pl.concat(parts).select(ORDER)


def grades_of_preferences(preferences: Preferences) -> Judgments:
    """The order as labels: for measures that look at the order of grades only, as Compat does.

    >>> said = [{"query": "q", "left": "x", "right": "y", "choice": "right"}]
    >>> grades_of_preferences(Preferences.of(said)).frame.rows()
    [('q', 'y', 2.0), ('q', 'x', 1.0)]
    """
    order = document_order(preferences)
    asked = count(preferences.frame.height, "preference")
    said = f"labels are places in the order that {asked} between documents make, 1 the least preferred: no gains"
    made = Judgments.check(order.select("query", "doc", label=pl.col("grade").cast(pl.Float64)))
    return Judgments(made.frame, (*preferences.notes, said), made.scale)


def _by(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame, int]]:
    found = []
    for (name,), part in frame.group_by("query", maintain_order=True):
        documents = pl.concat([part["left"], part["right"]]).n_unique()
        found.append((str(name), part, documents))
    return found


def _of_query(frame: pl.DataFrame) -> pl.DataFrame:
    names = pl.concat([frame["left"], frame["right"]]).unique().sort()
    left, right = (names.search_sorted(frame[side]).to_numpy().astype(np.int64) for side in ("left", "right"))
    outcome = frame["choice"].replace_strict({"left": 0, "right": 2, "equal": 1, "none": 1}, return_dtype=pl.Int64)
    n, counts = len(names), np.zeros((1, frame.height, 3))
    counts[0, np.arange(frame.height), outcome.to_numpy()] = 1.0
    strength = fit_davidson(left, right, counts, n, prior=MET_BEFORE * n / 2).strength[0]
    won, tied, lost = (counts[0, :, place] for place in (0, 1, 2))
    wins = np.bincount(left, won, n) + np.bincount(right, lost, n)
    losses = np.bincount(left, lost, n) + np.bincount(right, won, n)
    ties = np.bincount(left, tied, n) + np.bincount(right, tied, n)
    table = pl.DataFrame(
        {"doc": names, "wins": wins, "ties": ties, "losses": losses, "strength": strength.round(9)}
    ).with_columns(pl.col("wins", "ties", "losses").cast(pl.Int64))
    table = table.sort("strength", descending=True, maintain_order=True)
    falls = np.append(np.diff(table["strength"].to_numpy()) < -ROUNDING, False)
    return table.with_columns(grade=pl.Series(np.cumsum(falls[::-1])[::-1] + 1))
