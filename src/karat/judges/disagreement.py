"""How many users would call this result top, given what one judge said? The user disagreement model.

People differ on what is a top result, and that is information: it tells what a grade is worth to a team that wants to
please M of N users.

Reference: Demeester, Aly, Hiemstra, Nguyen, Trieschnigg and Develder, Exploiting user disagreement for web search
evaluation (WSDM 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.level_counts import FEW_LABELS, levels_of, need_labels, panel_of_users, top_level_notes, used, votes
from karat.judges.user_model import UserModel
from karat.labels import Panel
from karat.records import LabelsLike, Result
from karat.records.base import count
from karat.records.chart import Lines
from karat.records.number_format import interval_said, with_ends
from karat.records.result import ResultBase
from karat.stats import FEWEST

#: Models are compared with counts for so many users at most, and on so many documents at least if there are.
MOST_USERS, ENOUGH = 8, 50


@dataclass(frozen=True, eq=False, repr=False)
class Disagreement(UserModel, ResultBase):
    """p(T|i) of every level, with intervals over queries, and the weights that follow from it, for people to read."""

    notes: tuple[str, ...] = ()

    def to_frame(self) -> pl.DataFrame:
        """What is known of every level: level, value, low, high, n."""
        low, high = self.intervals
        return pl.DataFrame(
            {"level": list(self.votes.levels), "value": self.p, "low": low, "high": high, "n": self.n.tolist()}
        )

    def table(self, pairs: list[tuple[int, int]]) -> Result:
        """Weights of every level for pairs (M, N): binomial, beta-binomial, and counted (the paper's Table 1).

        `n` are the labels of the level, `n_counted` those of documents with at least N labels, which alone can be
        counted.
        """
        notes = (*self.notes, *self._counted_notes(pairs))
        panel = self.votes.panel
        return Result(self._table(pairs), self.finding, notes, scale=panel.scale, drawing=self._along_users())

    def _table(self, pairs: Sequence[tuple[int, int]]) -> pl.DataFrame:
        v = self.votes
        return pl.concat(
            pl.DataFrame(
                {
                    "at_least": np.full(len(v.levels), m),
                    "of": n,
                    "level": v.levels,
                    **with_ends("binomial", self.binomial(m, n), *self.binomial_ends(m, n)),
                    "beta_binomial": self.beta_binomial(m, n),
                    **with_ends("experimental", self.experimental(m, n), *self.experimental_ends(m, n)),
                    "n": self.n,
                    "n_counted": v.counts[v.size >= n].sum(axis=0),
                }
            )
            for m, n in pairs
        )

    def _along_users(self) -> Lines | None:
        """Predicted and counted weights for 1 of N users, along N, all of the same documents (the paper's Fig. 5)."""
        sizes, said = np.sort(self.votes.size)[::-1], self.votes.panel.said
        if sizes[0] < 3:
            return None
        most = max(3, min(int(sizes[min(ENOUGH, len(sizes)) - 1]), MOST_USERS))
        fixed = replace(self, votes=self.votes.where(self.votes.size >= most))
        names = {"binomial": "predicted", "experimental": "counted"}
        names |= {f"binomial_{end}": end for end in ("low", "high")}
        names |= {f"experimental_{end}": f"points_{end}" for end in ("low", "high")}
        frame = fixed._table([(1, n) for n in range(2, most + 1)]).filter(pl.col("level") < self.top)
        frame = frame.sort("of", -pl.col("level")).rename(names)
        words = pl.Series("said", [f"said {said(level)}" for level in frame["level"].to_list()])
        documents = count(len(fixed.votes.counts), "document")
        how = (
            f"Lines: predicted by the binomial; markers: counted, for the {documents} with at least {most} labels. "
            f"{self.level * 100:g} % intervals over queries (Demeester et al. 2014, Fig. 5)"
        )
        y_title = f"P(at least 1 of N says {said(self.top)})"
        shown = frame.select("of", words, *names.values())
        return Lines(shown, "of", "predicted", "said", "N users", y_title, points="counted", whole=True, how=how)

    def _counted_notes(self, pairs: Sequence[tuple[int, int]]) -> list[str]:
        """How far the models are from what was counted, and what could not be counted."""
        notes, most = [], int(self.votes.size.max())
        beyond = sorted({of for _, of in pairs if of > max(most, 2)})
        if beyond:
            need = beyond[0]
            notes.append(f"no document has {need} of the labels used: nothing can be counted for {need} users or more")
        if most < 3 and any(of > 2 for of in beyond):
            notes.append("without three labels of a document nobody knows how far documents differ: no beta-binomial")
        # With one other user the binomial is what was counted, by construction.
        more = [(at_least, of) for at_least, of in pairs if 2 < of <= most]
        if more:
            of = max(of for _, of in more)
            apart = self.furthest(more)
            notes.append(
                f"on the {count(int((self.votes.size >= of).sum()), 'document')} with at least {of} labels, furthest "
                f"from what was counted: binomial by {apart[0]:.3f}, beta-binomial by {apart[1]:.3f}"
            )
        return notes

    @property
    def finding(self) -> str:
        """What another user says after the highest level below top that a document with several labels was called."""
        said, top = self.votes.panel.said, self.votes.panel.said(self.top)
        below = int(np.flatnonzero(~np.isnan(self.p[:-1]))[-1])
        low, high = (ends[below] for ends in self.intervals)
        again = (
            f"no document with several labels was called {top}"
            if np.isnan(self.p[-1])
            else f"when one says {top}, {self.p[-1]:.3f}"
        )
        return (
            f"When one user says {said(self.votes.levels[below])}, another says {top} with probability "
            f"{self.p[below]:.3f}{interval_said(low, high, self.level, 3)}; {again}."
        )


def disagreement(
    labels: Panel | LabelsLike,
    top: float | None = None,
    *,
    min_labels: int = 2,
    most_labels: int | None = None,
    all_labels: bool = False,
    count_repeats: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Disagreement:
    """The user disagreement model of documents with at least `min_labels` labels.

    >>> rows = [{"query": "q", "doc": d, "label": n, "judge": str(j)}
    ...         for d, given in {"a": [2, 2, 1], "b": [1, 0, 0]}.items() for j, n in enumerate(given)]
    >>> model = disagreement(rows)
    >>> model.p.round(3).tolist()
    [0.0, 0.5, 0.5]

    `top` is the level that users want (by default the scale's highest grade, or the highest label where no scale is
    given); grades above it count as top. Use it when some
    documents have labels of several people; judges who were paid to agree, or copied each other, tell nothing about
    users. A judge's own second label is nobody else's, unless `count_repeats` takes it for another user's.

    Where a further label was asked only when the first two differed, the first two of each document are used: the
    others are there for contested documents alone. `most_labels` takes the first so many of every document instead,
    `all_labels` all there are.
    """
    panel = panel_of_users(labels, count_repeats)
    need_labels(panel, min_labels)
    levels = levels_of(panel, top)
    found = votes(used(panel, min_labels, most_labels, all_labels), levels, min_labels)
    notes, given = [*found.panel.notes, *top_level_notes(panel, levels[-1])], found.counts.sum(axis=0)
    if not given[:-1].any():
        raise Undefined(
            f"every document with {min_labels} labels was called {panel.said(levels[-1])} by everybody: nothing is "
            "known of what others say about lower levels"
        )
    few = [f"{panel.said(grade)} ({n})" for grade, n in zip(levels, given, strict=True) if 0 < n < FEW_LABELS]
    if few:
        notes.append(f"few labels of level {', '.join(few)}: take their figures in brackets")
    none = [panel.said(grade) for grade, n in zip(levels, given, strict=True) if not n]
    if none:
        notes.append(f"no document with {min_labels} labels was called {' or '.join(none)}: nothing is known of it")
    if found.n_queries < FEWEST and draws:
        notes.append(f"{count(found.n_queries, 'query', 'queries')}: too few for intervals")
    notes.append(
        f"{count(len(found.counts), 'document')} with at least {min_labels} labels, {found.counts.sum():,} labels"
    )
    return Disagreement(found, level, draws, seed, tuple(notes))
