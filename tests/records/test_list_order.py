"""Positions and scores that disagree: what orders a list, and what is said of it (METHODS 16)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat as kt
from commands import karat
from karat.formats.run_batches import by_batches
from karat.formats.write import runs_by_system, write
from karat.measures.scorer import Scorer
from karat.records.list_order import ListOrders

QUERIES = [f"q{n}" for n in range(1, 11)]
#: The relevant document stands at position 1 and has the lowest score and, of all ids, the smallest.
LABELS = {query: {"a": 1, "b": 0, "c": 0, "d": 0} for query in QUERIES}


def rows(score: Callable[[int], float], column: str = "rank") -> pl.DataFrame:
    """Lists a, b, c, d in the order of their positions, with scores by position."""
    found = [(q, d, p, score(p)) for q in QUERIES for p, d in enumerate("abcd", 1)]
    return pl.DataFrame(found, schema=["query", "doc", column, "score"], orient="row")


RISING, EQUAL, FALLING = rows(float), rows(lambda p: 1.0), rows(lambda p: 1.0 / p)


def trec(frame: pl.DataFrame, name: str = "x") -> str:
    return "".join(f"{q} Q0 {d} {p} {s} {name}\n" for q, d, p, s in frame.iter_rows())


def rr(runs: object) -> float:
    return float(kt.score(LABELS, runs, "RR", draws=0).means["value"][0])


def notes(runs: object) -> str:
    return " ".join(kt.score(LABELS, runs, "RR", draws=0).notes)


def written(frame: pl.DataFrame, path: Path) -> str:
    """The frame as a file in the format of its ending."""
    text = {
        ".csv": frame.write_csv,
        ".tsv": lambda: frame.write_csv(separator="\t"),
        ".jsonl": frame.write_ndjson,
        ".json": frame.write_json,
        ".run": lambda: trec(frame),
    }
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        path.write_text(text[path.suffix]())
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet"])
@pytest.mark.parametrize("frame", [RISING, EQUAL])
def test_positions_order_tables_against_scores(tmp_path: Path, ending: str, frame: pl.DataFrame) -> None:
    path = written(frame, tmp_path / f"run.{ending}")
    assert rr(kt.read_runs(path)) == 1.0
    assert by_batches(path, lambda batches: Scorer(kt.Judgments.of(LABELS), "RR", draws=0).by_query(batches)).queries[
        "RR"
    ].to_list() == [1.0] * len(QUERIES)


@pytest.mark.parametrize("column", ["rank", "position", "Position", "pos"])
def test_positions_order_frames_and_columns(column: str) -> None:
    frame = rows(float, column)
    for data in (frame, frame.to_dict(as_series=False), frame.to_dicts(), {"x": frame}, frame.to_pandas()):
        assert rr(data) == 1.0


def test_trec_files_follow_scores_and_warn(tmp_path: Path) -> None:
    path = written(RISING, tmp_path / "x.run")
    assert rr(kt.read_runs(path)) == 0.25
    said = notes(kt.read_runs(path))
    assert "x: scores and positions disagree in 10 of 10 lists: ordered by score, as trec_eval does" in said


def test_equal_scores_in_trec_files_follow_ranks(tmp_path: Path) -> None:
    path = written(EQUAL, tmp_path / "x.run")
    assert rr(kt.read_runs(path)) == 1.0
    assert "all scores are equal in 10 of 10 lists: ordered by position" in notes(kt.read_runs(path))
    assert rr(kt.read_runs(path, ranks=False)) == 0.25  # as trec_eval: d, c, b, a


def test_partly_tied_scores_stay_with_trec_eval(tmp_path: Path) -> None:
    tied = rows(lambda p: 2.0 if p <= 3 else 1.0)  # a, b, c tie: trec_eval has c, b, a
    for ending in ("run", "csv"):
        assert rr(kt.read_runs(written(tied, tmp_path / f"x.{ending}"))) == pytest.approx(1 / 3)


@pytest.mark.parametrize("ending", ["csv", "run", "parquet"])
def test_agreeing_positions_change_nothing(tmp_path: Path, ending: str) -> None:
    runs = kt.read_runs(written(FALLING, tmp_path / f"x.{ending}"))
    assert runs.frame["score"].to_list() == FALLING["score"].to_list()
    assert "score_not_used" not in runs.frame.columns
    assert "positions" not in notes(runs)


def test_one_list_in_two_hundred_is_no_warning_in_trec_files(tmp_path: Path) -> None:
    found = [(f"q{n}", d, p, float(p) if n == 0 else -float(p)) for n in range(200) for p, d in enumerate("abcd", 1)]
    frame = pl.DataFrame(found, schema=["query", "doc", "rank", "score"], orient="row")
    runs = kt.read_runs(written(frame, tmp_path / "x.run"))
    assert ListOrders.of(runs) == ListOrders(200, 0, 1, 0)
    assert not ListOrders.of(runs).notes
    assert ListOrders(200, 0, 3, 0).notes


def test_constant_positions_say_nothing() -> None:
    assert rr(RISING.with_columns(rank=pl.lit(1))) == 0.25


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_score_names_what_ordered_the_lists(tmp_path: Path, form: list[str]) -> None:
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps(LABELS))
    a, b = (written(frame, tmp_path / name) for frame, name in ((RISING, "a.csv"), (RISING, "b.run")))
    done = karat("score", str(labels), a, b, "-m", "RR", *form)
    assert "a: scores and positions disagree in 10 of 10 lists: ordered by position" in " ".join(done.stdout.split())
    assert "scores and positions disagree in 10 of 10 lists: ordered by score" in " ".join(done.stdout.split())


def test_compare_names_what_ordered_the_lists() -> None:
    found = kt.compare(LABELS, {"a": RISING, "b": FALLING}, "RR")
    assert any("ordered by position" in note for note in found.notes)


def test_scattered_lists_are_ordered_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each half of a list has equal scores, the whole has not: only the whole list tells.
    frame = rows(lambda p: 2.0 if p in (2, 4) else 1.0)
    halves = pl.concat([frame.filter(pl.col("rank") % 2 == 0), frame.filter(pl.col("rank") % 2 == 1)])
    monkeypatch.setattr("karat.formats.run_batches.BYTES", 64)
    monkeypatch.setattr("karat.formats.run_batches.ROWS", 8)
    scorer = Scorer(kt.Judgments.of(LABELS), "RR", draws=0)
    path = written(halves, tmp_path / "x.run")
    assert by_batches(path, scorer.by_query).queries["RR"].to_list() == [0.25] * 10  # d, b, c, a
    path = written(halves, tmp_path / "x.parquet")
    assert by_batches(path, scorer.by_query).queries["RR"].to_list() == [1.0] * 10


def test_written_runs_keep_the_order_that_decided(tmp_path: Path) -> None:
    runs = kt.read_runs(written(RISING, tmp_path / "x.csv"))
    for name in ("y.run", "y.csv", "y.jsonl", "y.parquet"):
        write(runs, str(tmp_path / name))
        assert rr(kt.read_runs(tmp_path / name)) == 1.0
    followed = kt.read_runs(written(RISING, tmp_path / "x.run"))
    assert rr(*runs_by_system(followed).values()) == 0.25


def test_labels_larger_than_memory_order_lists_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from karat.cli import score as large_labels
    from karat.measures import as_measures, profile_named

    labels = tmp_path / "labels.csv"
    labels.write_text(
        "query,doc,label\n" + "".join(f"{q},{d},{n}\n" for q, of in LABELS.items() for d, n in of.items())
    )
    files = [
        written(frame, tmp_path / name) for frame, name in ((RISING, "a.csv"), (RISING, "b.run"), (EQUAL, "c.run"))
    ]
    files[1] = str(tmp_path / "b.run")
    Path(files[1]).write_text(trec(RISING, "b"))
    Path(files[2]).write_text(trec(EQUAL, "c"))
    how = {"scale": None, "profile": profile_named("trec_eval"), "complete": False, "draws": 0}
    found = large_labels.score_in_buckets(str(labels), files, as_measures("RR"), **how)
    assert dict(found.means.select("system", "value").rows()) == {"a": 1.0, "b": 0.25, "c": 1.0}


LISTS = st.lists(st.tuples(st.integers(1, 5), st.sampled_from([0.0, 0.5, 1.0, 2.0])), min_size=1, max_size=6)


@settings(deadline=None)
@given(st.lists(LISTS, min_size=1, max_size=4), st.randoms())
def test_counted_lists_are_those_with_a_discordant_pair(
    lists: list[list[tuple[int, float]]], rng: random.Random
) -> None:
    found = [(f"q{n}", f"d{i}", r, s) for n, one in enumerate(lists) for i, (r, s) in enumerate(one)]
    rng.shuffle(found)
    frame = pl.DataFrame(found, schema=["query", "doc", "rank", "score"], orient="row")
    against = [any(r < q and s < t for r, s in one for q, t in one) for one in lists]
    tied = [len({s for _, s in one}) == 1 and len({r for r, _ in one}) > 1 for one in lists]
    counted = ListOrders.of(kt.Runs.of(frame))
    assert (counted.by_position, counted.tied, counted.by_score) == (sum(against), sum(tied), 0)
    followed = ListOrders.of(kt.Runs.check(frame, follow_scores=True))
    assert (followed.by_position, followed.tied, followed.by_score) == (0, sum(tied), sum(against))


def test_a_column_named_ranking_is_a_position() -> None:
    constant = rows(lambda place: 1.0, column="ranking")
    assert kt.score(LABELS, constant, "RR", draws=0).means["value"].to_list() == [1.0]
