"""Can this judge be used? The sentence that the sheet begins with, and by which figures it is decided.

Each bound is what chance, or no judge at all, would do: nothing here is a matter of taste but `MOST_RAISED`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from karat.estimate.worth import Worth
from karat.judges.llm.canaries import KINDS
from karat.judges.llm.figure import Figure
from karat.plan.gold_needed import Needed
from karat.records.base import count

Answer = Literal["use it", "only with more gold labels", "do not use it", "cannot say"]

#: A judge whom documents talk into a better grade more often than not grades the talk.
MOST_RAISED = 0.5
#: Of two answers that name a side each, a coin flips in half of the pairs.
COIN = 0.5
#: A judge whose labels are worth less than this many gold labels each spares next to none.
NEXT_TO_NOTHING = 1.1
#: Fewer pairs, canaries or repeats condemn nobody.
FEWEST = 10


@dataclass(frozen=True)
class Verdict:
    """The answer, and the sentences that give it."""

    answer: Answer
    sentence: str


def verdict(
    judge: str,
    figures: Sequence[Figure],
    worth: Worth | None,
    needed: Needed | None,
    *,
    n_gold: int,
    one_grade: bool = False,
    why_not: str = "",
) -> Verdict:
    """Whether to use this judge, from the figures of its sheet.

    `needed` is what the plan wants, `n_gold` how many gold labels there are; `why_not` says why nothing is known of
    what the labels are worth. With gold labels of `one_grade` no agreement can be above chance, and none condemns.
    """
    found = {(one.figure, one.of): one for one in figures}
    against = [*_no_better_than_chance(found, worth, one_grade), *_fooled(figures, surely=True)]
    pairs = _no_pairs(found)
    if against:
        beside = f" Do not use its choices between two lists either: {pairs}." if pairs else ""
        return Verdict("do not use it", f"Do not use {judge}: {'; '.join(against)}.{beside}")
    beside = f" But do not use its choices between two lists: {pairs}." if pairs else ""
    warned = [*_uncorrected(found), *_fooled(figures, surely=False)]
    beside += f" Beware: {'; '.join(warned)}." if warned else ""
    if worth is None or needed is None:
        return Verdict("cannot say", f"Cannot say whether {judge} can be trusted: {why_not}.{beside}")
    rate = f"one is worth {worth.times:.2f}{_ends(worth.low, worth.high)}"
    if not worth.low > 1:
        doubt = f"{count(worth.n, 'gold label')} do not show that its grades spare any ({rate} without it)"
        return Verdict("cannot say", f"Cannot say yet whether {judge} can be trusted: {doubt}.{beside}")
    as_many = f"{n_gold:,} with it tell as much as {n_gold * worth.times:,.0f} without ({rate})"
    if needed.gold <= n_gold:
        said = f"Use {judge}, corrected with your {n_gold:,} gold labels: enough to {needed.purpose}; {as_many}."
        return Verdict("use it", said + beside)
    said = f"Use {judge} only with {needed.gold:,} gold labels, which it takes to {needed.purpose}; the {as_many}."
    return Verdict("only with more gold labels", said + beside)


def _no_better_than_chance(found: dict[tuple[str, str], Figure], worth: Worth | None, one_grade: bool) -> list[str]:
    """What shows that the grades tell nothing: of gold, or of the judge's own earlier grades."""
    said = []
    alpha, again = found.get(("ordinal alpha with gold", "")), found.get(("ordinal alpha with itself", ""))
    if worth is not None and worth.high < NEXT_TO_NOTHING:
        beside = "" if alpha is None or math.isnan(alpha.value) else f", ordinal alpha with gold {alpha.value:.2f}"
        alpha_said = beside + ("" if not beside or alpha is None else _ends(alpha.low, alpha.high))
        rate = f"{worth.times:.2f}{_ends(worth.low, worth.high)}"
        said.append(f"its grades spare no gold labels (one with it is worth {rate} without it{alpha_said})")
    elif alpha is not None and alpha.high < 0 and not one_grade:
        said.append(f"its grades contradict gold (ordinal alpha {alpha.value:.2f}{_ends(alpha.low, alpha.high)})")
    if again is not None and again.n >= FEWEST and again.low <= 0:
        share = f"ordinal alpha with itself {again.value:.2f}{_ends(again.low, again.high)}"
        said.append(f"asked again, it answers as if by lot ({share})")
    return said


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


def _no_pairs(found: dict[tuple[str, str], Figure]) -> str:
    """Why its choices between two lists say nothing; empty where they may."""
    flips = found.get(("flips", ""))
    if flips is None or flips.n < FEWEST or not flips.high >= COIN:
        return ""
    share = f"{100 * flips.value:.0f} % of pairs{_ends(100 * flips.low, 100 * flips.high, 0)}"
    return f"it changes its mind with the sides in {share}, where a coin does in 50 %"


def _ends(low: float, high: float, places: int = 2) -> str:
    if math.isnan(low):
        return ""
    return f" [{low:.{places}f} or more]" if math.isinf(high) else f" [{low:.{places}f}, {high:.{places}f}]"
