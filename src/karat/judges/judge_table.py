"""The judge table: how many labels each judge gave, how right, lenient, fast and steady they are, and if honest."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.judges.answers import Answers, Flags, Floats
from karat.judges.dawid_skene import dawid_skene
from karat.judges.error_model import ErrorModel
from karat.judges.leniency import Leniency, leniency, sequence
from karat.judges.others import Others
from karat.judges.spammers import Signal, signals
from karat.records import Judgments, Result
from karat.records.base import count
from karat.stats import FEWEST, totals
from karat.stats.many import benjamini_hochberg

#: How many judges a sentence names.
MOST_NAMES = 5


def judge_table(
    judgments: Judgments,
    *,
    gold: Judgments | None = None,
    model: ErrorModel | None = None,
    level: float = 0.95,
    fewest: int = 10,
) -> Result:
    """What there is to say about each judge: likely spammers first, then who gave most labels.

    >>> rng = np.random.default_rng(0)
    >>> truth, rows = rng.integers(0, 4, 60), []
    >>> for judge, noise in {"ann": 0.4, "bob": 0.6, "eve": 0.5, "sam": 99.0}.items():
    ...     for doc, label in enumerate(np.clip(np.rint(truth + rng.normal(0, noise, 60)), 0, 3)):
    ...         rows.append({"query": f"q{doc % 6}", "doc": f"d{doc}", "label": label, "judge": judge})
    >>> print(judge_table(Judgments.of(rows)).finding)
    1 of 4 judges looks like a spammer: sam.

    - `n` labels for `n_pairs` documents; `cant_tell`: the share of answers without a label;
    - `agreement`: how often the label is the most frequent one of the *other* judges (a tie counts in part), over
      `n_compared` labels; `accuracy` against gold over `n_gold`; both with Wilson's interval;
    - `leniency`: mean of label minus gold where the judge has `fewest` gold labels, else minus the mean of the
      others (`leniency_against` says which); interval over queries;
    - `entropy` of the labels in bits, and the share of the most used grade: who always says the same shows here;
    - `seconds`: the median; `drift`: by how much labels for the same truth changed from first to last, with p over
      queries;
    - `information`: what the judge's confusion matrix in `model` (Dawid-Skene unless given) tells about the truth, from
      0 (a spammer) to 1 (always right): Raykar and Yu's score. Unlike `signal` it is high for who errs consistently;
    - `signal`: how closely labels follow gold or the others, 1 for the typical judge. `likely_spammer` is true when it
      is clearly below two thirds of that and no better than the same labels shuffled; null when labels are too few to
      tell.
      Of those called spammers, at most about 5 % follow the documents two thirds as much as the typical judge.

    Intervals over queries need five queries and ignore that judges differ in which documents they saw.

    Reference: Raykar and Yu, Eliminating Spammers and Ranking Annotators for Crowdsourced Labeling Tasks (JMLR 2012).
    """
    if not 0 < level < 1:
        raise BadInput.at("the interval's level", expected="a share such as 0.95", found=str(level))
    if fewest < 3:
        raise BadInput.at("fewest", expected="at least 3 labels", found=str(fewest))
    answers = Answers.of(judgments, gold)
    others = Others.of(answers)
    notes = list(answers.notes)
    signal = signals(answers, others, fewest)
    place = sequence(answers, judgments)
    lenient = leniency(answers, others, place, signal.strength, fewest=fewest, level=level)
    frame = answers.judges.with_columns(
        *_counts(answers),
        *_right(answers, others, level),
        *lenient.columns(),
        *_habits(answers),
        _seconds(answers, judgments),
        pl.Series("drift", lenient.drift),
        pl.Series("drift_p", lenient.drift_p),
        pl.Series("signal", signal.strength),
        pl.Series("chance_p", signal.chance_p),
        pl.Series("spammer_p", signal.spammer_p),
        pl.Series("likely_spammer", signal.spammer).set(~pl.Series(signal.spammer | signal.cleared), None),
    )
    who = answers.judges.columns
    frame = _with_information(frame, who, judgments, gold, model, notes)
    frame = _with_silent(frame, answers.silent, who)
    notes += _notes(answers, judgments, lenient, signal, fewest)
    finding = _finding(answers, signal, lenient)
    order = frame.sort(pl.col("likely_spammer").fill_null(False), "n", descending=True, maintain_order=True)
    return Result(order, finding, tuple(notes))


def _counts(answers: Answers) -> list[pl.Series]:
    judges = answers.judges.height
    pairs = np.unique(answers.judge * answers.items.height + answers.item) // answers.items.height
    return [
        pl.Series("n", np.bincount(answers.judge, minlength=judges)),
        pl.Series("n_pairs", np.bincount(pairs, minlength=judges)),
    ]


def _right(answers: Answers, others: Others, level: float) -> list[pl.Series]:
    """Agreement with the others and accuracy against gold."""
    judges, known = answers.judges.height, answers.known[answers.item]
    columns = []
    for names, rows, right in (
        (("n_compared", "agreement"), others.n > 0, others.agree),
        (("n_gold", "accuracy"), known >= 0, (answers.grade == known).astype(np.float64)),
    ):
        n = np.bincount(answers.judge[rows], minlength=judges)
        hits = totals(answers.judge[rows], right[rows], judges)
        share, low, high = _wilson(hits, n.astype(np.float64), level)
        columns += [pl.Series(names[0], n), pl.Series(names[1], share)]
        columns += [pl.Series(f"{names[1]}_low", low), pl.Series(f"{names[1]}_high", high)]
    return columns


def _wilson(hits: Floats, n: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Shares with Wilson's interval, NaN without any."""
    from statistics import NormalDist

    z = NormalDist().inv_cdf((1 + level) / 2)
    n = np.where(n > 0, n, np.nan)
    share = hits / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return share, np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _habits(answers: Answers) -> list[pl.Series]:
    """How the labels of each judge are spread."""
    judges = answers.judges.height
    used = np.bincount(answers.grade * judges + answers.judge, minlength=answers.levels * judges).reshape(-1, judges)
    share = used / used.sum(axis=0)
    bits = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=0)
    return [
        pl.Series("entropy", np.maximum(bits, 0.0)),
        pl.Series("most_used", answers.grades[share.argmax(axis=0)]),
        pl.Series("most_used_share", share.max(axis=0)),
    ]


