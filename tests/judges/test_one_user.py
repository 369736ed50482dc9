"""Weights for one user who is not the judge are said to be about another user, never about "1 of 0 users"."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt
from commands import karat
from karat.errors import BadInput
from karat.judges.combined_levels import combined_weights
from karat.judges.document_gains import document_gains
from karat.measures.gains import Gains, udm
from karat.records.scale import ONE_USER

ROWS = [
    {"query": f"q{q}", "doc": doc, "label": label, "judge": str(judge)}
    for q in range(3)
    for doc, given in {"a": [2, 2, 1], "b": [1, 0, 0], "c": [1, 2, 2]}.items()
    for judge, label in enumerate(given)
]


def test_gains_for_one_user_name_another_user() -> None:
    one = document_gains(ROWS, at_least=ONE_USER[0], of=ONE_USER[1])
    assert "P(another user says 2)" in one.finding
    assert "P(at least 1 of 3 users say 2)" in document_gains(ROWS).finding


def test_combined_weights_for_one_user_name_another_user() -> None:
    rows = [row | {"surface": surface} for row in ROWS for surface in ("snippet", "page")]
    found = combined_weights(rows, ["snippet", "page"], [2, 2], at_least=1, of=0, draws=0)
    assert ": another user would say [2, 2] with probability" in found.finding


@pytest.mark.parametrize("name", ["udm(1/0)", "udm(2/0)", "udm(3/2)"])
def test_no_users_are_refused_in_a_measure(name: str) -> None:
    for made in (Gains.of, lambda text: kt.score(ROWS, {"q0": {"a": 1.0}}, f"nDCG(gains={text})@10")):
        with pytest.raises(BadInput, match="udm"):
            made(name)
    assert str(udm(*ONE_USER)) == "udm(user)"


@pytest.mark.parametrize("part", ["weights", "gains"])
@pytest.mark.parametrize("option", ["--of", "--at-least"])
def test_no_users_are_refused_on_the_command_line(tmp_path: Path, part: str, option: str) -> None:
    """`karat disagree gains --of 0` took it for 3 in silence."""
    kt.write(kt.Judgments.of(ROWS), str(tmp_path / "labels.csv"))
    done = karat("disagree", part, str(tmp_path / "labels.csv"), option, "0")
    assert done.returncode == 2
    assert f"{option}" in done.stderr
    assert "0 is not in the range x>=1" in done.stderr
