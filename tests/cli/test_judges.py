"""`karat judges` and `karat train` as people type them, on a simulated study with planted habits."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.simulate import judging_study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study as files: judgments of three groups, documents, queries, clicks and a run."""
    folder = tmp_path_factory.mktemp("study")
    made = judging_study(seed=1, queries=60)
    judgments = made.judgments.frame
    for group in ("crowd", "professional"):
        kt.write(kt.Judgments.of(judgments.filter(judgments["group"] == group)), str(folder / f"{group}.csv"))
    kt.write(made.gold, str(folder / "gold.csv"))
    kt.write(made.documents, str(folder / "documents.jsonl"))
    kt.write(made.queries, str(folder / "queries.csv"))
    kt.write(made.clicks, str(folder / "clicks.csv"))
    bm25 = made.runs.frame.filter(made.runs.frame["system"] == "bm25")
    kt.write(kt.Runs.of(bm25), str(folder / "bm25.csv"))
    return folder


def paths(study: Path, *names: str) -> list[str]:
    return [str(study / name) for name in names]


def test_agreement_has_the_promised_rows(study: Path) -> None:
    done = karat(
        "judges",
        "agreement",
        *paths(study, "crowd.csv", "professional.csv"),
        "--gold",
        str(study / "gold.csv"),
        "--json",
    )
    rows = json.loads(done.stdout)["rows"]
    promised = {"group", "against", "n_queries", "n_pairs", "cohen", "fleiss", "alpha_nominal", "alpha_ordinal"}
    assert all(promised <= row.keys() for row in rows)
    assert all(f"{figure}_low" in rows[0] for figure in ("cohen", "fleiss", "alpha_nominal", "alpha_ordinal"))
    against = {(row["group"], row["against"]): row["cohen"] for row in rows}
    # A group against gold is its median: that of three careless judges is as good as one of two careful ones.
    assert against["professional", "gold"] > 0.4
    assert against["crowd", "gold"] > 0.4


def test_files_without_a_group_are_groups_named_by_themselves(study: Path, tmp_path: Path) -> None:
    gold = kt.read_judgments(str(study / "gold.csv")).frame.select("query", "doc", "label")
    for name in ("one", "two"):
        kt.write(kt.Judgments.of(gold), str(tmp_path / f"{name}.qrels"))
    done = karat("judges", "agreement", str(tmp_path / "one.qrels"), str(tmp_path / "two.qrels"), "--json")
    (row,) = [row for row in json.loads(done.stdout)["rows"] if row["against"]]
    assert {row["group"], row["against"]} == {"one", "two"}
    assert row["cohen"] == 1.0


def test_the_planted_bias_is_found_and_said_in_words(study: Path) -> None:
    done = karat(
        "judges",
        "bias",
        *paths(study, "crowd.csv", "professional.csv"),
        "--gold",
        str(study / "gold.csv"),
        "--documents",
        str(study / "documents.jsonl"),
        "--queries",
        str(study / "queries.csv"),
    )
    assert done.returncode == 0, done.stderr
    assert "crowd rates" in done.stdout.lower()
    assert "wikipedia" in done.stdout.lower()


def test_the_whole_report_says_what_it_left_out(study: Path) -> None:
    done = karat("judges", *paths(study, "crowd.csv"), "--draws", "200")
    assert done.returncode == 0, done.stderr
    assert "left out: gold" in done.stdout
    assert "left out: clicks: clicks are needed: give them with --clicks" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


@pytest.mark.thorough
def test_the_whole_report_has_every_part_where_everything_is_given(study: Path) -> None:
    document = json.loads(
        karat(
            "judges",
            *paths(study, "crowd.csv", "professional.csv"),
            "--gold",
            str(study / "gold.csv"),
            "--clicks",
            str(study / "clicks.csv"),
            "--documents",
            str(study / "documents.jsonl"),
            "--queries",
            str(study / "queries.csv"),
            "--draws",
            "200",
            "--json",
        ).stdout
    )
    assert list(document) == ["agreement", "error", "gold", "clicks", "distribution", "bias", "left_out"]
    assert document["left_out"] == []


