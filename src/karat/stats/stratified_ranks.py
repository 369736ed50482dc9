"""Do chosen items rank higher than the others of their stratum? And could a kind of item have been missed by chance?"""

from __future__ import annotations

import numpy as np

from karat.stats.arrays import Bools, Floats, Ints


def stratified_rank_test(values: Floats, chosen: Bools, stratum: Ints) -> tuple[float, float]:
    """Test whether chosen items have higher or lower values than the others of their stratum: z and p.

    >>> values, chosen = np.tile(np.arange(6.0), 20), np.tile([False, False, False, True, True, True], 20)
    >>> z, p = stratified_rank_test(values, chosen, np.repeat(np.arange(20), 6))
    >>> bool(z > 0), bool(p < 0.001)
    (True, True)

    Van Elteren's stratified Wilcoxon test with middle ranks for ties: given how many items of each stratum were chosen,
    every choice of as many is equally likely. With values of 0 and 1 it is the Cochran-Mantel-Haenszel test. NaN
    where no stratum has both kinds of items with different values.

    Reference: van Elteren (Bulletin of the ISI 1960); Mantel (JASA 1963).
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata

    known = ~np.isnan(values)
    values, chosen, stratum = values[known], chosen[known], stratum[known]
    shift = spread = 0.0
    for one in np.unique(stratum):
        mine = stratum == one
        size, taken = int(mine.sum()), int(chosen[mine].sum())
        if not 0 < taken < size:
            continue
        score = rankdata(values[mine]) / (size + 1)
        shift += float(score[chosen[mine]].sum() - taken * score.mean())
        spread += taken * (size - taken) / (size * (size - 1)) * float(((score - score.mean()) ** 2).sum())
    if spread <= 1e-12:
        return np.nan, np.nan
    z = shift / np.sqrt(spread)
    return float(z), float(2 * ndtr(-abs(z)))


def probability_of_none(kind: Bools, chosen: Bools, stratum: Ints) -> float:
    """The probability that no item of a kind is chosen, if every choice of as many of each stratum is equally likely.

    >>> kind, chosen = np.array([True, True, False, False]), np.array([False, False, True, True])
    >>> round(probability_of_none(kind, chosen, np.zeros(4, dtype=np.int64)), 4)
    0.1667
    """
    from scipy.special import gammaln

    def log_choose(n: Floats, k: Floats) -> Floats:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)

    strata = int(stratum.max(initial=-1)) + 1
    size, taken, of_kind = (
        np.bincount(stratum[rows], minlength=strata).astype(np.float64)
        for rows in (np.ones(len(kind), np.bool_), chosen, kind)
    )
    rest = size - of_kind
    if (taken > rest).any():
        return 0.0
    return float(np.exp((log_choose(rest, taken) - log_choose(size, taken)).sum()))
