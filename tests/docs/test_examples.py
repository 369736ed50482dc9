"""The examples with other tools run, with those tools, and say what they promise."""

from __future__ import annotations

import runpy
from contextlib import chdir
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "other-tools"


def printed(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with chdir(folder):
        runpy.run_path(str(FOLDER / name))
    return capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")
def test_frames_of_pyterrier_have_its_own_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("pyterrier_frames.py", tmp_path, capsys)
    pairs = [line.partition(": karat ")[2].split(", PyTerrier ") for line in out.splitlines() if "PyTerrier" in line]
    assert len(pairs) == 2
    assert all(ours == theirs for ours, theirs in pairs)
    assert "bm25.csv: qid, docno, rank, score" in out


@pytest.mark.filterwarnings("ignore")
def test_label_studio_gives_the_same_labels_as_json_and_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("label_studio_labels.py", tmp_path, capsys)
    assert "1 cancelled annotation left out" in out
    assert "the same from CSV: True" in out


def test_a_folder_of_beir_is_read_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("beir_folder.py", tmp_path, capsys)
    assert "query-id\\tcorpus-id\\tscore" in out
    assert "bm25 has nDCG@10 0.79" in out
