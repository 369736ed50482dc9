"""Who judges what, and when: two labels for a document, and a third when they differ."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl

from karat.simulate.judges import draw, fatigue, label_chances
from karat.simulate.parts import numbered
from karat.stats.arrays import Bools, Floats, Ints

#: Seconds for a judgment, in the middle.
PACE = {"gold": 90.0, "professional": 45.0, "crowd": 25.0, "llm": 1.0, "spam": 4.0}
START = datetime(2024, 3, 4, 9)
DAY = 86_400.0
#: Stands for "can't tell" until the labels are written down.
SILENT = -1


@dataclass(frozen=True, eq=False)
class Tasks:
    """What is judged: which pair, by which judge, as which number in the judge's own sequence (from 0)."""

    pair: Ints
    judge: Ints
    place: Ints


@dataclass(frozen=True)
class Group:
    """Judges of one kind: how many, how they err, and how many of them do not read."""

    name: str
    judges: int
    spread: float
    squeeze: float = 0.0
    leniency: float = 0.0
    spammers: int = 0
    fatigued: float = 0.0
    levels: int = 5

    @property
    def names(self) -> pl.Series:
        """The names of the judges, spammers first."""
        return numbered(f"{self.name}-", self.judges)

    def careless(self, tasks: Tasks) -> Floats:
        """The chance that an answer knows nothing of the document."""
        return np.where(tasks.judge < self.spammers, 1.0, fatigue(tasks.place, self.fatigued))

    def chances(self, tasks: Tasks, grade: Ints, shift: Floats | float, careless: bool = True) -> Floats:
        """The chance of each label; `shift` is the group's error on each pair, in grades."""
        return label_chances(
            grade[tasks.pair],
            levels=self.levels,
            spread=self.spread,
            squeeze=self.squeeze,
            leniency=self.leniency,
            shift=np.broadcast_to(shift, grade.shape)[tasks.pair],
            careless=self.careless(tasks) if careless else 0.0,
        )


def two_judges_each(pairs: int, judges: int, rng: np.random.Generator) -> Tasks:
    """Two different judges for each pair; each judge works in a random order."""
    one, two = rng.integers(judges, size=pairs), rng.integers(judges - 1, size=pairs)
    two += two >= one
    judge = np.concatenate([one, two])
    return Tasks(np.tile(np.arange(pairs), 2), judge, _places(judge, judges, rng))


def third(first: Tasks, wanted: Bools, judges: int, rng: np.random.Generator) -> Tasks:
    """A third judge for the pairs where one is wanted, after all that the judges did before.

    >>> first = Tasks(np.array([0, 1, 0, 1]), np.array([0, 1, 1, 2]), np.array([0, 0, 1, 0]))
    >>> more = third(first, np.array([False, True]), 3, np.random.default_rng(0))
    >>> more.pair.tolist(), more.judge.tolist(), more.place.tolist()
    ([1], [0], [1])
    """
    one, two = first.judge.reshape(2, -1)[:, wanted]
    judge = rng.integers(judges - 2, size=len(one))
    judge += judge >= np.minimum(one, two)
    judge += judge >= np.maximum(one, two)
    done = np.bincount(first.judge, minlength=judges)
    return Tasks(np.flatnonzero(wanted), judge, done[judge] + _places(judge, judges, rng))


def judged_by_one(group: Group, pairs: pl.DataFrame, shift: Floats | float, rng: np.random.Generator) -> pl.DataFrame:
    """The labels of a judge who judges every pair once."""
    number = np.arange(pairs.height)
    tasks = Tasks(number, np.zeros_like(number), number)
    chances = group.chances(tasks, pairs["grade"].to_numpy(), shift)
    return _written(group, pairs, [(tasks, _answers(chances, 0.0, rng))], rng)


def judged_by_two_or_three(
    group: Group,
    pairs: pl.DataFrame,
    first: Tasks,
    shift: Floats | float,
    rng: np.random.Generator,
    *,
    cant_tell: float = 0.0,
    stop_rule: bool = True,
) -> pl.DataFrame:
    """The labels of the first two judges of each pair, and of a third when they differ (without the rule: always)."""
    grade = pairs["grade"].to_numpy()
    given = _answers(group.chances(first, grade, shift), cant_tell, rng)
    one, two = given.reshape(2, -1)
    more = third(first, (one != two) | (not stop_rule), group.judges, rng)
    rounds = [(first, given), (more, _answers(group.chances(more, grade, shift), cant_tell, rng))]
    return _written(group, pairs, rounds, rng)


def _places(judge: Ints, judges: int, rng: np.random.Generator) -> Ints:
    """Numbers each judge's tasks from 0, in a random order."""
    order = np.lexsort((rng.random(len(judge)), judge))
    begin = np.concatenate([[0], np.cumsum(np.bincount(judge, minlength=judges))[:-1]])
    place = np.empty(len(judge), np.int64)
    place[order] = np.arange(len(judge)) - begin[judge[order]]
    return place


def _answers(chances: Floats, cant_tell: float, rng: np.random.Generator) -> Ints:
    """A label drawn for each task, or none."""
    label = draw(chances, rng)
    return np.where(rng.random(len(label)) < cant_tell, SILENT, label) if cant_tell else label


def _written(
    group: Group, pairs: pl.DataFrame, rounds: list[tuple[Tasks, Ints]], rng: np.random.Generator
) -> pl.DataFrame:
    """The judgments of a group as rows: query, doc, label, judge, group, time, seconds, pair by pair."""
    pair, judge, place = (np.concatenate([getattr(t, name) for t, _ in rounds]) for name in ("pair", "judge", "place"))
    label = np.concatenate([given for _, given in rounds]).astype(np.float64)
    later = np.repeat(np.arange(len(rounds)), [len(given) for _, given in rounds])
    pace = np.where(judge < group.spammers, PACE["spam"], PACE[group.name])
    frame = (
        pairs.select("query", "doc")[pair]
        .with_columns(
            label=pl.Series(np.where(label == SILENT, np.nan, label)).fill_nan(None),
            judge=group.names[judge],
            group=pl.lit(group.name),
            seconds=pl.Series((pace * rng.lognormal(0.0, 0.5, len(label))).round(1)),
            pair=pl.Series(pair),
            place=pl.Series(place),
            later=pl.Series(later),
        )
        .sort("judge", "place")
    )
    # A judge's clock runs on from task to task; third labels are asked for once all first ones are there.
    frame = frame.with_columns(done=pl.col("seconds").cum_sum().over("judge", "later"))
    longest = frame.select((pl.col("done").max() / DAY).ceil() * DAY)
    passed = pl.col("done") + pl.col("later") * (longest.item() or 0.0)
    return (
        frame.with_columns(time=(pl.lit(START) + pl.duration(milliseconds=passed * 1000)).dt.strftime("%FT%T"))
        .sort("pair", "later", "time", maintain_order=True)
        .select("query", "doc", "label", "judge", "group", "time", "seconds")
    )
