"""A study of users who disagree, whose truth is known: what another would say of a document, given what one said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.records import Judgments, Queries, Runs
from karat.records.judgments import PAGE, SNIPPET
from karat.simulate.judges import draw
from karat.simulate.parts import check_shares, check_sizes, numbered
from karat.stats.arrays import Floats

#: How many documents of an engine are of each kind, from useless to outstanding: engines for the web, and others.
KINDS = {"web": (0.35, 0.25, 0.2, 0.2), "other": (0.85, 0.1, 0.04, 0.01)}
#: What users think of a page, by kind of document (down): the chance of each level (across).
OPINIONS: dict[str, Floats] = {
    "ambiguous": np.array(
        [[0.93, 0.05, 0.015, 0.005], [0.3, 0.4, 0.17, 0.13], [0.12, 0.22, 0.4, 0.26], [0.05, 0.1, 0.2, 0.65]]
    ),
    "faceted": np.array(
        [[0.93, 0.05, 0.015, 0.005], [0.2, 0.5, 0.22, 0.08], [0.05, 0.2, 0.45, 0.3], [0.02, 0.06, 0.22, 0.7]]
    ),
}
#: What they think of its snippet, and what an LLM says of the page.
SNIPPETS = np.array([[0.7, 0.2, 0.08, 0.02], [0.25, 0.25, 0.35, 0.15], [0.1, 0.15, 0.4, 0.35], [0.05, 0.08, 0.27, 0.6]])
LLM = np.array([[0.8, 0.15, 0.04, 0.01], [0.15, 0.5, 0.25, 0.1], [0.03, 0.17, 0.45, 0.35], [0.01, 0.04, 0.2, 0.75]])
#: The crowd's documents, and what its workers think of them: three levels, and much noise.
CROWD_KINDS = (0.3, 0.4, 0.3)
CROWD = np.array([[0.55, 0.28, 0.17], [0.3, 0.43, 0.27], [0.17, 0.35, 0.48]])
#: The share of a web engine's documents that other web engines show, too, and of its engines that are for the web.
SHARED, WEB = 0.5, 1 / 3


@dataclass(frozen=True, eq=False, repr=False)
class DisagreementStudy:
    """What was collected, and what is true.

    `judgments`: every page and its snippet, of every engine's list, by two assessors a query; a page that several
    engines show is judged each time it is shown. `llm`: one label of each page by an LLM. `crowd`: many workers' labels
    of other pages. `truth`: p(Key | level) between two assessors, of one with himself, by kind of query, for the
    combined level of snippet and page, of an assessor given the LLM's label, and p(top | level) of the crowd.
    """

    judgments: Judgments
    llm: Judgments
    crowd: Judgments
    queries: Queries
    runs: Runs
    truth: Mapping[str, float]

    def __repr__(self) -> str:
        return (
            f"A simulated study: {self.judgments!r}, {self.crowd!r} of a crowd. When one assessor says HRel, another "
            f"says Key with probability {self.truth['p_2']:.3f}; a repeated Key has {self.truth['self_3']:.3f}"
        )


def disagreement_study(
    *,
    queries: int = 15,
    engines: int = 12,
    docs: int = 10,
    crowd_queries: int = 60,
    labels: int = 8,
    spammers: int = 0,
    slips: float = 0.06,
    seed: int = 0,
) -> DisagreementStudy:
    """Engines' lists judged by two assessors a query, snippet and page, and a crowd with many labels a document.

    >>> round(disagreement_study(queries=4, engines=3, crowd_queries=10).truth["p_2"], 3)
    0.294

    Every document is of a kind, and users of it are of one mind only by chance: an assessor draws his opinion once and
    slips to the next level in a share of `slips` each time he judges. The sizes are those of Demeester et al. (WSDM
    2014), who had 108 engines, 15 queries judged twice, and 2,738 documents with six labels of a crowd.
    """
    check_sizes({"queries": (queries, 2), "engines": (engines, 2), "docs": (docs, 1), "labels": (labels, 2)})
    check_sizes({"queries of the crowd": (crowd_queries, 1), "spammers": (spammers, 0)})
    check_shares({"slips": slips})
    rng = np.random.default_rng(seed)
    kinds = ["ambiguous" if place < queries // 2 else "faceted" for place in range(queries)]
    asked = pl.DataFrame({"query": numbered("q", queries), "kind": kinds})
    shown = _shown(asked, engines, docs, rng)
    slip = _slip(slips)
    judged = _judged(shown, slip, rng)
    pages = shown.unique(["query", "doc"], maintain_order=True)
    said = draw(LLM[pages["class"].to_numpy()], rng)
    named = {"judge": pl.lit("llm"), "group": pl.lit("llm")}
    llm = pages.select("query", "doc", label=pl.Series(said, dtype=pl.Float64), **named)
    runs = shown.filter(pl.col("vertical") == "web").select(
        "query", "doc", system="engine", score=1.0 / pl.col("rank").cast(pl.Float64)
    )
    return DisagreementStudy(
        Judgments.of(judged),
        Judgments.of(llm),
        Judgments.of(_crowd(crowd_queries, labels, spammers, rng)),
        Queries.of(asked.with_columns(text=pl.col("query"))),
        Runs.of(runs),
        _truth(pages, slip),
    )


def _shown(asked: pl.DataFrame, engines: int, docs: int, rng: np.random.Generator) -> pl.DataFrame:
    """Every place of every list: query, engine, vertical, rank, the document and its class."""
    names, web = numbered("e", engines), max(2, round(engines * WEB))
    lists = pl.DataFrame({"engine": names, "vertical": ["web"] * web + ["other"] * (engines - web)})
    places = asked.join(lists, how="cross").join(pl.DataFrame({"rank": np.arange(1, docs + 1)}), how="cross")
    size = places.height
    good = (places["vertical"] == "web").to_numpy()
    own = numbered("d", size)
    # A web engine shows a page of the query's common ones at the same rank as others do, so never twice in a list.
    common = (rng.random(size) < SHARED) & good
    doc = np.where(common, (places["query"] + "-c" + places["rank"].cast(pl.String)).to_numpy(), own.to_numpy())
    chance = np.where(good[:, None], np.array(KINDS["web"]), np.array(KINDS["other"]))
    placed = places.with_columns(doc=pl.Series(doc), drawn=pl.Series(draw(chance, rng)))
    return placed.with_columns(pl.col("drawn").first().over("query", "doc").alias("class")).drop("drawn")


def _slip(share: float) -> Floats:
    """The chance of each level said for each level meant: the next one up or down in a share of slips."""
    levels = len(OPINIONS["faceted"])
    slip = np.eye(levels) * (1 - share)
    for level in range(levels):
        near = [one for one in (level - 1, level + 1) if 0 <= one < levels]
        slip[level, near] += share / len(near)
    return slip


def _judged(shown: pl.DataFrame, slip: Floats, rng: np.random.Generator) -> pl.DataFrame:
    """Both assessors' labels of every page and snippet, a page as often as it is shown."""
    assessors = numbered("a", 6)
    query = shown["query"].rank("dense").to_numpy().astype(np.int64) - 1
    parts = []
    for place in (0, 1):
        name = assessors[(query + place * (1 + query % 4)) % len(assessors)]
        pages = shown.select("query", "doc").unique(maintain_order=True)
        kind = shown.unique(["query", "doc"], maintain_order=True)
        matrix = np.stack([OPINIONS[kind] for kind in ("ambiguous", "faceted")])
        which = (kind["kind"] == "faceted").cast(pl.Int64).to_numpy()
        meant = pages.with_columns(
            meant=pl.Series(draw(matrix[which, kind["class"].to_numpy()], rng)),
            snippet=pl.Series(draw(SNIPPETS[kind["class"].to_numpy()], rng)),
        )
        mine = shown.join(meant, on=["query", "doc"], how="left", maintain_order="left").with_columns(judge=name)
        said = draw(slip[mine["meant"].to_numpy()], rng)
        base = ["query", "doc", "judge", "engine", "vertical", "rank", "kind"]
        page = mine.select(*base, label=pl.Series(said, dtype=pl.Float64), surface=pl.lit(PAGE))
        first = mine.unique(["query", "doc"], maintain_order=True)
        parts += [page, first.select(*base, label=pl.col("snippet").cast(pl.Float64), surface=pl.lit(SNIPPET))]
    return pl.concat(parts).with_columns(group=pl.lit("assessor"))


