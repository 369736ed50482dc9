"""Which pair to ask next: what is known is not asked, and the best are found with fewer answers than by lot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.labels.document_order import document_order
from karat.plan import next_pairs, pairs_of_documents
from simulated import studies


def every_pair(docs: list[str], query: str = "q") -> pl.DataFrame:
    pairs = [(query, a, b) for n, a in enumerate(docs) for b in docs[n + 1 :]]
    return pl.DataFrame(pairs, schema=["query", "a", "b"], orient="row")


def said(pairs: list[tuple[str, str]], times: int = 1) -> list[dict[str, str]]:
    return [{"query": "q", "left": a, "right": b, "choice": "left"} for a, b in pairs] * times


def test_the_first_round_asks_about_everybody() -> None:
    docs = [f"d{n}" for n in range(8)]
    found = next_pairs(every_pair(docs), None, 7, of="documents").frame
    assert {*found["a"], *found["b"]} == {*docs}
    assert found.unique(["a", "b"]).height == 7


def test_those_that_cannot_be_among_the_best_are_not_asked_about() -> None:
    known = said([("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")], 20)
    found = next_pairs(every_pair(["a", "b", "c", "d"]), known, 5, of="documents", top=2).frame
    assert found.select("a", "b").rows() == [("a", "b")]


def test_systems_are_asked_about_for_the_query_with_the_fewest_answers() -> None:
    pairs = pl.concat([every_pair(["a", "b"], query) for query in ("q", "r")])
    found = next_pairs(pairs, said([("a", "b"), ("b", "a")]), 1).frame
    assert found["query"][0] == "r"


@pytest.mark.evidence
def test_the_best_are_found_with_fewer_answers_than_by_lot() -> None:
    docs = [f"d{n:02}" for n in range(20)]
    every, hits = every_pair(docs), {"asked": 0, "lot": 0}
    for seed in studies(12, 60):
        rng = np.random.default_rng([0, seed])
        worth = dict(zip(docs, rng.normal(0, 2, len(docs)), strict=True))
        best = {*sorted(docs, key=lambda doc: -worth[doc])[:5]}
        for way in hits:
            told: list[dict[str, str]] = []
            for turn in range(6):
                if way == "asked":
                    pairs = next_pairs(every, told or None, 20, of="documents", top=5, seed=turn).frame
                else:
                    pairs = every[rng.integers(every.height, size=20)]
                for a, b in pairs.select("a", "b").iter_rows():
                    wins = rng.random() < 1 / (1 + np.exp(worth[b] - worth[a]))
                    told.append({"query": "q", "left": a, "right": b, "choice": "left" if wins else "right"})
            hits[way] += len(best & {*document_order(kt.Preferences.of(told))["doc"][:5]})
    assert hits["asked"] > hits["lot"]


def test_documents_are_those_with_the_best_labels_and_all_of_the_last_grade() -> None:
    pairs = pairs_of_documents({"q": {"x": 3, "y": 2, "z": 2, "w": 1}}, top=2)
    assert pairs.rows() == [("q", "x", "y"), ("q", "x", "z"), ("q", "y", "z")]


def test_a_round_of_documents_from_labels_to_answers(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"q 0 d{n} {1 + n % 3}\n" for n in range(9)))
    out = str(tmp_path / "tasks.jsonl")
    karat("plan", "documents", str(tmp_path / "qrels.txt"), "--best", "3", "--n-pairs", "3", "--out", out)
    tasks = pl.read_ndjson(out)
    assert tasks.columns == ["query", "task", "left", "right", "left_docs", "right_docs"]
    assert tasks["left_docs"].list.first().to_list() == tasks["left"].to_list()
    lines = [f"q {row['left']} {row['right']} {min(row['left'], row['right'])}\n" for row in tasks.to_dicts()]
    (tmp_path / "round1.pref").write_text("".join(lines))
    told = karat("validate", "documents", str(tmp_path / "round1.pref")).stdout
    assert told.startswith("3 preferences put 3 documents of 1 query in order; 0 of 3 answers")


def test_of_the_pairs_of_lists_worth_showing_those_that_tell_most(tmp_path: Path) -> None:
    study, out = str(tmp_path / "study"), str(tmp_path / "tasks.jsonl")
    karat("simulate", "preferences", "--n-queries", "8", "--out", study)
    rules = [
        "--same-team",
        "--relevant-gap",
        "any",
        "--min-difference",
        "nDCG@10=0.01",
        "--judges-each",
        "1",
        "--no-traps",
    ]
    asked = ["--preferences", f"{study}/preferences.csv", "--n-pairs", "4", "--out", out]
    karat("plan", "pairs", study, *rules, *asked)
    assert pl.read_ndjson(out).height == 4
    refused = karat("plan", "pairs", study, *rules, "--preferences", f"{study}/preferences.csv")
    assert refused.returncode == 2
    assert "say how many with --n-pairs" in refused.stderr
