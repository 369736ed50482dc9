"""`karat leads`: several people lead a study, each with a password of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput


def leads(*arguments: str) -> Result:
    found = CliRunner().invoke(karat, ["leads", *arguments], catch_exceptions=False)
    assert found.exit_code == 0
    return found


def test_leads_are_added_listed_and_removed(tmp_path: Path) -> None:
    study = str(tmp_path / "study")
    CliRunner().invoke(karat, ["init", study])
    assert "Nobody yet" in leads(study).stdout
    first, again = (leads(study, "--add", "ana").stderr for _ in range(2))
    assert "ana signs in with the password" in first
    assert "ana signs in with a new password" in again
    assert leads(study, "--add", "ben").stdout == "ana\nben\n"
    assert leads(study, "--remove", "ana").stdout == "ben\n"
    with pytest.raises(BadInput, match=r"one of the study's leads \(ben\), found \"ana\""):
        leads(study, "--remove", "ana")
