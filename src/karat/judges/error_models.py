"""Error models: from the labels of fallible judges to the grades that documents probably have, and to who errs how.

All answer in the same form, an `ErrorModel`. This file has the two simplest: the majority, which takes all judges for
equally good, and one coin per judge, the share of answers that are right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import polars as pl

from karat.errors import Undefined
from karat.judges.em import FLOOR, Answers, Errors, Fit, Layout, check, fit_em, tally
from karat.records import Judgments, Scale
from karat.records.result import Grid, ResultBase, rows_of
from karat.records.table import count
from karat.registry import Registry
from karat.stats.arrays import Floats

#: More judges than these are not drawn: a square of each takes as many lines as there are grades.
MOST_JUDGES = 8


def confusion_grid(confusion: pl.DataFrame, scale: Scale | None) -> Grid:
    """The matrices of an error model one below the other, those of the judges with the most labels.

    >>> frame = pl.DataFrame({"judge": ["ann"] * 4, "truth": [0.0, 0.0, 1.0, 1.0], "label": [0.0, 1.0] * 2,
    ...                       "probability": [0.9, 0.1, 0.3, 0.7], "n": [9.0, 1.0, 3.0, 7.0]})
    >>> confusion_grid(frame, Scale.parse("bad, good")).frame.row(1)
    ('ann: bad', 'good', 0.1, '0.10')
    """
    who = confusion.columns[: confusion.columns.index("truth")]
    labels = confusion.group_by(who, maintain_order=True).agg(pl.col("n").sum())
    most = labels.sort("n", descending=True, maintain_order=True).head(MOST_JUDGES).select(who)
    shown = confusion.join(most, on=who, how="semi", nulls_equal=True, maintain_order="left")
    rows = []
    for row in shown.iter_rows(named=True):
        judge = ", ".join(str(row[name]) for name in reversed(who) if row[name] is not None) or "no name"
        truth, label = (f"{row[name]:g}" if scale is None else scale.name(row[name]) for name in ("truth", "label"))
        met = not math.isnan(row["probability"])  # a grade that a judge never met has no shares
        share = row["probability"] if met else 0.0
        rows.append((f"{judge}: {truth}", label, share, f"{share:.2f}" if met else "-"))
    frame = pl.DataFrame(rows, schema=["first", "second", "value", "said"], orient="row")
    how = "Shares of each judge's labels (across) of documents of each probable grade (down)"
    if labels.height > MOST_JUDGES:
        how += f"; the {MOST_JUDGES} with the most labels of {count(labels.height, 'judge')}"
    return Grid(frame, "label", "judge: probable grade", how)


@dataclass(frozen=True, eq=False, repr=False)
class ErrorModel(ResultBase):
    """What documents are probably worth and how judges err, as one model sees it.

    - `posterior`: a row per document with `p_0`, `p_1`, ... (P of each true grade), `label` (the most probable grade,
      the lower of two equals), `expected` (the mean grade), `n` labels, and `known` (fixed by gold);
    - `prior`: the share of each grade among the documents;
    - `confusion`: P(`label` | `truth`) of each judge, and `n`, the labels on which it stands (expected, so not whole);
    - `judges`: from these, `accuracy`, `leniency` (mean of label - truth) and `spread` (its standard deviation).
    """

    method: str
    #: Who judged, in words.
    by: str
    posterior: pl.DataFrame
    prior: dict[float, float]
    confusion: pl.DataFrame
    judges: pl.DataFrame
    converged: bool
    iterations: int
    #: Of all labels, in natural logarithms; NaN where there is no likelihood.
    log_likelihood: float
    notes: tuple[str, ...] = ()
    scale: Scale | None = None

    @property
    def finding(self) -> str:
        """What the fit says, and whether it settled, in a sentence."""
        labels, documents = count(int(self.posterior["n"].sum()), "label"), count(self.posterior.height, "document")
        by = f"{labels} of {documents} by {self.by}"
        named = (lambda grade: f"{grade:g}") if self.scale is None else self.scale.name
        shares = ", ".join(f"{share:.1%} have grade {named(grade)}" for grade, share in self.prior.items())
        shares = shares.replace("%", " %")
        if not self.iterations:
            return f"{self.method} of {by}: {shares}."
        steps = count(self.iterations, "iteration")
        how = f"converged in {steps}" if self.converged else f"did NOT converge in {steps}"
        return f"{self.method} {how} on {by}: {shares}."

    def labels(self, *, expected: bool = False) -> Judgments:
        """One label per document: the most probable grade, or the expected one, which need not be a whole number."""
        keys = self.posterior.columns[: self.posterior.columns.index("n")]
        kind = "expected" if expected else "label"
        note = f"one label per document: the {'expected' if expected else 'most probable'} grade. {self.finding}"
        frame = self.posterior.select(*keys, pl.col(kind).alias("label"))
        return Judgments(frame, (*self.notes, note), self.scale)

    def to_frame(self) -> pl.DataFrame:
        """A row per document with the probability of each grade."""
        return self.posterior

    def to_dict(self) -> dict[str, Any]:
        """The model as one document; what is undefined is None."""
        return {
            "finding": self.finding,
            "method": self.method,
            "converged": self.converged,
            "iterations": self.iterations,
            "log_likelihood": None if np.isnan(self.log_likelihood) else self.log_likelihood,
            "prior": [{"grade": grade, "share": share} for grade, share in self.prior.items()],
            "judges": rows_of(self.judges),
            "confusion": rows_of(self.confusion),
            "rows": rows_of(self.posterior),
            "notes": list(self.notes),
        }

    @property
    def drawing(self) -> Grid:
        """Each judge's confusions as squares."""
        return confusion_grid(self.confusion, self.scale)

    def shown(self) -> pl.DataFrame:
        """How each judge errs."""
        return self.judges


