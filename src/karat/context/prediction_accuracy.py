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
from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.many import holm
from karat.stats.paired_figures import Cells, Scale, compared, in_words, interval_note, one_setting, share

#: What stands beside the models: the label given the list's first document, and the grade alone.
BACK_OFF, ALONE = "back-off", "alone"
#: What is told of a predictor by itself, and the scale of its intervals.
FIGURES: tuple[tuple[str, Scale], ...] = (("accuracy", "share"), ("error", "plain"))
#: A figure and the ends of its interval, as columns are called.
ENDS = ("", "_low", "_high")
#: How many parts of equal size expected grades are cut into, to see whether they come true.
CALIBRATION_PARTS = 10


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
    it. The accuracy of a grade is the share that is right among its judgments. Intervals are about these models, not
    about models learnt anew, on other queries and, where five judges or more have names, of other judges like them.

    Reference: Golbus et al. (WWW 2014), 5.3: about 75 % on one random 90/10 split.
    """
    _check_folds(folds)
    predictor = predictor_named(model)
    rich = predictor.looks_at == "rich"
    study = _HeldOut.of(judgments, runs, documents if rich else None)
    x, n = predictor.columns(study.told), len(study.y)
    # Ten random tenths, each once as the tested one: as many 90/10 splits as cover every judgment.
    random_tenth = np.random.default_rng(seed).permutation(n) % 10
    # A figure for all judgments, and one for each grade.
    among = np.column_stack([np.ones(n), study.y[:, None] == np.arange(len(study.grades))])
    names = ["all", *(f"{grade:g}" for grade in study.grades)]
    tables, notes = [], list[str]()
    for split, fold in (("whole queries", parts(study.query, folds, seed)), ("random 90/10", random_tenth)):
        chances = out_of_fold(predictor, x, study.y, study.query, fold, len(study.grades), calibrate=False)
        right = (chances.argmax(axis=1) == study.y).astype(np.float64)
        sums = np.stack([among * right[:, None], among], axis=2)
        value, low, high, queries = one_setting(sums, share, study.cells, "share", level=level, draws=draws, seed=seed)
        number = {"n": among.sum(axis=0).astype(np.int64), "n_queries": queries}
        figures = {"accuracy": value, "low": low, "high": high}
        tables.append(pl.DataFrame({"split": split, "grade": names, **number, **figures}))
        notes = interval_note(low, value, draws, study.cells)
    table = pl.concat(tables)
    whole, tenth = (
        in_words(row["accuracy"], row["low"], row["high"], level, percent=True)
        for row in (part.row(0, named=True) for part in tables)
    )
    finding = (
        f"A model of {predictor.about} is right on {whole} of {count(n, 'judgment')} in context of "
        f"held-out queries; on random tenths of them, the paper's test, on {tenth}."
    )
    return Result(table, finding, (*study.notes(rich), *notes, f"split with seed {seed}"))


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
    it is right than `against`, `error_saved` how much smaller its error is, with tests over queries, and over judges
    where five or more have names, on the judgments that both can tell. Beside the models: the grade `alone`, and the
    `back-off` to the label given the list's first document (of the runs; without them the document that most others
    were judged after), where there is such a label. The richer models, like the back-off, may look at how the document
    was judged after others, in the same query, too.
    `_p` is of a row by itself, `_holm` allows for all rows; both are about these models, not about models learnt anew.

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
        name: np.column_stack([np.where(np.isnan(said), np.nan, said == truth), (expected - truth) ** 2])
        for name, (said, expected) in told.items()
    }
    rows, bare = [], np.zeros((2, 0))
    for name, values in scored.items():
        known = ~np.isnan(values[:, 0])
        row: dict[str, Any] = {"predictor": name, "n": int(known.sum())}
        if known.any():
            for place, (figure, scale) in enumerate(FIGURES):
                sums = _sums(values, known)[:, [place]]
                found = one_setting(sums, share, study.cells, scale, level=level, draws=draws, seed=seed)
                row |= {f"{figure}{end}": float(part[0]) for end, part in zip(ENDS, found, strict=False)}
                bare = np.column_stack([bare, np.concatenate(found[:2])])
            row["off"] = _off(told[name][1][known], truth[known])
        if name != against:
            both = known & ~np.isnan(scored[against][:, 0])
            row["n_both"] = int(both.sum())
            if both.any():
                row |= _paired(_sums(scored[against], both), _sums(values, both), study.cells, level, draws, seed)
        rows.append(row)
    table = pl.DataFrame(rows, schema=_COMPARED, infer_schema_length=None)
    for name in ("gain", "error_saved"):
        adjusted = holm(table[f"{name}_p"].fill_null(np.nan).to_numpy())
        table = table.insert_column(table.columns.index(f"{name}_p") + 1, pl.Series(f"{name}_holm", adjusted))
    notes = interval_note(bare[1], bare[0], draws, study.cells)
    notes.append(f"queries held out whole, in {count(int(fold.max()) + 1, 'part')}, with seed {seed}")
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
    cells: Cells

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
        told = features(pairs, graded, runs, documents)
        return cls(graded, runs, pairs, told, grades, y, query, Cells(query, graded.judged(pairs)))

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
        notes = [*self.graded.notes, *self.graded.untaught(self.pairs)]
        return notes + ([f"the richer models do without: {lack}" for lack in self.told.notes] if rich else [])


def _check_folds(folds: int) -> None:
    if not isinstance(folds, int) or folds < 2:
        raise BadInput.at("the folds", expected="2 parts or more", found=str(folds))


def _sums(values: Floats, known: Bools) -> Floats:
    """What means of each column over the known rows add up from: rows x columns x (value, 1)."""
    counted = np.broadcast_to(known[:, None], values.shape)
    sums: Floats = np.stack([np.where(counted, values, 0.0), counted], axis=2)
    return sums


def _paired(against: Floats, sums: Floats, cells: Cells, level: float, draws: int, seed: int) -> dict[str, float]:
    """How much more often a predictor is right than another, and how much smaller its error is."""
    # More right answers and fewer errors are both gains.
    first, second = (np.stack([a[:, 0], b[:, 1]], axis=1) for a, b in ((against, sums), (sums, against)))
    found = compared([first, second], share, cells, "plain", level=level, draws=draws, seed=seed)
    ends = (found.value[2], found.low[2], found.high[2], found.p)
    return {
        f"{name}{end}": float(part[place])
        for place, name in enumerate(("gain", "error_saved"))
        for end, part in zip((*ENDS, "_p"), ends, strict=True)
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
