"""The verdict while gold labels come in: is it clear yet, how many more will it take, and when to stop?"""

from __future__ import annotations

import math
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from karat.advice import advise
from karat.comparison.interim import FIRST_LOOK, Arrived, Clear, Look, OnTheWay, look
from karat.comparison.prepared import Prepared, one_measure
from karat.comparison.unjudged import Unjudged
from karat.comparison.verdict import Verdict, describe_missing, with_missing
from karat.correction.ppi import ONLY_DIFFERENCES
from karat.errors import BadInput, Undefined
from karat.labels import split_gold
from karat.measures import Profile
from karat.records import Judgments, LabelsLike, RunsLike
from karat.records.number_format import decimals
from karat.records.result import ResultBase, rows_of
from karat.records.runs import several
from karat.records.table import count

State = Literal["too early", "go on", "stop", "cannot say"]
#: The columns of looks.
LOOKS = {"labels": pl.Int64, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64}


@dataclass(frozen=True, eq=False, repr=False)
class Live(ResultBase):
    """Where a comparison stands while its gold labels come in.

    - `state`: too early, go on, stop, or cannot say; `verdict` about B, the second system, as in a comparison;
    - `difference` = b - a with `low` and `high`, which hold at all looks together; `once_low` and `once_high` would do
      for a single look;
    - `labels` are there of those `drawn`; `waiting` are still to come, and of the others somebody could not tell;
    - `more`: after how many more labels it should be clear, none where those drawn will not do; `clear_at`: after how
      many it was;
    - `looks`: the course, a row for each look: labels, difference, low, high; `ahead`: how the interval would go on if
      the difference stayed as it is.
    """

    measure: str
    systems: tuple[str, str]
    state: State
    verdict: Verdict
    labels: int
    drawn: int
    waiting: int
    difference: float
    low: float
    high: float
    once_low: float
    once_high: float
    more: int | None
    clear_at: int | None
    outlook: str
    looks: pl.DataFrame
    ahead: pl.DataFrame
    level: float = 0.95
    population: str = "sample"
    margin: float | None = None
    #: How many queries are judged, how many of them each system misses, and how these count, in words.
    judged_queries: int = 0
    missing_queries: dict[str, int] = field(default_factory=dict)
    missing: str = ""
    notes: tuple[str, ...] = ()

    @property
    def finding(self) -> str:
        """Stop or go on, what is known, and how many more labels it should take."""
        a, b = self.systems
        if self.state in ("too early", "cannot say"):
            return f"{self.state.capitalize()}: {self.outlook}." if self.state == "too early" else self.outlook
        said = {
            "better": f"{b} is better than {a} by {self.measure}",
            "worse": f"{b} is worse than {a} by {self.measure}",
            "equivalent": f"{b} and {a} are equivalent by {self.measure}",
        }.get(self.verdict, f"no difference is shown between {a} and {b} by {self.measure}, and all labels are in")
        if self.state == "go on":
            said = f"it is not clear yet which of {a} and {b} is better by {self.measure}"
        return f"{self.state.capitalize()}: {said}: {self.reason()}.{f' {self.outlook}.' if self.outlook else ''}"

    def reason(self) -> str:
        """The difference with its interval, and what it rests on."""
        return with_missing(self._difference(), self.missing)

    def _difference(self) -> str:
        places = decimals(self.low, self.high)
        ends = f"{self.low:+.{places}f} to {self.high:+.{places}f}"
        if self.low == self.high:
            return f"{self.difference:+.{places}f}, known from gold labels of all that counts"
        return (
            f"{self.difference:+.{places}f} ({self.level * 100:g} % interval at every look {ends}) after "
            f"{self.labels:,} of {self.drawn:,} gold labels"
        )

    def to_frame(self) -> pl.DataFrame:
        """The course, a row for each look."""
        return self.looks

    def shown(self) -> pl.DataFrame:
        """The course, each look by its name."""
        return self.looks.with_columns(labels=pl.format("{} labels", "labels"))

    def to_dict(self) -> dict[str, Any]:
        """All of it as one document; what is undefined is None."""
        names = ["measure", "state", "verdict", "labels", "drawn", "waiting", "more", "clear_at", "margin", "level"]
        names += ["judged_queries", "missing_queries"]
        numbers = ("difference", "low", "high", "once_low", "once_high")
        return {
            "finding": self.finding,
            "systems": list(self.systems),
            **{name: getattr(self, name) for name in names},
            "queries": self.population,
            **{name: None if math.isnan(getattr(self, name)) else getattr(self, name) for name in numbers},
            "looks": rows_of(self.looks),
            "ahead": rows_of(self.ahead),
            "notes": list(self.notes),
        }


