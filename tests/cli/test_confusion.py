"""`karat judges confusion`, and what it writes as input to `karat correct`, as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from commands import karat

#: How the judge labels documents of the true grades 0, 1 and 2.
JUDGE = np.array([[0.75, 0.2, 0.05], [0.2, 0.6, 0.2], [0.05, 0.25, 0.7]])


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """120 queries of six documents: A ran the first 60, B the others; gold labels of every third document."""
    folder = tmp_path_factory.mktemp("confusion")
    rng = np.random.default_rng(3)
    labels, gold = ["query,doc,label"], ["query,doc,label,probability"]
    runs: dict[str, list[str]] = {"a": [], "b": []}
    for query in range(120):
        for doc in range(6):
            truth = int(rng.binomial(2, 0.5))
            labels.append(f"q{query},d{doc},{rng.choice(3, p=JUDGE[truth])}")
            if rng.random() < 1 / 3:
                gold.append(f"q{query},d{doc},{truth},0.3333")
            name = "a" if query < 60 else "b"
            runs[name].append(f"q{query} Q0 d{doc} {doc + 1} {9 - doc} {name}")
    files = {"labels.csv": labels, "gold.csv": gold, "a.run": runs["a"], "b.run": runs["b"]}
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    yes_or_no = [line.replace(",2,0.3333", ",1,0.3333") for line in gold]
    (folder / "yes-or-no.csv").write_text("\n".join(yes_or_no) + "\n")
    return {name: str(folder / name) for name in (*files, "yes-or-no.csv", "m.csv", "m.json", "m.svg")}


def _labels(path: str) -> dict[tuple[str, str], int]:
    rows = [line.split(",") for line in Path(path).read_text().splitlines()[1:]]
    return {(query, doc): int(label) for query, doc, label, *_ in rows}


def confusion(study: dict[str, str], *words: str) -> dict[str, object]:
    done = karat("judges", "confusion", study["labels.csv"], "--gold", study["gold.csv"], *words, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_shares_with_intervals_counts_for_karat_correct_and_true_grades_by_rank(study: dict[str, str]) -> None:
    told = confusion(study, "--runs", study["a.run"], "--depth", "2")
    rows = told["rows"]
    assert isinstance(rows, list)
    given, true = (_labels(study[name]) for name in ("labels.csv", "gold.csv"))
    for row in rows:  # all were drawn alike: plain shares
        of_grade = [given[document] for document, grade in true.items() if grade == row["grade"]]
        assert row["share"] == pytest.approx(of_grade.count(int(row["label"])) / len(of_grade))
        assert row["low"] < row["share"] < row["high"]
    by_rank = told["True grades by rank"]["rows"]  # type: ignore[index]
    assert [(row["rank"], row["grade"]) for row in by_rank] == [(r, g) for r in (1, 2) for g in (0, 1, 2)]
    share = {(row["grade"], row["label"]): row["share"] for row in rows}
    for at in (by_rank[:3], by_rank[3:]):  # equation (16): the true grades, misjudged so, give the labels seen
        for seen in at:
            label = seen["grade"]
            assert sum(row["corrected"] * share[row["grade"], label] for row in at) == pytest.approx(seen["by_labels"])
            assert 0 <= seen["low"] < seen["high"] <= 1
    counts = {row["documents"]: row["counts"] for row in told["Accuracy"]["rows"]}  # type: ignore[index]
    words = ["--relevant", counts["relevant"], "--nonrelevant", counts["not relevant"]]
    assert karat("correct", "--score", "0.7", "--n-queries", "60", *words).returncode == 0


def test_relevance_may_begin_at_a_higher_grade(study: dict[str, str]) -> None:
    """By hand of the matrix: right on relevant documents is then the share of label 2 among grade 2."""
    told = confusion(study, "--rel", "2")
    rows, right = told["rows"], told["Accuracy"]["rows"][0]["right"]  # type: ignore[index]
    assert isinstance(rows, list)
    assert right == pytest.approx(next(r["share"] for r in rows if (r["grade"], r["label"]) == (2, 2)))


def test_the_matrix_that_is_written_corrects_as_its_gold_labels_do(study: dict[str, str]) -> None:
    confusion(study, "--out", study["m.csv"])
    Path(study["m.json"]).write_text(json.dumps(confusion(study)))
    files = [study["labels.csv"], study["a.run"], study["b.run"], "-m", "DCG@5", "--draws", "0", "--json"]
    told = [
        json.loads(karat("correct", *files, option, study[name]).stdout)["methods"][-1]
        for option, name in (("--gold", "gold.csv"), ("--confusion", "m.csv"), ("--confusion", "m.json"))
    ]
    for other in told[1:]:
        assert (other["a"], other["b"]) == (pytest.approx(told[0]["a"]), pytest.approx(told[0]["b"]))
        # The file does not say which of its gold documents the runs show, and how their labels came out.
        assert other["standard_error"] == pytest.approx(told[0]["standard_error"], rel=0.1)


def test_the_heat_map_has_the_grades_down_and_the_labels_across(study: dict[str, str]) -> None:
    confusion(study, "--plot", study["m.svg"])
    drawn = Path(study["m.svg"]).read_text()
    assert drawn.startswith("<svg")
    assert "gold grade" in drawn
    assert "The labels are right on" in drawn


def test_levels_with_names_have_them_in_the_sentence_and_in_the_heat_map(study: dict[str, str]) -> None:
    told = confusion(study, "--scale", "poor,some,full", "--plot", study["m.svg"])
    assert "% of grade poor, " in str(told["finding"])
    drawn = Path(study["m.svg"]).read_text()
    assert all(f">{name}<" in drawn for name in ("poor", "some", "full"))
    assert ">0<" not in drawn


def test_the_confusions_of_each_judge_are_drawn(tmp_path: Path) -> None:
    """Ann says what is so, eve the contrary: her squares are dark where ann's are pale."""
    truth = "010110"
    said = {"ann": truth, "bob": truth, "eve": "".join(str(1 - int(grade)) for grade in truth)}
    rows = [f"q,d{n},{label},{judge}" for judge, given in said.items() for n, label in enumerate(given)]
    (tmp_path / "crowd.csv").write_text("\n".join(["query,doc,label,judge", *rows]) + "\n")
    chart = tmp_path / "confusions.svg"
    done = karat("judges", "labels", str(tmp_path / "crowd.csv"), "--plot", str(chart))
    assert done.returncode == 0, done.stderr
    assert all(f">{judge}: {grade}<" in chart.read_text() for judge in said for grade in (0, 1))
    grid = kt.judges.dawid_skene(kt.read_judgments(str(tmp_path / "crowd.csv"))).drawing.frame
    squares = {(row["first"], row["second"]): row["value"] for row in grid.iter_rows(named=True)}
    assert squares["ann: 1", "1"] > 0.7
    assert squares["eve: 1", "0"] > 0.7