#: A function that makes an error model of labels.
Model = TypeVar("Model", bound=Callable[..., ErrorModel])
#: The error models by the names that `consensus` takes beside median, majority and mean.
MODELS: Registry[Callable[..., ErrorModel]] = Registry("error model", "karat.error_models", home="karat.judges")


def register_error_model(name: str) -> Callable[[Model], Model]:
    """Make a function of labels that gives an `ErrorModel` one that `consensus` and `--consensus` take by this name.

    >>> @register_error_model("all-alike")
    ... def all_alike(labels):
    ...     return majority_posterior(labels)
    >>> "all-alike" in MODELS
    True
    >>> MODELS.forget("all-alike")

    `Answers` lays labels out for fitting, `fit_em` fits, and `described` puts the fit in words: see docs/extend.md.
    """

    def registered(model: Model) -> Model:
        MODELS.register(name, model, model.__module__)
        return model

    return registered


def majority_posterior(labels: Any, *, gold: Any = None) -> ErrorModel:
    """How the labels of each document are spread, taken for the probability of each grade.

    >>> majority_posterior([{"query": "q", "doc": "d", "label": 2, "judge": "ann"},
    ...                     {"query": "q", "doc": "d", "label": 0, "judge": "bob"},
    ...                     {"query": "q", "doc": "d", "label": 2, "judge": "eve"}])
    The majority of 3 labels of 1 document by 3 judges: 33.3 % have grade 0, 66.7 % have grade 2.

    The yardstick for the others, and right when all judges are equally good or have few labels. The judges' errors are
    against a majority of which they are part, so they flatter; `judge_table` compares each with the others alone.
    """
    answers = Answers.of(labels, gold)
    posterior = answers.shares()
    counts = tally(answers, posterior)
    fit = Fit(posterior, Errors(posterior.mean(axis=1), shares_of(counts)), float("nan"), 0, True)
    return described("The majority", answers, fit)


def shares_of(counts: Floats) -> Floats:
    """How often each label is given to each true grade, as a share; NaN for a grade that a judge never met."""
    share: Floats = np.divide(
        counts, counts.sum(axis=1, keepdims=True), out=np.full_like(counts, np.nan), where=counts > 0
    )
    share[(counts == 0) & (counts.sum(axis=1, keepdims=True) > 0)] = 0.0
    return share


