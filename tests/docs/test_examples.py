"""The examples with other tools run, with those tools, and say what they promise."""

from __future__ import annotations

import runpy
from contextlib import chdir
from pathlib import Path

import pytest

from simulated import THOROUGH

FOLDER = Path(__file__).parents[2] / "examples" / "other-tools"


def printed(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with chdir(folder):
        runpy.run_path(str(FOLDER / name))
    return capsys.readouterr().out


def alike(out: str, tool: str) -> list[bool]:
    """Whether the figures of karat and of another tool are the same, for each line that has both."""
    pairs = [line.partition("karat ")[2].split(f", {tool} ") for line in out.splitlines() if f", {tool} " in line]
    return [ours == theirs for ours, theirs in pairs]


@pytest.mark.filterwarnings("ignore")
def test_frames_of_pyterrier_have_its_own_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("pyterrier_frames.py", tmp_path, capsys)
    assert alike(out, "PyTerrier") == [True] * 2
    assert "bm25.csv: qid, docno, rank, score" in out


@pytest.mark.filterwarnings("ignore")
def test_label_studio_gives_the_same_labels_as_json_and_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed("label_studio_labels.py", tmp_path, capsys)
    assert "1 cancelled annotation left out" in out
    assert "the same from CSV: True" in out


@pytest.mark.filterwarnings("ignore")
def test_a_folder_of_beir_is_loaded_and_scored_by_beir_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("beir", reason="beir is not installed (make test installs it, without its encoders)")
    out = printed("beir_folder.py", tmp_path, capsys)
    assert "BEIR loads 55 documents, 12 queries, 143 labels" in out
    assert alike(out, "BEIR") == [True] * 2
    assert "bm25 has nDCG@10 0.79" in out
    assert "55 documents with title, text; 12 queries" in out


def test_measures_of_ir_measures_have_its_own_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert alike(printed("ir_measures_scores.py", tmp_path, capsys), "ir_measures") == [True] * 5


@pytest.mark.evidence
@pytest.mark.skipif(not THOROUGH, reason="ranx compiles itself for a minute: make evidence")
@pytest.mark.filterwarnings("ignore")
def test_files_that_ranx_saves_have_its_own_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ranx", reason="ranx is not installed (make bench installs it)")
    out = printed("ranx_files.py", tmp_path, capsys)
    assert alike(out, "ranx") == [True] * 9
    assert "ranx has the same of what karat writes: True" in out
