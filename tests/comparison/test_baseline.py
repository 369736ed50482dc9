"""With a baseline, every other system is compared with it, and with nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

import karat as kt
from commands import karat
from karat.errors import BadInput

QUERIES = [f"q{i:02d}" for i in range(30)]
#: Of ten queries, how many each system has right at the first rank.
RIGHT = {"old": 5, "new": 9, "odd": 4}
LABELS = {query: {"good": 1, "bad": 0} for query in QUERIES}


def first(system: str, place: int) -> float:
    """Whether the system has the good document first; systems are right on different queries."""
    return float((place * (3 + len(RIGHT) * (system == "odd"))) % 10 < RIGHT[system])


def run(system: str) -> dict[str, dict[str, float]]:
    return {query: {"good": 1 + first(system, i), "bad": 1.5} for i, query in enumerate(QUERIES)}


RUNS = {name: run(name) for name in ("new", "odd", "old")}
VALUES = {name: np.array([first(name, i) for i in range(30)]) for name in RUNS}


def test_every_pair_is_one_with_the_baseline_and_p_allows_for_those_only() -> None:
    found = kt.compare(LABELS, RUNS, "P@1", baseline="old")
    assert found.systems == ("old", "new", "odd")
    assert found.pairs.select("a", "b").rows() == [("old", "new"), ("old", "odd")]
    p = [float(ttest_rel(VALUES[name], VALUES["old"]).pvalue) for name in ("new", "odd")]
    assert found.pairs["p"].to_list() == pytest.approx(p)
    # Holm's, of two: the smaller one twice, the larger one as it is, if that is not less.
    low, high = min(p), max(p)
    assert sorted(found.pairs["holm"].to_list()) == pytest.approx([min(1, 2 * low), max(min(1, 2 * low), high)])
    assert found.pairs["difference"].to_list() == pytest.approx(
        [VALUES[name].mean() - VALUES["old"].mean() for name in ("new", "odd")]
    )


def test_the_best_of_the_others_is_told_of() -> None:
    found = kt.compare(LABELS, RUNS, "P@1", baseline="old")
    assert (found.verdict, found.winner) == ("better", "new")
    assert found.finding.startswith(
        "new is better than old by P@1: new, the best of the others, against it: +0.40 (95 % interval"
    )
    assert "(among 2 pairs p " in found.finding
    assert found.to_dict()["baseline"] == "old"


def test_all_may_be_worse_or_none_shown_better() -> None:
    worse = kt.compare(LABELS, {**RUNS, "bad": run("odd")}, "P@1", baseline="new")
    assert (worse.verdict, worse.winner) == ("worse", "new")
    assert worse.finding.startswith("All others are worse than new by P@1: old, the best of the others")
    same = kt.compare(LABELS, {"a": RUNS["odd"], "b": RUNS["odd"], "c": RUNS["old"]}, "P@1", baseline="a")
    assert same.finding.startswith("No system is shown better than a by P@1:")


def test_of_two_systems_the_baseline_is_the_first() -> None:
    two = {name: RUNS[name] for name in ("new", "old")}
    assert kt.compare(LABELS, two, "P@1").finding.startswith("old is worse than new")
    assert kt.compare(LABELS, two, "P@1", baseline="old").finding.startswith("new is better than old by P@1: +0.40 (")


def test_by_each_measure_the_best_is_held_against_the_baseline() -> None:
    from karat.comparison import by_measure

    every = [kt.compare(LABELS, RUNS, name, baseline="old") for name in ("P@1", "RR")]
    table = by_measure(every).to_frame()
    assert table.select("a", "b").rows() == [("old", "new")] * 2


def test_a_system_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        BadInput, match=r"the baseline: expected one of the systems \(new, odd, old\), found the old one"
    ):
        kt.compare(LABELS, RUNS, "P@1", baseline="the old one")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("baseline")
    (folder / "qrels.txt").write_text("".join(f"{q} 0 good 1\n{q} 0 bad 0\n" for q in QUERIES))
    for name, lists in RUNS.items():
        rows = [f"{q} Q0 {doc} 1 {score} {name}\n" for q, docs in lists.items() for doc, score in docs.items()]
        (folder / f"{name}.run").write_text("".join(rows))
    return folder


def test_commands_take_it_and_the_report_has_the_same_sign(files: Path) -> None:
    runs = [str(files / f"{name}.run") for name in RUNS]
    words = [str(files / "qrels.txt"), *runs, "--baseline", "old", "-m", "P@1"]
    told = karat("compare", *words)
    assert told.stdout.startswith("new is better than old by P@1: new, the best of the others")
    assert "Every system against old, b - a:" in told.stdout
    page, table = str(files / "page.html"), files / "table.tex"
    made = json.loads(karat("report", *words, "--json", "--out", page, "--out", str(table)).stdout)
    assert made["finding"].startswith("new is better than old by P@1")
    assert "+0.40 " in made["reason"]
    assert "for the difference from old, the baseline" in table.read_text()


def test_a_name_mistyped_is_bad_input_in_every_command(files: Path) -> None:
    runs = [str(files / f"{name}.run") for name in RUNS]
    for command in ("compare", "report"):
        done = karat(command, str(files / "qrels.txt"), *runs, "--baseline", "bm25")
        assert done.returncode == 2
        assert "expected one of the systems (new, odd, old), found bm25" in done.stderr
