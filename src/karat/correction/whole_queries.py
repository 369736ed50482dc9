"""Corrected scores of measures that are no sums: gold labels for all documents of some queries.

What one label does to nDCG, AP, RR or ERR depends on the others, so the unit that is drawn is the query: its score by
gold labels against its score by the judge's labels.

Reference: the regression estimator of survey sampling (Cochran, Sampling Techniques, 1977, chapter 7); PPI++
(Angelopoulos, Duchi and Zrnic 2023).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.calibration import Evidence
from karat.correction.estimate import Estimate
from karat.correction.gold_sample import Gold
from karat.correction.imputed_scores import drawn_lists
from karat.correction.pool import shown
from karat.errors import Undefined
from karat.measures.scorer import Scorer
from karat.records import Runs
from karat.records.result import Caution
from karat.records.table import count
from karat.stats.arrays import Bools, Floats

#: The judge's weight and what is left of its errors cannot be told from fewer gold queries.
FEWEST = 4
#: With fewer gold queries than these that contradict the judge, the interval allows for one more.
CONTRADICTING = 3


def whole_queries(
    systems: tuple[str, ...],
    judged: Floats,
    gold: Floats,
    drawn: Bools,
    *,
    n_gold: int,
    fixed: bool = False,
    settled: Bools | None = None,
    hidden: Floats | None = None,
) -> Estimate:
    """Scores of all systems from every query's score by the judge and some queries' score by gold labels.

    >>> judged = np.array([[0.1, 0.3], [0.5, 0.4], [0.3, 0.6], [0.2, 0.2], [0.6, 0.9], [0.4, 0.3]])
    >>> gold = judged + np.array([[0.1, 0.1], [0.0, 0.1], [0.1, 0.2], [0.0, 0.1], [0, 0], [0, 0]])
    >>> drawn = np.array([True, True, True, True, False, False])
    >>> whole_queries(("a", "b"), judged, gold, drawn, n_gold=40).n_queries
    6

    `judged` and `gold` have a row per query and a column per system; rows of `gold` count where `drawn`. The judge is
    weighed by how well it predicts the differences; where it does not, the gold queries stand alone. `fixed` is for
    these queries only. `settled` queries show nothing that anybody labelled: gold labels would change nothing there.
    `hidden` is how far the gold queries' mean scores vary with documents that have no gold label: their covariance.
    """
    open_ = np.ones(len(judged), bool) if settled is None else ~settled
    drawn = drawn & open_
    queries, asked, n = len(judged), int(open_.sum()), int(drawn.sum())
    if n < (2 if n == asked else FEWEST):
        raise Undefined(
            f"{n} of {asked} queries {'has' if n == 1 else 'have'} gold labels for every labelled document that the "
            f"systems show, and this measure needs whole queries: at least {min(FEWEST, max(asked, 2))} "
            f"({advise('karat plan gold --whole-queries', 'plan_gold_queries')} draws them); nDCG, P, DCG, RBP, RR and "
            "ERR can be corrected from single documents"
        )
    weight = _weight(judged[drawn], gold[drawn])
    error = gold[drawn] - weight * judged[drawn]
    offset = error.mean(axis=0)
    # The mean of these values is the estimate, and their spread has both parts: queries, and gold for some only.
    values = np.where(open_[:, None], weight * judged + offset, judged)
    values[drawn] += (asked / n) * (error - offset)
    notes = [f"corrected by whole queries: gold labels for {n:,} of {asked:,} queries"]
    if n < asked and weight == 0.0:
        notes.append("the labels do not predict the gold scores: the verdict rests on the gold queries alone")
    if n < 10:
        notes.append(Caution(f"gold labels for {n} queries only: the interval is a guess"))
    unseen, contradicting = _unseen(judged, gold[drawn], judged[drawn]), _contradicting(judged[drawn], gold[drawn])
    if n == asked or contradicting >= CONTRADICTING:
        unseen = np.zeros_like(unseen)
    elif unseen.any():
        notes.append(
            f"gold labels contradict the judge in {contradicting} of {n} queries: the interval allows for one more"
        )
    size, chance = len(systems), (1 / n - 1 / asked) * (asked / queries) ** 2
    fitted = weight > 0 and n < asked
    df = np.full((size, size), n - (2.0 if fitted else 1.0))
    estimate = Estimate.of_values("ppi", systems, values, df=df, n_gold=n_gold, notes=tuple(notes))
    drawing = np.atleast_2d(np.cov(error, rowvar=False)) * chance
    # The judge's weight was fitted on the same few queries (Cochran's 1 + 1/(n - 3), and a degree of freedom).
    widened = drawing * ((n - 1) / (n - 3) if fitted else 1.0) + unseen * chance
    if hidden is not None:
        widened = widened + hidden * (asked / queries) ** 2
    if fixed:
        known = np.full((size, size), n == asked and (hidden is None or np.ptp(hidden) < 1e-18))
        return replace(estimate, covariance=widened, values=None, known=known)
    spread = estimate.covariance - drawing
    if asked == queries:
        spread = np.atleast_2d(np.cov(gold[drawn], rowvar=False)) / queries
    # Tests on the values would not know what was not seen.
    return replace(estimate, covariance=spread + widened, values=None if unseen.any() else values)


def _contradicting(judged: Floats, gold: Floats) -> int:
    """In how many gold queries the systems differ otherwise than the judge has it."""
    error = gold - judged
    return int(((np.ptp(error, axis=1) if error.shape[1] > 1 else np.abs(error[:, 0])) > 1e-9).sum())


def _unseen(*scores: Floats) -> Floats:
    """What a query like none of the gold ones could add to the variance: as large a difference as was seen anywhere.

    By the rule of succession there is one such query in n + 2, n the number of gold queries (the last scores).
    """
    size, n = scores[0].shape[1], len(scores[-1])
    if size == 1:
        largest = max(float(np.abs(each).max()) for each in scores)
        return np.array([[largest**2 / (n + 2)]])
    largest = max(float(np.ptp(each, axis=1).max()) for each in scores)
    return np.eye(size) * largest**2 / (2 * (n + 2))


def _weight(judged: Floats, gold: Floats) -> float:
    """The judge's weight: covariance with gold by the judge's variance, over the differences between systems."""
    if judged.shape[1] > 1:
        judged, gold = judged - judged.mean(axis=1, keepdims=True), gold - gold.mean(axis=1, keepdims=True)
    judged, gold = judged - judged.mean(axis=0), gold - gold.mean(axis=0)
    spread = float((judged**2).sum())
    return max(float((judged * gold).sum()) / spread, 0.0) if spread > 0 else 0.0


#: More queries than this share with gold for some documents only: documents were drawn, not queries.
PARTLY = 0.2


def documents_were_drawn(runs: Runs, scorer: Scorer, gold: Gold, queries: list[str]) -> bool:
    """Whether single documents have gold labels, rather than all that the systems show of some queries."""
    try:
        drawn, _ = _whole(_pairs(runs, scorer, queries), scorer, gold, queries)
    except Undefined:
        return True
    return not drawn.any()


def by_whole_queries(
    runs: Runs,
    scorer: Scorer,
    gold: Gold,
    queries: list[str],
    judged: Floats,
    evidence: Evidence | None,
    *,
    fixed: bool,
) -> Estimate:
    """Scores corrected by the queries whose shown documents all have a gold label.

    With `evidence`, what the best list could hold beyond the gold labels is drawn as the calibrated judge expects it,
    and how far the scores vary with it belongs to the interval.
    """
    pairs, systems = _pairs(runs, scorer, queries), tuple(runs.systems)
    drawn, settled = _whole(pairs, scorer, gold, queries)
    if not drawn.any():
        return whole_queries(systems, judged, judged, drawn, n_gold=0, settled=settled)
    if evidence is not None:
        known = np.flatnonzero(~np.isnan(evidence.grade))
        lists = drawn_lists(runs, scorer, evidence, known)
        scores = lists.by_query(lists.scores(), queries)
        by_gold = scores.mean(axis=0)
        hidden = np.atleast_2d(np.cov(scores[:, drawn].mean(axis=1), rowvar=False))
    else:
        by_gold, hidden = _gold_scores(runs, scorer, gold, queries, drawn), None
    chosen = [query for query, one in zip(queries, drawn, strict=True) if one]
    used = gold.frame.join(pairs.filter(pl.col("query").is_in(chosen)), on=["query", "doc"], how="semi").height
    return whole_queries(systems, judged, by_gold, drawn, n_gold=used, fixed=fixed, settled=settled, hidden=hidden)


def _pairs(runs: Runs, scorer: Scorer, queries: list[str]) -> pl.DataFrame:
    return shown(runs, queries, scorer.profile, scorer.measures[0].cutoff).select("query", "doc").unique()


def _whole(pairs: pl.DataFrame, scorer: Scorer, gold: Gold, queries: list[str]) -> tuple[Bools, Bools]:
    """Which queries have a gold label for every document that the systems show and the judge labelled.

    And which show no such document: there, gold labels would change nothing.
    """
    _refuse_drawn_documents(gold)
    labelled = scorer.topics.judged.select("query", "doc").with_columns(labelled=True)
    known = gold.frame.select("query", "doc").with_columns(gold=True)
    seen = pairs.join(labelled, on=["query", "doc"], how="left").join(known, on=["query", "doc"], how="left")
    by_query = seen.group_by("query").agg(
        pl.col("labelled").is_not_null().any().alias("asks"),
        pl.col("gold").is_not_null().any().alias("some"),
        (pl.col("gold").is_not_null() | pl.col("labelled").is_null()).all().alias("all"),
    )
    known_queries = pl.DataFrame({"query": queries}).join(by_query, on="query", how="left", maintain_order="left")
    some, every = known_queries["some"].fill_null(False), known_queries["all"].fill_null(True)
    drawn = (some & every).to_numpy()
    partly = int((some & ~every).sum())
    plan = advise("karat plan gold --whole-queries", "plan_gold_queries")
    if partly > PARTLY * (partly + int(drawn.sum())):
        raise Undefined(
            f"{count(partly, 'query has', 'queries have')} gold labels for some of the documents, and "
            f"{int(drawn.sum()):,} for all: as if documents had been drawn, not queries, and this measure needs gold "
            f"labels for whole queries ({plan} draws them); nDCG, P, DCG, RBP, RR and ERR can be corrected from single "
            "documents"
        )
    return drawn, ~(known_queries["asks"].fill_null(False) | some).to_numpy()


def _refuse_drawn_documents(gold: Gold) -> None:
    """Whole queries must have been drawn, all with the same chance; single documents cannot stand for them."""
    if gold.has_probability and gold.frame["probability"].n_unique() > 1:
        plan = advise("karat plan gold --whole-queries", "plan_gold_queries")
        raise Undefined(
            "the gold labels were drawn document by document, with different probabilities, and this measure needs "
            f"gold labels for whole queries ({plan} draws them); nDCG, P, DCG, RBP, RR and ERR can be corrected from "
            "these"
        )


def _gold_scores(runs: Runs, scorer: Scorer, gold: Gold, queries: list[str], drawn: Bools) -> Floats:
    """The scores of the drawn queries by their gold labels; the top grade stays that of all labels.

    Documents that no system shows, and nobody relabelled, keep the judge's label in what the best list could hold.
    """
    chosen = [query for query, one in zip(queries, drawn, strict=True) if one]
    mine = gold.labels.frame.filter(pl.col("query").is_in(chosen))
    rest = scorer.topics.judged.filter(pl.col("query").is_in(chosen)).join(mine, on=["query", "doc"], how="anti")
    labels = replace(gold.labels, frame=pl.concat([mine, rest.select(mine.columns)]))
    by_gold = Scorer(labels, scorer.measures, profile=scorer.profile, complete=scorer.complete, draws=0)
    top = max(scorer.topics.top or 0.0, by_gold.topics.top or 0.0)
    by_gold.topics = replace(by_gold.topics, top=top, _memo={})
    scores = by_gold.score(runs)
    name = scores.measures[0]
    wide = scores.queries.select("system", "query", name).pivot("system", index="query", values=name)
    frame = pl.DataFrame({"query": queries}).join(wide, on="query", how="left", maintain_order="left")
    return frame.select(runs.systems).fill_null(0.0).to_numpy().astype(np.float64)
