"""Several scales in one table, -1 for "not judged", and clicks that are no labels."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.records.result import Caution

RUN = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(5)}


def labels(judges: dict[str, Sequence[float]], n: int = 40, key: str = "judge") -> pl.DataFrame:
    """As many labels of each judge, drawn from the grades that the judge uses."""
    rng = random.Random(3)
    rows = [(f"q{i % 5}", f"d{i}", who, rng.choice(grades)) for who, grades in judges.items() for i in range(n)]
    schema = {"query": pl.String, "doc": pl.String, key: pl.String, "label": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def notes(frame: pl.DataFrame) -> list[str]:
    return [note for note in kt.Judgments.of(frame).notes if "scale" in note or "-1" in note]


FIRST, SHIFTED = (0, 1, 2, 3), (1, 2, 3, 4)


@pytest.mark.parametrize(
    ("judges", "said"),
    [
        ({"ann": FIRST, "ben": FIRST, "cid": SHIFTED}, "0..3 (ann, ben), 1..4 (cid)"),
        ({"ann": FIRST, "ben": SHIFTED, "cid": SHIFTED}, "0..3 (ann), 1..4 (ben, cid)"),
        ({"ann": (0, 1), "ben": (1, 2)}, "0..1 (ann), 1..2 (ben)"),
        ({"ann": FIRST, "ben": (0, 1, 2), "cid": SHIFTED}, "0..3 (ann, ben), 1..4 (cid)"),
    ],
)
def test_a_judge_shifted_by_one_is_named_with_the_range(judges: dict[str, Sequence[float]], said: str) -> None:
    (note,) = notes(labels(judges))
    assert f"judges may use different scales: {said}" in note
    assert isinstance(note, Caution)


def test_queries_on_two_scales_are_named_where_no_judge_is() -> None:
    rng = random.Random(5)
    rows = [(f"q{n}", f"d{i}", float(rng.choice(FIRST if n < 5 else SHIFTED))) for n in range(10) for i in range(30)]
    (note,) = notes(pl.DataFrame(rows, schema=["query", "doc", "label"], orient="row"))
    assert "queries may use different scales: 0..3 (q0, q1, q2 and 2 more), 1..4 (q5, q6, q7 and 2 more)" in note


@pytest.mark.parametrize(
    "judges",
    [
        {"ann": FIRST, "ben": FIRST},
        {"ann": FIRST, "ben": (0, 1)},  # one who never sees anything good
        {"ann": (0, 1, 2, 3, 4), "ben": FIRST, "cid": SHIFTED},  # ann uses both ends
        {"ann": FIRST, "ben": (1, 2, 3)},
        {"ann": (1.0,), "ben": (1.0,)},
        {"ann": (0, 0.5, 1), "ben": (0.5, 1, 1.5)},  # no grades
    ],
)
def test_judges_of_one_scale_are_left_in_peace(judges: dict[str, Sequence[float]]) -> None:
    assert not notes(labels(judges))


def test_mixed_scales_warn_beside_a_score() -> None:
    rows = [
        {"query": f"q{n}", "doc": f"d{k}", "judge": judge, "label": (n + k) % 4 + shift}
        for n in range(10)
        for k in range(8)
        for judge, shift in (("ann", 0), ("ben", 1))
    ]
    runs = {f"q{n}": {f"d{k}": 8.0 - k for k in range(8)} for n in range(10)}
    assert any("judges may use different scales" in note for note in kt.score(rows, runs, "DCG@5", draws=0).warnings)


def test_few_labels_do_not_show_a_scale() -> None:
    assert not notes(labels({f"w{n}": SHIFTED if n % 5 == 0 else FIRST for n in range(50)}, n=4))


def test_a_known_scale_needs_no_guess() -> None:
    frame = labels({"ann": FIRST, "ben": SHIFTED})
    made = kt.Judgments.of(frame, scale=kt.Scale.parse("0..4"))
    assert not [note for note in made.notes if "scales" in note]


def test_aspects_may_have_scales_of_their_own() -> None:
    one = labels({"ann": FIRST}).with_columns(aspect=pl.lit("overall"))
    other = labels({"ben": SHIFTED}).with_columns(aspect=pl.lit("freshness"))
    assert not notes(pl.concat([one, other]))


def test_real_judges_are_left_in_peace(rf10: Path, llmjudge: Path) -> None:
    for path in (rf10 / "trec-rf10-data.txt.gz", llmjudge / "gold.qrels"):
        assert not [note for note in kt.read_judgments(path).notes if "scales" in note or "of -1" in note]


def test_minus_one_is_told_in_tables_and_quiet_in_qrels(tmp_path: Path) -> None:
    rows = [("q0", "a", 1), ("q0", "b", -1), ("q1", "a", -1), ("q1", "b", 0)]
    table, qrels, run = tmp_path / "labels.csv", tmp_path / "qrels.txt", tmp_path / "x.run"
    table.write_text("query,doc,label\n" + "".join(f"{q},{d},{n}\n" for q, d, n in rows))
    qrels.write_text("".join(f"{q} 0 {d} {n}\n" for q, d, n in rows))
    run.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, of in RUN.items() for d, s in of.items()))
    said = " ".join(karat("score", str(table), str(run), "-m", "P@1").stdout.split())
    assert "2 labels of -1 count as not relevant; if -1 means not judged, leave them out" in said
    assert "of -1" not in karat("score", str(qrels), str(run), "-m", "P@1").stdout


def test_minus_one_names_the_judges_who_gave_it() -> None:
    frame = labels({"ann": (-1, 0, 1), "ben": (0, 1)})
    (note,) = notes(frame)
    assert "labels of -1 (ann) count" in note


CLICKS = "query,doc,clicks,impressions,satisfied\nq0,a,3,10,2\nq0,b,0,8,0\nq1,a,2,9,1\n"


def test_clicks_are_refused_as_labels(tmp_path: Path) -> None:
    path, run = tmp_path / "clicks.csv", tmp_path / "x.run"
    path.write_text(CLICKS)
    run.write_text("q0 Q0 a 1 1.0 x\n")
    done = karat("score", str(path), str(run), "-m", "P@1")
    assert done.returncode == 2
    assert "clicks, impressions, satisfied are about clicks" in " ".join(done.stderr.split())
    assert "karat clicks" in done.stderr
    with pytest.raises(kt.BadInput, match=r"kt\.click_labels_by_rank"):
        kt.score(pl.read_csv(path), RUN, "P@1")
    assert karat("convert", str(path), str(tmp_path / "out.csv")).returncode == 0  # clicks are clicks there


def test_a_column_for_each_judge_is_still_labels(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("query,doc,anna,ben,clark\nq0,a,3,2,2\nq0,b,0,1,0\nq1,a,2,0,1\n")
    assert kt.read_judgments(path).frame["judge"].unique().sort().to_list() == ["anna", "ben", "clark"]
    path.write_text("query,doc,label,clicks\nq0,a,3,2\nq0,b,0,1\n")
    assert kt.read_judgments(path).frame["label"].to_list() == [3.0, 0.0]