@register_error_model("one-coin")
def one_coin(
    labels: Any,
    *,
    gold: Any = None,
    smoothing: float = 1.0,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    accelerate: bool = True,
) -> ErrorModel:
    """Grades and judges' accuracies when each judge is right with a chance of their own, and else says anything.

    >>> said = {"ann": [0, 1, 0, 1, 0, 1], "bob": [0, 1, 0, 1, 0, 1], "eve": [1, 1, 0, 0, 1, 1]}
    >>> model = one_coin([{"query": "q", "doc": f"d{i}", "label": label, "judge": judge}
    ...                   for judge, given in said.items() for i, label in enumerate(given)])
    >>> model.judges["accuracy"].round(2).to_list()
    [0.98, 0.98, 0.55]

    One number per judge, so a few labels each suffice. Wrong answers are taken to fall on all other grades alike: on
    ordered grades that is rarely so, and `ordinal` is the better choice there. `smoothing` gives every judge so many
    labels that are right as often as those of all judges together.

    Reference: Zhang, Chen, Zhou and Jordan, Spectral Methods Meet EM (JMLR 2016), the one-coin model.
    """
    check(smoothing=smoothing)
    answers = able_to_learn(Answers.of(labels, gold))
    right = np.eye(answers.levels)[:, :, None]

    def learn(posterior: Floats) -> Errors:
        counts = tally(answers, posterior)
        hits, n = (counts * right).sum(axis=(0, 1)), counts.sum(axis=(0, 1))
        pooled = hits.sum() / n.sum()
        accuracy = np.clip((hits + smoothing * pooled) / (n + smoothing), FLOOR, 1 - FLOOR)
        confusion = right * accuracy + (1 - right) * (1 - accuracy) / (answers.levels - 1)
        return Errors(posterior.mean(axis=1), confusion)

    fit = fit_em(answers, learn, max_iterations=max_iterations, tolerance=tolerance, accelerate=accelerate)
    return described("One coin per judge", answers, fit)


def able_to_learn(answers: Answers) -> Answers:
    """The same answers; `Undefined` when nothing can be learnt from them about anybody's errors."""
    _ = answers.levels  # labels that are measurements are refused first
    given = np.unique(np.append(answers.grade, answers.known[answers.known >= 0]))
    only = answers.panel.said(answers.grades[given[0]]) if len(given) == 1 else None
    one = len(np.unique(answers.panel.judge)) == 1
    refuse_unlearnable(len(answers.item), only, bool(answers.shared.any()), one)
    return answers


def refuse_unlearnable(labels: int, only: str | None, shared: bool, one_judge: bool) -> None:
    """Refuse labels that are all of one grade, or of which no two are of one document."""
    if only is not None:
        raise Undefined(f"all {count(labels, 'label')} are {only}: who errs cannot be told from one grade alone")
    if not shared:
        alone = "there is only one judge" if one_judge else "no two judges labelled the same document"
        raise Undefined(f"{alone} and no grade is known: nothing to compare with; give gold labels of some documents")


def described(method: str, answers: Answers, fit: Fit) -> ErrorModel:
    """The fit in words and tables."""
    counts = tally(answers, fit.posterior)
    posterior = posterior_table(answers, answers.items, answers.grades, fit.posterior)
    return ErrorModel(
        method=method,
        by=_whose(answers),
        posterior=posterior.sort(answers.items.columns),
        prior=dict(zip(answers.grades.tolist(), fit.errors.prior.tolist(), strict=True)),
        confusion=confusion_table(answers.judges, answers.grades, fit.errors.confusion, counts),
        judges=judges_table(answers.judges, answers.grades, fit.errors.confusion, counts),
        converged=fit.converged,
        iterations=fit.iterations,
        log_likelihood=fit.log_likelihood,
        notes=(*answers.panel.notes, *_warnings(answers, fit, counts)),
        scale=answers.panel.scale,
    )


