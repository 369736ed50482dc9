"""`{query: {document: number}}`: what ranx itself saves is read, and ranx reads what karat writes."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import cbor2
import lz4.frame
import polars as pl
import pytest

import karat as kt
from commands import karat

RUN = {"q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7}, "q_2": {"d_12": 0.9, "d_11": 0.8}}
QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}


def packed(data: bytes, ending: str) -> bytes:
    return {"json": lambda: data, "json.gz": lambda: gzip.compress(data), "lz4": lambda: lz4.frame.compress(data)}[
        ending
    ]()


@pytest.mark.parametrize("ending", ["json", "lz4", "json.gz"])
def test_the_samples_of_ranx_are_read(tmp_path: Path, ending: str) -> None:
    """Those of its README, as Run.save and Qrels.save write them (JSON), also packed."""
    for name, found in (("run", RUN), ("qrels", QRELS)):
        (tmp_path / f"{name}.{ending}").write_bytes(packed(json.dumps(found).encode(), ending))
    labels = kt.read_judgments(str(tmp_path / f"qrels.{ending}"))
    rows = [("q_1", "d_12", 5.0), ("q_1", "d_25", 3.0), ("q_2", "d_11", 6.0), ("q_2", "d_22", 1.0)]
    assert labels.frame.rows() == rows
    run = kt.read_runs(str(tmp_path / f"run.{ending}"))
    assert run.frame.select("query", "doc", "score").row(1) == ("q_1", "d_23", 0.8)


def test_a_run_that_ranx_packs_is_read(tmp_path: Path) -> None:
    """CBOR packed twice, as save_lz4 of ranx/io.py (0.3.21) writes it; tests/docs/test_examples.py asks ranx itself."""
    twice = lz4.frame.compress(lz4.frame.compress(cbor2.dumps(RUN), compression_level=16))
    (tmp_path / "bm25.lz4").write_bytes(twice)
    run = kt.read_runs(str(tmp_path / "bm25.lz4"))
    assert run.frame.select("query", "doc", "score").rows() == [(q, d, s) for q in RUN for d, s in RUN[q].items()]
    assert run.systems == ["bm25"]
    (tmp_path / "cut.lz4").write_bytes(lz4.frame.compress(lz4.frame.compress(cbor2.dumps(RUN)[:-9])))
    with pytest.raises(kt.BadInput, match=r"cut\.lz4: expected a run of ranx \(CBOR\)"):
        kt.read_runs(str(tmp_path / "cut.lz4"))
    (tmp_path / "bytes.lz4").write_bytes(lz4.frame.compress(cbor2.dumps({"q": b"d"})))
    with pytest.raises(kt.BadInput, match=r"bytes\.lz4: expected a run of ranx \(CBOR\), found something else"):
        kt.read_runs(str(tmp_path / "bytes.lz4"))
    (tmp_path / "short.lz4").write_bytes(twice[:-20])
    with pytest.raises(kt.BadInput, match="damaged or cut short"):
        kt.read_runs(str(tmp_path / "short.lz4"))


def test_tables_of_ranx_are_read(tmp_path: Path) -> None:
    """Parquet with q_id, doc_id and score: of Qrels.to_dataframe, whose scores are labels, and of Run's."""
    for name, found in (("qrels", QRELS), ("run", RUN)):
        rows = [{"q_id": q, "doc_id": d, "score": s} for q in found for d, s in found[q].items()]
        pl.DataFrame(rows).write_parquet(tmp_path / f"{name}.parquet")
    assert kt.read_judgments(tmp_path / "qrels.parquet").frame["label"].to_list() == [5.0, 3.0, 6.0, 1.0]
    assert kt.read_runs(tmp_path / "run.parquet").frame["score"].to_list() == [0.9, 0.8, 0.7, 0.9, 0.8]


#: As AbsTask._save_task_predictions of mteb 2 writes it.
MTEB = {"mteb_model_meta": {"model_name": "minishlab/potion", "revision": "1"}, "default": {"test": RUN}}


def test_predictions_of_mteb_are_a_run_of_its_model(tmp_path: Path) -> None:
    path = tmp_path / "NFCorpus_predictions.json"
    path.write_text(json.dumps(MTEB))
    run = kt.read_runs(path)
    assert (run.systems, len(run)) == (["minishlab/potion"], 5)
    assert "5 rows of runs" in karat("convert", str(path), str(tmp_path / "x.run")).stderr
    path.write_text(json.dumps(MTEB | {"en": {"dev": RUN}}))
    with pytest.raises(kt.BadInput, match="expected predictions for one split of one part, found default test, en dev"):
        kt.read_runs(path)


@pytest.mark.parametrize("ending", ["json", "json.gz"])
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
