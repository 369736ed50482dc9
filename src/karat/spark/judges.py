"""Who judges how, and what documents are probably worth, from labels that are larger than one machine.

A step of the fit needs of the labels only how often each judge is expected to have given each label to each grade: that
much comes here, grades x grades x judges numbers, whatever the number of documents. From it come the judges' errors,
which go to the workers for the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.judges.dawid_skene import learned, without_unmet
from karat.judges.em import (
    Answers,
    Errors,
    Fit,
    Layout,
    check,
    extrapolated,
    fit_steps,
    guess,
    largest,
    squares,
    stride_of,
    tally,
)
from karat.judges.error_models import (
    ErrorModel,
    confusion_table,
    judges_table,
    posterior_table,
    refuse_unlearnable,
    shares_of,
)
from karat.labels.label_table import ALL, NOBODY, Facts
from karat.labels.panel import MOST_GRADES
from karat.records import Judgments, Scale
from karat.records.scale import refuse_many_grades
from karat.records.table import count
from karat.spark.frames import (
    BUCKET,
    beside,
    collected,
    dealt,
    default_buckets,
    functions,
    grouped,
    in_words,
    known,
    quoted,
)
from karat.spark.score import facts_of
from karat.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


#: The place of a row in its file, as Spark numbers them: of several labels of a judge the first counts.
ROW = "karat_row"
#: Group and name in one text, and what stands for no name.
WHO, NAMELESS = "karat_who", "\x1f"


@dataclass(frozen=True, eq=False)
class Numbered(Layout):
    """The labels of one bucket by number."""

    item: Ints
    judge: Ints
    grade: Ints
    known: Ints
    n_levels: int
    of_judges: int

    @classmethod
    def of(cls, rows: pl.DataFrame, levels: int, judges: int) -> tuple[Numbered, pl.DataFrame]:
        """The rows of a bucket, and the first row of each item."""
        rows = rows.sort("item", "judge", "grade")
        first = rows.unique("item", keep="first", maintain_order=True)
        item = np.searchsorted(first["item"].to_numpy(), rows["item"].to_numpy())
        judge, grade = (rows[name].to_numpy() for name in ("judge", "grade"))
        return cls(item, judge, grade, first["known"].to_numpy(), levels, judges), first

    @property
    def levels(self) -> int:
        """How many grades there are."""
        return self.n_levels

    @property
    def n_judges(self) -> int:
        """How many judges there are, in all buckets."""
        return self.of_judges


@dataclass(frozen=True, eq=False)
class SparkLabels:
    """The labels that count: a row each with the item's key, and numbers of item, judge, grade and known grade."""

    frame: DataFrame
    key: tuple[str, ...]
    #: `judge`, and `group` before it where there are groups; sorted.
    judges: pl.DataFrame
    grades: Floats

    @classmethod
    def of(cls, labels: Any, scale: Scale | None, buckets: int | None, *, learn: bool) -> SparkLabels:
        """The labels of a DataFrame, kept where they lie; `Undefined` where they cannot be learnt from, if asked."""
        f = functions()
        judged = known(labels, Judgments.schema, "the labels", also=("altered", "source"))
        facts = facts_of(judged, None if scale is None else scale.top.grade, (), of_judges=True)
        key = ("query", "doc", *facts.taken_apart())
        number = default_buckets(judged, buckets)
        rows = dealt(judged.withColumn(ROW, f.monotonically_increasing_id()), ["query"], number)
        columns: dict[str, Any] = dict.fromkeys((*key, "group", "judge", WHO), pl.String)
        columns |= {"item": pl.Int64, "label": pl.Float64, "gold": pl.Float64, "shared": pl.Boolean, BUCKET: pl.Int64}
        counted = grouped(rows, _counting(facts, scale, key), columns).persist()
        try:
            told = collected(
                counted.groupBy("group", "judge", WHO, "label", "gold").agg(
                    f.count(f.lit(1)).alias("n"), f.max(f.col("shared").cast("int")).alias("shared")
                )
            )
            people = told.select("group", "judge", WHO).unique()
            who = ["judge"] if people["group"].unique().to_list() == [ALL] else ["group", "judge"]
            people = people.sort(who)
            given = np.unique(pl.concat([told["label"], told["gold"]]).drop_nulls().to_numpy())
            grades: Floats = np.unique(np.append(given, [] if scale is None else scale.grades)) + 0.0
            refuse_many_grades(len(grades), MOST_GRADES)
            if learn:
                said = (lambda grade: f"{grade:g}") if scale is None else scale.name
                only = said(float(given[0])) if len(given) == 1 else None
                refuse_unlearnable(int(told["n"].sum()), only, bool(told["shared"].max()), people.height == 1)
            numbers = beside(counted, people.select(WHO, number=pl.int_range(pl.len(), dtype=pl.Int64)))

            def placed(column: str) -> Any:
                found = f.lit(-1)
                for place, grade in enumerate(grades):
                    found = f.when(f.col(column) == float(grade), place).otherwise(found)
                return found.cast("bigint")

            frame = counted.join(f.broadcast(numbers), WHO).select(
                BUCKET,
                *[f.col(quoted(name)) for name in key],
                "item",
                f.col("number").alias("judge"),
                placed("label").alias("grade"),
                placed("gold").alias("known"),
            )
            # Dealt once: a step that found the rows of a bucket apart would bring them together again.
            kept = frame.repartition(number, BUCKET).persist()
            kept.count()
            return cls(kept, key, people.select(who), grades)
        finally:
            counted.unpersist()


