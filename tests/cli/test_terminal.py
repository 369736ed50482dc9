"""What reaches the terminal: identifying columns in every part of a wide table, hidden columns counted, no controls."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

from commands import karat
from karat.cli import terminal as bars
from karat.cli.results import print_result, show_all
from karat.cli.terminal import visible
from karat.records import Result


def test_names_from_files_do_not_steer_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    for name in ("x", "y"):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 d1 1 1 \x1b[31m{name}\nq2 Q0 d1 1 1 \x1b[31m{name}\n")
    words = [str(tmp_path / name) for name in ("qrels.txt", "x.run", "y.run")]
    for command in ("score", "compare"):
        done = karat(command, *words)
        assert "\x1b" not in done.stdout + done.stderr
        assert "\\x1b[31mx" in done.stdout


def test_letters_of_every_script_stay_as_they_are() -> None:
    assert visible("Zürich 東京 مرحبا\tx") == "Zürich 東京 مرحبا\tx"
    assert visible("\x9b2J\u202egpj") == "\\x9b2J\\u202egpj"


def test_a_wide_table_repeats_what_tells_its_rows_apart(capsys: pytest.CaptureFixture[str]) -> None:
    figures = {f"figure_{n}": [0.5] for n in range(20)}
    print_result(Result(pl.DataFrame({"group": ["crowd"], "grade": [2.0], **figures}), "Wide."))
    parts = capsys.readouterr().out.partition("Wide.\n")[2].strip().split("\n\n")
    assert len(parts) > 1
    for part in parts:
        head, row = part.splitlines()
        assert head.split()[:2] == ["group", "grade"]
        assert row.split()[:2] == ["crowd", "2"]


def test_columns_that_are_not_shown_are_counted_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    frame = pl.DataFrame({"group": ["crowd"], "raw": [0.5], "raw_low": [0.4], "raw_high": [0.6], "alpha": [0.1]})
    print_result(Result(frame, "Some.", ("alpha is Krippendorff's", "10 pairs"), columns=("group", "raw")))
    assert "- 1 more column with --json: alpha\n- 10 pairs" in capsys.readouterr().out


def test_a_note_of_two_tables_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    one = Result(pl.DataFrame(), "One.", ("the same",))
    show_all([("one", one), ("two", Result(pl.DataFrame(), "Two.", ("the same", "another")))], print_result)
    assert capsys.readouterr().out.count("the same") == 1


def test_a_folder_that_is_not_there_is_said_to_be_missing() -> None:
    done = karat("score", "no-such-study")
    assert (done.returncode, done.stderr) == (2, "karat: no-such-study: no such file or folder\n")


@pytest.mark.parametrize("label", ["", "N/A"])
def test_files_without_a_label_are_bad_input_in_every_command(tmp_path: Path, label: str) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("query,doc,label,judge\n" + (f"q1,d1,{label},a\nq1,d1,{label},b\n" if label else ""))
    run = tmp_path / "a.run"
    run.write_text("q1 Q0 d1 1 1 a\n")
    for words in ("score L R", "compare L R R", "judges L", "judges error L", "context L", "disagree L", "train L"):
        done = karat(*(str({"L": labels, "R": run}.get(word, word)) for word in words.split()))
        assert done.returncode == 2, words


def test_a_bar_waits_for_two_seconds_and_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(bars.progress(["a", "b"], "Doing")) == ["a", "b"]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with bars.waiting("Doing"):
        pass  # over before a bar would start
    assert bars.PATIENCE == 2.0
