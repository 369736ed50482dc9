"""The expected grade of an answer, from the log-probabilities of what might have stood in its place."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.llm.answer_form import answer_start
from karat.llm.dialects import TokenChances

#: What may stand before a grade in JSON, and around it.
_BLANK, _AROUND = '" \n\t', '" ,}\n\t'


class Expected(NamedTuple):
    """The mean grade by the model's own chances, and the share of all chances that lay on grades."""

    grade: float
    mass: float


#: A share of the chances on beginnings of grades beyond which nobody can tell which grades they are for.
MOST_UNCLEAR = 0.01


def expected_grade(chances: Sequence[TokenChances], field: str, grades: Mapping[str, float]) -> Expected | None:
    """The expected grade, the chances renormalised over the grades; None where they cannot be told.

    >>> top = {"1": math.log(0.3), "2": math.log(0.5), "x": math.log(0.2)}
    >>> tokens = [TokenChances('{"grade":"', {}), TokenChances("2", top), TokenChances('"}', {})]
    >>> found = expected_grade(tokens, "grade", {"0": 0.0, "1": 1.0, "2": 2.0})
    >>> round(found.grade, 4), round(found.mass, 4)
    (1.625, 0.8)

    A token that only begins a grade, such as 1 where there is a grade 10, may go on in several ways, whose chances are
    not all there: nothing is said then.
    """
    place = _place(chances, field)
    if place is None:
        return None
    one, before = place
    # The grade may share its token with what stands before it, such as a quotation mark; a space or a quotation
    # mark more or less is the same grade, written otherwise.
    lead = one.token[:before]
    plain = not lead.strip(_BLANK)
    shares, unclear = dict.fromkeys(grades, 0.0), 0.0
    for other, logprob in one.top.items():
        if not plain and not other.startswith(lead):
            continue
        said, share = other[0 if plain else len(lead) :].strip(_AROUND), math.exp(min(logprob, 0.0))
        if said in shares:
            shares[said] += share
        if said and any(grade != said and grade.startswith(said) for grade in grades):
            unclear += share
    mass = sum(shares.values())
    if mass <= 0 or unclear > MOST_UNCLEAR:
        return None
    return Expected(sum(grades[grade] * share for grade, share in shares.items()) / mass, min(mass, 1.0))


def _place(chances: Sequence[TokenChances], field: str) -> tuple[TokenChances, int] | None:
    """The token in which a field's value begins, and how many of its letters stand before the value."""
    text = "".join(one.token for one in chances)
    # A model that thinks aloud first may quote grades there.
    found = re.compile(rf'"{re.escape(field)}"\s*:\s*"?').search(text, answer_start(text))
    start = 0
    for one in chances if found else ():
        before = found.end() - start if found else 0
        if before < len(one.token):
            return one, before
        start += len(one.token)
    return None
