"""The pool of a simulated comparison, as its labels, gold labels and runs would give it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.correction.pool import Pool
from karat.simulate import TwoSystems


def pool_of_study(
    study: TwoSystems, drawn: npt.NDArray[np.bool_], probability: npt.NDArray[np.float64] | float
) -> Pool:
    """Two systems measured by P@k, with gold labels of the documents drawn."""
    return Pool(
        systems=("A", "B"),
        queries=tuple(map(str, range(study.queries))),
        docs=pl.DataFrame(),
        query=study.query,
        weight=(study.rank > 0) / study.depth,
        rank=study.rank.max(axis=1),
        predicted=study.label,
        gold=np.where(drawn, study.truth, np.nan),
        probability=np.where(drawn, probability, np.nan),
    )
