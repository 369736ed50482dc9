"""What labels do to rankers: trained on one group's labels, tested on another's, with and without a feature.

Reference: Kazai, Craswell, Yilmaz and Tahaghoghi, An Analysis of Systematic Judging Errors in Information Retrieval
(CIKM 2012), section 7: Table 7. LambdaRank: Burges, Ragno and Le (NIPS 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.labels import Panel
from karat.measures import nDCG, parse_measure, tie_nDCG
from karat.measures.gains import Gains
from karat.measures.scorer import Scorer
from karat.records import Judgments, LabelsLike, Result, Runs
from karat.records.number_format import p_said
from karat.records.table import count, frame_of
from karat.stats import mean_intervals
from karat.stats.arrays import Bools, Floats
from karat.users.lambdarank import Pool, library, linear_out_of_fold, out_of_fold

DOCUMENT = ["query", "doc"]


def taught(panel: Panel) -> tuple[dict[str, Judgments], list[str]]:
    """What each group teaches: one label for each document, the median."""
    one, notes = panel.consensus("median"), list(panel.notes)
    rows = one.frame.join(panel.items.with_row_index("item").cast({"item": pl.Int64}), on="item")
    if panel.items.columns != DOCUMENT:
        notes.append("a document is worth what it is where it serves best")
    labels = {}
    for number, name in enumerate(panel.groups):
        mine = rows.filter(pl.col("group") == number)
        said = replace(one, frame=mine).note()
        notes += [f"{name}: {said}" if panel.has_groups else said] if said else []
        best = mine.group_by(DOCUMENT).agg(pl.col("label").max()).sort(DOCUMENT)
        labels[name] = Judgments(best, (), panel.scale)
    return labels, notes


def feature_table(
    features: Any, feature_sets: Mapping[str, Sequence[str]] | None
) -> tuple[pl.DataFrame, dict[str, list[str]]]:
    """Query, doc and a number for each feature, null where it is unknown; and the sets of features, baseline first."""
    frame = frame_of(features, "the features")
    missing = [name for name in DOCUMENT if name not in frame.columns]
    columns = [name for name in frame.columns if name not in DOCUMENT]
    if missing or not columns:
        expected = "the columns query, doc and at least one feature"
        raise BadInput.at("the features", expected=expected, found=", ".join(frame.columns))
    sets = _sets(feature_sets, columns)
    used = list(dict.fromkeys(name for wanted in sets.values() for name in wanted))
    frame = frame.select(pl.col(DOCUMENT).cast(pl.String), *(_number(frame[name]) for name in used))
    again = frame.select(DOCUMENT).is_duplicated()
    if again.any():
        query, doc = frame.filter(again).row(0)[:2]
        raise BadInput.at("the features", expected="each document of a query once", found=f"{doc} of {query} again")
    return frame, sets


def _number(values: pl.Series) -> pl.Series:
    """A feature as numbers; of two texts, such as WP and nWP, the one without the n before it is 1."""
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.cast(pl.Float64)
    kinds = values.drop_nulls().unique().sort().to_list()
    if values.dtype != pl.String or len(kinds) > 2:
        found = f"{len(kinds)} different ones"
        raise BadInput.at(f"the feature {values.name}", expected="numbers, or two values", found=found)
    having = next((kind for kind in kinds if f"n{kind}" in kinds), kinds[-1] if kinds else "")
    return (values == having).cast(pl.Float64)


def _sets(feature_sets: Mapping[str, Sequence[str]] | None, columns: list[str]) -> dict[str, list[str]]:
    """The sets of features, the baseline first."""
    if feature_sets is None:
        sets = {name: [name] for name in columns}
        return sets if len(columns) == 1 else {**sets, " + ".join(columns): columns}
    chosen = {name: list(wanted) for name, wanted in feature_sets.items()}
    for name, wanted in chosen.items():
        strange = [column for column in wanted if column not in columns]
        if strange or not wanted:
            expected, found = f"a column of the features ({', '.join(columns)})", strange[0] if strange else "none"
            raise BadInput.at(f"the feature set {name}", expected=expected, found=found)
    if not chosen:
        raise BadInput.at("the feature sets", expected="at least one", found="none")
    return chosen


#: A ranker: whose labels it learnt from, and which set of features it has.
Ranker = tuple[str, str]
Kind = Literal["trees", "linear"]
WEIGHTS = {"train": pl.String, "features": pl.String, "feature": pl.String, "weight": pl.Float64, "positive": pl.Int64}
#: A difference is called significant where p is below this.
ALPHA = 0.05
#: What is told of a difference from the baseline.
COMPARED = ("difference", "p", "significant", "difference_low", "difference_high", "p_permutation")


@dataclass(frozen=True, eq=False, repr=False)
class Training(Result):
    """The table train x test x features; `queries` has the value of each query behind it."""

    columns: tuple[str, ...] = field(
        default=("train", "test", "features", "ndcg", "difference", "p", "significant", "n_queries"), kw_only=True
    )
    queries: pl.DataFrame = field(default_factory=pl.DataFrame)
    #: Of linear rankers, the mean weight of each feature over the parts, and in how many of them it is above 0.
    weights: pl.DataFrame = field(default_factory=pl.DataFrame)


def train(
    labels: LabelsLike,
    features: Any,
    *,
    feature_sets: Mapping[str, Sequence[str]] | None = None,
    measure: str | nDCG = "nDCG@10",
    folds: int = 5,
    ranker: Kind = "trees",
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    fold_seed: int = 0,
) -> Training:
    """How well a ranker trained on one group's labels does on the labels of each, by the features it may use.

    >>> rng = np.random.default_rng(0)
    >>> frame = pl.DataFrame([{"query": f"q{q}", "doc": f"d{d}", "label": d % 3, "bm25": rng.normal(), "good": d % 3}
    ...                       for q in range(20) for d in range(6)])
    >>> train(frame.drop("bm25", "good"), frame.drop("label")).finding  # doctest: +ELLIPSIS
    '2 of 2 comparisons with bm25 are significant; ..., good has nDCG@10 1.000 against 0... (p < 0.001).'

    `features` is a frame with query, doc and a column for each feature. `feature_sets` maps names to columns; without
    it: the first feature alone, which is the baseline, each other alone, and all together. Each group has one label for
    a document, the median. Queries fall into `folds` parts; in turn one is tested on, one says when to stop, the rest
    is learnt from. A test ranks the documents that the testing group labelled and is scored by nDCG, documents of equal
    score counting with the mean over all their orders; the training takes its gains from the same measure. p is of the
    paired t-test over queries against the baseline of the same training and testing groups, `p_permutation` of the
    sign-flip test; `significant` is p below 0.05, with no correction for the number of rows.

    `fold_seed` decides which queries fall into which part; `seed` is for the trees and the resampling, so that another
    `seed` leaves the folds as they are. A document for which a feature is unknown is ranked all the same: trees treat
    the gap as a value of its own, a linear ranker takes the feature's mean. A note counts such documents.

    `ranker` is "trees" (lightgbm's LambdaRank) or "linear": LambdaRank with a weight for each feature, whose sign tells
    what the labels reward; of one feature alone a linear ranker keeps the order, or turns it round, so that its
    figures do not depend on who trained it.

    The question is what the labels do, not which ranker is best: the models are small, and none is tuned.

    Reference: Kazai et al. (CIKM 2012), Table 7; ties: McSherry and Najork (ECIR 2008).
    """
    if ranker not in ("trees", "linear"):
        raise BadInput.at("the ranker", expected="trees or linear", found=str(ranker))
    if ranker == "trees":
        library()
    chosen = parse_measure(measure) if isinstance(measure, str) else measure
    if not isinstance(chosen, nDCG) or chosen.cutoff is None:
        raise BadInput.at("the measure", expected="nDCG with a cutoff, such as nDCG@10", found=str(measure))
    if chosen.context:
        raise BadInput.at("the measure", expected="nDCG without a context weight", found=str(measure))
    panel = Panel.of(labels)
    lessons, notes = taught(panel)
    table, sets = feature_table(features, feature_sets)
    documents = pl.concat([part.frame.select(DOCUMENT) for part in lessons.values()]).unique()
    known = documents.join(table, on=DOCUMENT, how="inner").sort(DOCUMENT)
    if not known.height:
        raise BadInput.at("the features", expected="rows for documents that the judges labelled", found="none")
    if known.height < documents.height:
        notes.append(f"{count(documents.height - known.height, 'labelled document')} without features left aside")
    notes += _without_a_feature(known, sets, ranker)
    pool = Pool.of(known, folds, fold_seed)
    graded = {name: _graded(known, part) for name, part in lessons.items()}
    gains = Gains.of("identity" if chosen.gains is None else chosen.gains)
    scores, weights = dict[Ranker, Floats](), list[tuple[str, str, str, float, int]]()
    for by, (name, wanted) in product(lessons, sets.items()):
        if ranker == "trees":
            scores[by, name] = out_of_fold(pool, graded[by], wanted, gains, chosen.cutoff, seed)
            continue
        scores[by, name], found = linear_out_of_fold(pool, graded[by], wanted, gains, chosen.cutoff)
        weights += [(by, name, *row) for row in zip(wanted, found.mean(axis=0), (found > 0).sum(axis=0), strict=True)]
    for by in lessons:
        if np.isnan(scores[by, next(iter(sets))]).any():
            notes.append(f"labels of {by} are alike in every query of a training part: nothing can be learnt from them")
    # A ranker that gives few different scores ties many documents: neither their names nor chance may decide.
    scored = tie_nDCG(gains=chosen.gains, discount=chosen.discount, cutoff=chosen.cutoff)
    tested, tied = [], False
    for on, part in lessons.items():
        run = _rankings(known, ~np.isnan(graded[on]), scores)
        tied = tied or bool(run.select("system", "query", "score").is_duplicated().any())
        scorer = Scorer(part, [scored], level=level, draws=draws, seed=seed)
        tested.append(_tested(on, run, scorer, list(scores)))
    if tied:
        notes.append("ties in score: nDCG is the mean over all their orders")
    held = "1 to stop by" if ranker == "trees" else "1 left aside"
    notes.append(
        f"{count(len(pool.part), 'query', 'queries')} in {folds} parts: {folds - 2} to learn from, {held}, 1 to test "
        f"on, in turn; each difference is tested by itself, at {ALPHA:g}; labels are of these judges"
    )
    frame, values = (pl.concat(parts) for parts in zip(*tested, strict=True))
    weighed = pl.DataFrame(weights, schema=WEIGHTS, orient="row")
    return Training(frame, _finding(frame, str(chosen), next(iter(sets))), tuple(notes), values, weighed)


def _graded(known: pl.DataFrame, labels: Judgments) -> Floats:
    """The label of each document, NaN where there is none."""
    given = labels.frame.select(*DOCUMENT, "label")
    found = known.select(DOCUMENT).join(given, on=DOCUMENT, how="left", maintain_order="left")
    return found["label"].fill_null(np.nan).to_numpy()


def _without_a_feature(known: pl.DataFrame, sets: Mapping[str, Sequence[str]], ranker: Kind) -> list[str]:
    """A note on each feature that is unknown for some documents."""
    what = "they count as having its mean" if ranker == "linear" else "trees treat it as a value of its own"
    used = dict.fromkeys(name for wanted in sets.values() for name in wanted)
    unknown = {name: int((known[name].is_null() | known[name].is_nan()).sum()) for name in used}
    whole = count(known.height, "labelled document")
    return [f"{name} is unknown for {n:,} of {whole}: {what}" for name, n in unknown.items() if n]


def _rankings(known: pl.DataFrame, judged: Bools, scores: Mapping[Ranker, Floats]) -> pl.DataFrame:
    """Every ranker's order of the judged documents, ties kept; a system's name is the ranker's number."""
    # Equal rows of features may differ in the last bit of their score.
    order = pl.col("own").round(12).rank("dense").over("query").cast(pl.Float64)
    documents = known.select(DOCUMENT)
    return pl.concat(
        [
            documents.with_columns(own=pl.Series(score), system=pl.lit(str(number)))
            .filter(pl.Series(judged & ~np.isnan(score)))
            .select("system", *DOCUMENT, score=order)
            for number, score in enumerate(scores.values())
        ]
    )


def _tested(on: str, run: pl.DataFrame, scorer: Scorer, rankers: list[Ranker]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of one testing group, and the value of each query behind them."""
    keys = pl.DataFrame(
        [(str(number), by, on, name) for number, (by, name) in enumerate(rankers)],
        schema=["system", "train", "test", "features"],
        orient="row",
    )
    figures = dict.fromkeys(("value", "low", "high"), pl.Float64)
    means = pl.DataFrame(schema={"system": pl.String, **figures, "n": pl.Int64})
    each = pl.DataFrame(schema={"system": pl.String, "query": pl.String, "ndcg": pl.Float64})
    if run.height:
        scored = scorer.score(Runs.of(run))
        means = scored.means
        each = scored.queries.select("system", "query", ndcg=pl.col(scored.measures[0])).sort("query")
    # A ranker that had nothing to learn from has no list: its column is NaN.
    by_query = np.full((each["query"].n_unique(), len(rankers)), np.nan)
    for (name,), mine in each.group_by("system"):
        by_query[:, int(str(name))] = mine["ndcg"].to_numpy()
    baseline = np.array([rankers.index((by, rankers[0][1])) for by, _ in rankers])
    found = _differences(by_query - by_query[:, baseline], scorer)
    rows = keys.join(means, on="system", how="left", maintain_order="left").select(
        "train",
        "test",
        "features",
        pl.col("value").fill_null(np.nan).alias("ndcg"),
        pl.col("low", "high").fill_null(np.nan),
        pl.col("n").fill_null(0).alias("n_queries"),
    )
    # The baseline is not compared with itself.
    other = pl.Series(baseline != np.arange(len(rankers)))
    compared = pl.DataFrame(found).with_columns(significant=pl.col("p") < ALPHA)
    rows = rows.with_columns(pl.when(other).then(compared[name]).alias(name) for name in COMPARED)
    return rows, keys.join(each, on="system", maintain_order="left").drop("system")


def _differences(values: Floats, scorer: Scorer) -> dict[str, Floats]:
    """The mean of each column with its interval, and two tests that it is 0; NaN where a column is not defined."""
    from scipy.stats import ttest_1samp

    found = {name: np.full(values.shape[1], np.nan) for name in COMPARED if name != "significant"}
    known = np.flatnonzero(~np.isnan(values).any(axis=0))
    if not values[:, known].size:
        return found
    values = values[:, known]
    found["difference"][known] = values.mean(axis=0)
    if scorer.draws:
        ends = mean_intervals(values, level=scorer.level, draws=scorer.draws, seed=scorer.seed)
        found["difference_low"][known], found["difference_high"][known] = ends
        found["p_permutation"][known] = _sign_flip(values, scorer.draws, scorer.seed)
    varies = np.ptp(values, axis=0) > 0
    found["p"][known[varies]] = ttest_1samp(values[:, varies], 0.0).pvalue if varies.any() else np.nan
    # Rankings that are identical everywhere give no reason to doubt that they are equal.
    found["p"][known[~values.any(axis=0)]] = 1.0
    return found


def _sign_flip(values: Floats, draws: int, seed: int) -> Floats:
    """The p-value of each column's mean when every query might as well have come out the other way round."""
    rng = np.random.default_rng(seed)
    observed = np.abs(values.sum(axis=0)) - 1e-12
    at_once = max(1, 2_000_000 // len(values))
    further = np.zeros(values.shape[1])
    for start in range(0, draws, at_once):
        signs = rng.integers(0, 2, size=(min(at_once, draws - start), len(values))) * 2.0 - 1.0
        further += (np.abs(signs @ values) >= observed).sum(axis=0)
    return (further + 1) / (draws + 1)


def _finding(frame: pl.DataFrame, measure: str, baseline: str) -> str:
    """How many sets differ from the baseline, and the largest gain, or else the largest loss."""
    compared = frame.filter(pl.col("p").is_not_nan())
    if not compared.height:
        known = frame.filter(pl.col("ndcg").is_not_nan())
        if not known.height:
            return "Nothing could be learnt from these labels."
        best = known.sort("ndcg", descending=True).row(0, named=True)
        who = f"trained on {best['train']} and tested on {best['test']}"
        return f"{best['features']}, {who}, has {measure} {best['ndcg']:.3f}."
    sure = compared.filter(pl.col("significant")).sort("difference", descending=True, maintain_order=True)
    if not sure.height:
        return f"No feature set differs from {baseline} significantly ({count(compared.height, 'comparison')})."
    row = sure.row(0 if sure["difference"][0] > 0 else -1, named=True)
    who = f"trained on {row['train']} and tested on {row['test']}, {row['features']}"
    verb = "is" if sure.height == 1 else "are"
    return (
        f"{sure.height} of {count(compared.height, 'comparison')} with {baseline} {verb} significant; {who} has "
        f"{measure} {row['ndcg']:.3f} against {row['ndcg'] - row['difference']:.3f} ({p_said(row['p'])})."
    )
