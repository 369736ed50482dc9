"""Labels far from all others are noted where no scale refuses them, and real collections are left in peace."""

from __future__ import annotations

from pathlib import Path

import pytest

import karat as kt
from commands import karat

#: LLMs that were asked for 0..3 and answered something else a time or two (counted with zcat | cut | sort | uniq -c).
SLIPPED = {"h2oloo-zeroshot2": "1 label of 10, all others 0..3", "RMITIR-llama70B": "2 labels of 5, all others 0..3"}


def written(folder: Path, grades: list[int]) -> Path:
    rows = [f"q{place % 10} 0 d{place} {grade}" for place, grade in enumerate(grades)]
    (folder / "qrels.txt").write_text("\n".join(rows) + "\n")
    return folder / "qrels.txt"


@pytest.mark.parametrize("slip", [7, -3, 33])
def test_a_label_far_from_all_others_is_noted_with_its_line_and_the_scale_that_refuses_it(
    tmp_path: Path, slip: int
) -> None:
    path = written(tmp_path, [0, 1, 2, 3] * 10 + [slip] + [0] * 5)
    said = f'{path} line 41: 1 label of {slip}, all others 0..3: a slip? scale="0..3" refuses it'
    assert kt.read_judgments(path).notes == (said,)
    with pytest.raises(kt.BadInput, match=f'line 41: expected a grade of the scale 0..3, found "{slip}"'):
        kt.read_judgments(path, scale="0..3")


@pytest.mark.parametrize(
    "grades",
    [
        [0, 1, 2, 3] * 10 + [-2],  # TREC's junk
        [0, 1, 2, 3] * 10 + [4],  # the next grade, which few documents deserve
        [0, 1] * 10 + [3],  # a grade of 0..3 that nobody gave between them
        [0, 10, 20, 30] * 10 + [100],  # per cent
        [0, 1, 2, 3] * 2 + [33],  # too few to tell
        [0, 1, 2, 3] * 10 + [33] * 2,  # too many for a slip
    ],
)
def test_what_a_real_scale_may_hold_is_no_slip(tmp_path: Path, grades: list[int]) -> None:
    assert kt.read_judgments(written(tmp_path, grades)).notes == ()


def test_score_and_compare_say_it(tmp_path: Path) -> None:
    path = written(tmp_path, [0, 1, 2, 3] * 10 + [33])
    for name, way in (("a", 1), ("b", -1)):
        rows = [f"q{place % 10} Q0 d{place} 1 {way * place} {name}" for place in range(41)]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    for words in (["score", path, tmp_path / "a.run"], ["compare", path, tmp_path / "a.run", tmp_path / "b.run"]):
        done = karat(*map(str, words))
        assert "1 label of 33, all others 0..3: a slip? --scale 0..3 refuses it" in " ".join(done.stdout.split())


def test_of_33_llms_the_two_that_left_the_scale_are_noted(llmjudge: Path) -> None:
    for path in sorted((llmjudge / "submissions").glob("*.txt.gz")):
        notes = kt.read_judgments(path).notes
        wanted = SLIPPED.get(path.name.partition(".")[0])
        assert (wanted is None and not notes) or (wanted is not None and wanted in notes[0])


def test_official_qrels_and_a_real_crowd_have_no_slips(web2010: Path, rf10: Path, llmjudge: Path) -> None:
    official = [web2010 / "10.adhoc-qrels.final.txt.gz", web2010 / "10.diversity-qrels.final.txt.gz"]
    for path in (*official, llmjudge / "gold.qrels", rf10 / "trec-rf10-data.txt.gz"):
        assert not [note for note in kt.read_judgments(path).notes if "slip" in note]
