"""The simulated people of the demo: judges with known faults, users who click, users who compare lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from karat.records import Clicks, Judgments, Preferences, Runs, Scale
from karat.simulate import position_clicks, side_by_side
from karat.simulate.assignment import Group, judged_by_one, judged_by_two_or_three, two_judges_each
from karat.stats.arrays import Floats

SCALE = "0=no help, 1=some help, 2=answers it"
#: How they err: the spread of the error in grades, how far they shun the ends, how many answer at random.
CROWD = Group("crowd", 12, spread=0.55, spammers=1, levels=3)
PROFESSIONALS = Group("professional", 4, spread=0.35, squeeze=0.15, levels=3)
LLM = Group("llm", 1, spread=0.4, levels=3)
#: The planted bias: a document that the hybrid shows and BM25 does not gains a grade with this chance.
FAVOUR, FAVOURED, OTHER = 0.6, "hybrid", "bm25"
#: The chance that a result of grade 0, 1, 2 is clicked once it is looked at, and that the click satisfies.
ATTRACTIVENESS, SATISFACTION = (0.08, 0.2, 0.45), (0.1, 0.35, 0.75)
#: What a list is worth to the users who compare two.
UTILITY = "nDCG@10"


def favoured(pairs: pl.DataFrame, runs: pl.DataFrame) -> Floats:
    """By how many grades the LLM-like judge overrates each pair, on average and where the scale allows it."""
    by = runs.group_by("query", "doc").agg("system")
    shown = pairs.join(by, on=["query", "doc"], how="left", maintain_order="left")["system"].list
    return FAVOUR * (shown.contains(FAVOURED) & ~shown.contains(OTHER)).to_numpy().astype(np.float64)


def judged(pairs: pl.DataFrame, runs: pl.DataFrame, seed: int) -> dict[str, Judgments]:
    """What the simulated judges say of pairs with a column `grade`: a table for each group.

    Crowd and professionals give two labels and a third where those differ; the LLM-like judge labels each pair once.
    Every group's name says that it is simulated.
    """
    rng = np.random.default_rng(seed)
    found = {}
    for group in (CROWD, PROFESSIONALS):
        first = two_judges_each(pairs.height, group.judges, rng)
        found[group.name] = _named(group, judged_by_two_or_three(group, pairs, first, 0.0, rng))
    found[LLM.name] = _named(LLM, judged_by_one(LLM, pairs, favoured(pairs, runs), rng))
    return found


def _named(group: Group, frame: pl.DataFrame) -> Judgments:
    marked = frame.with_columns(group=pl.lit(f"simulated {group.name}"))
    return Judgments.check(marked, scale=Scale.parse(SCALE))


def clicked(pairs: pl.DataFrame, runs: pl.DataFrame, seed: int) -> Clicks:
    """Clicks of simulated users who see the lists of one engine (BM25, as if it were in use)."""
    shown = (
        runs.filter(pl.col("system") == OTHER)
        .with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query").cast(pl.Int64))
        .join(pairs.select("query", "doc", "grade"), on=["query", "doc"])
        .select("query", "doc", "rank", "grade")
    )
    return position_clicks(shown, attractiveness=ATTRACTIVENESS, satisfaction=SATISFACTION, seed=seed)


def preferred(pairs: pl.DataFrame, runs: Runs, seed: int) -> Preferences:
    """What simulated users say to the lists of all pairs of engines, five of them to each; some are careless."""
    labels = Judgments.of(pairs.select("query", "doc", label=pl.col("grade").cast(pl.Float64)))
    said = side_by_side(labels, runs, UTILITY, judges=5, careless=0.05, seed=seed)
    return replace(said, frame=said.frame.with_columns(group=pl.lit("simulated users")))
