"""`karat compare STUDY --live` as people type it, on a study that collects gold labels in the app."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.formats.study_folder import read_study
from karat.plan import plan_gold
from karat.simulate.graded_pair import graded_pair
from karat.study.answers import answer, cant_tell
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store

TOML = """
title = "Old and new"
groups = ["gold"]
[scale]
levels = ["0=bad", "1=fair", "2=good", "3=perfect"]
[overlap]
labels = 1
[live]
measure = "P@10"
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 documents were drawn; of 40 that were dealt, one judge could not tell 2."""
    folder = tmp_path_factory.mktemp("live")
    made = graded_pair(20, shift=0.5, judge="by query", seed=3)
    (folder / "study.toml").write_text(TOML)
    (folder / "tasks.csv").write_text("query,doc\n")
    (folder / "runs").mkdir()
    kt.write(made.judgments(), str(folder / "judgments.csv"))
    for run in made.runs():
        kt.write(run, str(folder / "runs" / f"{run.systems[0]}.run"))
    plan = plan_gold(made.judgments(), made.runs(), "P@10", 60, seed=1).to_frame()
    plan.write_csv(folder.parent / "plan.csv")
    assert karat("import", str(folder), str(folder.parent / "plan.csv")).returncode == 0
    right = {tuple(row[:2]): row[2] for row in made.judgments(made.truth).frame.select("query", "doc", "label").rows()}
    store = Store.open(str(folder / "karat.db"), read_study(folder).study)
    ana = add_judge(store, name="ana", group="gold")[0]["id"]
    for place in range(40):
        task = next_task(store, ana).task
        assert task is not None
        if place in (5, 20):
            cant_tell(store, ana, task["id"], Answer(reason="the page does not show"))
        else:
            answer(store, ana, task["id"], Answer(label=right[task["query"], task["doc"]], seconds=9.0))
    store.close()
    return folder


def test_it_says_how_far_it_is_and_counts_who_could_not_tell(study: Path) -> None:
    done = karat("compare", str(study), "--live")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "after 38 of 60 gold labels" in told
    assert "of 2 drawn documents somebody could not tell" in told
    assert "The looks so far, B - A:" in told
    document = json.loads(karat("compare", str(study), "--live", "--json").stdout)
    assert (document["labels"], document["drawn"], document["waiting"]) == (38, 60, 20)
    assert (document["measure"], document["systems"]) == ("P@10", ["A", "B"])
    assert [look["labels"] for look in document["looks"]] == [20, 30, 38]
    last = document["looks"][-1]
    assert last["low"] < document["once_low"] < document["difference"] < document["once_high"] < last["high"]


def test_the_difference_is_that_of_a_comparison_without_live(study: Path) -> None:
    live = json.loads(karat("compare", str(study), "--live", "--json").stdout)
    once = json.loads(karat("compare", str(study), "-m", "P@10", "--json").stdout)
    row = next(row for row in once["methods"] if row["method"] == "ppi")
    assert live["difference"] == pytest.approx(row["difference"])
    assert (live["once_low"], live["once_high"]) == pytest.approx((row["low"], row["high"]))


def test_what_is_typed_stands_before_what_the_study_says(study: Path) -> None:
    words = [
        "compare",
        str(study),
        "--live",
        "--json",
        "-m",
        "P(rel=2)@10",
        "--queries-are",
        "fixed",
        "--margin",
        "0.9",
    ]
    document = json.loads(karat(*words).stdout)
    assert (document["measure"], document["queries"], document["margin"]) == ("P(rel=2)@10", "fixed", 0.9)
    assert (document["state"], document["verdict"]) == ("stop", "equivalent")
    a, b = (str(study / "runs" / f"{name}.run") for name in "AB")
    turned = json.loads(karat("compare", str(study), b, a, "--live", "--json").stdout)
    assert turned["systems"] == ["B", "A"]


@pytest.mark.parametrize("more", [["--moved", "3"], ["--peek", "100"], ["--method", "plain"], ["--seed", "3"]])
def test_options_that_would_do_nothing_are_refused(study: Path, more: list[str]) -> None:
    done = karat("compare", str(study), "--live", *more)
    assert done.returncode == 2
    assert "would do nothing: --live tells how far one difference is" in done.stderr
    assert "it goes with --live" in karat("compare", str(study), "--watch", "3").stderr
    assert "--watch would do nothing" in karat("compare", str(study), "--live", "--watch", "3", "--json").stderr


def test_a_study_without_gold_labels_or_with_three_systems_is_told_what_to_do(study: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    (bare / "runs").mkdir(parents=True)
    for name in ("judgments.csv", "runs/A.run", "runs/B.run"):
        (bare / name).write_bytes((study / name).read_bytes())
    done = karat("compare", str(bare), "--live")
    assert done.returncode == 2
    assert "karat plan gold draws documents" in " ".join(done.stderr.split())
    frame = pl.DataFrame({"query": ["000000"], "doc": ["00000000"], "score": [1.0]})
    kt.write(kt.Runs.of(frame, system="C"), str(bare / "runs" / "C.run"))
    done = karat("compare", str(bare), "--live")
    assert "expected two systems, found 3 (A, B, C); name two in study.toml" in " ".join(done.stderr.split())
    (bare / "study.toml").write_text('[live]\nsystems = ["A", "X"]\n')
    assert 'expected two of A, B, C, found "X"' in " ".join(karat("compare", str(bare), "--live").stderr.split())
    (bare / "study.toml").write_text('[live]\nsystems = ["A"]\n')
    assert "expected two systems, found A" in " ".join(karat("compare", str(bare), "--live").stderr.split())
