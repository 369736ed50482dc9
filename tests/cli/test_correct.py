"""`karat correct` as people type it."""

from __future__ import annotations

import json
import subprocess

import pytest

from commands import karat

A = ["--score", "0.6260", "--sd", "0.414", "--n-queries", "10278"]
B = ["--score", "0.6385", "--sd", "0.402", "--n-queries", "20604"]
GOLD = ["--relevant", "43/59", "--nonrelevant", "67/84"]


def correct(*words: str) -> subprocess.CompletedProcess[str]:
    return karat("correct", *words)


def test_one_score_is_corrected_naive_beside_it() -> None:
    done = correct(*A, *GOLD)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Corrected for the judges' errors the score is 0.80 (95 % interval 0.65 to 1.00)")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[3:7]] == ["naive", "corrected", "closed", "bootstrap"]
    assert max(map(len, lines)) <= 100


def test_two_scores_are_compared_and_the_papers_p_explained() -> None:
    done = correct(*A, *B, *GOLD)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("B is better than A by 0.024")
    p = {words[0]: words[-1] for line in done.stdout.splitlines() if (words := line.split()) and "0." in words[-1]}
    assert (p["naive"], p["independent"], p["shared"]) == ("0.012", "0.854", "0.017")
    assert "independent is the paper's test" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_json_has_the_promised_shape() -> None:
    document = json.loads(correct(*A, *B, *GOLD, "--json").stdout)
    assert {"systems", "methods", "verdict", "method", "notes"} <= document.keys()
    assert [row["method"] for row in document["methods"]] == ["naive", "independent", "shared"]
    for row in document["methods"]:
        assert {"method", "a", "b", "difference", "low", "high", "p", "standard_error"} <= row.keys()
    assert (document["verdict"], document["method"]) == ("better", "shared")
    assert [system["n"] for system in document["systems"]] == [10278, 20604]
    assert document["systems"][0]["corrected"] == pytest.approx(0.8047, abs=5e-5)
    alone = json.loads(correct("--score", "0.5", "--n-queries", "100", *GOLD, "--json", "--draws", "0").stdout)
    assert [row["method"] for row in alone["methods"]] == ["naive", "corrected", "closed form"]


def test_a_second_gold_sample_is_for_the_second_system() -> None:
    document = json.loads(correct(*A, *B, *GOLD, "--relevant", "50/59", "--nonrelevant", "70/84", "--json").stdout)
    assert [row["method"] for row in document["methods"]] == ["naive", "independent"]
    assert document["method"] == "independent"
    assert [of["relevant"]["agreed"] for of in document["accuracies"]] == [43, 50]


def test_on_the_same_queries_the_test_is_sharper() -> None:
    two = [
        "--score",
        "0.61",
        "--sd",
        "0.3",
        "--n-queries",
        "200",
        "--score",
        "0.64",
        "--sd",
        "0.31",
        "--n-queries",
        "200",
        *GOLD,
    ]
    apart, paired = (json.loads(correct(*two, *more, "--json").stdout) for more in ([], ["--sd-difference", "0.18"]))
    assert apart["verdict"] == "no difference shown"
    assert paired["methods"][2]["p"] < apart["methods"][2]["p"]
    assert any("standard deviation of their differences" in note for note in apart["notes"])


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--score", "0.5", "--n-queries", "9", "--relevant", "60/59", "--nonrelevant", "67/84"], "found 60/59", 2),
        (["--score", "0.5", "--n-queries", "9", "--relevant", "0/0", "--nonrelevant", "67/84"], "found 0/0", 2),
        (["--score", "0.5", "--n-queries", "9", "--relevant", "-3/9", "--nonrelevant", "67/84"], "found -3/9", 2),
        (["--score", "0.5", "--n-queries", "9", "--relevant", "most", "--nonrelevant", "67/84"], "give counts", 2),
        (["--score", "1.5", "--n-queries", "9", *GOLD], "a number from 0 to 1", 2),
        (["--score", "nan", "--n-queries", "9", *GOLD], "a number from 0 to 1", 2),
        (["--score", "0.5", "--n-queries", "1", *GOLD], "2 or more, found 1", 2),
        (["--score", "0.5", "--n-queries", "many", *GOLD], "not a valid integer", 2),
        (["--score", "0.5", *GOLD], "--n-queries: expected one for each score (1), found 0", 2),
        ([*A, *A, *A, *GOLD], "expected one score, or two to compare, found 3", 2),
        ([*A, "--score", "0.5", *GOLD], "--n-queries: expected one for each score (2), found 1", 2),
        (
            [*A, "--score", "0.5", "--n-queries", "9", *GOLD],
            "--sd: expected one for each score (2), or none, found 1",
            2,
        ),
        ([*A, *GOLD, "--relevant", "3/4"], "one each, or two each", 2),
        ([*A, *GOLD, *GOLD], "a second --score", 2),
        ([*A, *GOLD, "--sd-difference", "0.1"], "a second --score", 2),
        ([*A, *GOLD, "--level", "95"], "a share such as 0.95", 2),
        ([*A, *GOLD, "--draws", "7"], "100 or more", 2),
        (
            ["--score", "0.5", "--n-queries", "9", "--relevant", "30/60", "--nonrelevant", "42/84"],
            "told from guessing",
            1,
        ),
        (["--score", "0.5", "--n-queries", "9", "--relevant", "1/1", "--nonrelevant", "42/84"], "1 gold label", 1),
    ],
)
def test_what_cannot_be_is_refused_in_plain_words(words: list[str], said: str, code: int) -> None:
    done = correct(*words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_how_much_a_difference_needs_is_said_on_request() -> None:
    words = [*A, *GOLD, "--needed", "0.02"]
    rows = json.loads(correct(*words, "--json").stdout)["needed"]["rows"]
    assert [row["method"] for row in rows] == ["naive", "independent", "shared"]
    # The sd is .414 and judges leave d = .526 of .02: (1.96 + .8416)^2 * 2 * .414^2 / (.02 * .526)^2.
    assert rows[0]["queries"] == pytest.approx(24_273, rel=0.001)
    assert "with the gold labels there are" in " ".join(correct(*words).stdout.split())