def _counting(facts: Facts, scale: Scale | None, key: tuple[str, ...]) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What is done with the labels of one bucket of queries."""

    def of_bucket(rows: pl.DataFrame) -> pl.DataFrame:
        bucket = int(rows[BUCKET][0])
        frame = facts.told(rows.sort(ROW).drop(BUCKET, ROW))
        answers = Answers.of(Judgments.check(frame, scale=scale))
        people = answers.judges[answers.judge]
        group = people["group"] if "group" in people.columns else pl.repeat(ALL, people.height, eager=True)
        gold = np.append(answers.grades, np.nan)[answers.known[answers.item]]
        made = answers.items[answers.item].with_columns(
            group=group,
            judge=people["judge"],
            item=pl.Series(answers.item, dtype=pl.Int64),
            label=pl.Series(answers.grades[answers.grade]),
            gold=pl.Series(gold).fill_nan(None),
            shared=pl.Series(answers.shared),
        )
        who = pl.concat_str("group", pl.lit(NAMELESS), pl.col("judge").fill_null(NAMELESS))
        made = made.with_columns(who.alias(WHO), pl.lit(bucket, pl.Int64).alias(BUCKET))
        return made.filter(pl.col("query") != NOBODY)

    return of_bucket


MODELS = {"dawid-skene": "Dawid-Skene", "majority": "The majority"}
#: The numbers that a bucket tells beside counts and priors.
BESIDE = ("items", "log_likelihood", "ahead", "bend", "moved")


@dataclass(frozen=True, eq=False)
class SparkErrorModel:
    """An error model whose documents are a DataFrame of Spark; prior, confusion and judges are here.

    `posterior` has a row per document as `kt.judges.ErrorModel` has it: n labels, P of each grade, the most probable
    and the expected one. `votes` has how many labels of each grade it has.
    """

    method: str
    posterior: DataFrame
    votes: DataFrame
    prior: dict[float, float]
    confusion: pl.DataFrame
    judges: pl.DataFrame
    converged: bool
    iterations: int
    log_likelihood: float
    notes: tuple[str, ...]
    labels: SparkLabels
    scale: Scale | None = None

    def collect(self) -> ErrorModel:
        """The model with all documents on this machine."""
        names = ("method", "prior", "confusion", "judges", "converged", "iterations", "log_likelihood", "notes")
        posterior = collected(self.posterior).sort(self.labels.key)
        by = count(self.judges.height, "judge")
        return ErrorModel(posterior=posterior, by=by, scale=self.scale, **{name: getattr(self, name) for name in names})

    def unpersist(self) -> None:
        """Let Spark forget the labels; the documents would be worked out from the start again."""
        self.labels.frame.unpersist()


def judges(
    labels: Any,
    error_model: str = "dawid-skene",
    *,
    scale: Scale | None = None,
    smoothing: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerate: bool = True,
    buckets: int | None = None,
) -> SparkErrorModel:
    """What documents are probably worth and how judges err: `kt.judges.dawid_skene` or the majority, by Spark.

    The labels are a DataFrame: query, doc, label, judge, and whatever else says which of them count, as on one machine;
    labels of a group `gold` are the known truth. Queries are dealt to buckets, and each is worked on by the code of one
    machine. A step of the fit is a job of Spark; `tolerance=1e-4` saves many.

        model = karat.spark.judges(labels)
        model.posterior.write.parquet("grades")   # one row a document, wherever it lies
        model.judges                              # accuracy, leniency and spread, here
        model.votes.show()                        # how many labels of each grade each document has
    """
    if error_model not in MODELS:
        raise BadInput.at("the error model", expected=" or ".join(MODELS), found=f'"{error_model}"')
    check(max_iterations=max_iterations, tolerance=tolerance, smoothing=smoothing)
    fits = error_model == "dawid-skene"
    laid = in_words(lambda: SparkLabels.of(labels, scale, buckets, learn=fits))
    way = _Spread(laid, smoothing)
    if fits:
        fit = fit_steps(way, max_iterations, tolerance, accelerate)
        last, counts = way.last, way.last.told.counts
        errors = fit.errors if smoothing else without_unmet(fit.errors, counts)
        fit = replace(fit, errors=errors)
    else:
        last = way.first()
        counts = last.told.counts
        fit = Fit(np.empty((0, 0)), Errors(last.told.prior, shares_of(counts)), float("nan"), 0, True)
    recipe, grades, levels, people = last.recipe, laid.grades, len(laid.grades), laid.judges.height
    notes = ["by Spark: which labels were left aside, and why, is not told"]
    if not fit.converged:
        notes.append(f"not converged after {count(fit.iterations, 'iteration')}: the figures may still move")

    def documents(rows: pl.DataFrame) -> pl.DataFrame:
        layout, items = Numbered.of(rows, levels, people)
        return posterior_table(layout, items.select(key), grades, recipe.of(layout))

    def voted(rows: pl.DataFrame) -> pl.DataFrame:
        layout, items = Numbered.of(rows, levels, people)
        each = [pl.Series(f"n_{grade:g}", layout.per_item[place]) for place, grade in enumerate(grades)]
        return items.select(key).with_columns(pl.Series("n", layout.sizes), *each).cast(dict.fromkeys(named, pl.Int64))

    key, named = laid.key, ["n", *(f"n_{grade:g}" for grade in grades)]
    columns: dict[str, Any] = dict.fromkeys(key, pl.String) | {"n": pl.Int64, "known": pl.Boolean}
    columns |= dict.fromkeys([*(f"p_{grade:g}" for grade in grades), "label", "expected"], pl.Float64)
    return SparkErrorModel(
        method=MODELS[error_model],
        posterior=grouped(laid.frame, documents, columns),
        votes=grouped(laid.frame, voted, dict.fromkeys(key, pl.String) | dict.fromkeys(named, pl.Int64)),
        prior=dict(zip(grades.tolist(), fit.errors.prior.tolist(), strict=True)),
        confusion=confusion_table(laid.judges, grades, fit.errors.confusion, counts),
        judges=judges_table(laid.judges, grades, fit.errors.confusion, counts),
        converged=fit.converged,
        iterations=fit.iterations,
        log_likelihood=fit.log_likelihood,
        notes=tuple(notes),
        labels=laid,
        scale=scale,
    )


@dataclass(frozen=True, eq=False)
class _Recipe:
    """How the probabilities of a bucket's items are made: from errors, from two steps and a stride, or from labels."""

    errors: Errors | None = None
    steps: tuple[_Recipe, _Recipe, _Recipe] | None = None
    stride: float = 1.0

    def of(self, layout: Layout) -> Floats:
        if self.steps is not None:
            start, first, second = (step.of(layout) for step in self.steps)
            return extrapolated(layout, start, first, second, self.stride)
        return layout.shares() if self.errors is None else guess(layout, self.errors)[0]


