"""Logs of users who look at a rank with some chance, and click what looks good: what was planted is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import ClickLog
from karat.simulate.clicks import IMPATIENCE
from karat.stats.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class PlantedLog:
    """A click log, with the chances that made it."""

    log: ClickLog
    #: query, doc, attractiveness
    truth: pl.DataFrame
    #: The chance that each rank is looked at.
    examination: Floats

    @property
    def frame(self) -> pl.DataFrame:
        """The rows of the log."""
        return self.log.frame


def position_log(
    *,
    queries: int = 20,
    documents: int = 10,
    pages: int = 2000,
    shuffle: float = 2.0,
    best_first: bool = False,
    unlike: float = 0.0,
    zipf: bool = False,
    seed: int = 0,
) -> PlantedLog:
    """Result pages as users see them, and their clicks by the position-based model.

    >>> made = position_log(queries=2, documents=3, pages=4)
    >>> made.log
    3 clicks in 12 impressions for 2 queries

    Each query has a usual order of its documents, which `best_first` makes that of their attractiveness; each page is
    that order with noise of `shuffle` ranks. `unlike` is how much users differ in how readily they click (the standard
    deviation of a logarithm; their mean stays). With `zipf`, few queries are asked often. One page is one session.
    """
    if min(queries, documents, pages) < 1:
        raise BadInput.at("the log", expected="queries, documents and pages from 1", found="fewer")
    rng = np.random.default_rng(seed)
    # What is planted depends on no other option, so that logs of many parts are of one truth.
    drawn = np.random.default_rng(queries).beta(2, 5, (queries, documents)) * 0.9 + 0.02
    attraction = -np.sort(-drawn, axis=1) if best_first else drawn
    look: Floats = np.arange(1.0, documents + 1) ** -IMPATIENCE
    weight = 1 / np.arange(1, queries + 1) if zipf else np.ones(queries)
    query = rng.choice(queries, pages, p=weight / weight.sum())
    order = np.argsort(np.arange(documents) + rng.normal(0, shuffle, (pages, documents)), axis=1)
    chance = look * np.take_along_axis(attraction[query], order, axis=1)
    if unlike:
        chance = chance * np.exp(rng.normal(-(unlike**2) / 2, unlike, (pages, 1)))
    clicked = rng.random((pages, documents)) < chance
    asked = pl.Series(np.repeat(query, documents)).cast(pl.String)
    frame = pl.DataFrame(
        {
            "query": "q" + asked,
            "doc": "d" + asked + "-" + pl.Series(order.ravel()).cast(pl.String),
            "clicked": clicked.ravel(),
            "rank": np.tile(np.arange(1, documents + 1), pages),
            "session": "s" + pl.Series(np.repeat(np.arange(pages), documents)).cast(pl.String),
        }
    )
    number = pl.Series(np.repeat(np.arange(queries), documents)).cast(pl.String)
    truth = pl.DataFrame(
        {
            "query": "q" + number,
            "doc": "d" + number + "-" + pl.Series(np.tile(np.arange(documents), queries)).cast(pl.String),
            "attractiveness": attraction.ravel(),
        }
    )
    return PlantedLog(ClickLog.check(frame), truth, look)


def team_draft_log(
    *,
    queries: int = 200,
    searches: int = 1000,
    users: int | None = None,
    better: float = 0.0,
    documents: int = 10,
    habit: float = 0.0,
    seed: int = 0,
) -> ClickLog:
    """Lists of two systems, interleaved by team draft, and their clicks by the position-based model.

    >>> team_draft_log(queries=3, searches=5).frame["team"].unique().sort().to_list()
    ['A', 'B']

    Both systems rank the same documents with noise; `better` takes noise from A and gives it to B. With `users` each
    search is one user's, and `habit` is how much users lean to the one team or the other whatever the query (the
    standard deviation of a logarithm), which no query knows of.
    """
    rng = np.random.default_rng(seed)
    attraction = rng.beta(2, 5, (queries, documents)) * 0.9 + 0.02
    ranked = [np.argsort(-attraction + rng.normal(0, 0.2 + more, attraction.shape)) for more in (-better, better)]
    query, user = rng.integers(0, queries, searches), rng.integers(0, users or searches, searches)
    lists, teams = _drafted(ranked[0][query], ranked[1][query], rng)
    look = np.arange(1.0, documents + 1) ** -IMPATIENCE
    lean = np.exp(rng.normal(0, habit, users or searches))[user][:, None]
    chance = look * np.take_along_axis(attraction[query], lists, axis=1) * np.where(teams == 0, lean, 1 / lean)
    frame = pl.DataFrame(
        {
            "query": "q" + pl.Series(np.repeat(query, documents)).cast(pl.String),
            "doc": "d" + pl.Series(lists.ravel()).cast(pl.String),
            "clicked": (rng.random(lists.shape) < chance).ravel(),
            "rank": np.tile(np.arange(1, documents + 1), searches),
            "impression": "s" + pl.Series(np.repeat(np.arange(searches), documents)).cast(pl.String),
            "team": np.where(teams.ravel() == 0, "A", "B"),
        }
    )
    if users is not None:
        frame = frame.with_columns(user="u" + pl.Series(np.repeat(user, documents)).cast(pl.String))
    return ClickLog.check(frame)


def _drafted(first: Ints, second: Ints, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Team draft: in each round a coin says who picks first; each picks its best document that is not yet taken."""
    searches, documents = first.shape
    place = np.stack([np.argsort(order, axis=1) for order in (first, second)])  # of each document, by team
    taken = np.zeros((searches, documents), bool)
    lists, teams = np.empty((searches, documents), np.int64), np.empty((searches, documents), np.int64)
    every = np.arange(searches)
    for rank in range(documents):
        if rank % 2 == 0:
            turn = rng.integers(0, 2, searches)
        team = turn if rank % 2 == 0 else 1 - turn
        best = np.where(taken, documents, place[team, every]).argmin(axis=1)
        lists[:, rank], teams[:, rank] = best, team
        taken[every, best] = True
    return lists, teams
