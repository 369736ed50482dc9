"""Who does not look at the documents? Judges whose labels do not follow what gold and the others say.

A spammer agrees with others by chance, but so does an honest judge with five labels. So nobody is called a spammer
unless their labels follow the truth no more than the same labels shuffled would, and clearly less than two thirds as
much as those of a judge who looks. Against gold that is a judge who shows to be better than chance, however few they
are; without gold, the typical one. Leniency, strictness and a squeezed scale do not count against a judge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.judges.jackknife import Others, reliability
from karat.labels import Panel
from karat.stats import totals
from karat.stats.agreement_coefficients import label_counts
from karat.stats.arrays import Bools, Floats, Ints, centred
from karat.stats.multiple_testing import benjamini_hochberg

#: Below this share of what the typical judge does, a judge counts as not looking.
TWO_THIRDS = 2 / 3
#: False alarms among those called spammers.
ALARM = 0.05
#: Labels are better than shuffled ones when fewer than this share of shuffles follow as closely.
BY_CHANCE = 0.01
#: A grade more of gold is at least so much more of a label, where no judge shows what it is.
HALF = 0.5
#: One grade to nearly everything is this share of the labels, and so improbable if the others' labels are a guide.
NEARLY, VARIED = 0.95, 0.001
#: Judges scatter more on some grades than on others: into so many slices is the scale cut to see how much.
SLICES = 10
#: A slice has the scatter of its own labels and of so many typical ones.
TYPICAL_LABELS = 20.0
#: The scatter that is allowed in any case, as a share of the labels' variance.
LEAST_SCATTER = 0.05


@dataclass(frozen=True, eq=False)
class Signal:
    """How closely each judge's labels follow the documents.

    `strength` is 1 for the typical judge and 0 for labels that have nothing to do with the documents; `chance_p` is
    the chance that shuffled labels follow as closely; `spammer_p` the chance that a judge two thirds as good as the
    typical one follows as little (both before allowing for the number of judges).
    """

    strength: Floats
    chance_p: Floats
    spammer_p: Floats
    #: Called a spammer; and cleared of it. Who is neither has too few labels to tell.
    spammer: Bools
    cleared: Bools
    #: Follows the opposite of what the others say.
    reversed: Bools
    #: Gave one grade to nearly everything, where others did not.
    one_grade: Bools


def signals(panel: Panel, who: Ints, judges: int, others: Others, fewest: int) -> Signal:
    """How each judge's labels follow gold where it is known, and else the other judges; `who` numbers the judges.

    Labels are regressed on the truth, judge by judge; what counts is the slope. The others' mean is drawn to the
    overall mean the more, the fewer they are, so that a judge whose documents had few other judges is not taken for a
    poor one. Chance is exact to two moments: the covariance of shuffled labels has mean 0 and variance
    Sxx Syy / (n - 1). Judges with fewer than `fewest` labels to compare are not tested.
    """
    from scipy.special import ndtr

    label, gold = panel.value, panel.truth
    n, follows, typical, noise, chance = np.zeros((5, judges))
    # Nobody knows whether one of several people without a name looked.
    width = panel.judges.height
    people = np.bincount(np.unique(who * width + panel.judge) // width, minlength=judges)
    for rows, truth, sure in (
        (~np.isnan(gold), gold, True),
        (np.isnan(gold) & (others.n > 0), _best_guess(others, label, reliability(panel)), False),
    ):
        part = _compared(who[rows], truth[rows], label[rows], judges, sure=sure)
        if part is not None:
            n, follows, typical, noise, chance = np.stack([n, follows, typical, noise, chance]) + part
    undefined = np.full(judges, np.nan)
    tested = (typical > 0) & (n >= fewest) & (people == 1)
    above = np.divide(follows, np.sqrt(chance), out=np.zeros(judges), where=chance > 0)
    below = np.divide(follows - TWO_THIRDS * typical, np.sqrt(noise), out=undefined.copy(), where=tested)
    # Somebody who always says the same does no better than shuffled labels: these are the same labels.
    chance_p = np.where(typical > 0, np.where(chance > 0, ndtr(-above), 1.0), np.nan)
    spammer_p = ndtr(below)
    called = benjamini_hochberg(spammer_p) <= ALARM
    against = benjamini_hochberg(np.where(tested & (chance > 0), ndtr(above), np.nan)) <= ALARM
    return Signal(
        strength=np.divide(follows, typical, out=undefined.copy(), where=typical > 0),
        chance_p=chance_p,
        spammer_p=spammer_p,
        spammer=called & (chance_p > BY_CHANCE),
        cleared=(chance_p <= BY_CHANCE) & (people == 1),
        reversed=called & against,
        one_grade=_one_grade(panel, who, judges, others, fewest) & (people == 1),
    )


def _one_grade(panel: Panel, who: Ints, judges: int, others: Others, fewest: int) -> Bools:
    """Who gave one grade to nearly all documents, though others gave it to these documents far less often."""
    from scipy.special import betainc

    used = label_counts(who, panel.grade, judges, panel.levels)
    n, most, grade = used.sum(axis=1), used.max(axis=1), used.argmax(axis=1)[who]
    votes = panel.counts()[panel.item, grade] - (panel.grade == grade)
    said = totals(who, others.n, judges)
    share = np.divide(totals(who, votes, judges), said, out=np.ones(judges), where=said > 0)
    # The chance of so many labels of the grade, or more, if the judge gave it as often as the others.
    by_chance = betainc(np.maximum(most, 1), n - most + 1, share)
    flags: Bools = (n >= fewest) & (most >= NEARLY * n) & (by_chance <= VARIED)
    return flags


def _compared(judge: Ints, truth: Floats, label: Floats, judges: int, *, sure: bool) -> Floats | None:
    """For each judge: labels, how they follow, how the typical judge's would, their noise, and that of shuffled ones.

    The typical judge is one of those who are better than chance where the truth is `sure`, else one of all. None where
    even the typical judge does not follow, so that nothing can be said about anybody.
    """
    from scipy.special import ndtr

    n = totals(judge, np.ones(len(judge)), judges)
    x, y = centred(judge, truth), centred(judge, label)
    xx, yy, xy = (totals(judge, product, judges) for product in (x * x, y * y, x * y))
    xx, yy = (np.where(squares > 1e-9 * np.maximum(n, 1), squares, 0.0) for squares in (xx, yy))
    seen = (n > 2) & (xx > 0)
    if not seen.any():
        return None
    if sure:
        above = np.divide(xy, np.sqrt(xx * yy / np.maximum(n - 1, 1)), out=np.zeros(judges), where=seen & (yy > 0))
        seen &= benjamini_hochberg(np.where(seen, ndtr(-above), np.nan)) <= ALARM
    slope = _middle(xy[seen] / xx[seen], xx[seen]) if seen.any() else HALF if sure else 0.0
    if not slope > 0:
        return None
    off = (y - slope * x) ** 2
    slices = (SLICES * (truth - truth.min()) / (np.ptp(truth) * (1 + 1e-9))).astype(np.int64)
    labels = np.bincount(slices, minlength=SLICES)
    # Where judges are perfect, a slip of the hand is still allowed.
    usual = max(float(off.mean()), LEAST_SCATTER * float(label.var()))
    scatter = (totals(slices, off, SLICES) + TYPICAL_LABELS * usual) / (labels + TYPICAL_LABELS)
    noise = totals(judge, x * x * scatter[slices], judges)
    # In units of the label that the typical judge would give, so that gold and others add up.
    follows, typical = slope * xy, slope**2 * xx
    return np.stack([n, follows, typical, slope**2 * noise, slope**2 * xx * yy / np.maximum(n - 1, 1)])


def _best_guess(others: Others, label: Floats, alike: float) -> Floats:
    """The best guess of an item's level from its other labels: their mean, drawn to the overall mean."""
    weight = others.n * alike / (1 + (np.maximum(others.n, 1) - 1) * alike)
    middle = label.mean()
    guess: Floats = middle + weight * (others.mean - middle)
    return guess


def _middle(values: Floats, weights: Floats) -> float:
    """The weighted median."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
