"""What everybody else said about the same document: a judge must not be compared with a majority they are part of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.labels import Panel
from karat.stats.arrays import Floats
from karat.stats.kappas import label_counts
from karat.stats.totals import variance_components


@dataclass(frozen=True, eq=False)
class Others:
    """For each label: how many labels other judges gave to the item, how they spread, and what they mean.

    >>> others = Others.of(Panel.of([{"query": "q", "doc": "d", "label": 2, "judge": "ann"},
    ...                              {"query": "q", "doc": "d", "label": 0, "judge": "bob"},
    ...                              {"query": "q", "doc": "d", "label": 2, "judge": "eve"}]))
    >>> others.mean.tolist(), others.agree.tolist()
    ([1.0, 2.0, 1.0], [0.5, 0.0, 0.5])
    """

    n: Floats
    #: The mean grade of the others' labels, NaN without any.
    mean: Floats
    #: Whether the label is the others' most frequent one; shared out where several are, NaN without others.
    agree: Floats

    @classmethod
    def of(cls, panel: Panel) -> Others:
        """All labels of the item but the judge's own, the repeated ones too."""
        key = panel.judge * panel.items.height + panel.item
        _, first, pair = np.unique(key, return_index=True, return_inverse=True)
        own = label_counts(pair, panel.grade, len(first), panel.levels)
        votes = panel.counts()[panel.item[first]] - own
        n = votes.sum(axis=1)
        somebody = n > 0
        mean = np.divide(votes @ panel.grades, n, out=np.full(len(n), np.nan), where=somebody)
        most = votes == votes.max(axis=1, keepdims=True)
        credit = np.where(somebody[:, None], most / most.sum(axis=1, keepdims=True), np.nan)
        return cls(n[pair], mean[pair], credit[pair, panel.grade])


def reliability(panel: Panel) -> float:
    """How much of the spread of labels is between documents, not between judges of one: the intraclass correlation.

    0 when labels have nothing to do with the documents, 1 when all judges agree; NaN when nothing can be compared.
    """
    if not 1 < len(np.unique(panel.item)) < len(panel.item):
        return float("nan")
    within, between = variance_components(panel.item, panel.value)
    return between / (between + within) if between + within > 0 else float("nan")