def _seconds(answers: Answers, judgments: Judgments) -> pl.Series:
    if not judgments.has("seconds"):
        return pl.Series("seconds", [None] * answers.judges.height, dtype=pl.Float64)
    took = pl.DataFrame({"judge": answers.judge, "seconds": judgments.frame["seconds"][answers.row]})
    median = took.group_by("judge").agg(pl.col("seconds").median()).sort("judge")
    return median["seconds"]


def _with_information(
    frame: pl.DataFrame,
    who: list[str],
    judgments: Judgments,
    gold: Judgments | None,
    model: ErrorModel | None,
    notes: list[str],
) -> pl.DataFrame:
    """The table with what each judge's confusion matrix tells about the truth."""
    if model is None:
        try:
            model = dawid_skene(judgments, gold=gold)
        except Undefined as reason:
            notes.append(f"no information score: {reason}")
            return frame.with_columns(pl.lit(np.nan).alias("information"))
    if not model.converged:
        notes.append(f"information is from a fit that did not converge: {model.finding}")
    levels = len(model.prior)
    matrices = model.confusion["probability"].to_numpy().reshape(-1, levels, levels)
    apart = np.zeros(len(matrices))
    for one in range(levels):
        apart += ((matrices[:, one + 1 :] - matrices[:, one, None]) ** 2).sum(axis=(1, 2))
    scores = model.judges.select(who).with_columns(pl.Series("information", apart / max(levels * (levels - 1), 1)))
    return frame.join(scores, on=who, how="left", nulls_equal=True, maintain_order="left")


