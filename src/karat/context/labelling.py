"""A label for every document after the one above it: judged, else predicted, else backed off, else its own."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import polars as pl

from karat.context.document_pairs import PAIR, Graded, adjacent
from karat.context.pair_features import features
from karat.context.predictors import fit, out_of_fold, parts, predictor_named, redrawn
from karat.errors import BadInput, Undefined
from karat.records import Documents, Judgments, LabelsLike, Result, RunsLike
from karat.records.runs import joined
from karat.records.swapped import refuse_swapped
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.paired_statistics import Cells, in_words, interval_note, one_setting, share

#: Where a label in context may come from, the best first.
SOURCES = ("judged", "predicted", "backed off", "alone")
#: What may stand in for labels that nobody gave: the best that is allowed, and what comes after it.
ALLOWED = {
    "predicted": ("predicted", "backed off", "alone"),
    "backed off": ("backed off", "alone"),
    "judged": (),
}
#: How a sentence says it, with a share after it.
WORDS = {
    "judged": "judged for",
    "predicted": "predicted for",
    "backed off": "backed off for",
    "alone": "the grade alone for",
    "none": "missing for",
}
#: Fewer judgments than this teach a model nothing that another sample would not overturn.
FEWEST_TO_LEARN = 20

Value = Literal["grade", "expected"]


def label_in_context(
    judgments: LabelsLike,
    runs: RunsLike,
    *,
    depth: int = 10,
    model: str = "grades",
    value: Value = "grade",
    source: str = "predicted",
    documents: Any = None,
    redraws: int = 0,
    seed: int = 0,
) -> Judgments:
    """The judgments with a label for every document of the runs given the one above it, and where each comes from.

    >>> judged = [
    ...     {"query": "q", "doc": "a", "label": 2},
    ...     {"query": "q", "doc": "b", "label": 2},
    ...     {"query": "q", "doc": "b", "label": 0, "context": "a"}]
    >>> label_in_context(judged, {"q": {"a": 3.0, "c": 2.0, "b": 1.0}}).frame.rows()[2:]
    [('q', 'b', 0.0, 'a', 'judged'), ('q', 'b', 0.0, 'c', 'backed off')]

    In the column `source`: a label is `judged`, if someone judged the document given the one above it; else `predicted`
    from the other judgments in context, if both were judged alone; else `backed off` to what it was judged to be worth
    given the first document of its list (the mean, where lists that share the pair have different first ones); else the
    document's grade `alone`. A document without any of these has no label. The result can be scored with,
    `karat.score(labels, runs, "CCG(context=0.5)@5")`, and new rankings of documents that were judged alone need no new
    judgments.

    `source` is the best that may stand in for a judge: with `backed off` nothing is predicted (the paper's check of its
    predictions, Fig. 10), with `judged` no label is made at all, and documents keep their own in measures.

    `model` is the paper's multinomial logistic regression on the two grades alone (`grades`), or one that looks at more
    (`features`), for which `documents` with text, site or url help; `context_accuracy` tells how often each is right.
    `value` is the likeliest grade, or the `expected` one, a real number that does not hide how unsure
    the model is. With fewer than 20 judgments in context, or from fewer than five queries, nothing is predicted.

    With `redraws`, columns `draw_1`, `draw_2`, ... hold what predicted labels may have been instead: each time the
    model learns from queries drawn anew, with replacement, and the labels are drawn by its probabilities, with the same
    luck in the first and second, third and fourth, ..., so that these differ by what was learnt alone. Scores in
    context then have intervals that allow for the prediction.

    Reference: Golbus et al., Contextual and Dimensional Relevance Judgments (WWW 2014), 3.2 and 5.3.
    """
    if value not in ("grade", "expected"):
        raise BadInput.at("the value", expected="grade or expected", found=f'"{value}"')
    predictor, allowed = predictor_named(model), ALLOWED[source_named(source)]
    judgments, runs = Judgments.of(judgments), joined(runs)
    refuse_swapped(judgments, runs)
    documents = None if documents is None else Documents.of(documents)
    graded = Graded.of(judgments)
    notes = list(graded.notes)
    lists = adjacent(runs, depth)
    judged = pl.concat([graded.alone["query"], graded.given["query"]]).unique()
    strange = lists.filter(~pl.col("query").is_in(judged.implode()))["query"].n_unique()
    if strange:
        notes.append(f"{count(strange, 'query', 'queries')} of the runs without judgments left aside")
    wanted = lists.select(PAIR).unique().join(graded.given, on=PAIR, how="anti")
    wanted = graded.with_grades(wanted.filter(pl.col("query").is_in(judged.implode())).sort(PAIR))

    both = wanted.drop_nulls(["alone", "above"])
    training = graded.training()
    unable = unable_to_learn(training)
    if isinstance(redraws, bool) or not isinstance(redraws, int) or redraws < 0 or redraws % 2:
        raise BadInput.at("redraws", expected="0, or an even number: they come in pairs", found=str(redraws))
    predicted = both.select(*PAIR, grade=pl.lit(None, dtype=pl.Float64))
    if "predicted" not in allowed:
        pass
    elif both.height and unable:
        notes.append(f"nothing is predicted: {unable}")
    elif both.height:
        notes += graded.untaught(training)
        told = features(
            pl.concat([training, both], how="diagonal"), graded, runs, documents if predictor.rich else None
        )
        if predictor.rich:
            notes += [f"the model does without: {lack}" for lack in told.notes]
        columns = predictor.columns(told)
        grades, y = np.unique(training["grade"].to_numpy(), return_inverse=True)
        query = training["query"].rank("dense").to_numpy().astype(np.int64)
        model_of = fit(predictor, columns[: training.height], y, query, len(grades), seed=seed)
        new = columns[training.height :]
        labels = model_of.probabilities(new) @ grades if value == "expected" else grades[model_of.likeliest(new)]
        predicted = both.select(*PAIR, grade=pl.Series(labels))
        learnt = columns[: training.height], y, query
        again = redrawn(predictor, *learnt, new, grades, model_of.calibration.temperature, redraws, seed)
        predicted = predicted.with_columns(pl.Series(f"draw_{n}", one) for n, one in enumerate(again, start=1))
    sourced = wanted.join(predicted.rename({"grade": "predicted"}), on=PAIR, how="left", maintain_order="left")
    sourced = sourced.join(_backed_off(lists, graded), on=PAIR, how="left", maintain_order="left")
    whence = [pl.when(pl.col(name).is_not_null()).then(pl.lit(name)) for name in allowed]
    none = pl.lit(None, dtype=pl.String)
    drawn = [name for name in sourced.columns if name.startswith("draw_")]
    label = pl.coalesce(*allowed, none.cast(pl.Float64))
    made = sourced.select(*PAIR, *drawn, grade=label, source=pl.coalesce(*whence, none))
    bare = made["grade"].null_count()
    if bare and allowed:
        notes.append(f"{count(bare, 'document')} after another without any label: judged neither alone nor in context")
    parts = [
        graded.alone.with_columns(context=pl.lit(None, dtype=pl.String), source=pl.lit("judged")),
        graded.given.with_columns(source=pl.lit("judged")),
        graded.longer.with_columns(source=pl.lit("judged")),
        made.drop_nulls("grade"),
    ]
    shown = ("query", "doc", "grade", "context", "source", *drawn)
    frame = pl.concat([part.select(name for name in shown if name in part.columns) for part in parts], how="diagonal")
    return Judgments(frame.rename({"grade": "label"}), tuple(notes), graded.scale)


def context_sources(labels: LabelsLike, runs: RunsLike, *, depth: int = 10) -> Result:
    """Where the labels in context of each system's documents come from: how many are judged, how many predicted.

    >>> labels = Judgments.of([{"query": "q", "doc": "b", "label": 0, "context": "a", "source": "judged"}])
    >>> context_sources(labels, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    Of 2 documents after another (top 10), the label in context is judged for 50 % and missing for 50 %.

    For labels made by `label_in_context`. A comparison of systems of which one is mostly judged and another mostly
    predicted is a comparison of judges with a model, too.
    """
    labels, runs = Judgments.of(labels), joined(runs)
    refuse_swapped(labels, runs)
    if "context" not in labels.frame.columns:
        raise BadInput.at(
            "the labels",
            expected="the column context, the document read before",
            found=", ".join(labels.frame.columns),
            remedy="make them with label_in_context",
        )
    graded = Graded.of(labels)
    source = pl.col("source") if "source" in labels.frame.columns else pl.lit("judged")
    sources = labels.frame.drop_nulls("label").group_by(PAIR).agg(source=source.sort().first())
    known = graded.given.rename({"grade": "label"}).join(sources, on=PAIR)
    pairs = adjacent(runs, depth).join(known, on=PAIR, how="left", maintain_order="left")
    if not pairs.height:
        raise BadInput.at("the runs", expected="lists with two documents or more", found="none")
    pairs = pairs.with_columns(pl.col("source").fill_null("none"))
    order = {name: place for place, name in enumerate((*SOURCES, "none"))}
    table = (
        pairs.group_by("system", "source", maintain_order=True)
        .agg(pl.len().cast(pl.Int64).alias("n"), pl.col("label").mean().fill_null(float("nan")).alias("mean_label"))
        .with_columns(share=pl.col("n") / pl.col("n").sum().over("system"))
        .sort("system", pl.col("source").replace_strict(order, default=len(order), return_dtype=pl.Int64))
        .select("system", "source", "n", "share", "mean_label")
    )
    n = dict(pairs["source"].value_counts().iter_rows())
    shares = [f"{WORDS[name]} {100 * n[name] / pairs.height:.0f} %" for name in order if n.get(name, 0)]
    said = shares[0] if len(shares) == 1 else f"{', '.join(shares[:-1])} and {shares[-1]}"
    finding = f"Of {count(pairs.height, 'document')} after another (top {depth}), the label in context is {said}."
    return Result(table, finding, graded.notes)


def source_named(name: str) -> str:
    """One of the sources that may be allowed, also as commands spell it.

    >>> source_named("backed-off")
    'backed off'
    """
    spelled = name.replace("-", " ")
    if spelled not in ALLOWED:
        raise BadInput.at("the source of labels", expected=" or ".join(ALLOWED), found=f'"{name}"')
    return spelled


def unable_to_learn(training: pl.DataFrame) -> str:
    """Why nothing can be learnt from these judgments, or nothing."""
    if training.height < FEWEST_TO_LEARN or training["query"].n_unique() < FEWEST:
        have = count(training.height, "judgment")
        return (
            f"{have} in context of documents judged alone too, from "
            f"{count(training['query'].n_unique(), 'query', 'queries')}, where a model needs {FEWEST_TO_LEARN} "
            f"from {FEWEST}"
        )
    if training["grade"].n_unique() < 2:
        return f"all judgments in context are {training['grade'][0]:g}"
    return ""


def _backed_off(lists: pl.DataFrame, graded: Graded) -> pl.DataFrame:
    """What each document was judged to be worth given the first one of its list."""
    given = graded.given.rename({"context": "first", "grade": "backed off"})
    found = lists.join(given, on=["query", "doc", "first"])
    return found.group_by(PAIR).agg(pl.col("backed off").mean())


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
