"""How often judges are right, counted on documents that a gold judge labelled too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self, TypeGuard

from karat.errors import BadInput, Undefined
from karat.records.number_format import percent
from karat.stats.correction import CLEAR, share_variance

#: Fewer gold labels than this in a cell say nothing of how far a rate might be off.
FEWEST_GOLD = 2
#: What is to be given for each kind of document.
COUNTS = "how many of how many gold labels the judges agree with, such as 43/59"
#: With fewer standard errors than this, intervals hold and plans come true only roughly.
ROUGH = 5.0


@dataclass(frozen=True, repr=False)
class Accuracy:
    """How often judges agree with gold on relevant documents, and on the others.

    >>> accuracy = Accuracy.of("43/59", "67/84")
    >>> accuracy
    The judges are right on 73 % of relevant documents (43 of 59) and 80 % of the others (67 of 84).
    >>> round(accuracy.d, 3)
    0.526

    `d` is 1 for judges who never err and 0 for judges who guess: it is what is left of a difference between two
    systems in these judges' labels. The gold documents must be a fair sample of those that the judges labelled.

    Reference: Goldberg et al., Drawing Sound Conclusions from Noisy Judgments (WWW 2017), section 3.
    """

    agreed_relevant: int
    n_relevant: int
    agreed_nonrelevant: int
    n_nonrelevant: int

    def __post_init__(self) -> None:
        for kind, agreed, n in self.counts:
            if not (_whole(agreed) and _whole(n) and n >= 1 and 0 <= agreed <= n):
                raise BadInput.at(kind, expected=COUNTS, found=f"{agreed}/{n}")

    @classmethod
    def of(cls, relevant: str | tuple[int, int], nonrelevant: str | tuple[int, int]) -> Self:
        """From counts, (43, 59) or "43/59": right on 43 of the 59 documents that gold calls relevant; and the others.

        >>> Accuracy.of((43, 59), (67, 84)).relevant == 43 / 59
        True
        """
        return cls(*_fraction("relevant", relevant), *_fraction("nonrelevant", nonrelevant))

    @property
    def counts(self) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
        """The two kinds of documents: on how many of how many gold labels the judges agree."""
        return (
            ("relevant", self.agreed_relevant, self.n_relevant),
            ("nonrelevant", self.agreed_nonrelevant, self.n_nonrelevant),
        )

    @property
    def relevant(self) -> float:
        """The share of relevant documents that judges call relevant."""
        return self.agreed_relevant / self.n_relevant

    @property
    def nonrelevant(self) -> float:
        """The share of other documents that judges call not relevant."""
        return self.agreed_nonrelevant / self.n_nonrelevant

    @property
    def d(self) -> float:
        """What is left of a true difference in the judges' labels: 1 without errors, 0 for guessing."""
        return self.relevant + self.nonrelevant - 1

    @property
    def variances(self) -> tuple[float, float]:
        """The variances of the two shares.

        Where the judges were always right, or never, the share is moved as if one answer of each kind had been added:
        20 right of 20 does not mean that they never err.
        """
        relevant, nonrelevant = (float(share_variance(agreed, n)) for _, agreed, n in self.counts)
        return relevant, nonrelevant

    @property
    def d_error(self) -> float:
        """The standard error of d."""
        return math.sqrt(sum(self.variances))

    def checked(self, whose: str = "the judges") -> Self:
        """These accuracies, if scores can be corrected with them; otherwise `Undefined` says why not."""
        for kind, _, n in self.counts:
            if n < FEWEST_GOLD:
                raise Undefined(
                    f"{whose}: {n} gold label of {kind} documents; how often judges err on them cannot be "
                    f"told from fewer than {FEWEST_GOLD}"
                )
        if self.d < -CLEAR * self.d_error:
            raise Undefined(
                f"{whose} answer the wrong way round: they call {percent(self.relevant)} of relevant documents "
                f"relevant, and {percent(1 - self.nonrelevant)} of the others; look whether the labels are swapped"
            )
        if self.d < CLEAR * self.d_error or self.d == 0:
            raise Undefined(
                f"{whose} cannot be told from guessing: they call {percent(self.relevant)} of relevant documents "
                f"relevant, but {percent(1 - self.nonrelevant)} of the others too (a distance of {self.d:.3f} with a "
                f"standard error of {self.d_error:.3f}); get more gold labels or better judges"
            )
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of scores corrected with these accuracies should know."""
        notes = []
        if self.d < ROUGH * self.d_error:
            notes.append(
                f"the judges are only {self.d / self.d_error:.1f} standard errors better than guessing: intervals are "
                "rough; more gold labels help most"
            )
        for kind, agreed, n in self.counts:
            if agreed in (0, n):
                notes.append(f"{kind} {agreed}/{n}: the error allows for a rate that {n} gold labels could have missed")
        return tuple(notes)

    def to_dict(self) -> dict[str, Any]:
        """The counts, the shares and d with its error."""
        return {
            **{kind: {"agreed": agreed, "of": n, "share": agreed / n} for kind, agreed, n in self.counts},
            "d": self.d,
            "d_standard_error": self.d_error,
        }

    def __repr__(self) -> str:
        return (
            f"The judges are right on {percent(self.relevant)} of relevant documents ({self.agreed_relevant} of "
            f"{self.n_relevant}) and {percent(self.nonrelevant)} of the others ({self.agreed_nonrelevant} of "
            f"{self.n_nonrelevant})."
        )


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _fraction(place: str, value: str | tuple[int, int]) -> tuple[int, int]:
    try:
        agreed, n = (int(part) for part in value.split("/")) if isinstance(value, str) else value
    except ValueError:
        raise BadInput.at(
            place,
            expected=COUNTS,
            found=f'"{value}"',
            remedy="give counts, not a share: how sure a rate is depends on how many labels it comes from",
        ) from None
    return agreed, n
