"""What a measure and users say of pairs, in signs: tables of both, as many ties in them as are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karat.stats.arrays import Floats, Ints


def sign_tables(
    apart: Floats, sign: Ints, shares: Sequence[float], times: Floats, *, counted: Floats | None = None
) -> tuple[Floats, Floats]:
    """Cross tables of a measure's signs and users' signs when the measure ties on a share of the pairs.

    >>> users = np.array([[0], [-1], [1], [-1]])
    >>> tables, t = sign_tables(np.array([0.1, -0.2, 0.3, 0.4]), users, [0.25], np.ones((1, 4)))
    >>> tables[0, 0, 0].tolist(), t[0].tolist()
    ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], [0.1])

    For users' signs (pairs x kinds of preference) and weights (draws x pairs), the tables are shares x kinds x draws
    x 3 x 3: rows are the measure's -1, 0, 1, columns the users'. A pair ties when its difference is at most t (shares x
    draws), with which the share of ties comes nearest to the wanted one (of two equally near ones the smaller);
    differences of 0 always tie. `counted` are other weights for the tables than those that t is found with.
    """
    counted = times if counted is None else counted
    size = _but_for_rounding(np.abs(apart))
    order = np.argsort(size, kind="stable")
    in_order = size[order]
    running = np.cumsum(times[:, order], axis=1)
    # Pairs of one size tie together: a share of ties can only be one of these.
    last = np.flatnonzero(np.diff(in_order, append=np.inf) > 0)
    steps, attained = in_order[last], running[:, last]
    if not len(steps) or steps[0] > 0:
        steps, attained = np.append(0.0, steps), np.column_stack([np.zeros(len(times)), attained])
    kinds = sign.shape[1]
    said = (sign[:, :, None] == np.array([-1, 0, 1])).reshape(len(apart), -1).astype(np.float64)
    each = np.concatenate([said, said * (apart < 0)[:, None], said * (apart > 0)[:, None]], axis=1)
    everything = counted @ each
    tables = np.empty((len(shares), kinds, len(times), 3, 3))
    t = np.zeros((len(shares), len(times)))
    for place, share in enumerate(shares):
        far = np.abs(attained - share * running[:, -1:])
        t[place] = steps[(far < far.min(axis=1, keepdims=True) + 1e-9).argmax(axis=1)]
        tied = (counted * (size <= t[place][:, None])) @ each
        untied = (everything - tied).reshape(len(times), 3, kinds, 3)
        found = np.stack([untied[:, 1], tied.reshape(len(times), 3, kinds, 3)[:, 0], untied[:, 2]], axis=1)
        tables[place] = found.transpose(2, 0, 1, 3)
    return tables, t


def _but_for_rounding(size: Floats) -> Floats:
    """Sizes that are equal but for rounding made equal: each group takes its smallest."""
    levels, place = np.unique(size, return_inverse=True)
    new = np.diff(levels, prepend=-np.inf) > 1e-10 * max(float(levels[-1]), 1e-300) if len(levels) else levels > 0
    return levels[np.maximum.accumulate(np.where(new, np.arange(len(levels)), 0))][place]


def jaccard_of_signs(tables: Floats) -> Floats:
    """The Jaccard coefficient of two sets of statements "this pair: this sign": both by either.

    >>> jaccard_of_signs(np.array([[[2.0, 0, 0], [0, 0, 1], [0, 0, 1]]])).tolist()
    [0.6]
    """
    agreeing = np.trace(tables, axis1=-2, axis2=-1)
    found: Floats = agreeing / (2 * tables.sum(axis=(-2, -1)) - agreeing)
    return found
