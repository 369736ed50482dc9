"""The judge table: how many labels each judge gave, how right, lenient, fast and steady they are, and if honest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.judges.agreement import drawn_gold
from karat.judges.dawid_skene import dawid_skene
from karat.judges.em import named
from karat.judges.jackknife import Others
from karat.judges.spammers import Signal, signals
from karat.labels import GOLD, Panel
from karat.records import LabelsLike, Result
from karat.records.table import count
from karat.stats import FEWEST, check_level, totals
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints, centred, distinct, place_within
from karat.stats.multiple_testing import benjamini_hochberg
from karat.stats.rogan_gladen import half_width, two_sided, wilson


@dataclass(frozen=True, eq=False)
class Leniency:
    """Leniency and drift of each judge with what queries say about their certainty."""

    mean: Floats
    low: Floats
    high: Floats
    #: Which judges were held against gold, and which against nothing.
    by_gold: Bools
    drift: Floats
    drift_p: Floats

    def columns(self) -> list[pl.Series]:
        """Leniency with its interval and what it is against, for a table."""
        against = np.where(self.by_gold, "gold", "others")
        return [
            pl.Series("leniency", self.mean),
            pl.Series("leniency_low", self.low),
            pl.Series("leniency_high", self.high),
            pl.Series("leniency_against", against).set(pl.Series(np.isnan(self.mean)), None),
        ]

    @property
    def clear(self) -> Bools:
        """Whose interval leaves zero out."""
        return (self.low > 0) | (self.high < 0)


def leniency(panel: Panel, who: Ints, others: Others, strength: Floats, *, fewest: int, level: float) -> Leniency:
    """Leniency is the mean of label - truth; drift is how labels move over a judge's work while the truth does not.

    The truth is gold for a judge with at least `fewest` gold labels, else the mean of the others' labels. Who does
    not follow the truth (`strength` below 1) would seem to drift whenever documents get better or worse, so for drift
    the truth counts only as far as the judge follows it. `who` numbers the judges to tell about.
    """
    judges, gold = len(strength), panel.truth
    by_gold = np.bincount(who[~np.isnan(gold)], minlength=judges) >= fewest
    truth = np.where(by_gold[who], gold, others.mean)
    used = ~np.isnan(truth)
    truth, label, judge, query = truth[used], panel.value[used], who[used], panel.query[used]
    place = _sequence(who)[used]
    x, y = centred(judge, truth), centred(judge, label)
    varies = totals(judge, x * x, judges)
    follows = np.divide(totals(judge, x * y, judges), varies, out=np.ones(judges), where=varies > 1e-9)
    share = np.where(by_gold, follows, np.where(np.isnan(strength), 1.0, strength))
    errors = _Queries.of(judge, query, label - truth, place, judges)
    mean, df = _mean(errors.whole()), np.maximum(errors.number - 1, 1)
    half = half_width(errors.error(_mean(errors.rest())), level, df)
    moves = _Queries.of(judge, query, label - share[judge] * truth, place, judges)
    drift = _slope(moves.whole())
    p = np.asarray(two_sided(drift, moves.error(_slope(moves.rest())), df))
    return Leniency(mean, mean - half, mean + half, by_gold, drift, p)


def _sequence(who: Ints) -> Floats:
    """The place of each label in its judge's work, from 0 for the first to 1 for the last; rows are in order.

    >>> _sequence(np.array([0, 1, 0, 0])).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    sequence: Floats = place_within(who) / np.maximum(np.bincount(who) - 1, 1)[who]
    return sequence


