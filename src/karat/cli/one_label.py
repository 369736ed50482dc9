"""One label for each document as `--consensus` names it: the median, majority or mean, or what an error model says."""

from __future__ import annotations

from typing import cast

from karat.labels import consensus
from karat.labels.consensus import How
from karat.records import Judgments


def one_label_each(labels: Judgments, how: str) -> Judgments:
    """The labels of several judges as one for each document.

    >>> said = {"ann": [0, 1, 0, 1, 0, 1], "bob": [0, 1, 0, 1, 0, 1], "eve": [1, 0, 1, 0, 1, 1]}
    >>> labels = Judgments.of([{"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
    ...                        for judge, given in said.items() for i, label in enumerate(given)])
    >>> one_label_each(labels, "dawid-skene").frame["label"].to_list()
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    """
    from karat.comparison.prepared import error_model  # most conversions need no fit

    model = error_model(labels, how)
    return consensus(labels, cast(How, how)) if model is None else model.labels()
