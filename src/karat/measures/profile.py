"""Profiles: how the tools people know treat the cases on which they differ.

| profile | order of a list | nDCG's gain | ERR's top grade | a query without relevant documents |
|---|---|---|---|---|
| `trec_eval` | score, then doc id, both descending | the grade | the scale's | counts as 0 |
| `trec_eval9` | the same, scores as 32-bit floats | the grade | the scale's | counts as 0 |
| `ndeval` | the rank column | the grade | the scale's | counts as 0 |
| `gdeval` | as trec_eval | 2^grade - 1 | 4 | left out of the mean |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from karat.errors import BadInput


@dataclass(frozen=True)
class Profile:
    """What a tool does where tools differ."""

    name: str
    order: Literal["score", "rank"] = "score"
    #: trec_eval before 10, and pytrec_eval, hold scores in 32 bits: close scores become ties.
    single_precision: bool = False
    gains: Literal["identity", "exp"] = "identity"
    max_rel: float | None = None
    #: Whether queries without any relevant document stay out of the mean.
    leaves_out_empty: bool = False
    #: ndeval divides alpha-DCG and ERR-IA by the best possible list's, but forgets to at cutoff 1.
    first_rank_not_divided: bool = False


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("trec_eval"),
        Profile("trec_eval9", single_precision=True),
        Profile("ndeval", order="rank", first_rank_not_divided=True),
        Profile("gdeval", gains="exp", max_rel=4.0, leaves_out_empty=True),
    )
}


def profile_named(name: str | Profile) -> Profile:
    """The profile of a tool.

    >>> profile_named("gdeval").gains
    'exp'
    """
    if isinstance(name, Profile):
        return name
    if name not in PROFILES:
        raise BadInput.at("the profile", expected=" or ".join(PROFILES), found=f'"{name}"')
    return PROFILES[name]