@dataclass(frozen=True, eq=False)
class _Queries:
    """A judge's labels query by query: errors within a query are alike, so queries are what is independent."""

    #: The judge of each cell, and the sums of n, y, x, x^2 and xy in it.
    owner: Ints
    parts: Floats
    judges: int

    @classmethod
    def of(cls, judge: Ints, query: Ints, y: Floats, x: Floats, judges: int) -> _Queries:
        width = int(query.max(initial=0)) + 1
        cell, which, _ = distinct(judge * width + query)
        parts = [totals(which, part, len(cell)) for part in (np.ones(len(y)), y, x, x * x, x * y)]
        return cls(cell // width, np.stack(parts), judges)

    @property
    def number(self) -> Ints:
        """How many queries each judge has."""
        return np.bincount(self.owner, minlength=self.judges)

    def whole(self) -> Floats:
        """The sums of each judge."""
        return np.stack([totals(self.owner, part, self.judges) for part in self.parts])

    def rest(self) -> Floats:
        """For each cell, the sums of its judge without it."""
        return self.whole()[:, self.owner] - self.parts

    def error(self, without: Floats) -> Floats:
        """The standard error of a figure from its values with one query left out after another (the jackknife).

        NaN where fewer than five queries, or figures all alike, do not tell.
        """
        number = self.number
        apart = np.square(centred(self.owner, without))
        variance = (number - 1) / np.maximum(number, 1) * totals(self.owner, apart, self.judges)
        error: Floats = np.sqrt(np.where((number >= FEWEST) & (variance > 1e-18), variance, np.nan))
        return error


def _mean(sums: Floats) -> Floats:
    n, y, *_ = sums
    mean: Floats = y / np.where(n > 0.5, n, np.nan)
    return mean


def _slope(sums: Floats) -> Floats:
    """The slope of y on x, NaN where x does not vary."""
    n, y, x, xx, xy = sums
    size = np.where(n > 0.5, n, np.nan)
    varies = xx - x * x / size
    slope: Floats = (xy - x * y / size) / np.where(varies > 1e-9, varies, np.nan)
    return slope


#: With gold labels for a greater share of the documents spammers are found wherever judges have enough labels.
MOSTLY_GOLD = 0.9
#: How many judges a sentence names.
MOST_NAMES = 5

#: What is shown of the many figures of a judge.
COLUMNS = ("group", "judge", "n", "agreement", "accuracy", "leniency", "seconds", "drift_p", "likely_spammer")


def judge_table(
    labels: Panel | LabelsLike,
    *,
    gold: LabelsLike | None = None,
    level: float = 0.95,
    fewest: int = 10,
) -> Result:
    """What there is to say about each judge: likely spammers first, then who gave most labels.

    >>> rng = np.random.default_rng(0)
    >>> truth, rows = rng.integers(0, 4, 60), []
    >>> for judge, noise in {"ann": 0.4, "bob": 0.6, "eve": 0.5, "sam": 99.0}.items():
    ...     for doc, label in enumerate(np.clip(np.rint(truth + rng.normal(0, noise, 60)), 0, 3)):
    ...         rows.append({"query": f"q{doc % 6}", "doc": f"d{doc}", "label": label, "judge": judge})
    >>> print(judge_table(rows).finding)
    1 of 4 judges looks like a spammer: sam.

    - `n` labels; `cant_tell`: the share of answers without a label;
    - `agreement`: how often the label is the most frequent one of the *other* judges (a tie counts in part), over
      `n_compared` labels; `accuracy` against gold over `n_gold`; both with Wilson's interval;
    - `leniency`: mean of label minus gold where the judge has `fewest` gold labels, else minus the mean of the
      others (`leniency_against` says which); interval over queries;
    - `entropy` of the labels in bits, and the share of the most used grade; `one_grade`: whether nearly all labels are
      of one grade though others gave it to the same documents far less often;
    - `seconds`: the median; `drift`: by how much labels for the same truth changed from first to last, by time where it
      is known, else by the order of the rows, with p over queries;
    - `information`: what the judge's confusion matrix by `dawid_skene` tells about the truth, from 0 (a spammer) to 1
      (always right): Raykar and Yu's score. Unlike `signal` it is high for who errs consistently;
    - `signal`: how closely labels follow gold or the others, 1 for the typical judge. `likely_spammer` is true when it
      is no better than the same labels shuffled and clearly below two thirds of what judges do who look: with gold,
      those who are better than chance against it, so that it works where most judges are bad; without gold, the typical
      judge. Null when labels are too few to tell. Of those called spammers, at most about 5 % follow the documents two
      thirds as much.

    People without a name have one row in each group, of which nobody can tell whether somebody is a spammer.
    Intervals over queries need five queries and ignore that judges differ in which documents they saw.

    Reference: Raykar and Yu, Eliminating Spammers and Ranking Annotators for Crowdsourced Labeling Tasks (JMLR 2012).
    """
    check_level(level)
    if fewest < 3:
        raise BadInput.at("fewest", expected="at least 3 labels", found=str(fewest))
    panel = Panel.of(labels, gold).of_judges()
    table = _Table(panel, *named(panel))
    others = Others.of(panel)
    notes = list(panel.notes)
    signal = signals(panel, table.who, table.judges.height, others, fewest)
    lenient = leniency(panel, table.who, others, signal.strength, fewest=fewest, level=level)
    frame = table.judges.with_columns(
        pl.Series("n", table.n),
        *_right(table, others, level),
        *lenient.columns(),
        *_habits(table),
        pl.Series("one_grade", signal.one_grade),
        _seconds(table),
        pl.Series("drift", lenient.drift),
        pl.Series("drift_p", lenient.drift_p),
        pl.Series("signal", signal.strength),
        pl.Series("chance_p", signal.chance_p),
        pl.Series("spammer_p", signal.spammer_p),
        pl.Series("likely_spammer", signal.spammer).set(~pl.Series(signal.spammer | signal.cleared), None),
    )
    who = table.judges.columns
    frame = _with_information(frame, who, panel, notes)
    frame = _with_silent(frame, panel.silent.filter(pl.col("group") != GOLD).select(*who, "silent"), who)
    notes += [note for note in [drawn_gold(panel), *_notes(table, lenient, signal, fewest)] if note]
    finding = _finding(table, signal, lenient)
    order = frame.sort(pl.col("likely_spammer").fill_null(False), "n", descending=True, maintain_order=True)
    return Result(order, finding, tuple(notes), scale=panel.scale, columns=COLUMNS)


@dataclass(frozen=True, eq=False)
class _Table:
    """The labels of the judges, who has a row, and the row of each label."""

    panel: Panel
    judges: pl.DataFrame
    who: Ints

    @cached_property
    def n(self) -> Ints:
        """How many labels each judge gave."""
        return np.bincount(self.who, minlength=self.judges.height)

    @cached_property
    def crowds(self) -> Bools:
        """Which rows are of several people without a name, of whom nobody can tell who looked."""
        people = self.panel.judges.height
        pairs = np.unique(self.who * people + self.panel.judge)
        return np.bincount(pairs // people, minlength=self.judges.height) > 1

    def name(self, place: int) -> str:
        """What a judge is called, with the group where there are several."""
        row = self.judges.row(place, named=True)
        group = row.get("group")
        if row["judge"] is None:
            of_group = f"the nameless of {group}" if self.crowds[place] else str(group)
            return "the nameless" if group is None else of_group
        beside = group is not None and self.judges["group"].n_unique() > 1
        return f"{row['judge']} ({group})" if beside else str(row["judge"])

    def names(self, which: Bools) -> str:
        """The names of these judges, those with most labels first."""
        at = np.flatnonzero(which)
        at = at[np.argsort(-self.n[at], kind="stable")]
        names = [self.name(int(place)) for place in at[:MOST_NAMES]]
        if len(at) > MOST_NAMES:
            return f"{', '.join(names)} and {len(at) - MOST_NAMES} more"
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _right(table: _Table, others: Others, level: float) -> list[pl.Series]:
    """Agreement with the others and accuracy against gold."""
    gold = table.panel.truth
    columns = []
    for names, rows, right in (
        (("n_compared", "agreement"), others.n > 0, others.agree),
        (("n_gold", "accuracy"), ~np.isnan(gold), (table.panel.value == gold).astype(np.float64)),
    ):
        n = np.bincount(table.who[rows], minlength=table.judges.height)
        hits = totals(table.who[rows], right[rows], table.judges.height)
        some = np.where(n > 0, n, np.nan)
        share = hits / some
        low, high = map(np.asarray, wilson(share, some, level))
        columns += [pl.Series(names[0], n), pl.Series(names[1], share)]
        columns += [pl.Series(f"{names[1]}_low", low), pl.Series(f"{names[1]}_high", high)]
    return columns


def _habits(table: _Table) -> list[pl.Series]:
    """How the labels of each judge are spread."""
    used = label_counts(table.who, table.panel.grade, table.judges.height, table.panel.levels)
    share = used / used.sum(axis=1, keepdims=True)
    bits = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1)
    return [
        pl.Series("entropy", np.maximum(bits, 0.0)),
        pl.Series("most_used", table.panel.grades[share.argmax(axis=1)]),
        pl.Series("most_used_share", share.max(axis=1)),
    ]


def _seconds(table: _Table) -> pl.Series:
    known = pl.col("seconds") if "seconds" in table.panel.frame.columns else pl.lit(None, pl.Float64)
    took = table.panel.frame.select(judge=pl.Series(table.who), seconds=known)
    return took.group_by("judge").agg(pl.col("seconds").median()).sort("judge")["seconds"]


def _with_information(frame: pl.DataFrame, who: list[str], panel: Panel, notes: list[str]) -> pl.DataFrame:
    """The table with what each judge's confusion matrix tells about the truth."""
    try:
        model = dawid_skene(panel)
    except Undefined as reason:
        notes.append(f"no information score: {reason}")
        return frame.with_columns(information=np.nan)
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
    counts = [pl.col(name).fill_null(0) for name in ("n", "n_compared", "n_gold")]
    frame = frame.with_columns(*counts, (none / (n + none)).alias("cant_tell")).drop("silent")
    first = [*who, "n", "cant_tell"]
    return frame.select(*first, pl.exclude(first))


def _finding(table: _Table, signal: Signal, lenient: Leniency) -> str:
    """Who looks like a spammer, or gave one grade to everything; else who is the most lenient and the strictest."""
    judges, called = int((~table.crowds).sum()), int(signal.spammer.sum())
    alike = signal.one_grade & ~signal.spammer
    number = int(alike.sum())
    said = []
    if called:
        looks = "looks like a spammer" if called == 1 else "look like spammers"
        said.append(f"{called} of {count(judges, 'judge')} {looks}: {table.names(signal.spammer)}.")
    if number:
        whose = f"{number} more" if called else f"{number} of {count(judges, 'judge')}"
        said.append(f"{whose} gave one grade to nearly everything: {table.names(alike)}.")
    if said:
        return " ".join(said)
    if not judges:
        return "Nobody has a name: who looked at the documents cannot be told."
    if not signal.cleared.any():
        return f"Nothing shows whether {count(judges, 'judge')} looked at the documents: too few labels to compare."
    finding = f"None of {judges:,} judges looks like a spammer"
    if judges == 1:
        return f"{table.name(0)}, the only judge, does not look like a spammer."
    if not lenient.clear.any():
        return f"{finding}, and none is clearly lenient or strict."
    mean = np.where(lenient.clear, lenient.mean, 0.0)
    most, least = int(mean.argmax()), int(mean.argmin())
    ends = [f"the most lenient is {table.name(most)} ({mean[most]:+z.2f} of a grade)"] if mean[most] > 0 else []
    ends += [f"the strictest is {table.name(least)} ({mean[least]:+z.2f} of a grade)"] if mean[least] < 0 else []
    return f"{finding}; {' and '.join(ends)}."


def _yardstick(panel: Panel) -> list[str]:
    """A note on the spammers that cannot be found, as there are gold labels for some documents only or for none."""
    labelled = np.unique(panel.item)
    share = float((panel.gold[labelled] >= 0).mean())
    if share == 0:
        return [
            "no gold labels: judges are compared with each other, so if most of them answer at random, none of them is "
            f"found; {advise('give --gold', 'give gold=')}"
        ]
    if share > MOSTLY_GOLD:
        return []
    percent = f"{share:.0%}" if share >= 0.01 else "under 1%"
    return [f"gold labels for {percent} of the documents: if most judges answer at random, some of them are missed"]


def _notes(table: _Table, lenient: Leniency, signal: Signal, fewest: int) -> list[str]:
    notes = []
    panel = table.panel
    if signal.reversed.any():
        notes.append(f"{table.names(signal.reversed)}: labels run against the others': is the scale upside down?")
    if signal.one_grade.any() and signal.spammer.any():
        notes.append(f"one grade to nearly everything: {table.names(signal.one_grade)}")
    if table.crowds.any():
        notes.append(f"{table.names(table.crowds)}: of people without a name nobody can tell who looked")
    unclear = int((~signal.spammer & ~signal.cleared & ~table.crowds).sum())
    if unclear:
        notes.append(
            f"{count(unclear, 'judge')} of {int((~table.crowds).sum()):,} with labels too few (under {fewest}) or too "
            "unclear to tell whether they looked at the documents"
        )
    notes += _yardstick(panel)
    drifting = benjamini_hochberg(lenient.drift_p) <= 0.05
    order = "time" if panel.timed else "the order of the rows, as no time is known"
    if drifting.any():
        up, names = int((lenient.drift[drifting] > 0).sum()), table.names(drifting)
        notes.append(f"{count(int(drifting.sum()), 'judge')} drifted by {order} ({up} to higher grades): {names}")
    elif not panel.timed:
        notes.append(f"drift is by {order}")
    no_interval = int((np.isnan(lenient.low) & ~np.isnan(lenient.mean)).sum())
    if no_interval:
        whom = count(no_interval, "judge")
        notes.append(f"no interval of leniency for {whom}: fewer than {FEWEST} queries, or errors all alike")
    return notes
