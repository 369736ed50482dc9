"""Users with known utilities who look at two lists side by side: what they say, and how often they err."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import consensus, one_subtopic_each
from karat.measures import Measure, Topics, as_measures, match, profile_named
from karat.records import Judgments, Preferences, Runs
from karat.simulate.parts import numbered
from karat.stats.arrays import Bools, Floats, Ints

#: How many answers a judge gives.
EACH = 20
#: A comparison that everybody understands is still answered wrongly now and then.
SLIP = 0.02


def side_by_side(
    labels: Judgments,
    runs: Runs,
    utility: str | Measure | Sequence[str | Measure] | None = "nDCG@10",
    *,
    pairs: pl.DataFrame | None = None,
    judges: int = 8,
    noise: float = 1.0,
    equal: float = 0.2,
    clear: float = 1.0,
    careless: float = 0.0,
    block: int = 5,
    empty: float = 0.0,
    each: int = EACH,
    seed: int | np.random.Generator = 0,
) -> Preferences:
    """What judges say to pairs of lists when the worth of a list to them is known: it is the value of a measure.

    >>> runs = Runs.of({"good": {"q1": {"d1": 2.0, "d2": 1.0}}, "bad": {"q1": {"d1": 1.0, "d2": 2.0}}})
    >>> said = side_by_side(Judgments.of({"q1": {"d1": 1, "d2": 0}}), runs, "RR", judges=3, noise=0.0)
    >>> chosen = [row[row["choice"]] for row in said.frame.filter(~pl.col("trap")).to_dicts()]
    >>> chosen
    ['good', 'good', 'good']

    `utility` is a measure with any gain, discount, persistence or context weight; with several, each judge has one of
    them at random (users differ); with None, every list has a random worth that no measure knows of. Labels with
    subtopics are shown subtopic by subtopic, each worth what it is for that subtopic alone. `pairs` (columns query,
    left, right) says what is shown; by default all pairs of systems for all queries that have labels.

    Each of `judges` judges sees a pair's difference in utility with a normal error of `noise`, says "equal" below
    `equal`, and has a strength of 2 from `clear` on and of 1 otherwise (0 where none is preferred); the three are in
    standard deviations of the true differences. Where both lists are worth nothing the answer is "none"; where one is,
    it is worth `empty` less than nothing. A judge gives about `each` answers, and a share `careless` of the judges
    answers at random. In every `block` of comparisons one
    is a trap (a list of the query against one of another query), with its right answer in `expected`; 0 sets none.
    """
    rng = np.random.default_rng(seed)
    if judges < 1:
        raise BadInput.at("the judges", expected="at least one", found=str(judges))
    if min(noise, equal, clear) < 0 or not 0 <= careless <= 1 or block < 0 or block == 1:
        raise BadInput.at(
            "the simulated judges",
            expected="noise, equal and clear of 0 or more, careless from 0 to 1, blocks of 0 or of 2 and more",
            found=f"{noise:g}, {equal:g}, {clear:g}, {careless:g}, {block}",
        )
    if empty < 0 or each < 1:
        expected = "0 or more taken off an empty list, 1 answer each or more"
        raise BadInput.at("the simulated judges", expected=expected, found=f"{empty:g}, {each}")
    wanted = None if utility is None else as_measures(utility)
    shown = _shown(labels, runs, pairs)
    worth = _worth(labels, runs, shown, wanted, rng)
    nothing = worth == 0
    worth = worth - empty * nothing
    size = max(judges, -(-shown.height * judges // each))
    item, judge = _tasks(shown.height, judges, size, rng)
    taste = rng.integers(worth.shape[2], size=size)
    blind = rng.permutation(size) < round(careless * size)
    left, right = worth[item, 0, taste[judge]], worth[item, 1, taste[judge]]
    true = worth[:, 0, :] - worth[:, 1, :]
    unit = float(np.sqrt(np.mean(true**2))) or 1.0
    seen = (left - right) / unit + noise * rng.normal(size=len(item))
    answer = np.where(np.abs(seen) <= equal, 1, np.where(seen > 0, 0, 2))
    neither = nothing.all(axis=1)[item, taste[judge]]
    answer = np.where(neither, 3, answer)
    answer = np.where(blind[judge], rng.integers(4, size=len(item)), answer)
    strength = np.where((answer == 0) | (answer == 2), 1.0 + (np.abs(seen) >= clear), 0.0)
    rows = shown[item].with_columns(
        choice=pl.Series(answer),
        strength=pl.Series(strength),
        judge=numbered("judge-", size)[judge],
        trap=pl.lit(False),
    )
    frame = _turned(pl.concat([rows, _traps(rows, judge, blind, block, rng)]), rng)
    return Preferences.check(frame)


def _shown(labels: Judgments, runs: Runs, pairs: pl.DataFrame | None) -> pl.DataFrame:
    """The comparisons: query, subtopic, left, right."""
    subtopic = pl.col("subtopic") if labels.has("subtopic") else pl.lit(None, dtype=pl.String)
    needs = labels.frame.select("query", subtopic=subtopic).unique(maintain_order=True)
    if pairs is None:
        both = pl.DataFrame(list(combinations(runs.systems, 2)), schema=["left", "right"], orient="row")
        pairs = needs.select("query").unique(maintain_order=True).join(both, how="cross")
    shown = pairs.select("query", "left", "right").unique(maintain_order=True)
    shown = shown.join(needs, on="query", maintain_order="left_right").select("query", "subtopic", "left", "right")
    if not shown.height:
        raise BadInput.at(
            "the pairs", expected="two systems or more and a query with labels", found="nothing to compare"
        )
    return shown


def _worth(
    labels: Judgments, runs: Runs, shown: pl.DataFrame, wanted: list[Measure] | None, rng: np.random.Generator
) -> Floats:
    """What the left and the right list of each comparison are worth, by each taste: comparisons x 2 x tastes."""
    sides = shown.select("query", "subtopic", system="left"), shown.select("query", "subtopic", system="right")
    if wanted is None:
        lists = pl.concat(sides).unique(maintain_order=True)
        lists = lists.with_columns(worth=pl.Series(rng.normal(size=lists.height)))
        names = ["worth"]
    else:
        labels, runs, table = one_subtopic_each(labels, runs)
        scored = match(runs, Topics.of(consensus(labels)), profile_named("trec_eval"), complete=True)
        values = {f"taste {n}": np.nan_to_num(measure.score(scored)) for n, measure in enumerate(wanted)}
        names = list(values)
        lists = scored.keys.rename({"query": "item"}).with_columns(pl.Series(n, v) for n, v in values.items())
        lists = lists.join(table, on="item").drop("item")
    found = [
        side.join(lists, on=["query", "subtopic", "system"], how="left", nulls_equal=True, maintain_order="left")
        .select(pl.col(names).fill_null(0.0))
        .to_numpy()
        for side in sides
    ]
    return np.stack(found, axis=1)


def _tasks(items: int, judges: int, size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Who answers what, by item: each item by so many different judges, the work shared out evenly."""
    item = np.repeat(rng.permutation(items), judges)
    judge = rng.permutation(size)[np.arange(items * judges) % size]
    by_item = np.argsort(item, kind="stable")
    return item[by_item], judge[by_item]


