"""Why simulated users preferred a list, in words whose class is known, and how long they took."""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Preferences

#: A way to say each reason, and how many of 1,307 comments gave it in Table 10 of Sanderson et al. (SIGIR 2010).
PHRASES = {
    "on topic": ("the {side} results are all about what was asked", 332),
    "specific links": ("the {side} side links to the very page I would want", 265),
    "not classifiable": ("I just liked the {side} one", 181),
    "irrelevant": ("the other list has results that have nothing to do with it", 144),
    "more relevant": ("the {side} list is more relevant", 132),
    "number": ("there are more of them on the {side}", 123),
    "position": ("what I need stands higher up on the {side}", 69),
    "range of results": ("the {side} column has a broader variety of sites", 66),
    "presentation": ("the {side} is clearer and easier to read", 36),
    "quality/authority": ("the {side} has more credible sources", 16),
    "spam/adverts": ("the other list is mostly adverts", 15),
    "duplication": ("the other list repeats the same site again and again", 11),
    "availability": ("what is on the {side} can be downloaded for free", 6),
    "language": ("the {side} one is all in English", 6),
    "dead links": ("links of the other list did not work", 5),
}
#: The share of comments that give two reasons: 88 of 1,307 in the paper.
SEVERAL = 88 / 1307
#: The class of a comment that says nothing, and therefore has no other.
NONE = "not classifiable"


def with_comments(
    preferences: Preferences, *, share: float = 0.96, minutes: float = 6.0, block: int = 5, seed: int = 0
) -> Preferences:
    """The same answers with a reason, its classes (`codes`) and the seconds they took.

    >>> said = Preferences.of([{"query": "q", "left": "a", "right": "b", "choice": "left"}] * 50)
    >>> bool(with_comments(said).frame["reason"].is_not_null().mean() > 0.8)
    True

    A `share` of the answers has a reason; those for a side give the reasons of the paper as often as it counted them.
    Half of all blocks of `block` answers take less than about so many `minutes`.
    """
    if not 0 <= share <= 1 or minutes <= 0 or block < 1:
        expected = "a share of 0 to 1, minutes above 0, blocks of 1 or more"
        raise BadInput.at("the comments", expected=expected, found=f"{share:g}, {minutes:g}, {block}")
    rng, frame = np.random.default_rng(seed), preferences.frame
    names, weights = list(PHRASES), np.array([often for _, often in PHRASES.values()], np.float64)
    first, second = rng.choice(len(names), size=(2, frame.height), p=weights / weights.sum())
    two = (rng.random(frame.height) < SEVERAL) & (first != second)
    two &= (first != names.index(NONE)) & (second != names.index(NONE))
    written = rng.random(frame.height) < share
    reasons, codes = list[str | None](), list[str | None]()
    for row, choice in enumerate(frame["choice"]):
        if not written[row]:
            reasons.append(None)
            codes.append(None)
            continue
        if choice not in ("left", "right"):
            reasons.append("both lists are much the same" if choice == "equal" else "neither list helps")
            codes.append(NONE)
            continue
        given = [names[first[row]], *([names[second[row]]] if two[row] else [])]
        reasons.append(", and ".join(PHRASES[name][0].format(side=choice) for name in given))
        codes.append("; ".join(given))
    seconds = rng.gamma(4, 60 * minutes / block / 4, size=frame.height)
    # The median of a block's sum is a little below its mean: that of a gamma of shape k is about k - 1/3.
    seconds *= 4 * block / (4 * block - 1 / 3)
    return Preferences.check(
        frame.with_columns(
            reason=pl.Series(reasons, dtype=pl.String),
            codes=pl.Series(codes, dtype=pl.String),
            seconds=seconds.round(1),
        )
    )
