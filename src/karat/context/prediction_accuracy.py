"""How often is a predicted label in context right? On judgments that the model did not see, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from karat.context.labelling import unable_to_learn
from karat.context.page_pairs import PAIR, Graded
from karat.context.pair_features import Features, features
from karat.context.predictors import PREDICTORS, out_of_fold, parts, predictor_named
from karat.errors import BadInput, Undefined
from karat.records import Documents, LabelsLike, Result, Runs, RunsLike
from karat.records.base import count
from karat.records.runs import joined, ranked
from karat.stats.arrays import Floats, Ints
from karat.stats.many import holm
from karat.stats.regression import clustered_means, clustered_ols

#: What stands beside the models: the label given the list's first document, and the grade alone.
BACK_OFF, ALONE = "back-off", "alone"
#: How many parts of equal size expected grades are cut into, to see whether they come true.
CALIBRATION_PARTS = 10
#: Whom the intervals are about: a predictor is for labels of the judges it learnt from.
THESE = "intervals are for other queries and these judges, whose labels are predicted"


def context_accuracy(
    judgments: LabelsLike,
    *,
    model: str = "grades",
    runs: RunsLike | None = None,
    documents: Any = None,
    folds: int = 10,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often a predictor tells the grade that a judge gave in context, over all and for each grade.

    >>> from karat.simulate.context_study import context_study
    >>> found = context_accuracy(context_study(seed=1, queries=30).judgments, draws=0)
    >>> found.frame["split"].unique(maintain_order=True).to_list()
    ['whole queries', 'random 90/10']

    Every judgment in context is predicted once by a model that did not see it. Once whole queries are held out, which
    is how it will be used: for pairs of documents, and maybe queries, that nobody judged. Once a random tenth of the
    judgments, as in the paper; the model then knows the same documents and judges from other pairs, which may flatter
    it. The accuracy of a grade is the share that is right among its judgments. Intervals are for other queries and
    these judges.

    Reference: Golbus et al. (WWW 2014), 5.3: about 75 % on one random 90/10 split.
    """
    _check_folds(folds)
    predictor = predictor_named(model)
    rich = predictor.looks_at == "rich"
    study = _HeldOut.of(judgments, runs, documents if rich else None)
    x, n = predictor.columns(study.told), len(study.y)
    # Ten random tenths, each once as the tested one: as many 90/10 splits as cover every judgment.
    random_tenth = np.random.default_rng(seed).permutation(n) % 10
    tables = []
    for split, fold in (("whole queries", parts(study.query, folds, seed)), ("random 90/10", random_tenth)):
        chances = out_of_fold(predictor, x, study.y, study.query, fold, len(study.grades), calibrate=False)
        right = (chances.argmax(axis=1) == study.y).astype(np.float64)
        means = _means(study.query, right[:, None], study.y, [True], level=level, draws=draws, seed=seed)
        names = pl.Series("grade", ["all", *(f"{grade:g}" for grade in study.grades)])
        tables.append(means.select(pl.lit(split).alias("split"), names, pl.all()).rename({"value": "accuracy"}))
    table = pl.concat(tables)
    whole, tenth = (t.row(0, named=True) for t in tables)
    finding = (
        f"A model of {predictor.about} is right on {_percent(whole, level)} of {count(n, 'judgment')} in context of "
        f"held-out queries; on random tenths of them, the paper's test, on {_percent(tenth, level)}."
    )
    return Result(table, finding, (*study.notes(rich), f"split with seed {seed}"))


