"""Gold labels for whole queries: which queries have them, and their scores by them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import Undefined
from karat.estimate.drawn_ndcg import drawn_lists
from karat.estimate.estimate import Estimate
from karat.estimate.evidence import Evidence
from karat.estimate.gold_sample import Gold
from karat.estimate.pool import shown
from karat.estimate.whole_queries import whole_queries
from karat.records import Runs
from karat.records.base import count
from karat.scoring.scorer import Scorer
from karat.stats.arrays import Bools, Floats

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