def _with_silent(frame: pl.DataFrame, silent: pl.DataFrame, who: list[str]) -> pl.DataFrame:
    """The table with the share of answers without a label; a judge who gave none has a row too."""
    frame = frame.join(silent, on=who, how="full", nulls_equal=True, coalesce=True, maintain_order="left_right")
    n, none = pl.col("n").fill_null(0), pl.col("silent").fill_null(0)
    counts = [pl.col(name).fill_null(0) for name in ("n", "n_pairs", "n_compared", "n_gold")]
    frame = frame.with_columns(*counts, (none / (n + none)).alias("cant_tell")).drop("silent")
    first = [*who, "n", "n_pairs", "cant_tell"]
    return frame.select(*first, pl.exclude(first))


def _finding(answers: Answers, signal: Signal, lenient: Leniency) -> str:
    """Who looks like a spammer; else who is the most lenient and the strictest."""
    judges, called = answers.judges.height, int(signal.spammer.sum())
    if called:
        looks = "looks like a spammer" if called == 1 else "look like spammers"
        return f"{called} of {count(judges, 'judge')} {looks}: {_names(answers, signal.spammer)}."
    if not signal.cleared.any():
        return f"Nothing shows whether {count(judges, 'judge')} looked at the documents: too few labels to compare."
    finding = f"None of {count(judges, 'judge')} looks like a spammer"
    if not lenient.clear.any():
        return f"{finding}, and none is clearly lenient or strict."
    mean = np.where(lenient.clear, lenient.mean, 0.0)
    most, least = int(mean.argmax()), int(mean.argmin())
    said = [f"the most lenient is {_name(answers, most)} ({mean[most]:+.2f} of a grade)"] if mean[most] > 0 else []
    said += [f"the strictest is {_name(answers, least)} ({mean[least]:+.2f} of a grade)"] if mean[least] < 0 else []
    return f"{finding}; {' and '.join(said)}."


def _notes(answers: Answers, judgments: Judgments, lenient: Leniency, signal: Signal, fewest: int) -> list[str]:
    notes = []
    if signal.reversed.any():
        notes.append(f"{_names(answers, signal.reversed)}: labels run against the others': is the scale upside down?")
    unclear = int((~signal.spammer & ~signal.cleared).sum())
    if unclear:
        notes.append(
            f"{count(unclear, 'judge')} of {answers.judges.height:,} with labels too few (under {fewest}) or too "
            "unclear to tell whether they looked at the documents"
        )
    drifting = benjamini_hochberg(lenient.drift_p) <= 0.05
    order = "time" if judgments.has("time") else "the order of the rows, as no time is known"
    if drifting.any():
        up, names = int((lenient.drift[drifting] > 0).sum()), _names(answers, drifting)
        notes.append(f"{count(int(drifting.sum()), 'judge')} drifted by {order} ({up} to higher grades): {names}")
    elif not judgments.has("time"):
        notes.append(f"drift is by {order}")
    no_interval = int((np.isnan(lenient.low) & ~np.isnan(lenient.mean)).sum())
    if no_interval:
        whom = count(no_interval, "judge")
        notes.append(f"no interval of leniency for {whom}: fewer than {FEWEST} queries, or errors all alike")
    return notes


def _names(answers: Answers, which: Flags) -> str:
    """The names of these judges, those with most labels first."""
    at = np.flatnonzero(which)
    at = at[np.argsort(-np.bincount(answers.judge, minlength=answers.judges.height)[at], kind="stable")]
    names = [_name(answers, int(place)) for place in at[:MOST_NAMES]]
    if len(at) > MOST_NAMES:
        return f"{', '.join(names)} and {len(at) - MOST_NAMES} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _name(answers: Answers, place: int) -> str:
    row = answers.judges.row(place, named=True)
    group = row.get("group")
    if row["judge"] is None:
        return "the nameless" if group is None else str(group)
    several = group is not None and answers.judges["group"].n_unique() > 1
    return f"{row['judge']} ({group})" if several else str(row["judge"])