@dataclass(frozen=True, eq=False)
class _Told:
    """What the buckets tell of a state, added up."""

    counts: Floats
    prior: Floats
    log_likelihood: float
    ahead: float
    bend: float
    moved: float


@dataclass(eq=False)
class _State:
    """Where the fit stands, with the states before it."""

    way: _Spread
    recipe: _Recipe
    before: tuple[_Recipe, ...] = ()

    @cached_property
    def told(self) -> _Told:
        """What is known of it, by one job."""
        return self.way.ask(self.recipe, self.before)


@dataclass(eq=False)
class _Spread:
    """Steps on a cluster."""

    labels: SparkLabels
    smoothing: float

    def first(self) -> _State:
        return _State(self, _Recipe())

    def step(self, state: _State) -> tuple[_State, float]:
        recipe = _Recipe(learned(state.told.counts.copy(), state.told.prior, self.smoothing))
        following = _State(self, recipe, (state.recipe, *state.before[:1]))
        return following, following.told.log_likelihood

    def moved(self, state: _State, before: _State) -> float:
        return state.told.moved

    def stride(self, start: _State, first: _State, second: _State) -> float:
        return stride_of(second.told.ahead, second.told.bend)

    def beyond(self, start: _State, first: _State, second: _State, stride: float) -> _State:
        return _State(self, _Recipe(steps=(start.recipe, first.recipe, second.recipe), stride=stride))

    def ended(self, state: _State, steps: int, converged: bool) -> Fit:
        self.last = state
        errors = learned(state.told.counts.copy(), state.told.prior, self.smoothing)
        likely = _State(self, _Recipe(errors)).told.log_likelihood
        return Fit(np.empty((0, 0)), errors, likely, steps, converged)

    def ask(self, recipe: _Recipe, before: tuple[_Recipe, ...]) -> _Told:
        """The sums over all buckets for a state, and how it differs from those before it."""
        f = functions()
        levels, people = len(self.labels.grades), self.labels.judges.height
        kernel = _summing(levels, people, recipe, before)
        rows = self.labels.frame.select(BUCKET, "item", "judge", "grade", "known")
        columns = {"cell": pl.Int64, "total": pl.Float64, "most": pl.Float64}
        sums = (
            grouped(rows, kernel, columns)
            .groupBy("cell")
            .agg(f.sum("total").alias("total"), f.max("most").alias("most"))
        )
        found = collected(sums)
        numbers = np.zeros(levels**2 * people + levels + len(BESIDE))
        numbers[found["cell"].to_numpy()] = found["total"].to_numpy()
        rest = dict(zip(BESIDE, numbers[-len(BESIDE) :].tolist(), strict=True))
        counts = numbers[: levels**2 * people].reshape(levels, levels, people)
        prior = numbers[levels**2 * people :][:levels] / rest.pop("items")
        rest["moved"] = float(found["most"].to_numpy().max(initial=0.0))
        return _Told(counts, prior, **rest)


def _summing(
    levels: int, people: int, recipe: _Recipe, before: tuple[_Recipe, ...]
) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """What a bucket tells of a state: a row for each number that is not 0."""

    def of_bucket(rows: pl.DataFrame) -> pl.DataFrame:
        layout, _ = Numbered.of(rows, levels, people)
        likely = 0.0
        if recipe.errors is not None:
            state, likely = guess(layout, recipe.errors)
        else:
            state = recipe.of(layout)
        past = [one.of(layout) for one in before]
        moved = largest(state - past[0]) if past else 0.0
        ahead, bend = squares(past[1], past[0], state) if len(past) > 1 else (0.0, 0.0)
        beside = [float(layout.n_items), likely, ahead, bend, 0.0]
        numbers = np.concatenate([tally(layout, state).ravel(), state.sum(axis=1), beside])
        cell = np.append(np.flatnonzero(numbers), len(numbers) - 1)
        most = np.append(np.zeros(len(cell) - 1), moved)
        return pl.DataFrame({"cell": cell, "total": numbers[cell], "most": most})

    return of_bucket
