"""Geometric means over queries: the queries that go badly count most.

The value of a query is a logarithm, as in trec_eval's lines for queries; the mean over queries is taken back from it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from karat.measures.base import Mean, measure
from karat.measures.binary import AP
from karat.measures.lists import Lists
from karat.measures.pooled import Bpref
from karat.stats.arrays import Floats

#: trec_eval's least value: the logarithm of 0 is none.
LEAST = 0.00001


def _log(values: Floats) -> Floats:
    logarithm: Floats = np.log(np.maximum(values, LEAST))
    return logarithm


@measure
class GMAP(AP):
    """The geometric mean of AP over queries; a query's own value is the logarithm of its AP.

    >>> str(GMAP())
    'GMAP'

    For users who mind a search that fails more than they enjoy one that is very good: from 0.05 to 0.10 counts as much
    as from 0.40 to 0.80. An AP below 0.00001 counts as that.
    Reference: Robertson (CIKM 2006); trec_eval's `gm_map`.
    """

    mean: ClassVar[Mean] = "geometric"
    bounded: ClassVar[bool] = False

    def score(self, lists: Lists) -> Floats:
        """The logarithm of AP."""
        return _log(super().score(lists))


@measure
class gm_Bpref(Bpref):
    """The geometric mean of Bpref over queries; a query's own value is the logarithm of its Bpref.

    >>> str(gm_Bpref())
    'gm_Bpref'

    Reference: trec_eval's `gm_bpref`.
    """

    mean: ClassVar[Mean] = "geometric"

    def score(self, lists: Lists) -> Floats:
        """The logarithm of Bpref."""
        return _log(super().score(lists))