def compare_predictors(
    judgments: LabelsLike,
    *,
    models: str | Sequence[str] = tuple(PREDICTORS),
    against: str = "grades",
    runs: RunsLike | None = None,
    documents: Any = None,
    folds: int = 5,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """Which predictor of labels in context is best, on the same held-out queries, with a paired test.

    >>> from karat.simulate.context_study import context_study
    >>> study = context_study(seed=1, queries=60)
    >>> found = compare_predictors(study.judgments, runs=study.runs, documents=study.documents, draws=0)
    >>> found.frame["predictor"].to_list()
    ['grades', 'levels', 'features', 'ordinal', 'alone', 'back-off']

    For each: the share of grades told right; `error`, the mean squared error of the expected grade; and `off`, how far
    expected grades are from the mean of the grades that came, in ten parts of equal size. `gain` is how much more often
    it is right than `against`, `error_saved` how much smaller its error is, with tests over queries on the judgments
    that both can tell. Beside the models: the grade `alone`, and the `back-off` to the label given the list's first
    document (of the runs; without them the document that most others were judged after), where there is such a label.
    The richer models, like the back-off, may look at how the document was judged after others, in the same query, too.
    `_p` is of a row by itself, `_holm` allows for all rows; both are about predictors learnt from this many judgments.

    Reference: Golbus et al. (WWW 2014), 3.2 and 5.3.
    """
    _check_folds(folds)
    chosen = [predictor_named(name) for name in ([models] if isinstance(models, str) else dict.fromkeys(models))]
    rich = any(predictor.looks_at == "rich" for predictor in chosen)
    study = _HeldOut.of(judgments, runs, documents if rich else None)
    fold = parts(study.query, folds, seed)
    told: dict[str, tuple[Floats, Floats]] = {}
    for predictor in chosen:
        x = predictor.columns(study.told)
        chances = out_of_fold(predictor, x, study.y, study.query, fold, len(study.grades), seed=seed)
        told[predictor.name] = study.grades[chances.argmax(axis=1)], chances @ study.grades
    alone, back = study.pairs["alone"].to_numpy(), study.back_off()
    told |= {ALONE: (alone, alone), BACK_OFF: (back, back)}
    if against not in told:
        raise BadInput.at("the predictor to compare with", expected=" or ".join(told), found=f'"{against}"')
    truth = study.pairs["grade"].to_numpy()
    scored = {
        name: (np.where(np.isnan(said), np.nan, said == truth), (expected - truth) ** 2)
        for name, (said, expected) in told.items()
    }
    rows = []
    for name, (right, error) in scored.items():
        known = ~np.isnan(right)
        row: dict[str, Any] = {"predictor": name, "n": int(known.sum())}
        if known.any():
            values = np.column_stack([right, error])[known]
            means = _means(study.query[known], values, None, [True, False], level=level, draws=draws, seed=seed)
            row |= dict(zip(("accuracy", "accuracy_low", "accuracy_high"), means.row(0)[2:5], strict=True))
            row |= dict(zip(("error", "error_low", "error_high"), means.row(0)[5:8], strict=True))
            row["off"] = _off(told[name][1][known], truth[known])
        if name != against:
            both = known & ~np.isnan(scored[against][0])
            row["n_both"] = int(both.sum())
            gap = (right - scored[against][0])[both], (scored[against][1] - error)[both]
            row |= _paired("gain", gap[0], study.query[both], level) | _paired(
                "error_saved", gap[1], study.query[both], level
            )
        rows.append(row)
    table = pl.DataFrame(rows, schema=_COMPARED, infer_schema_length=None)
    for name in ("gain", "error_saved"):
        adjusted = holm(table[f"{name}_p"].fill_null(np.nan).to_numpy())
        table = table.insert_column(table.columns.index(f"{name}_p") + 1, pl.Series(f"{name}_holm", adjusted))
    notes = [f"queries held out whole, in {count(int(fold.max()) + 1, 'part')}, with seed {seed}"]
    if np.isnan(back).all():
        notes.append("no back-off: no document was judged both after the list's first one and after another")
    columns = ("predictor", "accuracy", "error", "gain", "gain_holm", "n")
    return Result(table, _best(table, against, level), (*study.notes(rich), *notes), columns=columns)


_COMPARED: dict[str, type[pl.DataType]] = {
    "predictor": pl.String,
    "n": pl.Int64,
    **dict.fromkeys(["accuracy", "accuracy_low", "accuracy_high", "error", "error_low", "error_high"], pl.Float64),
    "off": pl.Float64,
    "n_both": pl.Int64,
    **dict.fromkeys(["gain", "gain_low", "gain_high", "gain_p"], pl.Float64),
    **dict.fromkeys(["error_saved", "error_saved_low", "error_saved_high", "error_saved_p"], pl.Float64),
}


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """The judgments in context that can be predicted, and what is known of their documents."""

    graded: Graded
    runs: Runs | None
    pairs: pl.DataFrame
    told: Features
    grades: Floats
    y: Ints
    query: Ints

    @classmethod
    def of(cls, judgments: LabelsLike, runs: RunsLike | None, documents: Any) -> _HeldOut:
        runs = None if runs is None else joined(runs)
        documents = None if documents is None else Documents.of(documents)
        graded = Graded.of(judgments)
        pairs = graded.training()
        unable = unable_to_learn(pairs)
        if unable:
            raise Undefined(f"Labels in context cannot be predicted: {unable}.")
        grades, y = np.unique(pairs["grade"].to_numpy(), return_inverse=True)
        query = np.unique(pairs["query"].to_numpy(), return_inverse=True)[1]
        return cls(graded, runs, pairs, features(pairs, graded, runs, documents), grades, y, query)

    def back_off(self) -> Floats:
        """The label given the first document of a list, NaN where there is none but the one to be told."""
        given = self.graded.given
        if self.runs is None:
            often = (
                given.group_by("query", "context")
                .len()
                .sort("query", "len", "context", descending=[False, True, False])
            )
            first = often.group_by("query", maintain_order=True).agg(pl.col("context").first())
        else:
            first = ranked(self.runs, 1).select("query", context="doc").unique()
        after = given.join(first, on=["query", "context"]).rename({"context": "first", "grade": "back"})
        found = self.pairs.select(PAIR).join(after, on=["query", "doc"], how="inner")
        found = found.filter(pl.col("first") != pl.col("context")).group_by(PAIR).agg(pl.col("back").mean())
        joined = self.pairs.join(found, on=PAIR, how="left", maintain_order="left")
        return joined["back"].to_numpy().astype(np.float64)

    def notes(self, rich: bool) -> list[str]:
        notes = [*self.graded.notes, *self.graded.untaught(self.pairs), THESE]
        return notes + ([f"the richer models do without: {lack}" for lack in self.told.notes] if rich else [])


def _check_folds(folds: int) -> None:
    if not isinstance(folds, int) or folds < 2:
        raise BadInput.at("the folds", expected="2 parts or more", found=str(folds))


def _means(
    query: Ints, values: Floats, cell: Ints | None, shares: list[bool], *, level: float, draws: int, seed: int
) -> pl.DataFrame:
    """The means of columns over all rows, then over the rows of each cell, with intervals over queries."""
    frame = pl.DataFrame({"query": query, **{f"v{j}": values[:, j] for j in range(values.shape[1])}})
    frame = frame.with_columns(cell=pl.lit(0, dtype=pl.Int64))
    if cell is not None:
        frame = pl.concat([frame, frame.with_columns(cell=pl.Series(cell.astype(np.int64) + 1))])
    sums = frame.group_by("cell", "query").agg(pl.len().alias("n"), pl.col("^v.*$").sum()).sort("cell", "query")
    numbers = sums.drop("cell", "query").to_numpy().astype(np.float64)
    where, cluster = sums["cell"].to_numpy(), sums["query"].to_numpy()
    mean, low, high = clustered_means(numbers, where, cluster, shares, level=level, draws=draws, seed=seed)
    counted = sums.group_by("cell").agg(pl.col("n").sum().cast(pl.Int64), pl.len().cast(pl.Int64).alias("n_queries"))
    table = counted.sort("cell").drop("cell")
    for j in range(values.shape[1]):
        ends = {"value": mean[:, j], "low": low[:, j], "high": high[:, j]}
        table = table.with_columns(pl.Series(f"{name}{j or ''}", column) for name, column in ends.items())
    return table


def _paired(name: str, gap: Floats, query: Ints, level: float) -> dict[str, float]:
    """The mean of differences, its interval and p, queries as clusters."""
    if not len(gap):
        return {}
    fit = clustered_ols(gap, np.zeros((len(gap), 0)), query)
    low, high = fit.intervals(level)
    return {
        name: float(gap.mean()),
        f"{name}_low": float(low[0]),
        f"{name}_high": float(high[0]),
        f"{name}_p": float(fit.p[0]),
    }


def _off(expected: Floats, truth: Floats) -> float:
    """How far expected grades are from the mean of what came, in parts of equal size."""
    order = np.argsort(expected, kind="stable")
    gaps = [
        (len(part), abs(float((expected[part] - truth[part]).mean())))
        for part in np.array_split(order, CALIBRATION_PARTS)
        if len(part)
    ]
    return sum(n * gap for n, gap in gaps) / len(order)


def _percent(row: dict[str, Any], level: float) -> str:
    said = f"{100 * row['accuracy']:.1f} %"
    if np.isnan(row["low"]):
        return said
    return f"{said} ({100 * level:g} % interval {100 * row['low']:.1f} to {100 * row['high']:.1f})"


def _best(table: pl.DataFrame, against: str, level: float) -> str:
    models = table.filter((pl.col("predictor") != against) & pl.col("gain").is_not_null())
    if not models.height:
        return f"There is nothing to compare {against} with."
    best = models.filter(pl.col("gain") == pl.col("gain").max())
    row, names = best.row(0, named=True), _listed(best["predictor"].to_list())
    gain, p = f"{100 * row['gain']:.1f} points", row["gain_holm"]
    if row["gain"] == 0:
        return f"None is right more often than {against}; {names} {'is' if best.height == 1 else 'are'} so as often."
    if row["gain"] < 0:
        comes = "comes" if best.height == 1 else "come"
        return f"None is right more often than {against}; {names} {comes} nearest ({gain})."
    most = "is right most often" if best.height == 1 else "are right equally often, and most often"
    chance = "beyond chance" if p <= 0.05 else "which may be chance"
    ends = f"{100 * level:g} % interval {100 * row['gain_low']:.1f} to {100 * row['gain_high']:.1f}"
    return (
        f"{names} {most}: {gain} more than {against} ({ends}; p {'< 0.001' if p < 0.001 else f'= {p:.3f}'} "
        f"for the best of {models.height}, {chance}) on {count(row['n_both'], 'held-out judgment')} in context."
    )


def _listed(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> _listed(["levels"]), _listed(["levels", "features", "alone"])
    ('levels', 'levels, features and alone')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