def posterior_table(answers: Layout, items: pl.DataFrame, grades: Floats, posterior: Floats) -> pl.DataFrame:
    """A row per item with the probability of each grade, the most probable and the expected one."""
    # Rounded, so that the lower of two equal grades stands whatever the last digits say.
    best = np.argmax(np.round(posterior, 12), axis=0)
    return items.with_columns(
        pl.Series("n", answers.sizes),
        pl.Series("known", answers.known >= 0),
        *(pl.Series(f"p_{grade:g}", posterior[place]) for place, grade in enumerate(grades)),
        pl.Series("label", grades[best]),
        pl.Series("expected", grades @ posterior),
    )


def _whose(answers: Answers) -> str:
    """How many judges there are; people without a name, of whom nobody knows how many they are, are not counted."""
    people = answers.panel.judges[np.unique(answers.panel.judge)]
    crowds = people.filter(pl.col("judge").is_null()).group_by("group").len().filter(pl.col("len") > 1).height
    if not crowds:
        return count(answers.judges.height, "judge")
    rest = answers.judges.height - crowds
    return f"{count(rest, 'judge')} and others without a name" if rest else "people without a name"


def confusion_table(who: pl.DataFrame, grades: Floats, confusion: Floats, counts: Floats) -> pl.DataFrame:
    """The matrices as a long table: a row per judge, true grade and label."""
    levels, judges = len(grades), who.height
    return who[np.repeat(np.arange(judges), levels**2)].with_columns(
        pl.Series("truth", np.tile(np.repeat(grades, levels), judges)),
        pl.Series("label", np.tile(grades, levels * judges)),
        pl.Series("probability", confusion.transpose(2, 0, 1).ravel()),
        pl.Series("n", counts.transpose(2, 0, 1).ravel()),
    )


def judges_table(who: pl.DataFrame, grades: Floats, confusion: Floats, counts: Floats) -> pl.DataFrame:
    """Accuracy, leniency and spread of each judge, over the grades of the documents that they labelled."""
    truths = counts.sum(axis=1)
    # A grade that a judge never met says nothing, also where its probabilities are undefined.
    weight = (truths / truths.sum(axis=0))[:, None, :] * np.where(truths[:, None, :] > 0, confusion, 0.0)
    error = (grades[None, :] - grades[:, None])[:, :, None]
    leniency = (weight * error).sum(axis=(0, 1))
    spread = np.sqrt(np.maximum((weight * error**2).sum(axis=(0, 1)) - leniency**2, 0.0))
    return who.with_columns(
        pl.Series("n", truths.sum(axis=0).round().astype(np.int64)),
        pl.Series("accuracy", np.einsum("kkj->j", weight)),
        pl.Series("leniency", leniency),
        pl.Series("spread", spread),
    )


def _warnings(answers: Answers, fit: Fit, counts: Floats) -> list[str]:
    """What a reader of the figures should know before trusting them."""
    notes = []
    if not fit.converged:
        notes.append(
            f"not converged after {count(fit.iterations, 'iteration')}: the figures may still move; "
            "raise max_iterations or the smoothing"
        )
    alone = answers.judges.height - len(np.unique(answers.judge[answers.shared]))
    if alone and fit.iterations:
        notes.append(f"{count(alone, 'judge')} shared no document with another: nothing is known of their errors")
    pooled, given = counts.sum(axis=2), answers.per_item.sum(axis=1)
    for place, grade in enumerate(answers.grades if fit.iterations else ()):
        if given[place] >= 1 and fit.errors.prior[place] * answers.items.height < 0.5:
            times = count(int(given[place]), "time")
            notes.append(f"grade {grade:g} was given {times}, yet no document is left with it: the model may not fit")
        elif pooled[place].argmax() != place and pooled[place].sum() >= 1:
            mostly = answers.grades[pooled[place].argmax()]
            notes.append(
                f"documents taken for grade {grade:g} are mostly labelled {mostly:g}: "
                "judges differ a lot or err alike, or the fit mixed up grades; compare with gold before using it"
            )
    return notes
