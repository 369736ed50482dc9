"""What may change the verdict, and so stands beside it."""

from __future__ import annotations

import re

from karat.comparison import Comparison
from karat.estimate.scoring import OF_A_SAMPLE

#: A greater share of documents without a label, in percent, may change the verdict.
MOST_UNJUDGED = 10
UNJUDGED = re.compile(r"(\d+) % of the documents looked at .* have no judgment")
#: Words of the notes that may: few queries or gold labels, errors that favour a system, labels of a sample.
GRAVE = ("the interval is a guess", "the labels' errors favour", OF_A_SAMPLE)


def warnings_of(found: Comparison) -> tuple[str, ...]:
    """The notes that may change the verdict, as sentences."""
    return tuple(f"{note[0].upper()}{note[1:]}." for note in found.notes if is_grave(note))


def is_grave(note: str) -> bool:
    """Whether what a note says may change the verdict.

    >>> shared = "of the documents looked at (top 10) have no judgment and count as not relevant"
    >>> is_grave(f"bm25: 9 % {shared}"), is_grave(f"bm25: 38 % {shared}")
    (False, True)
    """
    unjudged = UNJUDGED.search(note)
    return any(words in note for words in GRAVE) or (unjudged is not None and int(unjudged[1]) > MOST_UNJUDGED)
