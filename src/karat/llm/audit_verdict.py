"""Can this judge be used? The sentence that the sheet begins with, and by which figures it is decided.

A judge is condemned only where its whole interval is on the wrong side of a bound: where the data leave room for a good
judge, the answer is that they cannot say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from karat.correction.calibration import FEWEST as MIN_GOLD_LABELS
from karat.correction.label_value import Worth
from karat.errors import BadInput
from karat.llm.audit_statistics import Figure
from karat.llm.robustness_checks import KINDS
from karat.plan.pilot import PilotVariance
from karat.records.table import count
from karat.stats.power import queries_needed, smallest_difference

#: Where even gold labels for everything cannot show the difference, so much more than they can is taken for as good.
NEARLY = 1.1


@dataclass(frozen=True)
class Needed:
    """`gold` labels, drawn at random, and what they are enough for in words."""

    gold: int
    purpose: str
    #: Whether the queries there are can show what was asked for at all.
    reachable: bool = True


def for_difference(
    spread: PilotVariance, difference: float, systems: tuple[str, str], *, power: float = 0.8, alpha: float = 0.05
) -> Needed:
    """The gold labels with which these queries show a difference between two systems.

    >>> for_difference(PilotVariance(0.1, 0.002, 8.0, "P@10", 400), 0.02, ("A", "B"))
    Needed(gold=521, purpose='show a difference of 0.02 in P@10 between A and B', reachable=True)

    The share of the documents that matter is solved from sd^2 + R (1/share - 1), what the variance of a query's
    difference may be. Where the queries are too few, whatever the gold labels, it is the share with which they show
    nearly as small a difference as they can. Never fewer than `compare` needs to calibrate the judge.
    """
    if not difference > 0:
        raise BadInput.at("the difference", expected="a number above 0", found=f"{difference:g}")
    queries, pool, added = spread.queries or 0, spread.pool or 0.0, spread.gold_variance or 0.0
    seen = smallest_difference(queries, spread.sd, power=power, alpha=alpha)
    reachable = seen <= difference
    target = difference if reachable else seen * NEARLY
    # The difference seen grows with the standard deviation, and what is not drawn adds R (1/share - 1) to its square.
    allowed = spread.sd**2 * ((target / seen) ** 2 - 1)
    share = added / (added + allowed) if added > 0 else 0.0
    between = f" in {spread.measure} between {' and '.join(systems)}"
    gold = max(math.ceil(share * pool * queries - 1e-6), MIN_GOLD_LABELS)
    if reachable:
        return Needed(gold, f"show a difference of {difference:g}{between}")
    more = queries_needed(difference, spread.sd, power=power, alpha=alpha)
    there = f"these {count(queries, 'query', 'queries')} (for {difference:g}, {more:,} queries are needed)"
    return Needed(gold, f"show a difference of {target:.2g}{between}, about the smallest for {there}", False)


def for_width(left: float, width: float, level: float) -> Needed:
    """The gold labels with which a mean grade is known to within `width`, from what is `left` of a grade's spread.

    >>> for_width(0.6, 0.1, 0.95)
    Needed(gold=139, purpose='know a mean grade to within 0.1', reachable=True)
    """
    from scipy.special import ndtri

    if not width > 0:
        raise BadInput.at("the width", expected="a number of grades above 0", found=f"{width:g}")
    reach = float(ndtri((1 + level) / 2))
    return Needed(max(math.ceil((reach * left / width) ** 2), 1), f"know a mean grade to within {width:g}")


Answer = Literal["use it", "only with more gold labels", "do not use it", "cannot say"]
PairsAnswer = Literal["use them", "do not use them", "cannot say"]

#: A judge whom documents talk into a better grade more often than not grades the talk.
MOST_RAISED = 0.5
#: Of two answers that name a side each, a coin flips in half of the pairs.
COIN = 0.5
#: A judge whose share of flips is surely above this goes by the sides nearly as often as a coin.
NEARLY_A_COIN = 0.4
#: A judge whose ordinal alpha with itself is surely below this answers nearly at random.
NEARLY_RANDOM = 0.2
#: A judge whose labels are worth less than this many gold labels each spares next to none.
NEXT_TO_NOTHING = 1.1
#: Fewer pairs, canaries or repeats condemn nobody.
FEWEST = 10
#: With fewer gold labels of another grade than the commonest, what the judge's labels are worth condemns nobody.
MIN_RARE_GOLD = 5


@dataclass(frozen=True)
class Verdict:
    """The answer about its grades, the one about its choices between two rankings, and the sentences that give them."""

    answer: Answer
    sentence: str
    #: None where no pair was judged in both orders.
    pairs: PairsAnswer | None = None
    #: Systems whose documents the judge overrates: retrieved by them alone, at equal gold grade.
    favoured: tuple[str, ...] = ()


def verdict(
    judge: str,
    figures: Sequence[Figure],
    worth: Worth | None,
    needed: Needed | None,
    *,
    n_gold: int,
    n_rare: int = MIN_RARE_GOLD,
    why_not: str = "",
) -> Verdict:
    """Whether to use this judge, from the figures of its sheet.

    `needed` is what the plan wants, `n_gold` how many gold labels there are; `why_not` says why nothing is known of
    what the labels are worth. `n_rare` gold labels have another grade than the commonest: if they are fewer than
    `MIN_RARE_GOLD`, as where nearly all are 0, a few documents decide what the labels are worth, and its interval, too
    narrow then, condemns nobody.
    """
    found = {(one.figure, one.of): one for one in figures}
    against = [*_no_better_than_chance(found, worth, n_rare), *_fooled(figures, surely=True)]
    pairs, why_pairs = _pairs(found)
    favoured = [one for one in figures if one.system and one.low > 0]

    def answered(answer: Answer, sentence: str) -> Verdict:
        return Verdict(answer, sentence, pairs, tuple(one.system for one in favoured))

    if against:
        beside = (
            f" Do not use its choices between two rankings either: {why_pairs}." if pairs == "do not use them" else ""
        )
        beside += f" It also favours {'; '.join(_favour(one) for one in favoured)}." if favoured else ""
        return answered("do not use it", f"Do not use {judge}: {'; '.join(against)}.{beside}")
    beside = {
        "do not use them": f" But do not use its choices between two rankings: {why_pairs}.",
        "cannot say": f" Cannot say whether to use its choices between two rankings: {why_pairs}.",
    }.get(pairs or "", "")
    warned = [f"it favours {_favour(one)}" for one in favoured]
    warned += [*_uncorrected(found), *_unsure_of_itself(found), *_fooled(figures, surely=False)]
    beside += f" Beware: {'; '.join(warned)}." if warned else ""
    if worth is None or needed is None:
        return answered("cannot say", f"Cannot say whether {judge} can be trusted: {why_not}.{beside}")
    rate = f"one is worth {worth.times:.2f}{_ends(worth.low, worth.high)}"
    few = worth.high < NEXT_TO_NOTHING and n_rare < MIN_RARE_GOLD
    if few or not worth.low > 1:
        doubt = f"{count(worth.n, 'gold label')} do not show that its grades spare any ({rate} without it)"
        if few:
            doubt += f", but only {n_rare} of them {'has' if n_rare == 1 else 'have'} another grade than the commonest"
        return answered("cannot say", f"Cannot say yet whether {judge} can be trusted: {doubt}.{beside}")
    as_many = f"{n_gold:,} with it tell as much as {n_gold * worth.times:,.0f} without ({rate})"
    if needed.gold <= n_gold:
        said = f"Use {judge}, corrected with your {n_gold:,} gold labels: enough to {needed.purpose}; {as_many}."
        return answered("use it", said + beside)
    said = f"Use {judge} only with {needed.gold:,} gold labels, which it takes to {needed.purpose}; the {as_many}."
    return answered("only with more gold labels", said + beside)


def _no_better_than_chance(found: dict[tuple[str, str], Figure], worth: Worth | None, n_rare: int) -> list[str]:
    """What shows that the grades tell nothing: of gold, or of the judge's own earlier grades."""
    if worth is not None and n_rare >= MIN_RARE_GOLD:
        if worth.low > 1:  # corrected, its grades spare gold labels, however lenient or unsteady it is
            return []
        if worth.high < NEXT_TO_NOTHING:
            alpha = found.get(("ordinal alpha with gold", ""))
            known = alpha is not None and not math.isnan(alpha.value)
            beside = f", {_with_gold(alpha)}" if known and alpha is not None else ""
            rate = f"{worth.times:.2f}{_ends(worth.low, worth.high)}"
            return [
                f"its grades spare no gold labels (one with it is worth {rate} without it{beside})",
                *_random(found),
            ]
    return [*_contradiction(found, n_rare), *_random(found)]