def test_a_feature_without_its_documents_says_what_it_needs(study: Path) -> None:
    done = karat("judges", "distribution", *paths(study, "crowd.csv"), "--by", "wikipedia")
    assert done.returncode == 2
    assert "url" in done.stderr
    assert "Traceback" not in done.stderr


def test_training_on_labels_with_a_habit(study: Path) -> None:
    done = karat(
        "train",
        *paths(study, "crowd.csv", "professional.csv"),
        "--runs",
        str(study / "bm25.csv"),
        "--feature",
        "wikipedia",
        "--documents",
        str(study / "documents.jsonl"),
        "--draws",
        "0",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert {(row["train"], row["test"]) for row in rows} == {
        (a, b) for a in ("crowd", "professional") for b in ("crowd", "professional")
    }
    assert {row["features"] for row in rows} == {"bm25", "wikipedia", "bm25 + wikipedia"}
    assert "no features to train on" in karat("train", *paths(study, "crowd.csv")).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--draws", "5"], "expected 0 draws, or 100 or more"),
        (["--draws", "-1"], "expected 0 draws, or 100 or more"),
        (["--by", "nope"], "expected the column nope for --by"),
    ],
)
def test_odd_options_are_refused_before_any_work(study: Path, words: list[str], said: str) -> None:
    done = karat("judges", *paths(study, "crowd.csv"), *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_gold_that_is_named_stands_before_a_group_of_it_and_files_without_rows_are_refused(
    study: Path, tmp_path: Path
) -> None:
    # One rule for all commands: what is named stands, the rest is left aside and said.
    twice = karat("judges", "agreement", *paths(study, "crowd.csv", "gold.csv"), "--gold", str(study / "gold.csv"))
    assert twice.returncode == 0
    assert "of the group gold left aside: the gold labels were given apart" in " ".join(twice.stdout.split())
    (tmp_path / "empty.csv").write_text("query,doc,label,judge\n")
    for command in ("judges", "disagree"):
        assert "expected at least one label, found none" in karat(command, str(tmp_path / "empty.csv")).stderr
    assert "0 is not in the range x>=1" in karat("disagree", *paths(study, "crowd.csv"), "--of", "0").stderr


def test_kinds_of_queries_are_told_apart(study: Path) -> None:
    done = karat(
        "judges",
        "distribution",
        *paths(study, "crowd.csv"),
        "--queries",
        str(study / "queries.csv"),
        "--by",
        "kind",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert {row["value"] for row in json.loads(done.stdout)["rows"]} > {"informational"}


def test_what_bias_lacks_is_said_in_words_of_the_command(study: Path) -> None:
    alone = karat("judges", "bias", *paths(study, "crowd.csv"), "--gold", str(study / "gold.csv"))
    whole = karat("judges", *paths(study, "crowd.csv"), "--gold", str(study / "gold.csv"), "--draws", "0")
    for said in (alone.stderr, " ".join(whole.stdout.split())):
        assert "features of query and document are needed: give --documents, --queries or --runs" in said
        assert "add_features" not in said


def test_several_columns_are_each_reported(study: Path) -> None:
    documents, queries = (["--documents", str(study / "documents.jsonl")], ["--queries", str(study / "queries.csv")])
    both = ["--by", "wikipedia", "--by", "kind"]
    files = paths(study, "crowd.csv", "professional.csv")
    document = json.loads(karat("judges", "distribution", *files, *documents, *queries, *both, "--json").stdout)
    assert {row["feature"] for row in document["rows"]} == {"all", "wikipedia", "kind"}
    assert {row["feature"] for row in document["Tests"]["rows"]} == {"all", "wikipedia", "kind"}
    clicks = karat(
        "judges", "clicks", *files, *documents, *queries, *both, "--clicks", str(study / "clicks.csv"), "--draws", "0"
    )
    assert clicks.returncode == 0, clicks.stderr
    assert "Against clicks by wikipedia" in clicks.stdout
    assert "Against clicks by kind" in clicks.stdout


def test_the_tests_of_distributions_name_the_group(study: Path) -> None:
    """Two values of a feature are compared within each group: without its name, rows look alike."""
    files = paths(study, "crowd.csv", "professional.csv")
    done = karat("judges", "distribution", *files, "--documents", str(study / "documents.jsonl"), "--by", "wikipedia")
    assert done.returncode == 0, done.stderr
    tests = done.stdout[done.stdout.index("Tests") :]
    within = [line for line in tests.splitlines() if " WP " in line and " nWP " in line]
    assert any("crowd" in line for line in within)
    assert any("professional" in line for line in within)


def test_the_tests_of_agreement_name_both_groups(study: Path) -> None:
    done = karat("judges", "agreement", *paths(study, "crowd.csv", "professional.csv"), "--draws", "0")
    assert done.returncode == 0, done.stderr
    tests = done.stdout[done.stdout.index("Differences") :].splitlines()
    assert any(line.split()[:3] == ["crowd", "professional", "within"] for line in tests)


@pytest.mark.parametrize(
    ("part", "words", "named"),
    [
        ("bias", ["--by", "wikipedia"], "--by"),
        ("error", ["--judges-are", "fixed"], "--judges-are"),
        ("gold", ["--draws", "100"], "--draws"),
        ("distribution", ["--clicks", "clicks.csv"], "--clicks"),
    ],
)
def test_an_option_that_does_nothing_for_a_part_is_refused(
    study: Path, part: str, words: list[str], named: str
) -> None:
    done = karat("judges", part, *paths(study, "crowd.csv"), *words)
    assert done.returncode == 2
    assert re.search(f"No such option:? '?{named}", " ".join(done.stderr.split()))  # as Click's versions put it


def test_notes_name_no_column_that_is_not_printed(study: Path) -> None:
    done = karat(
        "judges",
        *paths(study, "crowd.csv"),
        "--gold",
        str(study / "gold.csv"),
        "--documents",
        str(study / "documents.jsonl"),
        "--queries",
        str(study / "queries.csv"),
        "--draws",
        "0",
    )
    notes = " ".join(line for line in done.stdout.splitlines() if line.startswith(("- ", "  ")))
    assert "because_of" not in notes
    assert "p_t" not in notes


def test_numbers_of_a_csv_are_found_as_in_parquet(tmp_path: Path) -> None:
    """A CSV has 10 and 9 as texts: as such, every length would be a slice of its own, too small to look at."""
    rng = np.random.default_rng(1)
    n = 600
    length = rng.integers(1, 200, n)
    base = {"query": [f"q{i % 60}" for i in range(n)], "doc": [f"d{i}" for i in range(n)]}
    grade = rng.integers(1, 4, n)
    error = rng.choice([-1, 0, 0, 0, 1], n) + (length > 150) * (rng.random(n) < 0.8)
    pl.DataFrame({**base, "label": grade + error, "length": length}).write_csv(tmp_path / "crowd.csv")
    pl.DataFrame({**base, "label": grade + error, "length": length}).write_parquet(tmp_path / "crowd.parquet")
    pl.DataFrame({**base, "label": grade}).write_csv(tmp_path / "gold.csv")
    found = [
        json.loads(
            karat("judges", "bias", str(tmp_path / name), "--gold", str(tmp_path / "gold.csv"), "--json").stdout
        )["rows"]
        for name in ("crowd.csv", "crowd.parquet")
    ]
    assert found[0] == found[1]
    assert found[0][0]["feature"] == "length"
    assert found[0][0]["value"].endswith(" or more")
