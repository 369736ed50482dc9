"""What a measure and users say of pairs, in signs: tables of both, as many ties in them as are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from karat.context import label_in_context
from karat.context.labelling import source_named
from karat.errors import BadInput
from karat.records import Judgments, Runs
from karat.records.judgments import MADE
from karat.records.table import count
from karat.stats.agreement_coefficients import cohen_kappa
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


#: Parts of the queries, each held out in turn.
FOLDS = 5


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The part of each pair's query, and the share of ties that was chosen for each part on all the others."""

    fold: Ints
    share: Floats

    @property
    def mean(self) -> float:
        """The share of ties that pairs were asked for, on the mean."""
        return float(self.share[self.fold].mean())

    def tables(self, apart: Floats, sign: Ints, times: Floats) -> tuple[Floats, Floats]:
        """Tables of signs as `sign_tables` has them, and thresholds: every part with the share chosen without it."""
        number = np.bincount(self.fold, minlength=len(self.share))
        parts = [
            sign_tables(apart, sign, [share], times, counted=times * (self.fold == part))
            for part, share in enumerate(self.share)
        ]
        whole: Floats = np.sum([tables for tables, _ in parts], axis=0)
        reach: Floats = np.average([t for _, t in parts], axis=0, weights=number)
        return whole, reach


def best_for_both(apart: Floats, sign: Ints, query: Ints, shares: Sequence[float], *, seed: int) -> HeldOut | None:
    """The share of ties with the highest kappas, for each part of the queries chosen on the other parts.

    >>> apart = np.tile([[3.0], [0.1], [-0.2], [-2.0]], (5, 1))
    >>> users = np.tile([[1, 1], [1, 0], [1, 0], [-1, -1]], (5, 1))
    >>> best_for_both(apart, users, np.repeat(np.arange(5), 4), [0.0, 0.5, 1.0], seed=0).share.tolist()
    [0.5, 0.5, 0.5, 0.5, 0.5]

    `apart` is pairs x measures, `sign` pairs x (weak, strong). One share serves all measures, as in the paper: that
    with the highest sum of both kappas, on the mean over the measures (of equally good ones the smallest). Kappa, and
    not the share of agreement, is maximised: where users mostly tie, tying always would win by the latter. None where
    there are fewer than two queries.
    """
    queries = np.unique(query)
    folds = min(FOLDS, len(queries))
    if folds < 2:
        return None
    fold = (np.random.default_rng(seed).permutation(len(queries)) % folds)[np.searchsorted(queries, query)]
    others = (fold[None, :] != np.arange(folds)[:, None]).astype(np.float64)
    worth = np.zeros((len(shares), folds))
    for column in apart.T:
        tables, _ = sign_tables(column, sign, shares, others)
        worth += np.nan_to_num(cohen_kappa(tables)).sum(axis=1)
    best = (worth >= worth.max(axis=0) - 1e-12).argmax(axis=0)
    return HeldOut(fold, np.asarray(shares, dtype=np.float64)[best])


#: What labels are called that are taken as they were given.
GIVEN = "as given"


def labels_by_source(
    judged: Judgments, runs: Runs, sources: Sequence[str], *, depth: int, model: str, documents: Any, seed: int
) -> tuple[dict[str, Judgments], list[str]]:
    """Labels for each of the sources, the best that may stand in for a judge; as they are where none is named.

    >>> rows = [{"query": "q", "doc": doc, "label": 1} for doc in "ab"]
    >>> rows.append({"query": "q", "doc": "b", "label": 0, "context": "a"})
    >>> runs = Runs.of({"q": {"a": 2.0, "b": 1.0}})
    >>> how = {"depth": 5, "model": "grades", "documents": None, "seed": 0}
    >>> made, _ = labels_by_source(Judgments.of(rows), runs, ["judged"], **how)
    >>> made["judged"].frame.height
    3
    """
    if not sources:
        return {GIVEN: judged}, []
    if not judged.has("context"):
        raise BadInput.at(
            "the labels",
            expected="some in context, to compare their sources",
            found="no column context with a document in it",
            remedy="leave the sources out",
        )
    wanted = list(dict.fromkeys(source_named(name) for name in sources))
    notes = []
    if judged.has("source"):
        kept = judged.frame.filter(~pl.col("source").is_in(list(MADE)).fill_null(False))
        if kept.height < judged.frame.height:
            notes.append(f"{count(judged.frame.height - kept.height, 'label')} that no judge gave: made anew by source")
            judged = replace(judged, frame=kept)
    made = {
        name: label_in_context(judged, runs, depth=depth, model=model, source=name, documents=documents, seed=seed)
        for name in wanted
    }
    every = [set(labels.notes) for labels in made.values()]
    for name, labels in made.items():
        notes += [note if all(note in told for told in every) else f"{name}: {note}" for note in labels.notes]
    return made, list(dict.fromkeys(notes))
