"""A study of relevance in context whose truth is known: what a page is worth alone, and after another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Clicks, Documents, Judgments, Preferences, Queries, Runs, Scale
from karat.simulate.context_judging import (
    ASPECTS,
    LEVELS,
    OF_AUTHORITY,
    OF_TOPICALITY,
    OVERALL,
    given_labels,
    in_turn,
    judged,
    mean_label,
    no_answer,
    opinions,
    overall_of,
    primed,
    steps_to,
    true_worth,
    written,
)
from karat.simulate.context_pages import KIND, make_documents, make_kinds
from karat.simulate.context_users import context_users
from karat.simulate.parts import check_shares, check_sizes, documents_of, numbered, runs_by
from karat.simulate.web import make_queries
from karat.stats.arrays import Bools, Floats, Ints

SCALE = "bad, fair, good, excellent, perfect"
#: The share of answers that are not N/A, alone and in context, as Golbus et al. report them (Table 1).
COVERAGE = {
    ASPECTS[OVERALL]: (1.0, 1.0),
    "topicality": (0.994, 0.993),
    "novelty": (0.227, 0.818),
    "freshness": (0.749, 0.804),
    "authority": (0.685, 0.550),
    "quality": (0.887, 0.909),
}
#: The share of pages that are near copies of another one.
COPIES = 0.3
#: What a page is to the one read before.
RELATION = ("near copy", "detail", "other")
#: How far each aspect goes along when overall changes in context.
FOLLOWS = np.array([1.0, 1.0, 1.5, 0.0, 0.0, 0.0])

Scheme = Literal["paper", "adjacent", "pairs"]


@dataclass(frozen=True, eq=False, repr=False)
class ContextStudy:
    """What was collected, and what is true.

    `judgments` has the columns query, doc, label (null: N/A), judge, aspect, context (null: alone), time. `pages` has a
    row for each page: its `kind`, the page whose copy it is, or itself (`source`), whether it is `spam`, its `rank` in
    the list that was judged, its overall `worth`, and the label `expected` of it alone. `pairs` has a row for every
    ordered pair of a query's pages, judged or not: their `relation`, the `label` (overall) that the query's judge gave
    or would give to `doc` read after `context`, what was `expected` of it, and whether it was `judged`. `preferences`
    are what five users say of every two of the runs, for whom a list is worth its `utility`; `clicks` are of the first
    run's lists. `truth` holds the planted effects by name.
    """

    judgments: Judgments
    runs: Runs
    queries: Queries
    documents: Documents
    pages: pl.DataFrame
    pairs: pl.DataFrame
    preferences: Preferences
    clicks: Clicks
    truth: Mapping[str, float]

    def with_relations(self) -> Judgments:
        """The judgments with a column `relation`: what the page is to the one read before (null when read alone)."""
        relations = self.pairs.select("query", "doc", "context", "relation")
        frame = self.judgments.frame.join(relations, on=["query", "doc", "context"], how="left", maintain_order="left")
        return replace(self.judgments, frame=frame)

    def __repr__(self) -> str:
        return (
            f"A simulated study: {self.judgments!r}. After a near copy of itself a page changes by "
            f"{self.truth['redundancy']:+z.2f} of a grade, a detail page after an overview by "
            f"{self.truth['detail']:+z.2f}."
        )


def context_study(
    seed: int = 0,
    queries: int = 100,
    docs: int = 10,
    *,
    redundancy: float = 1.0,
    detail: float = 0.5,
    contrast: float = 0.1,
    spam: float = 0.03,
    judges: int = 12,
    twice: float = 0.2,
    again: float = 0.0,
    priming: float = 0.0,
    scheme: Scheme = "paper",
    coverage: Mapping[str, tuple[float, float]] | None = None,
    utility: str = "CCG(context=0.5)@5",
) -> ContextStudy:
    """A study with planted effects of context: does an analysis find them, and stay silent where there is nothing?

    >>> study = context_study(seed=1, queries=20)
    >>> study.judgments.frame.columns
    ['query', 'doc', 'label', 'judge', 'aspect', 'context', 'time']
    >>> round(study.truth["redundancy"], 3), round(study.truth["detail"], 3)
    (-1.0, 0.5)

    Planted: read after a near copy of itself, a page loses `redundancy` grades of overall on the mean label of the
    judged pairs, which is exact in expectation although the scale ends at 0 (`truth` says what the scale allowed); a
    detail page gains `detail` after an overview; a page loses `contrast` for each grade by which the one before is
    better than good, and gains it likewise. Topicality goes along, and novelty even further. Overall is 0.6
    of topicality plus 0.4 of authority, as the judge sees them; quality and freshness follow authority,
    novelty follows topicality. Judges answer N/A as often as `coverage` says for an aspect alone and in context, on
    authority more often where there is little of it; a share of `spam` has no overall grade. One judge does all of a
    query, first alone, in context two weeks later; a second judge repeats a share `twice` of the queries, and the judge
    of a share `again` is asked alone once more, four weeks after the first time. A judge has the pages of a query in an
    order of their own; alone, overall moves by `priming` for each grade by which the page judged just before, of
    whatever query, is better than the mean.

    The `scheme` of what is judged is the paper's, or `adjacent` (every page alone and after the one above it), or
    `pairs` (after every other). With `redundancy`, `detail` and `contrast` 0, company changes nothing.

    Reference: Golbus et al., Contextual and Dimensional Relevance Judgments (WWW 2014).
    """
    check_sizes({"queries": (queries, 1), "docs": (docs, 2), "judges": (judges, 1)})
    check_shares({"spam": spam, "twice": twice, "again": again})
    if scheme not in ("paper", "adjacent", "pairs"):
        raise BadInput.at("the scheme", expected="paper, adjacent or pairs", found=f'"{scheme}"')
    answered = {**COVERAGE, **(coverage or {})}
    if set(answered) != set(ASPECTS) or not all(0 <= share <= 1 for both in answered.values() for share in both):
        raise BadInput.at("the coverage", expected=f"two shares for some of {', '.join(ASPECTS)}", found=f"{coverage}")
    rng = np.random.default_rng(seed)
    asked = make_queries(queries, rng)
    kind, source, worth, is_spam, score = _ranked(queries, docs, spam, rng)

    first = rng.integers(judges, size=queries)
    repeated = np.flatnonzero(rng.random(queries) < twice) if judges > 1 else np.zeros(0, np.int64)
    second = (first[repeated] + rng.integers(1, max(judges, 2), size=len(repeated))) % judges
    of = np.concatenate([np.arange(queries), repeated])
    doc = documents_of(asked["query"], docs)
    who = np.concatenate([first, second])
    judge = numbered("judge-", judges)[who]
    opinion = opinions(worth[of], rng)

    # What a page is worth after each other page: sheets x pages x pages read before.
    alone_asked, after_asked = judged(queries, docs, scheme, rng)
    relation = _relations(kind, source)
    before = np.where(is_spam[of], 0.0, opinion[:, :, OVERALL])
    plain = opinion[:, :, OVERALL, None] + contrast * (2 - before)[:, None, :]
    counted = after_asked[of] & ~is_spam[of][:, :, None]
    planted = {
        name: (counted & (relation[of] == place), change)
        for place, (name, change) in enumerate((("redundancy", -redundancy), ("detail", detail)))
    }
    steps = np.array([*(steps_to(plain[these], change) for these, change in planted.values()), 0.0])
    shift = plain - opinion[:, :, OVERALL, None] + steps[relation[of]]
    in_context = opinion[:, :, None, :] + shift[..., None] * FOLLOWS
    labels, expected = given_labels(in_context, rng), mean_label(in_context[..., OVERALL])

    truth = {"topicality": OF_TOPICALITY, "authority": OF_AUTHORITY}
    truth |= {name: _mean((expected - mean_label(plain))[these]) for name, (these, _) in planted.items()}
    change = expected - mean_label(opinion[:, :, OVERALL])[:, :, None]
    truth |= {f"change {name}": _mean(change[counted & (relation[of] == n)]) for n, name in enumerate(RELATION)}

    # What came later to this simulation has chances of its own, so that all else stays as it was.
    later = np.random.default_rng([seed, 1])
    overall = np.where(is_spam, 0.0, np.clip(overall_of(worth), 0, LEVELS - 1))
    asked_alone = in_turn(np.nonzero(alone_asked[of])[0], later)
    push, truth["priming"] = primed(alone_asked[of], asked_alone, overall[of], who, opinion, priming)
    retested = np.sort(later.permutation(queries)[: round(again * queries)])
    parts = []
    for setting, asked_for in enumerate((alone_asked[of], after_asked[of], alone_asked[of[retested]])):
        u, d, *after = np.nonzero(asked_for)
        u = retested[u] if setting == 2 else u
        chances = later if setting == 2 else rng
        q = of[u]
        silent, chance = no_answer(opinion[u, d], is_spam[q, d], answered, setting % 2, chances)
        given = labels[u, d, after[0]] if after else given_labels(opinion + push, chances)[u, d]
        read_before = doc[q * docs + after[0]] if after else pl.repeat(None, len(u), dtype=pl.String, eager=True)
        seen = {"query": asked["query"][q], "doc": doc[q * docs + d], "judge": judge[u], "context": read_before}
        order = asked_alone if setting == 0 else in_turn(u, later)
        parts.append(written(pl.DataFrame(seen)[order], given[order], silent[order], 14 * setting))
        if setting < 2:
            where, silence = ("alone", "context")[setting], chance[~is_spam[q, d]]
            truth |= {f"covered {where} {name}": 1 - _mean(silence[:, place]) for place, name in enumerate(ASPECTS)}

    q, d, c = np.nonzero(np.tile(~np.eye(docs, dtype=bool), (queries, 1, 1)))
    none = pl.Series(is_spam[q, d])
    pairs = pl.DataFrame(
        {
            "query": asked["query"][q],
            "doc": doc[q * docs + d],
            "context": doc[q * docs + c],
            "relation": pl.Series(RELATION)[relation[q, d, c]],
            "label": pl.Series(labels[q, d, c, OVERALL].astype(np.float64)).set(none, None),
            "expected": pl.Series(expected[q, d, c]).set(none, None),
            "judged": after_asked[q, d, c],
        }
    )
    number = np.arange(queries)[:, None] * docs
    pages = pl.DataFrame(
        {
            "query": asked["query"][np.repeat(np.arange(queries), docs)],
            "doc": doc,
            "kind": pl.Series(KIND)[kind.ravel()],
            "source": doc[(number + source).ravel()],
            "spam": is_spam.ravel(),
            "rank": np.tile(np.arange(1, docs + 1), queries),
            "worth": overall.ravel(),
            "expected": pl.Series(mean_label(opinion[:queries, :, OVERALL]).ravel()).set(
                pl.Series(is_spam.ravel()), None
            ),
        }
    )
    runs = _runs(pages, score, worth, rng)
    documents = Documents.of(make_documents(asked, doc, kind, source, rng))
    preferences, clicks = context_users(pages, pairs, runs, utility, later)
    return ContextStudy(
        judgments=Judgments.check(pl.concat(parts), scale=Scale.parse(SCALE)),
        runs=runs,
        queries=Queries.of(asked),
        documents=documents,
        pages=pages,
        pairs=pairs,
        preferences=preferences,
        clicks=clicks,
        truth=truth,
    )


def _ranked(queries: int, docs: int, spam: float, rng: np.random.Generator) -> tuple[Ints, Ints, Floats, Bools, Floats]:
    """Kind, source, worth and spam of the pages and the score that ranks them, each query's first page first."""
    kind, source = make_kinds(queries, docs, COPIES, rng)
    worth = true_worth(source, rng)
    is_spam = rng.random(kind.shape) < spam
    score = worth[..., 1:].mean(axis=-1) - 2.0 * is_spam + rng.normal(0, 0.8, kind.shape)
    order = np.argsort(-score, axis=1, kind="stable")
    kind, source, is_spam, score = (np.take_along_axis(v, order, axis=1) for v in (kind, source, is_spam, score))
    source = np.take_along_axis(np.argsort(order, axis=1), source, axis=1)
    return kind, source, np.take_along_axis(worth, order[:, :, None], axis=1), is_spam, score


def _relations(kind: Ints, source: Ints) -> Ints:
    """What each page is to each other page read before it, as a place in RELATION: queries x docs x docs."""
    copy = source[:, :, None] == source[:, None, :]
    deepens = (kind[:, :, None] == KIND.index("detail")) & (kind[:, None, :] == KIND.index("overview"))
    return np.where(copy, 0, np.where(deepens, 1, 2))


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else np.nan


def _runs(pages: pl.DataFrame, score: Floats, worth: Floats, rng: np.random.Generator) -> Runs:
    """Three rankers: the judged list; one that knows the pages better; and that one without copies at the top."""
    better = pl.Series((worth[..., 1:].mean(axis=-1) + rng.normal(0, 0.4, score.shape)).ravel())
    ranked = pages.select("query", "doc", "source", production=pl.Series(score.ravel()), better=better)
    copies = pl.col("better").rank("ordinal", descending=True).over("query", "source") > 1
    ranked = ranked.with_columns(diverse=pl.col("better") - 10 * copies.cast(pl.Float64))
    return runs_by(ranked, **{name: pl.col(name) for name in ("production", "better", "diverse")})
