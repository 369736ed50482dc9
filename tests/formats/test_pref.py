"""Preferences between documents: TREC's .pref files and trec_eval's prefs."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt
from commands import karat

# The first lines of TREC-CAsT-2019.pref, with shorter names.
PREF = "31_1 C M1 M1\n31_1 C M2 M2\n31_1 M1 M2 M1\n31_1 M1 M2 M2\n31_1 M1 M2 M1\n"


def saved(folder: Path, text: str, name: str = "answers.pref") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_pref_file_says_which_of_two_documents_is_preferred(tmp_path: Path) -> None:
    found = kt.read_preferences(saved(tmp_path, PREF)).frame
    assert found.select("left", "right", "choice").rows()[2:4] == [("M1", "M2", "left"), ("M1", "M2", "right")]


def test_a_preferred_document_that_was_not_shown_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match=r'answers.pref line 2: expected one of the two documents.*found "M3"'):
        kt.read_preferences(saved(tmp_path, "q C M1 M1\nq C M2 M3\n"))


def test_levels_of_trec_eval_are_as_many_preferences_as_its_documentation_counts(tmp_path: Path) -> None:
    levels = {"1": 3.0, "2": 2.0, "3": 0.0, "4": 6.0, "5": 0.0, "6": 2.0}
    text = "".join(f"qid1 ujg1 sub1 docno{doc} {level}\n" for doc, level in levels.items())
    found = kt.read_preferences(saved(tmp_path, text, "answers.prefs")).frame
    won = [row[row["choice"]] for row in found.to_dicts()]
    # "a total of 13 preferences (5 with docno4 preferred, 4 with docno1 preferred, 2 each with docno2 and docno6)"
    assert {doc: won.count(f"docno{doc}") for doc in "124635"} == {"1": 4, "2": 2, "4": 5, "6": 2, "3": 0, "5": 0}
    assert set(found["judge"]) == {"ujg1"}


def test_what_one_user_said_twice_counts_once(tmp_path: Path) -> None:
    rows = [("sub1", "1", 3), ("sub1", "2", 2), ("sub1", "3", 1), ("sub2", "1", 2), ("sub2", "2", 1), ("sub2", "4", 3)]
    text = "".join(f"qid1 ujg1 {group} docno{doc} {level}\n" for group, doc, level in rows)
    assert len(kt.read_preferences(saved(tmp_path, text, "answers.prefs"))) == 5  # "expresses 5 preferences"


def test_as_labels_they_are_an_order_that_compatibility_takes(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, PREF))
    assert dict(labels.frame.select("doc", "label").rows()) == {"M1": 3.0, "M2": 2.0, "C": 1.0}
    assert "no gains" in labels.notes[-1]
    run = {"31_1": {"M1": 3.0, "M2": 2.0, "C": 1.0}}
    assert kt.score(labels, run, "Compat", draws=0).to_frame()["value"][0] == 1


def test_they_are_written_as_they_are_read(tmp_path: Path) -> None:
    path = saved(tmp_path, PREF)
    karat("convert", path, str(tmp_path / "answers.csv"))
    karat("convert", str(tmp_path / "answers.csv"), str(tmp_path / "again.pref"))
    assert (tmp_path / "again.pref").read_text() == PREF
