"""Which pairs of result lists are worth showing to users: alike in how much is relevant, apart in how it is covered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.measures import P, parse_measure
from karat.records import Judgments, LabelsLike, Result, Runs, RunsLike
from karat.records.base import count
from karat.records.runs import joined
from karat.records.swapped import refuse_swapped
from karat.scoring import Scorer

#: The differences that the paper asks for, down to the depth that is shown.
LEAST = {"StRecall": 0.1, "alpha_nDCG": 0.1}
#: A difference that falls short by less than this does so by rounding only.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class PairSelection(Result):
    """How many pairs each rule left, and the pairs that all of them left: `query, a, b` with the scores of both."""

    pairs: pl.DataFrame = field(default_factory=pl.DataFrame)


def select_pairs(
    labels: LabelsLike,
    runs: RunsLike,
    *,
    teams: Mapping[str, str] | None = None,
    same_team: bool = False,
    depth: int = 10,
    hopeless: int = 2,
    relevant_gap: int | None = 0,
    least: Mapping[str, float] | None = None,
    most: int | None = None,
    seed: int = 0,
) -> PairSelection:
    """The pairs of systems, query by query, that users should compare, and how many pairs each rule left.

    >>> from karat.simulate import preference_study
    >>> study = preference_study(queries=20, systems=6, subtopics=3, relevant=0.1, judges=1)
    >>> found = select_pairs(study.judgments, study.runs)
    >>> found.frame.select("rule", "pairs").rows()[0], found.pairs.columns[:3]
    (('pairs of systems with labels', 300), ['query', 'a', 'b'])

    Two systems of different teams (the runs' column team, or `teams` by system); queries in which every system has
    `hopeless` relevant documents or fewer in the top `depth` are dropped; the numbers of relevant documents there
    differ by no more than `relevant_gap` (None: any); and every measure in `least` differs by so much or more (by
    default subtopic recall and alpha-nDCG at `depth` by 0.1). With `most`, so many pairs of a query at random.

    Use it to learn whether a measure of diversity sees what users see, with the amount of relevance held equal. Pairs
    selected on one measure's difference are no fair ground for measures that were not asked to differ: they tie more.

    Reference: Sanderson et al. (SIGIR 2010), section 3.6.
    """
    wanted = {f"{name}@{depth}": value for name, value in LEAST.items()} if least is None else dict(least)
    _refuse(wanted, depth, hopeless, relevant_gap, most)
    measures = [parse_measure(name) for name in wanted]
    labels, lists = Judgments.of(labels), joined(runs)
    refuse_swapped(labels, lists)
    if any(measure.diverse for measure in measures) and not labels.has("subtopic"):
        diverse = next(str(measure) for measure in measures if measure.diverse)
        raise BadInput.at(
            "the labels",
            expected=f"a column subtopic, for {diverse}",
            found=", ".join(labels.frame.columns),
            remedy="ask for a difference in another measure, such as nDCG@10=0.1",
        )
    if len(lists.systems) < 2:
        raise BadInput.at("the runs", expected="two systems or more to pair", found=", ".join(lists.systems) or "none")
    scorer = Scorer(labels, [P @ depth, *measures], draws=0)
    table = scorer.score(lists).queries
    relevant = (pl.col(str(P @ depth)) * depth).round(0).cast(pl.Int64).alias("relevant")
    table = table.select("query", "system", relevant, *(str(measure) for measure in measures))
    table = table.with_columns(best=pl.col("relevant").max().over("query"))
    named, notes = _teams(lists, teams)
    table = table.join(named, on="system", maintain_order="left")
    pairs = table.join(table, on="query", suffix=" of b", maintain_order="left_right")
    pairs = pairs.filter(pl.col("system") < pl.col("system of b"))
    rules: list[tuple[str, pl.Expr]] = []
    if same_team:
        notes.append("systems of one team may be paired")
    elif named["team"].null_count() == named.height:
        notes.append("no teams are known: systems of one team may be paired")
    else:
        other = pl.col("team").is_null() | pl.col("team of b").is_null() | (pl.col("team") != pl.col("team of b"))
        rules.append(("systems of different teams", other))
    rules.append((f"a system with more than {hopeless} relevant in the top {depth}", pl.col("best") > hopeless))
    if relevant_gap is not None:
        gap = (pl.col("relevant") - pl.col("relevant of b")).abs() <= relevant_gap
        name = f"relevant in the top {depth} " + (f"at most {relevant_gap} apart" if relevant_gap else "equally many")
        rules.append((name, gap))
    for measure, value in zip(measures, wanted.values(), strict=True):
        apart = (pl.col(str(measure)) - pl.col(f"{measure} of b")).abs() >= value - ROUNDING
        rules.append((f"{measure} at least {value:g} apart", apart))
    steps = [_step("pairs of systems with labels", pairs)]
    for name, rule in rules:
        pairs = pairs.filter(rule)
        steps.append(_step(name, pairs))
    if most is not None:
        lot = pl.Series("lot", np.random.default_rng(seed).random(pairs.height))
        pairs = pairs.with_columns(lot).filter(pl.col("lot").rank("ordinal").over("query") <= most).drop("lot")
        steps.append(_step(f"at most {most} of a query, at random", pairs))
    kept = pairs.rename({"system": "a", "system of b": "b"}).drop("best", "best of b", "team", "team of b")
    kept = kept.select("query", "a", "b", *(name for name in kept.columns if name not in ("query", "a", "b")))
    frame = pl.DataFrame(steps, schema=["rule", "pairs", "queries", "systems"], orient="row")
    finding = (
        f"{count(kept.height, 'pair')} of {frame['pairs'][0]:,} {'is' if kept.height == 1 else 'are'} worth showing, "
        f"for {count(kept['query'].n_unique(), 'query', 'queries')} and {count(steps[-1][3], 'system')}."
    )
    return PairSelection(frame, finding, tuple(notes), kept.sort("query", "a", "b"))


def _refuse(wanted: dict[str, float], depth: int, hopeless: int, relevant_gap: int | None, most: int | None) -> None:
    if depth < 1 or hopeless < 0 or (relevant_gap is not None and relevant_gap < 0) or (most is not None and most < 1):
        raise BadInput.at(
            "the rules",
            expected="a depth of 1 or more, numbers of relevant of 0 or more, 1 pair of a query or more",
            found=f"depth {depth}, hopeless {hopeless}, relevant gap {relevant_gap}, most {most}",
        )
    wrong = next((f"{name}={value:g}" for name, value in wanted.items() if not value >= 0), None)
    if wrong:
        raise BadInput.at("the least difference", expected="a measure with a number of 0 or more", found=wrong)


def _teams(runs: Runs, teams: Mapping[str, str] | None) -> tuple[pl.DataFrame, list[str]]:
    """Each system with its team, none where nobody knows."""
    named = pl.DataFrame({"system": runs.systems})
    if teams is not None:
        known = {system: team for system, team in teams.items() if system in set(runs.systems)}
        if not known:
            raise BadInput.at(
                "the teams",
                expected=f"a team for the systems, such as {runs.systems[0]}",
                found=", ".join(list(teams)[:3]) or "none",
            )
        named = named.with_columns(team=pl.col("system").replace_strict(known, default=None, return_dtype=pl.String))
    elif runs.has("team"):
        given = runs.frame.drop_nulls("team").select("system", "team").unique().sort("system", "team")
        twice = given.filter(pl.col("system").is_duplicated())
        if twice.height:
            found = f"{twice['system'][0]} in {twice['team'][0]} and {twice['team'][1]}"
            raise BadInput.at("the runs", expected="one team for a system", found=found)
        named = named.join(given, on="system", how="left", maintain_order="left")
    else:
        named = named.with_columns(team=pl.lit(None, dtype=pl.String))
    missing = named["team"].null_count()
    if 0 < missing < named.height:
        return named, [f"{count(missing, 'system')} without a team: each taken for a team of its own"]
    return named, []


def _step(rule: str, pairs: pl.DataFrame) -> tuple[str, int, int, int]:
    systems = pl.concat([pairs["system"], pairs["system of b"]]).n_unique()
    return rule, pairs.height, pairs["query"].n_unique(), systems
