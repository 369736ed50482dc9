"""`{query: {document: number}}`: what ranx itself saves is read, and ranx reads what karat writes."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import lz4.frame
import pytest

import karat as kt
from commands import karat
from simulated import THOROUGH

RUN = {"q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7}, "q_2": {"d_12": 0.9, "d_11": 0.8}}
QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}


def packed(data: bytes, ending: str) -> bytes:
    return {"json": lambda: data, "json.gz": lambda: gzip.compress(data), "lz4": lambda: lz4.frame.compress(data)}[
        ending
    ]()


@pytest.mark.parametrize("ending", ["json", "lz4", "json.gz"])
def test_the_samples_of_ranx_are_read(tmp_path: Path, ending: str) -> None:
    """Those of its README, as Run.save and Qrels.save write them (ranx/data_structures/run.py: JSON, or lz4 of it)."""
    for name, found in (("run", RUN), ("qrels", QRELS)):
        (tmp_path / f"{name}.{ending}").write_bytes(packed(json.dumps(found).encode(), ending))
    labels = kt.read_judgments(str(tmp_path / f"qrels.{ending}"))
    rows = [("q_1", "d_12", 5.0), ("q_1", "d_25", 3.0), ("q_2", "d_11", 6.0), ("q_2", "d_22", 1.0)]
    assert labels.frame.rows() == rows
    run = kt.read_runs(str(tmp_path / f"run.{ending}"))
    assert run.frame.select("query", "doc", "score").row(1) == ("q_1", "d_23", 0.8)


@pytest.mark.evidence
@pytest.mark.skipif(not THOROUGH, reason="ranx compiles itself for a minute: make evidence")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ["json", "lz4"])
def test_what_ranx_itself_saves_is_scored_as_ranx_scores_it(tmp_path: Path, ending: str) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed (make bench installs it)")
    ranx.Run.from_dict(RUN).save(str(tmp_path / f"run.{ending}"))
    ranx.Qrels.from_dict(QRELS).save(str(tmp_path / f"qrels.{ending}"))
    theirs = ranx.evaluate(ranx.Qrels(QRELS), ranx.Run(RUN), ["mrr", "map@5"])
    ours = kt.score(
        kt.read_judgments(str(tmp_path / f"qrels.{ending}")),
        kt.read_runs(str(tmp_path / f"run.{ending}")),
        ["RR", "AP@5"],
    ).means
    assert dict(zip(ours["measure"], ours["value"], strict=True)) == pytest.approx(
        {"RR": theirs["mrr"], "AP@5": theirs["map@5"]}
    )


@pytest.mark.parametrize("ending", ["json", "json.lz4"])
def test_what_karat_writes_comes_back(tmp_path: Path, ending: str) -> None:
    rng = random.Random(1)
    wild = {f"q{n}": {f"d é {k}": rng.choice((0, 1, 2.5)) for k in range(5)} for n in range(4)}
    kt.write(kt.Judgments.of(wild), str(tmp_path / f"labels.{ending}"), "ranx")
    read = kt.read_judgments(str(tmp_path / f"labels.{ending}"))
    assert {(q, d): v for q, d, v in read.frame.rows()} == {(q, d): v for q in wild for d, v in wild[q].items()}


def test_whole_numbers_may_be_labels_or_scores(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(QRELS))
    done = karat("convert", str(tmp_path / "x.json"), str(tmp_path / "x.csv"))
    assert (done.returncode, "which could be judgments or runs; say it with --kind" in done.stderr) == (2, True)
    assert karat("convert", str(tmp_path / "x.json"), str(tmp_path / "x.csv"), "--kind", "runs").returncode == 0
    (tmp_path / "y.json").write_text(json.dumps(RUN))
    assert "of runs" in karat("convert", str(tmp_path / "y.json"), str(tmp_path / "y.csv")).stderr


def test_lines_with_objects_in_them_are_no_such_document(tmp_path: Path) -> None:
    row = '{"more": {"n": 1}, "query": "q", "doc": "%s", "label": 1}\n'
    (tmp_path / "x.json").write_text(row % "a" + row % "b")
    assert kt.read_judgments(str(tmp_path / "x.json")).frame["doc"].to_list() == ["a", "b"]


def test_several_systems_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(kt.BadInput, match="expected one system, found a, b"):
        kt.write(kt.Runs.of({"a": RUN, "b": RUN}), str(tmp_path / "x.json"), "ranx")
