"""What are these runs' scores without the judges' errors, and which is better? Each run on queries of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.estimate.confusion import DRAWN_HOW, Confusion
from karat.estimate.confusion_matrix import FEWEST_GOLD
from karat.estimate.corrected_result import CorrectedRuns
from karat.estimate.corrected_samples import of_samples
from karat.estimate.gold_sample import NO_PROBABILITY, Gold
from karat.estimate.pool import Pool
from karat.estimate.rates import Rates
from karat.estimate.two_samples import Sample
from karat.labels import split_gold
from karat.labels.one_scale import other_scale
from karat.measures import Linear, as_measures, is_linear, match
from karat.records import Judgments, LabelsLike, Runs, RunsLike
from karat.records.base import count
from karat.records.runs import several
from karat.scoring.notes import notes_on
from karat.scoring.scorer import Scorer
from karat.scoring.scores import FEWEST_DRAWS
from karat.stats import Resampling
from karat.stats.arrays import Floats
from karat.stats.correction import two_sided

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
