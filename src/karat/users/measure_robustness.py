"""Would another judge's labels have given the same score? The robustness of measures against disagreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.level_votes import level_of, levels_of, top_level_notes, used, votes, with_names
from karat.labels import Panel
from karat.measures import Gains
from karat.measures.graded import DiscountLike, discount_named
from karat.records import LabelsLike, Result
from karat.records.scale import nothing_below
from karat.records.table import count
from karat.stats import ratio
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Floats, Ints
from karat.stats.beta_binomial import binomial_tail


def tied_gap(tables: Floats, worth: Floats) -> Floats:
    """The GAP of each ranking, with what the scoring levels are worth; with 0 and 1 it is AP. NaN if none is worth any.

    >>> tied_gap(np.array([[[1, 0], [1, 1]]]), np.array([1.0, 0.0])).round(4).tolist()  # 1, then 1 and 0 in any order
    [0.9167]
    """
    found, best = np.zeros(len(tables)), np.zeros(len(tables))
    steps = np.unique(np.append(worth, 0.0))
    for low, high in pairwise(steps):
        relevant = tables[:, :, worth >= high].sum(axis=2)
        found += (high - low) * _precisions(tables.sum(axis=2), relevant)
        best += (high - low) * relevant.sum(axis=1)
    return _by(found, best)


def tied_ndcg(tables: Floats, worth: Floats, discount: DiscountLike = "log2") -> Floats:
    """The nDCG of each ranking, with what the scoring levels are worth; NaN where nothing is.

    >>> tied_ndcg(np.array([[[1, 0], [1, 1]]]), np.array([1.0, 0.0]), "zipf").round(4).tolist()
    [0.9444]

    That is (1 + (1/2 + 1/3) / 2) / (1 + 1/2).
    """
    size, best = tables.sum(axis=2), np.argsort(-worth, kind="stable")
    ranks = np.arange(1, int(size.sum(axis=1).max(initial=0)) + 1)
    sums = np.append(0.0, np.cumsum(discount_named(discount)(ranks)))
    mean = _by(tables @ worth, size, 0.0)
    gained = (mean * _between(sums, size)).sum(axis=1)
    return _by(gained, _between(sums, tables.sum(axis=1)[:, best]) @ worth[best])


def _precisions(size: Floats, relevant: Floats) -> Floats:
    """The precisions at the relevant documents of each ranking, summed; groups of ties in columns, best first."""
    before, found = np.cumsum(size, axis=1) - size, np.cumsum(relevant, axis=1) - relevant
    harmonic = np.append(0.0, np.cumsum(1 / np.arange(1, int(size.sum(axis=1).max(initial=0)) + 1)))
    # At place i of a group a document is relevant by chance r/n; so are, by (r-1)/(n-1), those of the group above it.
    share, others = _by(relevant, size, 0.0), _by(relevant - 1, size - 1, 0.0)
    ranks = _between(harmonic, size)
    precisions: Floats = (share * ((found + 1) * ranks + others * (size - (before + 1) * ranks))).sum(axis=1)
    return precisions


def _between(sums: Floats, size: Floats) -> Floats:
    """What a running sum over ranks gains within each of the groups that follow each other."""
    end = np.cumsum(size, axis=1).astype(np.int64)
    return sums[end] - sums[end - size.astype(np.int64)]


def _by(part: Floats, whole: Floats, otherwise: float = np.nan) -> Floats:
    out = np.full(np.shape(part), otherwise)
    np.divide(part, whole, out=out, where=whole > 0)
    return out


#: What a measure makes of tables of two judges' levels and of what a level is worth.
Score = Callable[[Floats, Floats], Floats]
#: One of so many users should find a document good: the weights that are looked at.
USERS = (2, 3, 4)


def robustness(labels: LabelsLike, top: float | None = None, *, all_labels: bool = False) -> Result:
    """Scores of one judge's perfect ranking by another judge's labels, mean and sd over queries.

    >>> rows = [{"query": q, "doc": d, "judge": j, "label": label} for q in "12" for j, given in
    ...         {"x": [2, 1, 0], "y": [1, 2, 0]}.items() for d, label in zip("abc", given)]
    >>> robustness(rows).frame.row(0)[:2]
    ('AP(rel=2)', 0.5)

    For each query and every two judges with documents in common, these are ranked by the one's labels (ties in any
    order) and scored with the other's, both ways round; queries count alike, however many judges they have. Where the
    labels that score hold nothing of worth to a measure, it says nothing of that ranking, which is left out. A measure
    is robust when the score is high and varies little. User disagreement weights are estimated from the other queries;
    grades above `top` count as top. (The paper's Table 2.) Where a further judge was asked only when the first two
    differed, these two count (unless `all_labels`).

    Reference: Demeester et al. (WSDM 2014), section 5.2.
    """
    panel = with_names(Panel.of(labels).of_judges(), "paired judgments")
    levels = levels_of(panel, top)
    panel = used(panel, all_labels=all_labels)
    query, tables = _tables(panel, levels)
    if not len(query):
        raise Undefined("no query was judged by two judges: robustness cannot be told")
    queries, top_alone = panel.n_queries, np.arange(len(levels)) == len(levels) - 1
    wanted = np.tile(top_alone.astype(np.float64), (queries, 1))
    exp = np.tile(Gains.of("exp").apply(np.array(levels)), (queries, 1))
    users = {f"(gains=udm(1/{n}))": _weights(panel, levels, n) for n in USERS}
    measures: dict[str, tuple[Score, Floats]] = {
        f"AP(rel={levels[-1]:g})": (tied_gap, wanted),
        **{f"GAP{gains}": (tied_gap, worth) for gains, worth in users.items()},
        "nDCG(gains='exp',discount='zipf')": (partial(tied_ndcg, discount="zipf"), exp),
        "nDCG(gains='exp')": (tied_ndcg, exp),
        **{f"nDCG{gains}": (tied_ndcg, worth) for gains, worth in users.items()},
    }
    rows = [(name, *_summary(_scores(score, tables, worth, query), query)) for name, (score, worth) in measures.items()]
    table = pl.DataFrame(rows, schema=["measure", "mean", "sd", "n", "n_queries"], orient="row")
    varied = table.filter(pl.col("sd").is_not_nan()).sort("sd")
    if not varied.height:
        raise Undefined("no measure finds anything that counts in two rankings: how they vary cannot be told")
    best = varied.row(0, named=True)
    finding = (
        f"{best['measure']} varies least between judges: mean {best['mean']:.3f}, sd {best['sd']:.3f} over "
        f"{count(best['n_queries'], 'query', 'queries')} ranked by one judge and scored by another."
    )
    notes = [*panel.notes, *top_level_notes(panel, levels[-1])]
    notes.append("ties in any order; to users, levels up to 0, or the lowest, are worth nothing")
    left = table.filter(pl.col("n") < len(query)).group_by("n", maintain_order=True).agg(pl.col("measure"))
    notes += [
        f"{len(query) - n:,} of {count(len(query), 'ranking')} left out for {', '.join(names)}: the labels that score "
        "hold nothing that counts, or a level that other queries do not tell of"
        for n, names in left.iter_rows()
    ]
    return Result(table, finding, tuple(notes))


def _tables(panel: Panel, levels: Sequence[float]) -> tuple[Ints, Floats]:
    """The levels of every two judges with two documents or more of a query in common, both ways round.

    The query of each table, and how many documents the one gave the level (rows, best first) and the other that one.
    """
    columns = {"query": panel.query, "item": panel.item, "judge": panel.judge, "level": level_of(panel, levels)}
    frame = pl.DataFrame(columns).unique(["item", "judge"], keep="first", maintain_order=True)
    both = frame.join(frame, on=["query", "item"], suffix="_other").filter(pl.col("judge") != pl.col("judge_other"))
    two = ["query", "judge", "judge_other"]
    both = both.filter(pl.len().over(two) >= 2).sort(two)
    place = both.select(pl.struct(two).rle_id()).to_series().to_numpy().astype(np.int64)
    query = both["query"].to_numpy()[np.unique(place, return_index=True)[1]]
    size = len(levels)
    cell = ((size - 1 - both["level"].to_numpy()) * size + both["level_other"].to_numpy()).astype(np.int64)
    return query, label_counts(place, cell, len(query), size * size).reshape(-1, size, size)


def _weights(panel: Panel, levels: Sequence[float], of: int) -> Floats:
    """What each level is worth for 1 of so many users, by the other queries: queries x levels, NaN if unknown."""
    v = votes(panel, levels)
    if v.n_queries < 2:
        raise Undefined("no two queries with two judges each: weights from other queries cannot be told")
    given, (told, asked) = v.by_query(v.counts.astype(np.float64)), v.sums
    # Whether other queries have the level is told by whole numbers: a difference of sums is hardly ever 0.
    elsewhere = given.sum(axis=0) > given
    p = ratio(told.sum(axis=0) - told, np.where(elsewhere, asked.sum(axis=0) - asked, 0.0))
    worth = np.full((panel.n_queries, len(levels)), np.nan)
    for query, mine in zip(v.queries, p.clip(0, 1), strict=True):
        # One of them is enough, and with a top label it is there.
        found = [*binomial_tail(1, of - 1, mine[:-1]).tolist(), 1.0]
        worth[query] = list(nothing_below(dict(zip(levels, found, strict=True))).values())
    return worth


def _scores(score: Score, tables: Floats, worth: Floats, query: Ints) -> Floats:
    """The score of each ranking; NaN where it holds a level of unknown worth."""
    values = np.full(len(query), np.nan)
    for number in np.unique(query):
        mine, unknown = query == number, np.isnan(worth[number])
        found = score(tables[mine], np.nan_to_num(worth[number]))
        values[mine] = np.where(tables[mine][:, :, unknown].sum(axis=(1, 2)) > 0, np.nan, found)
    return values


def _summary(values: Floats, query: Ints) -> tuple[float, float, int, int]:
    """Mean and sd, a query's rankings sharing its weight; how many rankings and queries."""
    known = ~np.isnan(values)
    values, place = values[known], np.unique(query[known], return_inverse=True)[1]
    n, queries = len(values), int(place.max(initial=-1)) + 1
    if not n:
        return np.nan, np.nan, 0, 0
    weight = 1 / np.bincount(place)[place]
    mean = float(np.average(values, weights=weight))
    sd = np.sqrt(np.average((values - mean) ** 2, weights=weight) * n / (n - 1)) if n > 1 else np.nan
    return mean, float(sd), n, queries