def _contradiction(found: dict[tuple[str, str], Figure], n_rare: int) -> list[str]:
    """That the grades are further from gold than chance, and most of them are other grades than gold.

    A lenient judge of a sparse collection has an alpha below 0, too, though it may find what is relevant.
    """
    alpha, same = found.get(("ordinal alpha with gold", "")), found.get(("same grade as gold", ""))
    if alpha is None or not n_rare or not _at_best(alpha, same) < 0 or (same is not None and not same.high < COIN):
        return []
    return [f"its grades contradict gold ({_with_gold(alpha)})"]


def _random(found: dict[tuple[str, str], Figure]) -> list[str]:
    """That grades given again are nearly random."""
    again, same = found.get(("ordinal alpha with itself", "")), found.get(("same grade when asked again", ""))
    if again is None or again.n < FEWEST or not _at_best(again, same) < NEARLY_RANDOM:
        return []
    return [f"asked again, it answers nearly at random ({_itself(again)})"]


def _unsure_of_itself(found: dict[tuple[str, str], Figure]) -> list[str]:
    """That repeats show that its grades are nearly random, or leave it open."""
    if surely := _random(found):
        return surely
    again = found.get(("ordinal alpha with itself", ""))
    if again is None or again.n < FEWEST or not again.low <= 0:
        return []
    return [f"{count(again.n, 'repeat')} cannot tell whether it agrees with itself ({_itself(again)})"]


