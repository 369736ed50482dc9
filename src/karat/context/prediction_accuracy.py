"""How often is a predicted label in context right? On judgments that the model did not see, with intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from karat.context.labelling import unable_to_learn
from karat.context.page_pairs import Graded
from karat.context.pair_features import features
from karat.context.predictors import out_of_fold, parts, predictor_named
from karat.errors import BadInput, Undefined
from karat.records import Documents, LabelsLike, Result, RunsLike
from karat.records.base import count
from karat.records.runs import joined
from karat.stats.paired_figures import Cells, in_words, interval_note, one_setting, share


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
    it. The accuracy of a grade is the share that is right among its judgments; `alone` is how often the grade that the
    document got alone is right, which who predicts nothing would say. Intervals are about these models, not about
    models learnt anew, on other queries and, where five judges or more have names, of other judges like them.

    Reference: Golbus et al. (WWW 2014), 5.3: about 75 % on one random 90/10 split.
    """
    if not isinstance(folds, int) or folds < 2:
        raise BadInput.at("the folds", expected="2 parts or more", found=str(folds))
    predictor, graded = predictor_named(model), Graded.of(judgments)
    pairs = graded.training()
    unable = unable_to_learn(pairs)
    if unable:
        raise Undefined(f"Labels in context cannot be predicted: {unable}.")
    known = Documents.of(documents) if predictor.rich and documents is not None else None
    told = features(pairs, graded, None if runs is None else joined(runs), known)
    grades, y = np.unique(pairs["grade"].to_numpy(), return_inverse=True)
    query = np.unique(pairs["query"].to_numpy(), return_inverse=True)[1]
    cells, x, n = Cells(query, graded.judged(pairs)), predictor.columns(told), len(y)
    # Ten random tenths, each once as the tested one: as many 90/10 splits as cover every judgment.
    random_tenth = np.random.default_rng(seed).permutation(n) % 10
    # A figure for all judgments, and one for each grade.
    among = np.column_stack([np.ones(n), y[:, None] == np.arange(len(grades))])
    names = ["all", *(f"{grade:g}" for grade in grades)]
    unchanged = (pairs["alone"] == pairs["grade"]).to_numpy().astype(np.float64)
    tables, notes = [], list[str]()
    for split, fold in (("whole queries", parts(query, folds, seed)), ("random 90/10", random_tenth)):
        chances = out_of_fold(predictor, x, y, fold, len(grades))
        right = (chances.argmax(axis=1) == y).astype(np.float64)
        sums = np.stack([among * right[:, None], among], axis=2)
        value, low, high, queries = one_setting(sums, share, cells, "share", level=level, draws=draws, seed=seed)
        number = {"n": among.sum(axis=0).astype(np.int64), "n_queries": queries}
        figures = {"accuracy": value, "low": low, "high": high, "alone": unchanged @ among / among.sum(axis=0)}
        tables.append(pl.DataFrame({"split": split, "grade": names, **number, **figures}))
        notes = interval_note(low, value, draws, cells)
    table = pl.concat(tables)
    whole, tenth = (
        in_words(row["accuracy"], row["low"], row["high"], level, percent=True)
        for row in (part.row(0, named=True) for part in tables)
    )
    finding = (
        f"A model of {predictor.about} is right on {whole} of {count(n, 'judgment')} in context of "
        f"held-out queries; on random tenths of them, the paper's test, on {tenth}; the grade alone would be right on "
        f"{100 * unchanged.mean():.1f} %."
    )
    lacks = [f"the model does without: {lack}" for lack in told.notes] if predictor.rich else []
    said = (*graded.notes, *graded.untaught(pairs), *lacks, *notes, f"split with seed {seed}")
    return Result(table, finding, said)
