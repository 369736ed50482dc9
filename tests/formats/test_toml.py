"""TOML that is wrong is told in words, wherever it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.errors import BadInput
from karat.formats.read_errors import parse_toml
from karat.formats.study_folder import read_study


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a", "Expected ']'"),
        ("x = " + "[" * 5000, "brackets within brackets without end"),
        ("x = " + "{a=" * 5000, "brackets within brackets without end"),
        ("x = " + "9" * 5000, "4300 digits"),
    ],
)
def test_what_is_wrong_is_said_with_the_files_name(text: str, found: str) -> None:
    with pytest.raises(BadInput, match=r"^a\.toml: expected TOML, found") as told:
        parse_toml(text, "a.toml")
    assert found in str(told.value)


def test_a_study_of_endless_brackets_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text("title = " + "[" * 5000)
    with pytest.raises(BadInput, match=r"study\.toml: expected TOML, found brackets"):
        read_study(tmp_path)