def _at_best(alpha: Figure, same: Figure | None) -> float:
    """The highest alpha that the labels leave room for, by the share of equal grades; NaN where there is no interval.

    Where nearly all grades are the same, resamples of a handful of disagreements vary too little. Alpha is 1 less the
    disagreement observed by that expected, so the interval of the share of equal grades bounds it, too.
    """
    if same is None or not same.value < 1 or math.isnan(same.high):
        return alpha.high
    return max(alpha.high, 1 - (1 - alpha.value) * (1 - same.high) / (1 - same.value))


def _with_gold(alpha: Figure) -> str:
    return f"ordinal alpha with gold {alpha.value:.2f}{_ends(alpha.low, alpha.high)}"


def _itself(again: Figure) -> str:
    return f"ordinal alpha with itself {again.value:.2f}{_ends(again.low, again.high)}"


def _favour(one: Figure) -> str:
    """The favoured system, and by how much."""
    higher = f"{one.value:.2f}{_ends(one.low, one.high)} higher than others of the same gold grade"
    return f"{one.system}: documents that only {one.system} retrieves are graded {higher}"


def _uncorrected(found: dict[tuple[str, str], Figure]) -> list[str]:
    """That grades which gold labels can set right are not to be taken as they are."""
    alpha = found.get(("ordinal alpha with gold", ""))
    if alpha is None or not alpha.low <= 0:
        return []
    ends = _ends(alpha.low, alpha.high)
    return [
        f"taken as they are, its grades may agree with gold by chance alone (ordinal alpha {alpha.value:.2f}{ends})"
    ]


def _fooled(figures: Sequence[Figure], *, surely: bool) -> list[str]:
    """Alterations that raise a document that is not relevant: surely more often than not, or more than by chance."""
    rises = {one.of: one.low > 0 for one in figures if (one.part, one.figure) == ("canaries", "mean rise")}
    return [
        f"a document that {KINDS.get(one.of, f'is altered ({one.of})')} is raised in {100 * one.value:.0f} % of cases"
        f"{_ends(100 * one.low, 100 * one.high, 0)}"
        for one in figures
        if (one.part, one.figure) == ("canaries", "raised") and one.n >= FEWEST
        if (one.low > MOST_RAISED if surely else rises.get(one.of))
    ]


def _pairs(found: dict[tuple[str, str], Figure]) -> tuple[PairsAnswer | None, str]:
    """Whether to use its choices between two rankings, and why not; None where no pair was judged in both orders."""
    flips = found.get(("flips", ""))
    if flips is None or not flips.n:
        return None, ""
    share = f"{100 * flips.value:.0f} % of {count(flips.n, 'pair')}{_ends(100 * flips.low, 100 * flips.high, 0)}"
    why = f"it changes its mind with the sides in {share}, where a coin does in 50 %"
    if flips.n >= FEWEST and flips.low > NEARLY_A_COIN:
        return "do not use them", why
    if flips.n < FEWEST or not flips.high < COIN:
        return "cannot say", why
    return "use them", ""


def _ends(low: float, high: float, places: int = 2) -> str:
    if math.isnan(low):
        return ""
    return f" [{low:.{places}f} or more]" if math.isinf(high) else f" [{low:.{places}f}, {high:.{places}f}]"
