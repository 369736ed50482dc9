"""What gold labels make of the scores, by every method that the measure and the gold sample allow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import Undefined
from karat.estimate.estimate import Estimate
from karat.estimate.gold_sample import Gold
from karat.estimate.inversion import independent, inversion
from karat.estimate.pool import Pool, shown
from karat.estimate.ppi import powered
from karat.estimate.scoring import Scorer
from karat.estimate.whole_queries import whole_queries
from karat.judges.error_model import ErrorModel
from karat.measures import Linear, Topics, is_linear
from karat.records import Runs
from karat.records.base import count

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


#: More queries than this share with gold for some documents only: documents were drawn, not queries.
PARTLY = 0.2


@dataclass(frozen=True, eq=False)
class WithGold:
    """Estimates by method, why a method gives none, and the pool they rest on where the measure is a sum."""

    estimates: dict[str, Estimate] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    pool: Pool | None = None
    notes: tuple[str, ...] = ()


def with_gold(
    runs: Runs,
    scorer: Scorer,
    gold: Gold,
    queries: list[str],
    judged: Floats,
    *,
    fixed: bool = False,
    model: ErrorModel | None = None,
) -> WithGold:
    """Corrected scores of these queries; `judged` are the scores by the labels as they are, a row per query.

    With an error `model` of several judges, a document counts with the gain to be expected from its posterior.
    """
    measure = scorer.measures[0]
    systems = tuple(runs.systems)
    if measure.diverse:
        none = f"{measure} looks at subtopics, and gold labels of documents say nothing about those"
        return WithGold(refused=dict.fromkeys(["ppi", "inversion", "inversion-independent"], none))
    if is_linear(measure):
        pool = Pool.of(runs, queries, measure, scorer.topics, scorer.profile, gold)
        by_grade = pool
        if model is not None:
            pool = pool.with_predicted(_expected_gain(pool, measure, model, scorer))
        methods: dict[str, Callable[[], Estimate]] = {
            "ppi": lambda: powered(pool, fixed=fixed),
            "inversion": lambda: inversion(by_grade, fixed=fixed),
            "inversion-independent": lambda: independent(inversion(by_grade, fixed=fixed)),
        }
        made, refused = _tried(methods)
        return WithGold(made, refused, by_grade, tuple(_unused(gold, pool.docs, queries)))
    pairs = shown(runs, queries, scorer.profile, measure.cutoff).select("query", "doc").unique()

    def by_query() -> Estimate:
        drawn, settled = _whole(pairs, scorer, gold, queries)
        if not drawn.any():
            return whole_queries(systems, judged, judged, drawn, n_gold=0, settled=settled)
        by_gold = _gold_scores(runs, scorer, gold, queries, drawn)
        chosen = [query for query, one in zip(queries, drawn, strict=True) if one]
        used = gold.frame.join(pairs.filter(pl.col("query").is_in(chosen)), on=["query", "doc"], how="semi").height
        return whole_queries(systems, judged, by_gold, drawn, n_gold=used, fixed=fixed, settled=settled)

    def not_for_this() -> Estimate:
        raise Undefined(f"{measure} is no sum over documents, so a confusion matrix cannot correct it")

    made, refused = _tried({"ppi": by_query, "inversion": not_for_this, "inversion-independent": not_for_this})
    return WithGold(made, refused, None, tuple(_unused(gold, None, queries)))


def _tried(methods: dict[str, Callable[[], Estimate]]) -> tuple[dict[str, Estimate], dict[str, str]]:
    made: dict[str, Estimate] = {}
    refused: dict[str, str] = {}
    for name, make in methods.items():
        try:
            made[name] = make()
        except Undefined as error:
            refused[name] = str(error)
    return made, refused


def _expected_gain(pool: Pool, measure: Linear, model: ErrorModel, scorer: Scorer) -> Floats:
    """The gain to be expected of each document: its grades' gains, each as probable as the error model has it."""
    grades = np.array(list(model.prior))
    gains = measure.worth(grades, scorer.topics, scorer.profile)
    columns = [f"p_{grade:g}" for grade in grades]
    known = pool.docs.select("query", "doc").join(
        model.posterior.select("query", "doc", *columns), on=["query", "doc"], how="left", maintain_order="left"
    )
    return np.asarray(known.select(columns).fill_null(0.0).to_numpy() @ gains, dtype=np.float64)


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
    if partly > PARTLY * (partly + int(drawn.sum())):
        raise Undefined(
            f"{partly:,} queries have gold labels for some of their documents and {int(drawn.sum()):,} for all: as if "
            "documents had been drawn, not queries, and this measure needs gold labels for whole queries (karat plan "
            "gold --whole-queries draws them); P, DCG and RBP can be corrected from single documents"
        )
    return drawn, ~(known_queries["asks"].fill_null(False) | some).to_numpy()


def _refuse_drawn_documents(gold: Gold) -> None:
    """Whole queries must have been drawn, all with the same chance; single documents cannot stand for them."""
    if gold.has_probability and gold.frame["probability"].n_unique() > 1:
        raise Undefined(
            "the gold labels were drawn document by document, with different probabilities, and this measure needs "
            "gold labels for whole queries (karat plan gold --whole-queries draws them); P, DCG and RBP can be "
            "corrected from these"
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
    by_gold.topics = _with_top(by_gold.topics, top)
    scores = by_gold.score(runs)
    name = scores.measures[0]
    wide = scores.queries.select("system", "query", name).pivot("system", index="query", values=name)
    frame = pl.DataFrame({"query": queries}).join(wide, on="query", how="left", maintain_order="left")
    return frame.select(runs.systems).fill_null(0.0).to_numpy().astype(np.float64)


def _with_top(topics: Topics, top: float) -> Topics:
    return replace(topics, top=top, _memo={})


def _unused(gold: Gold, shown_docs: pl.DataFrame | None, queries: list[str]) -> list[str]:
    """Gold labels that say nothing about this comparison: of other queries, or of documents that nobody shows."""
    notes = []
    strangers = gold.frame.filter(~pl.col("query").is_in(queries))
    if strangers.height:
        notes.append(f"{count(strangers.height, 'gold label')} of queries that are not compared left aside")
    if shown_docs is None:
        return notes
    inside = gold.frame.filter(pl.col("query").is_in(queries))
    hidden = inside.join(shown_docs, on=["query", "doc"], how="anti")
    if hidden.height:
        notes.append(f"{count(hidden.height, 'gold label')} of documents that no system shows left aside")
    return notes