def _traps(rows: pl.DataFrame, judge: Ints, blind: Bools, block: int, rng: np.random.Generator) -> pl.DataFrame:
    """One trap after every block - 1 answers of a judge: the left list is of the query, the right one is not."""
    if not block:
        return rows.clear()
    place = pl.int_range(pl.len()).over("judge")
    chosen = rows.select((place % (block - 1) == 0).alias("first"))["first"].to_numpy()
    careless = blind[judge[chosen]]
    slip = rng.random(int(chosen.sum())) < SLIP
    answer = np.where(careless | slip, rng.integers(4, size=len(slip)), 0)
    return rows.filter(pl.Series(chosen)).with_columns(
        choice=pl.Series(answer),
        strength=pl.Series(np.where(answer == 0, 2.0, 0.0)),
        trap=pl.lit(True),
    )


def _turned(rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """The rows with the sides of every comparison drawn by lot, and answers in words."""
    turn = pl.Series(rng.random(rows.height) < 0.5)
    words = np.array([["left", "equal", "right", "none"], ["right", "equal", "left", "none"]])
    return rows.with_columns(
        left=rows["right"].zip_with(turn, rows["left"]),
        right=rows["left"].zip_with(turn, rows["right"]),
        choice=pl.Series(words[turn.cast(pl.Int8), rows["choice"]]),
        expected=pl.when("trap").then(pl.when(turn).then(pl.lit("right")).otherwise(pl.lit("left"))),
    )
