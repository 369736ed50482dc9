"""The expected grade of an answer, from the log-probabilities of what might have stood in its place."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from karat.ask.dialects import TokenChances

#: What may stand before a grade in JSON, and around it.
_BLANK, _AROUND = '" \n\t', '" ,}\n\t'


class Expected(NamedTuple):
    """The mean grade by the model's own chances, and the share of all chances that lay on grades."""

    grade: float
    mass: float


def expected_grade(chances: Sequence[TokenChances], field: str, grades: Sequence[str]) -> Expected | None:
    """The expected grade, the chances renormalised over the grades; None where they cannot be told.

    >>> top = {"1": math.log(0.3), "2": math.log(0.5), "x": math.log(0.2)}
    >>> tokens = [TokenChances('{"grade":"', {}), TokenChances("2", top), TokenChances('"}', {})]
    >>> found = expected_grade(tokens, "grade", ("0", "1", "2"))
    >>> round(found.grade, 4), round(found.mass, 4)
    (1.625, 0.8)

    Grades of more than one character may be several tokens, whose chances are not all there: nothing is said then.
    """
    if not chances or any(len(grade) > 1 for grade in grades):
        return None
    text = "".join(one.token for one in chances)
    found = re.search(rf'"{re.escape(field)}"\s*:\s*"?', text)
    if found is None:
        return None
    start = 0
    for one in chances:
        before = found.end() - start
        if before < len(one.token):
            # The grade may share its token with what stands before it, such as a quotation mark; a space or a quotation
            # mark more or less is the same grade, written otherwise.
            lead = one.token[:before]
            plain = not lead.strip(_BLANK)
            shares = dict.fromkeys(grades, 0.0)
            for other, logprob in one.top.items():
                said = other.strip(_AROUND) if plain else other.removeprefix(lead).strip(_AROUND)
                said = said if plain or other.startswith(lead) else ""
                if said in shares:
                    shares[said] += math.exp(min(logprob, 0.0))
            mass = sum(shares.values())
            if mass <= 0:
                return None
            return Expected(sum(float(grade) * share for grade, share in shares.items()) / mass, min(mass, 1.0))
        start += len(one.token)
    return None
