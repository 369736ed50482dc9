"""Which pairs of result lists are worth showing to users: alike in how much is relevant, apart in how it is covered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels import consensus
from karat.measures import P, parse_measure
from karat.measures.scorer import Scorer
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, Runs, RunsLike
from karat.records.runs import joined
from karat.records.swapped import refuse_swapped
from karat.records.table import count
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.davidson import chances, fit_davidson
from karat.users.votes import counted, trusted

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


#: What is believed of a strength before any answer: 0, give or take this much (natural logarithms of odds).
SPREAD = 2.0
#: Whether one may be among the best is judged by its strength and so many standard deviations.
DOUBT = 1.0
#: How much less a pair counts for each time that it was asked: only between pairs that tell equally much.
SELDOM = 1e-6


def next_pairs(
    candidates: pl.DataFrame,
    preferences: Preferences | FrameLike | None,
    n: int,
    *,
    of: Literal["systems", "documents"] = "systems",
    top: int | None = None,
    seed: int = 0,
) -> Result:
    """The pairs to ask next, in the order of what their answers are expected to tell.

    >>> said = [{"query": "q", "left": "a", "right": "b", "choice": "left"}] * 9
    >>> pairs = pl.DataFrame({"query": ["q"] * 3, "a": ["a", "a", "b"], "b": ["b", "c", "c"]})
    >>> next_pairs(pairs, said, 2).frame.select("a", "b").rows()  # of a and b much is known, of c nothing
    [('a', 'c'), ('b', 'c')]

    `candidates` has query, a, b. Strengths are Bradley and Terry's: of `systems` over all queries, of `documents` for
    each query by itself. An answer to a pair tells (half the logarithm of) 1 + p (1 - p) v: p is the chance that a is
    preferred, v how uncertain the difference of the two strengths is (Laplace's approximation). After each choice the
    uncertainty is what it will be once it is answered, so that a batch does not ask about the same two again and again;
    of pairs that tell equally much the lot decides. With `top`, only pairs of two that may be among the `top` best are
    asked: where the order of the others does not matter, as in Compat, this saves most of the answers.

    Reference: Chen et al. (WSDM 2013) for pairs by what they tell; Clarke, Vtyurina and Smucker (TOIS 2021) for the
    best documents only.
    """
    if n < 1 or (top is not None and top < 1):
        found = f"{n} pairs" if n < 1 else f"the top {top}"
        raise BadInput.at("the next pairs", expected="1 or more", found=found)
    if not candidates.height:
        raise Undefined("there is no pair to choose from")
    rng = np.random.default_rng(seed)
    told, notes = None, list[str]()
    if preferences is not None:
        kept = counted(trusted(preferences))
        told, notes = kept.frame, list(kept.notes)
    pairs = candidates.select("query", "a", "b").unique(maintain_order=True)
    pairs = pairs[rng.permutation(pairs.height)]
    groups = pairs["query"] if of == "documents" else pl.Series(["all"] * pairs.height)
    blocks = [_Block.of(pairs, np.flatnonzero(groups == name), told, of, top) for name in groups.unique().sort()]
    may = int(sum(block.open.sum() for block in blocks))
    chosen: list[tuple[int, float, float, float]] = []
    gains = [block.gains() for block in blocks]
    while len(chosen) < n:
        best = int(np.argmax([gain.max() if len(gain) else -np.inf for gain in gains]))
        if not len(gains[best]) or gains[best].max() <= 0:
            break
        at = int(gains[best].argmax())
        chosen.append(blocks[best].ask(at))
        gains[best] = blocks[best].gains()
    if not chosen:
        raise Undefined("no pair is left whose answer would tell anything")
    rows, chance, spread, gain = (list(part) for part in zip(*chosen, strict=True))
    frame = pairs[rows].with_columns(chance=pl.Series(chance), spread=pl.Series(spread), gain=pl.Series(gain))
    asked = "no answer so far" if told is None else count(told.height, "answer")
    finding = (
        f"{count(frame.height, 'pair')} of {pairs.height:,} to ask next, after {asked}: for "
        f"{count(frame['query'].n_unique(), 'query', 'queries')}, between "
        f"{count(pl.concat([frame['a'], frame['b']]).n_unique(), of[:-1])}."
    )
    if top is not None:
        notes.append(f"{count(may, 'pair')} of two {of} that may be among the {top} best")
    return Result(frame, finding, tuple(notes))


def pairs_of_documents(labels: LabelsLike, top: int = 5) -> pl.DataFrame:
    """Every two of the documents with the best labels of each query: query, a, b.

    >>> pairs_of_documents({"q": {"x": 2, "y": 2, "z": 1, "w": 0}}, top=2).rows()
    [('q', 'x', 'y')]

    The documents with the best grades until there are `top` of them, all of the last grade; none that is not relevant.
    Reference: Clarke, Vtyurina and Smucker (TOIS 2021).
    """
    if top < 2:
        raise BadInput.at("the documents to compare", expected="the 2 best or more", found=str(top))
    judged = consensus(Judgments.of(labels)).frame.drop_nulls("label").filter(pl.col("label") > 0)
    better = pl.col("label").rank("min", descending=True).over("query")
    best = judged.filter(better <= top).select("query", "doc").sort("query", "doc")
    pairs = best.join(best, on="query", suffix="_b", maintain_order="left_right").filter(
        pl.col("doc") < pl.col("doc_b")
    )
    return pairs.select("query", a="doc", b="doc_b")


@dataclass(eq=False)
class _Block:
    """Systems, or the documents of one query: strengths, what is not known of them, and the pairs among them."""

    rows: Ints  # the pairs' places among all
    one: Ints
    two: Ints
    chance: Floats
    covariance: Floats
    open: Bools
    times: Ints  # how often each pair was asked for this query

    @classmethod
    def of(cls, pairs: pl.DataFrame, rows: Ints, told: pl.DataFrame | None, of: str, top: int | None) -> _Block:
        own = pairs[rows]
        if told is not None and of == "documents":
            told = told.filter(pl.col("query") == own["query"][0])
        sides = [own["a"], own["b"], *([] if told is None else [told["left"], told["right"]])]
        names = pl.concat(sides).unique().sort()
        one, two = (names.search_sorted(own[side]).to_numpy().astype(np.int64) for side in ("a", "b"))
        n = len(names)
        strength, bend = np.zeros(n), np.eye(n) / SPREAD**2
        if told is not None and told.height:
            left, right = (names.search_sorted(told[side]).to_numpy().astype(np.int64) for side in ("left", "right"))
            outcome = told["choice"].replace_strict({"left": 0, "right": 2, "equal": 1, "none": 1}).to_numpy()
            counts = np.zeros((1, told.height, 3))
            counts[0, np.arange(told.height), outcome] = 1.0
            strength = fit_davidson(left, right, counts, n, prior=n / 2).strength[0]
            each = _wins(strength, left, right)
            np.add.at(bend, (left, left), each * (1 - each))
            np.add.at(bend, (right, right), each * (1 - each))
            np.add.at(bend, (left, right), -each * (1 - each))
            np.add.at(bend, (right, left), -each * (1 - each))
        covariance: Floats = np.linalg.inv(bend).astype(np.float64)
        wide = np.sqrt(np.diag(covariance))
        bar = -np.inf if top is None or top >= n else np.sort(strength - DOUBT * wide)[-top]
        may = strength + DOUBT * wide >= bar
        return cls(rows, one, two, _wins(strength, one, two), covariance, may[one] & may[two], _asked(own, told))

    def spread(self) -> Floats:
        """The variance of the difference of each pair's strengths."""
        known = self.covariance
        found: Floats = known[self.one, self.one] + known[self.two, self.two] - 2 * known[self.one, self.two]
        return found

    def gains(self) -> Floats:
        """What each pair's answer would tell, 0 where it does not matter."""
        told = 0.5 * np.log1p(self.chance * (1 - self.chance) * self.spread())
        # Systems are as uncertain for one query as for another: the query with the fewest answers comes first.
        told *= 1 - SELDOM * np.minimum(self.times, 1000)
        found: Floats = np.where(self.open, told, 0.0)
        return found

    def ask(self, at: int) -> tuple[int, float, float, float]:
        """Take a pair as asked: its place, chance, standard deviation and gain; less is unknown from then on."""
        spread, weight = float(self.spread()[at]), float(self.chance[at] * (1 - self.chance[at]))
        gain = float(self.gains()[at])
        self.open[at] = False
        moved = self.covariance[:, self.one[at]] - self.covariance[:, self.two[at]]
        self.covariance = self.covariance - np.outer(moved, moved) * weight / (1 + weight * spread)
        return int(self.rows[at]), float(self.chance[at]), float(np.sqrt(spread)), gain


def _wins(strength: Floats, one: Ints, two: Ints) -> Floats:
    """The chance that one is preferred, where ties do not count."""
    found: Floats = chances(strength, -np.inf, one, two)[:, 0]
    return found


def _asked(pairs: pl.DataFrame, told: pl.DataFrame | None) -> Ints:
    """How often each pair has been answered for its query, in whatever order."""
    if told is None:
        return np.zeros(pairs.height, np.int64)
    times = told.group_by("query", "a", "b").len()
    first, second = pl.min_horizontal("a", "b"), pl.max_horizontal("a", "b")
    found = pairs.select("query", a=first, b=second).join(
        times, on=["query", "a", "b"], how="left", maintain_order="left"
    )
    return found["len"].fill_null(0).to_numpy().astype(np.int64)
