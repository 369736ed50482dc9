"""`karat judges` with the options that Kazai et al. (CIKM 2012) need, on labels small enough to count by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import karat


def written(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("\n".join(lines) + "\n")
    return str(folder / name)


@pytest.fixture
def labels(tmp_path: Path) -> str:
    """Ten queries of four documents: the crowd is right, but rates Wikipedia (WP) one too high, root pages (RU) one too
    low."""
    rows = ["query,doc,label,judge,wikipedia,root_url"]
    for query in range(10):
        for doc, (wiki, root) in enumerate([("WP", "RU"), ("WP", "nRU"), ("nWP", "RU"), ("nWP", "nRU")]):
            true = 1 + query % 2 + (wiki == "WP")
            rows.append(f"q{query},d{doc},{true + (wiki == 'WP') - (root == 'RU')},j{query % 5},{wiki},{root}")
    return written(tmp_path, "crowd.csv", *rows)


@pytest.fixture
def gold(tmp_path: Path) -> str:
    """Gold is one grade higher for Wikipedia pages, and does not care about root pages."""
    rows = [f"q{query},d{doc},{1 + query % 2 + (doc < 2)}" for query in range(10) for doc in range(4)]
    return written(tmp_path, "gold.csv", "query,doc,label", *rows)


def told(*words: str) -> dict[str, Any]:
    done = karat(*words, "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_several_features_stand_in_one_option_with_commas(labels: str, gold: str) -> None:
    asked = ("judges", "gold", labels, "--gold", gold, "--by")
    found = told(*asked, "wikipedia, root_url")
    assert found == told(*asked, "wikipedia", "--by", "root_url")
    over = {(row["feature"], row["value"]): row["over"] for row in found["rows"]}
    assert over["wikipedia", "WP"] == over["root_url", "nRU"] == 0.5
    assert over["wikipedia", "nWP"] == over["root_url", "RU"] == 0.0


def test_a_feature_named_twice_is_refused(labels: str, gold: str) -> None:
    done = karat("judges", "gold", labels, "--gold", gold, "--by", "wikipedia,wikipedia")
    assert (done.returncode, "each column once, found wikipedia 2 times" in done.stderr) == (2, True)


def test_gold_label_and_error_are_regressed_on_the_features(labels: str, gold: str) -> None:
    targets = [word for target in ("gold", "label", "error") for word in ("--target", target)]
    found = told("judges", "gold", labels, "--gold", gold, "--by", "wikipedia,root_url", *targets)
    titles = {"gold": "Regression of gold", "label": "Regression of the label", "error": "Regression of the error"}
    adds = {
        (target, row["term"]): pytest.approx(row["coefficient"])
        for target, title in titles.items()
        for row in found[title]["rows"]
        if row["group"] != "gold"
    }
    # The label is gold and the error; so are their coefficients.
    assert [adds[target, "wikipedia=WP"] for target in titles] == [1, 2, 1]
    assert [adds[target, "root_url=RU"] for target in titles] == [0, -1, -1]
    assert [adds[target, "intercept"] for target in titles] == [1.5, 1.5, 0]


def test_a_target_without_features_is_refused(tmp_path: Path, gold: str) -> None:
    plain = written(tmp_path, "plain.csv", "query,doc,label", *(f"q{query},d1,2" for query in range(10)))
    done = karat("judges", "gold", plain, "--gold", gold, "--target", "label")
    assert (done.returncode, "--target would do nothing" in done.stderr) == (2, True)


@pytest.fixture
def clicked(tmp_path: Path) -> list[str]:
    """Six queries alike: a, b, c and d with 100, 40, 30 and 5 clicks, labelled 2, 1, 1 and 3; a and d of Wikipedia."""
    given = {"a": (100, 2, "WP"), "b": (40, 1, "nWP"), "c": (30, 1, "nWP"), "d": (5, 3, "WP")}
    labels = [f"q{query},{doc},{given[doc][1]},{given[doc][2]}" for query in range(6) for doc in given]
    clicks = [f"q{query},{doc},{given[doc][0]}" for query in range(6) for doc in given]
    return [
        written(tmp_path, "labels.csv", "query,doc,label,wikipedia", *labels),
        *("--clicks", written(tmp_path, "clicks.csv", "query,doc,clicks", *clicks), "--scale", "0..3", "--draws", "0"),
    ]


@pytest.mark.parametrize(
    ("asked", "correct", "incorrect", "insensitive"),
    [
        # Three pairs with gaps of 60, 70 and 10; the median leaves a over b and a over c.
        (("--pairs", "all"), 1, 0, 0),
        (("--pairs", "all", "--least-difference", "10"), 2 / 3, 0, 1 / 3),
        # d joins: over it a, b and c are preferred, and labels say the contrary.
        (("--pairs", "all", "--least-difference", "10", "--min-clicks", "1"), 2 / 6, 3 / 6, 1 / 6),
        (("--pairs", "top-two", "--min-clicks", "1"), 1, 0, 0),
    ],
)
def test_what_counts_as_a_click_preference_is_an_option(
    clicked: list[str], asked: tuple[str, ...], correct: float, incorrect: float, insensitive: float
) -> None:
    (row,) = told("judges", "clicks", *clicked, *asked)["rows"]
    assert [row[name] for name in ("correct", "incorrect", "insensitive")] == [
        pytest.approx(share) for share in (correct, incorrect, insensitive)
    ]


def test_the_most_clicked_by_feature_and_from_a_grade_on(clicked: list[str]) -> None:
    found = told("judges", "clicks", *clicked, "--by", "wikipedia", "--high", "3", "--min-top-clicks", "50")
    rows = {row["value"]: row for row in found["Most clicked by wikipedia"]["rows"]}
    assert [rows["WP"][name] for name in ("p_a", "p_r", "n_queries")] == [0, 0, 6]
    assert rows["nWP"]["n_queries"] == 0
    done = karat("judges", "clicks", *clicked, "--min-top-clicks", "1000")
    assert (done.returncode, "1,000 clicks or more" in done.stderr) == (1, True)


def test_the_value_of_a_feature_stands_in_the_table_that_people_see(clicked: list[str]) -> None:
    done = karat("judges", "clicks", *clicked, "--by", "wikipedia", "--pairs", "all")
    assert [line.split()[2] for line in done.stdout.splitlines() if line.startswith("all ")][:3] == [
        "WP1",
        "WP2",
        "nWP",
    ]


def test_a_least_difference_of_nothing_is_refused(clicked: list[str]) -> None:
    done = karat("judges", "clicks", *clicked, "--least-difference", "0")
    assert (done.returncode, "expected a number above 0" in done.stderr) == (2, True)


@pytest.mark.parametrize("model", ["dawid-skene", "one-coin", "ordinal"])
def test_labels_and_confusions_of_an_error_model_are_written(model: str, tmp_path: Path) -> None:
    # Gold tells the grade of every document: ann is right, bob says 1 to each of four documents of grade 0, too.
    rows = [
        f"q{doc % 2},d{doc},{label},{judge}" for doc in range(8) for judge, label in (("ann", doc // 4), ("bob", 1))
    ]
    labels = written(tmp_path, "labels.csv", "query,doc,label,judge", *rows)
    gold = written(tmp_path, "gold.csv", "query,doc,label", *(f"q{doc % 2},d{doc},{doc // 4}" for doc in range(8)))
    out = tmp_path / "made.csv"
    done = karat("judges", "labels", labels, "--gold", gold, "--error-model", model, "--out", str(out))
    assert done.returncode == 0, done.stderr
    lines = [line.split(",") for line in out.read_text().splitlines()]
    assert lines[0] == ["query", "doc", "label", "expected", "p_0", "p_1", "n", "known"]
    assert {line[1]: float(line[2]) for line in lines[1:]} == {f"d{doc}": doc // 4 for doc in range(8)}
    confusions = [line.split(",") for line in (tmp_path / "made-confusions.csv").read_text().splitlines()]
    assert confusions[0] == ["judge", "truth", "label", "probability", "n"]
    counts = {(judge, float(truth), float(label)): float(n) for judge, truth, label, _, n in confusions[1:]}
    assert [counts["bob", 0, 1], counts["bob", 0, 0], counts["ann", 0, 0]] == [4, 0, 4]
    # What was written is what karat score reads.
    run = written(tmp_path, "a.run", *(f"q{doc % 2} Q0 d{doc} {doc + 1} {9 - doc} a" for doc in range(8)))
    assert told("score", str(out), run, "-m", "P@4", "--draws", "0")["systems"][0]["scores"]["P@4"]["value"] == 0.5