def test_errors_against_gold_need_one_scale_in_every_command(study: dict[str, str]) -> None:
    files, gold = [study["a.run"], study["b.run"]], ["--gold", study["yes-or-no.csv"]]
    for words in (
        ["judges", "confusion", study["labels.csv"]],
        ["judges", "gold", study["labels.csv"]],
        ["judges", study["labels.csv"]],
        ["correct", study["labels.csv"], *files],
    ):
        done = karat(*words, *gold)
        assert done.returncode == 2, words
        assert "the gold labels: expected labels on the judges' scale (0 to 2), found only 0 and 1" in done.stderr
        assert "karat convert --map" in done.stderr
    named = karat("judges", "confusion", study["labels.csv"], *gold, "--scale", "0..2")
    assert named.returncode == 0, named.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--depth", "3"], "--depth would do nothing"),
        (["--out", "labels.csv"], "--out: expected a file that is not read"),
        (["--plot", "gold.csv"], "--plot: expected a file that is not read"),
    ],
)
def test_what_would_do_nothing_or_harm_is_refused(study: dict[str, str], words: list[str], said: str) -> None:
    typed = [study.get(word, word) for word in words]
    done = karat("judges", "confusion", study["labels.csv"], "--gold", study["gold.csv"], *typed)
    assert done.returncode == 2
    assert said in done.stderr