#: Why there is no figure on the way.
BY_QUERY = (
    "the labels came in query by query, and a figure on the way needs a random part of the draw, as the judging app "
    "asks for it; wait until all labels are in"
)
#: The course is drawn through so many looks at most, a round number of labels apart.
MOST_LOOKS = 25
STEPS = (10, 20, 25, 50, 100, 200, 250, 500, 1000, 2500, 5000, 10_000)
#: Looks that were made before, by what was known then.
Memo = MutableMapping[tuple[int, ...], OnTheWay]


def live_verdict(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object = None,
    *,
    gold: LabelsLike | None = None,
    queries: Literal["sample", "fixed"] = "sample",
    calibrate: bool | Sequence[str] = True,
    consensus: str = "median",
    profile: str | Profile = "trec_eval",
    common_queries: bool = False,
    allow_unjudged: bool = False,
    level: float = 0.95,
    margin: float | None = None,
    memo: Memo | None = None,
) -> Live:
    """Is it clear yet which of two systems is better, while gold labels come in one after another?

    >>> import numpy as np
    >>> from karat.simulate.graded_pair import graded_pair
    >>> study = graded_pair(30, shift=2.0, seed=1)
    >>> gold = study.gold(np.random.default_rng(1).random(900) < 0.2, np.full(900, 0.2))
    >>> found = live_verdict(study.judgments(), study.runs(), "P@10", gold=gold)
    >>> found.state, found.verdict
    ('stop', 'better')

    `gold` has a row for each document of the draw with its `probability`, those that wait for a label without one, as
    karat plan gold writes it and the study's database has it; labels come in the order of `time`, or of the rows. That
    order has to be random, as the judging app deals documents: what came query by query is refused. The estimate is
    that of `compare` with these gold labels; its interval holds at all looks together, so one may stop as soon as 0
    is outside, or, with a `margin`, as soon as the interval is within it. `memo` keeps looks for the next call.

    A judged query that a system misses counts 0, as in `compare`, unless `common_queries` leaves it out.
    There is no verdict where most of a system's top documents have no label, unless `allow_unjudged`.

    Reference: see `karat.stats.confidence_sequences.reach_to_the_end`.
    """
    one, lists = one_measure(measure), several(runs)
    names = [name for run in lists for name in run.systems]
    if len(names) != 2:
        raise BadInput.at(
            "the live verdict", expected="two systems", found=f"{len(names)}", remedy="name two runs after the study"
        )
    if margin is not None and not (margin > 0 and math.isfinite(margin)):
        raise BadInput.at("the margin", expected="a difference above 0", found=str(margin))
    Look(level)  # checks it
    trusted = None if gold is None else Judgments.of(gold)
    judged, golden = split_gold(Judgments.of(labels), trusted, given_stands=True, any_scale=True)
    if golden is None:
        raise BadInput.at(
            "the live verdict",
            expected="gold labels of documents that were drawn",
            found="none",
            remedy="draw some with karat plan gold, and ask for them in the judging app (karat import STUDY gold.csv)",
        )
    arrived = Arrived.of(golden)
    asked: dict[str, Any] = {"queries": queries, "calibrate": calibrate, "consensus": consensus, "profile": profile}
    ready = Prepared.of(judged, lists, one, common_queries=common_queries, **asked)
    matrix = ready.matrix
    common = {"measure": str(one), "systems": (names[0], names[1]), "level": level, "margin": margin}
    common |= {"labels": arrived.labels, "drawn": arrived.asked, "waiting": arrived.waiting, "population": queries}
    common |= {"judged_queries": matrix.judged, "missing_queries": matrix.missing, "missing": describe_missing(matrix)}
    unjudged = Unjudged.of(matrix.coverage)
    if unjudged.refusal and not allow_unjudged:
        return _without(common, "cannot say", f"Cannot say which is better by {one}: {unjudged.refusal}.")
    if arrived.labels < FIRST_LOOK:
        there = f"{count(arrived.labels, 'gold label')} of {arrived.asked:,} {'is' if arrived.labels == 1 else 'are'}"
        return _without(common, "too early", f"{there} there, and figures begin at {FIRST_LOOK}")
    key = _key(judged, one, asked, common_queries, level)
    try:
        if arrived.labels < arrived.asked and not arrived.is_random:
            raise Undefined(BY_QUERY)
        now = _look(ready, arrived, arrived.labels, level, key, memo)
    except Undefined as why:
        yet = " yet" if arrived.waiting else ""
        return _without(common, "cannot say", f"Cannot say{yet} which is better by {one}: {why}.")
    course = [*(_course(ready, arrived, level, key, memo) if arrived.is_random else ()), now]
    return _told(common, course, arrived, margin)