def _crowd(queries: int, labels: int, spammers: int, rng: np.random.Generator, docs: int = 5) -> pl.DataFrame:
    """Every document with so many labels of different workers, spammers among them, who say anything."""
    size, workers = queries * docs, 6 * labels
    kind = draw(np.tile(CROWD_KINDS, (size, 1)), rng)
    who = np.argsort(rng.random((size, workers)), axis=1)[:, :labels]
    said = draw(CROWD[np.repeat(kind, labels)], rng)
    said = np.where(who.ravel() < spammers, rng.integers(0, 3, size * labels), said)
    query, doc = numbered("c", queries)[np.repeat(np.arange(queries), docs)], numbered("w", size)
    row = np.repeat(np.arange(size), labels)
    return pl.DataFrame({"query": query[row], "doc": doc[row], "judge": numbered("w", workers)[who.ravel()],
                         "label": said.astype(np.float64), "group": "crowd"})  # fmt: skip


def _truth(pages: pl.DataFrame, slip: Floats) -> dict[str, float]:
    """The planted chances, for as many pages of each engine's kind and query's kind as were shown."""
    share = pages.group_by("vertical", "kind").len()
    prior = {(row["vertical"], row["kind"]): row["len"] * np.array(KINDS[row["vertical"]]) for row in share.to_dicts()}
    top = len(slip) - 1
    given: dict[str, Floats] = {kind: opinion @ slip for kind, opinion in OPINIONS.items()}
    truth = dict[str, float]()
    mass = {kind: sum(weight for (_, one), weight in prior.items() if one == kind) for kind in OPINIONS}
    for level in range(top + 1):
        asked = {kind: mass[kind] * given[kind][:, level] for kind in OPINIONS}
        told = {kind: float(asked[kind] @ given[kind][:, top]) for kind in OPINIONS}
        whole = sum(float(one.sum()) for one in asked.values())
        truth[f"p_{level}"] = sum(told.values()) / whole
        for kind in OPINIONS:
            truth[f"p_{level}_{kind}"] = told[kind] / float(asked[kind].sum())
        again = [mass[kind] @ (OPINIONS[kind] * slip[:, level] * slip[:, top]).sum(axis=1) for kind in OPINIONS]
        truth[f"self_{level}"] = float(sum(again)) / whole
        machine = sum(mass.values()) * LLM[:, level]
        people = sum(mass[kind] * LLM[:, level] * given[kind][:, top] for kind in OPINIONS)
        truth[f"llm_{level}"] = float(np.sum(people) / machine.sum())
        for snippet in range(top + 1):
            both = {kind: asked[kind] * SNIPPETS[:, snippet] for kind in OPINIONS}
            best = sum(float(both[kind] @ (given[kind][:, top] * SNIPPETS[:, top])) for kind in OPINIONS)
            truth[f"combined_{snippet}_{level}"] = best / sum(float(one.sum()) for one in both.values())
    for level in range(len(CROWD)):
        said = np.array(CROWD_KINDS) * CROWD[:, level]
        truth[f"crowd_{level}"] = float(said @ CROWD[:, -1] / said.sum())
    return truth
