"""What everybody else said about the same document: a judge must not be compared with a majority they are part of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.judges.answers import Answers, Floats
from karat.stats import totals


@dataclass(frozen=True, eq=False)
class Others:
    """For each label: how many labels other judges gave to the item, how they spread, and what they mean.

    >>> from karat.records import Judgments
    >>> answers = Answers.of(Judgments.of([
    ...     {"query": "q", "doc": "d", "label": 2, "judge": "ann"},
    ...     {"query": "q", "doc": "d", "label": 0, "judge": "bob"},
    ...     {"query": "q", "doc": "d", "label": 2, "judge": "eve"}]))
    >>> others = Others.of(answers)
    >>> others.mean.tolist(), others.agree.tolist()
    ([1.0, 2.0, 1.0], [0.5, 0.0, 0.5])
    """

    n: Floats
    #: The mean grade of the others' labels, NaN without any.
    mean: Floats
    #: Whether the label is the others' most frequent one; shared out where several are, NaN without others.
    agree: Floats

    @classmethod
    def of(cls, answers: Answers) -> Others:
        """All labels of the item but the judge's own, the repeated ones too."""
        key = answers.judge * answers.items.height + answers.item
        _, first, pair = np.unique(key, return_index=True, return_inverse=True)
        pairs = len(first)
        own = np.bincount(answers.grade * pairs + pair, minlength=answers.levels * pairs).reshape(-1, pairs)
        votes = answers.per_item[:, answers.item[first]] - own
        n = votes.sum(axis=0)
        somebody = n > 0
        mean = np.divide(np.sum(votes * answers.grades[:, None], axis=0), n, out=np.full(pairs, np.nan), where=somebody)
        most = votes == votes.max(axis=0)
        credit = np.where(somebody, most / most.sum(axis=0), np.nan)
        return cls(n[pair], mean[pair], credit[answers.grade, pair])


def reliability(answers: Answers) -> float:
    """How much of the spread of labels is between documents, not between judges of one: the intraclass correlation.

    0 when labels have nothing to do with the documents, 1 when all judges agree; NaN when nothing can be compared.
    """
    value = answers.grades[answers.grade]
    n = answers.per_item.sum(axis=0)
    several, labels = n > 1, len(value)
    items = answers.items.height
    if not several.any() or items < 2 or labels == items:
        return float("nan")
    mean = totals(answers.item, value, items) / n
    within = float(((value - mean[answers.item]) ** 2).sum()) / (labels - items)
    between = float((n * (mean - value.mean()) ** 2).sum()) / (items - 1)
    typical = (labels - float((n**2).sum()) / labels) / (items - 1)
    spread = max((between - within) / typical, 0.0)
    return spread / (spread + within) if spread + within > 0 else float("nan")
