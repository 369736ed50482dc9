"""`karat score --spark`: files that Spark reads give the scores of `karat score`, and slips are told in words."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from commands import karat

pytestmark = [
    pytest.mark.usefixtures("spark"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"),
]


def scores(*words: object) -> dict[tuple[str, str], list[float]]:
    done = karat("score", *map(str, words), "--json")
    assert done.returncode == 0, done.stderr
    systems: list[dict[str, Any]] = json.loads(done.stdout)["systems"]
    return {
        (system["system"], measure): [row["value"], row["low"], row["high"], row["n"]]
        for system in systems
        for measure, row in system["scores"].items()
    }


def same(one: dict[Any, list[float]], other: dict[Any, list[float]]) -> None:
    assert one.keys() == other.keys()
    for key, row in one.items():
        assert row == pytest.approx(other[key], abs=1e-12), key


def test_a_real_run_has_the_scores_of_one_machine(web2010: Path) -> None:
    """TREC Web Track 2010: labels of subtopics, a packed run, with the tool's own order by ranks."""
    files = (web2010 / "10.diversity-qrels.final.txt.gz", web2010 / "indri.run.gz")
    asked = ("-m", "alpha_nDCG@10,ERR_IA@20,NRBP,nDCG@10,AP", "--profile", "ndeval")
    same(scores(*files, *asked, "--spark", "local[2]"), scores(*files, *asked))


def test_folders_of_parquet_and_globs(tmp_path: Path) -> None:
    labels = pl.DataFrame({"query": ["q1", "q2"], "doc": ["d1", "d2"], "label": [2, 1]})
    labels.write_parquet(tmp_path / "labels.parquet")
    (tmp_path / "runs.parquet").mkdir()
    rows = {"query": ["q1", "q1", "q2"], "doc": ["d9", "d1", "d2"], "score": [3.0, 2.0, 1.0]}
    for system in ("a", "b"):
        pl.DataFrame({"system": [system] * 3} | rows).write_parquet(tmp_path / "runs.parquet" / f"{system}.parquet")
        pl.DataFrame({"system": [system] * 3} | rows).write_csv(tmp_path / f"{system}.csv")
    found = scores(tmp_path / "labels.parquet", tmp_path / "runs.parquet", "-m", "RR", "--spark", "local[2]")
    assert found["a", "RR"][0] == found["b", "RR"][0] == 0.75  # places 2 and 1
    same(found, scores(tmp_path / "labels.parquet", f"{tmp_path}/*.csv", "-m", "RR", "--spark", "local[2]"))


def test_slips_are_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    (tmp_path / "good.run").write_text("q1 Q0 d1 1 2.0 mine\n")
    with gzip.open(tmp_path / "short.run.gz", "wt") as file:
        file.write("q1 Q0 d1 1 2.0 mine\nq1 Q0 d2\n")
    (tmp_path / "twice.txt").write_text("q1 0 d1 1\nq1 0 d1 0\n")
    qrels, good = str(tmp_path / "qrels.txt"), str(tmp_path / "good.run")

    def said(*words: str) -> str:
        done = karat("score", *words, "--spark", "local[2]")
        assert done.returncode == 2, done.stdout
        assert "Traceback" not in done.stderr
        return " ".join(done.stderr.split())

    assert 'lines of 6 columns (query Q0 doc rank score system), found "q1 Q0 d2"' in said(
        qrels, str(tmp_path / "short.run.gz")
    )
    assert "no such file or folder where Spark looks" in said(qrels, str(tmp_path / "none.run"))
    assert "one label for document d1 of query q1" in said(str(tmp_path / "twice.txt"), good)
    assert "--gold would do nothing: with --spark" in said(qrels, good, "--gold", qrels)
    assert "no run to score" in said(qrels)


def test_positions_order_tables_and_scores_trec_files(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    rows = [(q, d, p, float(p)) for q in ("q1", "q2") for p, d in enumerate("abcd", 1)]
    (tmp_path / "t.run").write_text("".join(f"{q} Q0 {d} {p} {s} t\n" for q, d, p, s in rows))
    (tmp_path / "e.run").write_text("".join(f"{q} Q0 {d} {p} 1.0 e\n" for q, d, p, _ in rows))
    frame = pl.DataFrame(rows, schema=["query", "doc", "rank", "score"], orient="row")
    frame.with_columns(system=pl.lit("p")).write_parquet(tmp_path / "p.parquet")
    runs = [tmp_path / name for name in ("t.run", "e.run", "p.parquet")]
    found = scores(tmp_path / "qrels.txt", *runs, "-m", "RR", "--spark", "local[2]")
    assert {system: row[0] for (system, _), row in found.items()} == {"t": 0.25, "e": 1.0, "p": 1.0}
    same(found, scores(tmp_path / "qrels.txt", *runs, "-m", "RR"))
