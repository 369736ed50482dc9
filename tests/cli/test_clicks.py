"""`karat clicks` and `karat interleave` as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from commands import karat
from karat.simulate.click_log import position_log, team_draft_log


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logs")
    position_log(queries=4, documents=5, pages=600, seed=1).frame.write_csv(folder / "log.csv")
    team_draft_log(queries=60, searches=300, better=0.15, seed=1).frame.write_parquet(folder / "teams.parquet")
    (folder / "counts.csv").write_text("query,doc,impressions,clicks\nq,d,5,2\n")
    return folder


def test_labels_from_clicks_score_a_run(logs: Path, tmp_path: Path) -> None:
    out = tmp_path / "labels.csv"
    done = karat("clicks", str(logs / "log.csv"), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("417 clicks in 3,000 impressions") or "clicks in 3,000 impressions" in done.stdout
    labels = kt.read_judgments(out)
    assert len(labels) == 20
    (tmp_path / "a.run").write_text("".join(f"q{q} Q0 d{q}-{d} 1 {9 - d} a\n" for q in range(4) for d in range(5)))
    score = json.loads(karat("score", str(out), str(tmp_path / "a.run"), "-m", "nDCG@5", "--json").stdout)
    assert 0 < score["systems"][0]["scores"]["nDCG@5"]["value"] < 1


def test_the_figures_and_the_ranks_are_one_document(logs: Path) -> None:
    found = json.loads(karat("clicks", str(logs / "log.csv"), "--json").stdout)
    assert {"rate", "coec", "attractiveness", "attractiveness_low"} <= found["rows"][0].keys()
    assert [row["rank"] for row in found["ranks"]] == [1, 2, 3, 4, 5]


def test_counts_have_no_ranks_and_a_label_needs_a_file(logs: Path) -> None:
    done = karat("clicks", str(logs / "counts.csv"))
    assert done.returncode == 2
    assert "found counts without ranks" in done.stderr
    done = karat("clicks", str(logs / "log.csv"), "--label", "coec")
    assert done.returncode == 2
    assert "--label would do nothing: it goes with --out" in done.stderr


def test_interleaving_gives_a_verdict_and_the_queries(logs: Path) -> None:
    done = karat("interleave", str(logs / "teams.parquet"), "--by-query")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("A is preferred to B: +0.")
    assert "What became of each query" in done.stdout
    found = json.loads(karat("interleave", str(logs / "teams.parquet"), "--json").stdout)
    assert found["rows"][0]["low"] > 0
    assert len(found["queries"]) == found["rows"][0]["n_queries"]


def test_a_log_without_teams_is_refused(logs: Path) -> None:
    done = karat("interleave", str(logs / "log.csv"))
    assert done.returncode == 2
    assert "the column team for crediting clicks" in done.stderr
