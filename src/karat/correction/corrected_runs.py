"""What are these runs' scores without the judges' errors, and which is better? Each run on queries of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.correction.confusion_matrix import FEWEST_GOLD, matrix_notes
from karat.correction.error_rates import Rates
from karat.correction.gold_sample import NO_PROBABILITY, Gold
from karat.correction.judge_confusion import DRAWN_HOW, Confusion
from karat.correction.pool import Pool
from karat.correction.two_samples import Corrected, CorrectedRuns, Sample
from karat.errors import BadInput, Undefined
from karat.labels import split_gold
from karat.labels.scale_check import other_scale
from karat.measures import Linear, as_measures, is_linear, match
from karat.measures.score_notes import notes_on
from karat.measures.scorer import Scorer
from karat.measures.scores import FEWEST_DRAWS
from karat.records import Judgments, LabelsLike, Runs, RunsLike
from karat.records.runs import several
from karat.records.table import count
from karat.stats import Resampling
from karat.stats.arrays import Floats
from karat.stats.rogan_gladen import half_width, lang_reiczigel, two_sided, wilson

#: What every correction by a confusion matrix takes for granted.
ALIKE = "right where judges err alike on all documents of a grade{}; {} does not take that for granted"
INDEPENDENT = "independent adds the errors of both corrected scores, though one matrix corrects both: read shared"
#: How often judges are right on documents of each kind.
ACCURACY = {
    "system": pl.String,
    "documents": pl.String,
    "right": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "effective": pl.Float64,
}
PER_RUN = "each run has accuracies of its own; what both share, queries and gold documents, is allowed for"


def of_samples(
    measure: str,
    samples: Sequence[Sample],
    rates: Sequence[Rates],
    *,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> CorrectedRuns:
    """The result for runs that are laid out, with the rates to correct each by: one object where they are shared."""
    notes = [*notes]
    for sample, of in zip(samples, rates, strict=True):
        of.matrix.check("the labels" if rates[0] is rates[-1] else f"{sample.system}: the labels")
    found = Corrected(samples, rates)
    notes += [note for of in rates[: 1 if found.shared else 2] for note in matrix_notes(of.matrix)]
    drawn = found.drawn_again(draws, seed) if draws else np.full((1, len(samples)), np.nan)
    if np.isnan(drawn).any() and draws:
        lost = int(np.isnan(drawn).any(axis=1).sum())
        notes.append(f"{lost:,} of {draws:,} bootstrap draws have a matrix without an inverse: left out")
    each = [_of_run(found, s, drawn[:, s], level, notes) for s in range(len(samples))]
    pair = _pair(found, drawn, level) if len(samples) == 2 else None
    if pair is not None:
        notes.append(PER_RUN if not found.shared else INDEPENDENT)
    of_both = "" if pair is None else ", those of both runs" if found.shared else " that a run shows"
    return CorrectedRuns(
        measure=measure,
        systems=tuple(sample.system for sample in samples),
        scores=pl.concat(each),
        pair=pair,
        accuracy=_accuracy(found, level),
        impossible=tuple(s.system for place, s in enumerate(samples) if not found.is_possible(place)),
        n_queries=tuple(len(sample.queries) for sample in samples),
        in_common=len({*samples[0].queries} & {*samples[-1].queries}),
        level=level,
        draws=draws,
        seed=seed,
        notes=tuple(
            dict.fromkeys([*notes, ALIKE.format(of_both, advise("karat compare --gold", "compare with gold="))])
        ),
    )


def _of_run(found: Corrected, s: int, drawn: Floats, level: float, notes: list[str]) -> pl.DataFrame:
    """A run's score by each method: naive, corrected, closed form, bootstrap."""
    sample, alone = found.samples[s], [float(s == other) for other in range(len(found.samples))]
    rows = []

    def add(method: str, value: float, error: float, low: float, high: float) -> None:
        rows.append((sample.system, method, value, low, high, error, len(sample.queries)))

    error = float(np.sqrt((found.naive_by_list[:, s] ** 2).sum()))
    half = float(half_width(error, level, len(sample.queries) - 1.0)) or math.nan
    add("naive", float(found.naive[s]), error, float(found.naive[s]) - half, float(found.naive[s]) + half)
    value, error = float(found.scores[s]), float(np.sqrt(found.covariance[s, s]))
    half = float(half_width(error, level, found.freedom(alone))) or math.nan
    low, high = _interval(found, s, level) or (value - half, value + half)
    least, most = found.ends[s]
    if high <= least or low >= most:
        notes.append(f"{sample.system}: no score from {least:g} to {most:.3g} fits these figures: no interval")
        low = high = math.nan
    elif low < least or high > most:
        notes.append(f"{sample.system}: the interval, {low:.3g} to {high:.3g}, is cut at {least:g} and {most:.3g}")
        low, high = max(low, least), min(high, most)
    if not found.is_possible(s):
        notes.append(
            f"{sample.system}: a corrected score of {value:.3f} cannot be ({least:g} to {most:.3g}), the nearest that "
            f"can is {found.possible(s):.3f}: the judges do not err here as on the gold labels, or these are too few"
        )
    add("corrected", value, error, low, high)
    add("closed form", value, error, value - half, value + half)
    if not np.isnan(drawn).all():
        ends = np.nanquantile(drawn, [0.5 - level / 2, 0.5 + level / 2])
        add("bootstrap", value, float(np.nanstd(drawn, ddof=1)), float(ends[0]), float(ends[1]))
    columns = ["system", "method", "score", "low", "high", "standard_error", "n_queries"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _interval(found: Corrected, s: int, level: float) -> tuple[float, float] | None:
    """Lang and Reiczigel's interval, where documents are relevant or not: with few gold labels the plain one misses."""
    matrix, seen = found.rates[s].matrix, found.seen[s]
    if len(matrix.gains) != 2 or matrix.gains[0] != 0 or np.isinf(matrix.effective).any():
        return None
    whole, top = float(seen.sum()), float(matrix.gains[1])
    share = float(seen[1]) / whole
    variance = float((found.naive_by_list[:, s] ** 2).sum()) / (whole * top) ** 2
    if not 0 < share < 1 or variance <= 0:
        return None
    _, n = found.gold_parts(s)
    right = matrix.shares[1, 1], float(n[1]), matrix.shares[0, 0], float(n[0])
    low, high = lang_reiczigel(share, share * (1 - share) / variance, *right, level)
    return float(low) * whole * top, float(high) * whole * top


def _pair(found: Corrected, drawn: Floats, level: float) -> pl.DataFrame:
    """The second run against the first by each method."""
    apart = [-1.0, 1.0]
    naive = found.naive_by_list @ np.array(apart)
    covariance = found.covariance
    own = [math.sqrt(covariance[s, s]) for s in (0, 1)]
    freedoms = [found.freedom([1.0, 0.0]), found.freedom([0.0, 1.0])]
    added = math.hypot(*own)
    welch = added**4 / sum(error**4 / df for error, df in zip(own, freedoms, strict=True)) if added else math.inf
    both = math.sqrt(max(float(np.array(apart) @ covariance @ np.array(apart)), 0.0))
    errors = np.nanstd(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.full(2, math.nan)
    again = float(np.nanstd(drawn[:, 1] - drawn[:, 0], ddof=1)) if len(drawn) > 1 else math.nan
    method = "shared" if found.shared else "per run"
    rows = []
    for name, scores, error, df, by_draws in (
        ("naive", found.naive, float(np.sqrt((naive**2).sum())), found.freedom(apart, naive=True), math.nan),
        ("independent", found.scores, added, welch, math.hypot(*errors)),
        (method, found.scores, both, found.freedom(apart), again),
    ):
        a, b = (float(score) for score in scores)
        half = float(half_width(error, level, df)) or math.nan
        p = float(two_sided(b - a, error, df)), float(two_sided(b - a, error))
        rows.append((name, a, b, b - a, b - a - half, b - a + half, error, p[0], df, p[1], by_draws))
    columns = ["method", "a", "b", "difference", "low", "high", "standard_error", "p", "df", "p_normal"]
    return pl.DataFrame(rows, schema=[*columns, "bootstrap_error"], orient="row")


def _accuracy(found: Corrected, level: float) -> pl.DataFrame:
    """How often judges are right on documents of each kind, and the gold labels that say so."""
    rows: list[tuple[object, ...]] = []
    for s, rates in enumerate(found.rates[:1] if found.shared else found.rates):
        matrix = rates.matrix
        _, effective = found.gold_parts(s)
        name = None if found.shared else found.samples[s].system
        kinds = [f"{'worth' if rates.by_gain else 'grade'} {value:g}" for value in rates.values]
        if len(kinds) == 2 and rates.by_gain:
            kinds = ["not relevant", "relevant"]
        for k, kind in enumerate(kinds):
            right, n = float(matrix.shares[k, k]), float(effective[k])
            known = math.isinf(n)
            low, high = (math.nan, math.nan) if known else (float(end) for end in wilson(right, n, level))
            sizes = (None, None) if known else (round(matrix.counts[k]), n)
            rows.append((name, kind, right, low, high, *sizes))
    return pl.DataFrame(rows, schema=ACCURACY, orient="row")


#: That judges differ so much between two runs' documents by chance is less probable than this.
UNLIKE = 0.01
UNLIKE_JUDGES = "judges do not err alike on both runs"


def corrected_runs(
    labels: LabelsLike,
    runs: RunsLike,
    measure: object = "P@10",
    *,
    gold: LabelsLike | None = None,
    confusion: Confusion | pl.DataFrame | Sequence[Confusion | pl.DataFrame] | None = None,
    per_run: bool = False,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> CorrectedRuns:
    """What one run or two would score without the judges' errors, each over queries of its own, and which is better.

    >>> labels = {f"q{n:02d}": {"d": int(n % 10 < 6)} for n in range(80)}
    >>> gold = {f"q{n:02d}": {"d": int(n % 10 < 5)} for n in range(40, 80)}
    >>> run = {f"q{n:02d}": {"d": 1.0} for n in range(40)}
    >>> found = corrected_runs(labels, {"mine": run}, "P@1", gold=gold, draws=0)
    >>> found.scores.select("method", pl.col("score").round(3)).rows()
    [('naive', 0.6), ('corrected', 0.5), ('closed form', 0.5)]

    How often judges err is counted on documents with both a label and a gold one, whoever shows them: `gold` may be of
    documents, and of queries, that no run has. `per_run` counts it for each run apart, on the gold documents that it
    shows. Or `confusion` gives it: as `confusion()` finds it, or a table of grade, label, share and n (none: known
    exactly); two of them for two runs. Two runs may have the same queries, some, or none in common.

    The verdict is `shared`, or with accuracies of each run `per run`; `independent` is the paper's. A corrected score
    that no documents can have gives no verdict. All rests on judges whose errors depend on the true grade alone; where
    that is in doubt, and gold documents are among those compared, take `compare`.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), equations (5), (7), (9) to
    (11), (14), (17) and (18).
    """
    Resampling(level, draws, seed, fewest=FEWEST_DRAWS)
    one = _measure(measure)
    judged, trusted = split_gold(Judgments.of(labels), None if gold is None else Judgments.of(gold), given_stands=True)
    given = _tables(confusion)
    notes: list[str] = []
    if given:
        if gold is not None:
            raise BadInput.at("the correction", expected="gold labels or a confusion matrix", found="both")
        trusted = None
    elif trusted is None:
        raise BadInput.at(
            "the correction",
            expected="gold labels, or a confusion matrix",
            found="neither",
            remedy=advise("give --gold", "give gold="),
        )
    if per_run and trusted is None:
        raise BadInput.at("accuracies per run", expected="gold labels", found="a confusion matrix")
    scorer = Scorer(judged, [one], draws=0)
    samples = _samples(scorer, one, several(runs), notes)
    if len(given) > 1 and len(given) != len(samples):
        raise BadInput.at("the confusion matrices", expected="one, or one for each run", found=str(len(given)))
    rates = _rates(scorer, one, samples, given, trusted, per_run, notes)
    found = of_samples(str(one), samples, rates, level=level, draws=draws, seed=seed, notes=notes)
    return replace(found, unlike=next((note for note in notes if note.startswith(UNLIKE_JUDGES)), ""))


def _measure(measure: object) -> Linear:
    measures = as_measures(measure)
    if len(measures) != 1:
        raise BadInput.at("the correction", expected="one measure", found=str(len(measures)))
    (one,) = measures
    if not is_linear(one) or one.diverse:
        raise BadInput.at(
            "the measure",
            expected="a sum over documents, such as P@10, DCG@10 or RBP",
            found=str(one),
            remedy="a confusion matrix cannot correct others; "
            + advise("karat compare --gold", "compare with gold=")
            + " corrects nDCG, RR and ERR",
        )
    return one


def _tables(confusion: Any) -> list[pl.DataFrame]:
    if confusion is None:
        return []
    given = list(confusion) if isinstance(confusion, list | tuple) else [confusion]
    return [each.to_frame() if isinstance(each, Confusion) else each for each in given]


def _samples(scorer: Scorer, measure: Linear, lists: Sequence[Runs], notes: list[str]) -> list[Sample]:
    """Each system on the queries that it shares with the labels."""
    samples = []
    notes += [*scorer.labels.notes, *scorer.topics_notes()]
    for runs in lists:
        found = match(runs, scorer.topics, scorer.profile)
        notes += notes_on(found, measure.score(found)[:, None], runs.systems, [measure], False, own_queries=True)
        for system in runs.systems:
            queries = found.keys.filter(pl.col("system") == system)["query"].sort().to_list()
            if len(queries) < 2:
                raise Undefined(
                    f"{system} and the labels share {count(len(queries), 'query', 'queries')}: 2 are needed"
                )
            mine = replace(runs, frame=runs.frame.filter(pl.col("system") == system))
            pool = Pool.of(mine, queries, measure, scorer.topics, scorer.profile)
            label = pool.docs["label"].fill_null(np.nan).to_numpy().astype(np.float64)
            known = ~np.isnan(label)  # what nobody judged counts as not relevant, and there is no label to correct
            if not known.any():
                raise Undefined(f"none of the documents that {system} shows where it counts has a label")
            of = (pool.query[known], pool.weight[known, 0], label[known], pool.predicted[known])
            samples.append(Sample(system, tuple(queries), pool.docs.select("query", "doc").filter(known), *of))
    if len(samples) > 2:
        raise BadInput.at("the runs", expected="one or two", found=str(len(samples)), remedy="compare two at a time")
    return samples


def _rates(
    scorer: Scorer,
    measure: Linear,
    samples: list[Sample],
    given: list[pl.DataFrame],
    trusted: Judgments | None,
    per_run: bool,
    notes: list[str],
) -> list[Rates]:
    """How judges err, for each run: the same for both unless asked otherwise."""

    def worth(labels: Floats) -> Floats:
        return measure.worth(labels, scorer.topics, scorer.profile)

    seen = [np.unique(sample.gain) for sample in samples]
    if trusted is None:
        if len(given) == 1:
            rates = [Rates.of_table(given[0], worth, np.unique(np.concatenate(seen)))] * len(samples)
        else:
            rates = [Rates.of_table(table, worth, mine) for table, mine in zip(given, seen, strict=True)]
        if any(np.isinf(of.matrix.effective).any() for of in rates):
            notes.append("the confusion matrix has no column n: it is taken to be known exactly")
        return rates
    known = Gold.of(trusted)
    notes += [DRAWN_HOW if note == NO_PROBABILITY else note for note in known.notes]
    strange = other_scale(scorer.topics.judged["label"], known.frame["label"])
    notes += [strange] if strange else []
    pair = ["query", "doc"]
    both = known.frame.rename({"label": "gold"}).join(scorer.topics.judged, on=pair, maintain_order="left")
    if both.height < known.frame.height:
        left = count(known.frame.height - both.height, "gold label")
        notes.append(f"{left} of documents without a label left aside")
    both = both.with_columns(
        pl.Series("gain", worth(both["label"].to_numpy())),
        pl.Series("gold_gain", worth(both["gold"].to_numpy())),
        weight=1 / pl.col("probability").fill_null(1.0),
    )
    if not per_run:
        notes[:0] = _unlike(both, samples)  # it bears on the verdict most
        return [Rates.of_gold(both, np.unique(np.concatenate(seen)))] * len(samples)
    return [_of_shown(both, sample, mine) for sample, mine in zip(samples, seen, strict=True)]


def _unlike(both: pl.DataFrame, samples: list[Sample]) -> list[str]:
    """Whether judges are right more often on what only one of two runs shows than on what only the other does."""
    if len(samples) < 2:
        return []
    pair, (a, b) = ["query", "doc"], samples
    right = both.with_columns(right=(pl.col("gain") == pl.col("gold_gain")).cast(pl.Float64))
    only = [
        right.join(one.docs, on=pair, how="semi").join(other.docs, on=pair, how="anti")
        for one, other in ((a, b), (b, a))
    ]
    notes = []
    for worth in np.unique(both["gold_gain"].to_numpy()):
        parts = [rows.filter(pl.col("gold_gain") == worth) for rows in only]
        if min(part.height for part in parts) < FEWEST_GOLD:
            continue
        weight = [part["weight"].to_numpy() for part in parts]
        share = [float(np.average(part["right"], weights=w)) for part, w in zip(parts, weight, strict=True)]
        n = [float(w.sum() ** 2 / (w**2).sum()) for w in weight]
        middle = float(np.average(share, weights=n))
        error = np.sqrt(middle * (1 - middle) * (1 / n[0] + 1 / n[1]))
        if two_sided(share[1] - share[0], float(error)) < UNLIKE:
            told = [f"{100 * of:.0f} % of what only {s.system} shows" for of, s in zip(share, samples, strict=True)]
            notes.append(
                f"{UNLIKE_JUDGES}: of documents worth {worth:g} they are right on {told[0]} and "
                f"{told[1]}; {advise('--per-run', 'per_run=True')} allows for that"
            )
    return notes


def _of_shown(both: pl.DataFrame, sample: Sample, seen: Floats) -> Rates:
    try:
        return Rates.of_gold(both.join(sample.docs, on=["query", "doc"], how="semi", maintain_order="left"), seen)
    except Undefined as error:
        raise Undefined(f"{sample.system}: {error}") from None
