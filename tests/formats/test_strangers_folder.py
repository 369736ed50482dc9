"""A study's folder that a stranger made reaches no file outside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.cli.open_study import alone_serving, opened_study
from karat.errors import BadInput
from karat.formats.study_folder import read_study
from karat.study.database import Database


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "study"
    place.mkdir()
    (tmp_path / "secret.md").write_text("the secret")
    (place / "study.toml").write_text('title = "Study"\nguidelines = "rules.md"\n')
    return place


def test_guidelines_come_from_the_folder_only(folder: Path) -> None:
    (folder / "rules.md").write_text("Be kind.")
    assert read_study(str(folder)).study.guidelines == "Be kind."
    (folder / "rules.md").unlink()
    (folder / "rules.md").symlink_to(folder.parent / "secret.md")
    with pytest.raises(BadInput, match="a file in the study's folder, found one elsewhere"):
        read_study(str(folder))
    (folder / "study.toml").write_text('title = "Study"\nguidelines = "../secret.md"\n')
    with pytest.raises(BadInput, match="a file in the study's folder, found one elsewhere"):
        read_study(str(folder))


def test_links_out_of_the_folder_are_refused_and_links_within_are_not(folder: Path) -> None:
    (folder / "rules.md").write_text("Be kind.")
    (folder / "q.csv").write_text("query,text\nq,words\n")
    (folder / "queries.csv").symlink_to(folder / "q.csv")
    assert read_study(str(folder)).queries is not None
    (folder / "documents.jsonl").symlink_to(folder.parent / "secret.md")
    with pytest.raises(BadInput, match="one elsewhere"):
        _ = read_study(str(folder)).documents
    (folder / "runs").mkdir()
    (folder / "runs" / "a.run").symlink_to(folder.parent / "secret.md")
    with pytest.raises(BadInput, match="one elsewhere"):
        _ = read_study(str(folder)).runs


def test_a_link_in_place_of_the_lock_empties_no_file(folder: Path) -> None:
    (folder / "karat.db-serving").symlink_to(folder.parent / "secret.md")
    with pytest.raises(BadInput, match="found a link"), alone_serving(folder / "karat.db", "here"):
        pass
    assert (folder.parent / "secret.md").read_text() == "the secret"


def test_a_link_in_place_of_the_database_writes_nowhere_else(folder: Path) -> None:
    (folder / "rules.md").write_text("Be kind.")
    (folder / "karat.db").symlink_to(folder.parent / "elsewhere.db")
    for load in (True, False):
        with (
            pytest.raises(BadInput, match="found one elsewhere"),
            opened_study(str(folder), None, load=load, made=load),
        ):
            pass
    assert not (folder.parent / "elsewhere.db").exists()


def test_the_database_is_for_its_owner_alone(tmp_path: Path) -> None:
    Database.open(str(tmp_path / "karat.db")).close()
    assert (tmp_path / "karat.db").stat().st_mode & 0o077 == 0