def _told(common: dict[str, Any], course: list[OnTheWay], arrived: Arrived, margin: float | None) -> Live:
    """The state of things from the looks so far, of which the last is now."""
    now = course[-1]
    # Whoever stops as soon as it is clear was right to: what an earlier look showed stands.
    clear = next(((one.labels, shown) for one in course if (shown := one.clear(margin)) is not None), None)
    verdict: Verdict = "no difference shown" if clear is None else clear[1]
    ahead = now.until_clear(margin) if clear is None and arrived.waiting else None
    going = clear is None and arrived.waiting > 0
    outlook = _outlook(now, ahead, arrived, margin) if clear is None else ""
    if clear is not None and clear[0] < now.labels:
        outlook = f"It was clear after {clear[0]:,}"
    notes = [
        f"looked at once, the interval would be {now.once.low:+.3g} to {now.once.high:+.3g}; looked at again and "
        "again, such intervals miss the truth far more often than they say"
    ]
    if arrived.silent:
        notes.append(
            f"of {count(arrived.silent, 'drawn document')} somebody could not tell: those with a label are taken for a "
            "random part of the draw"
        )
    if not arrived.is_random:
        notes.append("the order of the labels is by query, so that earlier looks are not shown")
    if now.later:
        notes.append("documents were added to the draw after its first round, so the interval is wider: it still holds")
    return Live(
        **common,
        state="go on" if going else "stop",
        verdict=verdict,
        difference=now.once.difference,
        low=now.low,
        high=now.high,
        once_low=now.once.low,
        once_high=now.once.high,
        more=0 if clear is not None else None if ahead is None else ahead[0],
        clear_at=None if clear is None else clear[0],
        outlook=outlook,
        looks=pl.DataFrame(
            [(one.labels, one.once.difference, one.low, one.high) for one in course], schema=LOOKS, orient="row"
        ),
        ahead=_ahead(now, arrived.waiting),
        notes=(*notes, *(note for note in now.notes if note != ONLY_DIFFERENCES)),
    )


def _ahead(now: OnTheWay, waiting: int) -> pl.DataFrame:
    """The interval after each eighth of the labels that are still to come, if the difference stays as it is."""
    steps = sorted({math.ceil(waiting * part / 8) for part in range(1, 9)}) if waiting else []
    stays = now.once.difference
    rows = [(now.labels + more, stays, stays - now.reach(more), stays + now.reach(more)) for more in steps]
    return pl.DataFrame(rows, schema=LOOKS, orient="row")


def _outlook(now: OnTheWay, ahead: tuple[int, Clear] | None, arrived: Arrived, margin: float | None) -> str:
    """How many more labels it should take, or what else."""
    stays = "if the difference stays as it is"
    if ahead is not None:
        about = "One more label" if ahead[0] == 1 else f"About {ahead[0]:,} more labels"
        shows = f"show that they are within {margin:g}" if ahead[1] == "equivalent" else "make it clear"
        return f"{about} should {shows}, {stays}"
    if not now.known and 1.96 * math.sqrt(now.queries) > abs(now.once.difference):
        further = "gold labels of all documents would not do either, it takes more queries"
    else:
        further = "it takes a further round " + advise("(karat plan gold --gold)", "(plan_gold with pilot=)")
    if not arrived.waiting:
        return f"For a difference of this size {further}"
    return f"The {count(arrived.waiting, 'label')} still to come will not make it clear, {stays}: {further}"


def _course(ready: Prepared, arrived: Arrived, level: float, key: tuple[int, ...], memo: Memo | None) -> list[OnTheWay]:
    """The looks before now, as many labels apart as keep the course short."""
    step = next((step for step in STEPS if arrived.asked <= step * MOST_LOOKS), STEPS[-1])
    first = math.ceil(FIRST_LOOK / step) * step
    course = []
    for labels in range(first, arrived.labels, step):
        try:
            course.append(_look(ready, arrived, labels, level, key, memo))
        except (Undefined, BadInput):  # of a later round there was no label yet
            continue
    return course


def _look(
    ready: Prepared, arrived: Arrived, labels: int, level: float, key: tuple[int, ...], memo: Memo | None
) -> OnTheWay:
    if memo is None:
        return look(ready, arrived, labels, level)
    whole = (*key, labels, arrived.asked, arrived.silent, _sum(arrived.gold(labels).frame))
    if whole not in memo:
        memo[whole] = look(ready, arrived, labels, level)
    return memo[whole]


def _key(judged: Judgments, *asked: object) -> tuple[int, ...]:
    return _sum(judged.frame.select("query", "doc", "label")), hash(str(asked))


def _sum(frame: pl.DataFrame) -> int:
    return int(frame.hash_rows(seed=1).sum()) if frame.height else 0


def _without(common: dict[str, Any], state: State, why: str) -> Live:
    """A live verdict that has no figure."""
    none: dict[str, Any] = dict.fromkeys(("difference", "low", "high", "once_low", "once_high"), math.nan)
    return Live(
        **common,
        **none,
        state=state,
        verdict="cannot say",
        more=None,
        clear_at=None,
        outlook=why,
        looks=pl.DataFrame(schema=LOOKS),
        ahead=pl.DataFrame(schema=LOOKS),
    )
