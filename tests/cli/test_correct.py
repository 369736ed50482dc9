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


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A found a relevant document for 62 of 100 queries by the labels, B for 55 of 100 others; 20 gold labels apart."""
    folder = tmp_path_factory.mktemp("correct")
    labels = [f"a{n},d,{int(n < 62)}" for n in range(100)] + [f"b{n},d,{int(n < 55)}" for n in range(100)]
    # Right on 90 of 100 relevant documents and on 80 of 100 others.
    labels += [f"g{n},d,{int(n < 90)}" for n in range(100)] + [f"h{n},d,{int(n < 20)}" for n in range(100)]
    gold = [f"g{n},d,1" for n in range(100)] + [f"h{n},d,0" for n in range(100)]
    files = {
        "labels.csv": ["query,doc,label", *labels],
        "gold.csv": ["query,doc,label", *gold],
        "a.run": [f"a{n} Q0 d 1 1 a" for n in range(100)],
        "b.run": [f"b{n} Q0 d 1 1 b" for n in range(100)],
        "m.csv": ["grade,0,1", "0,80,20", "1,10,90"],
        "wrong.csv": ["grade,0,1", "0,20,80", "1,90,10"],
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    return {name: str(folder / name) for name in files}


@pytest.mark.parametrize("by", ["--gold gold.csv", "--confusion m.csv", "--relevant 90/100 --nonrelevant 80/100"])
def test_runs_of_queries_of_their_own_are_corrected_by_gold_labels_a_matrix_or_counts(
    study: dict[str, str], by: str
) -> None:
    """d = .7: (.62 - .2) / .7 = .6 and (.55 - .2) / .7 = .5; the variance is that of accuracies shared by both."""
    words = [study.get(word, word) for word in by.split()]
    done = correct(study["labels.csv"], study["a.run"], study["b.run"], "-m", "P@1", *words, "--json", "--draws", "0")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    row = told["methods"][-1]
    assert (row["method"], row["a"], row["b"]) == ("shared", pytest.approx(0.6), pytest.approx(0.5))
    variance = (0.62 * 0.38 + 0.55 * 0.45) / 99 / 0.49 + 0.07**2 * (0.09 + 0.16) / 100 / 0.7**4
    assert row["standard_error"] == pytest.approx(variance**0.5)
    assert (told["verdict"], told["in_common"]) == ("no difference shown", 0)


def test_one_run_and_what_is_printed_of_two(study: dict[str, str]) -> None:
    one = correct(study["labels.csv"], study["a.run"], "-m", "P@1", "--gold", study["gold.csv"])
    assert one.stdout.startswith("Corrected for the judges' errors a has P@1 0.60 (95 % interval 0.4")
    both = correct(study["labels.csv"], study["a.run"], study["b.run"], "-m", "P@1", "--gold", study["gold.csv"])
    assert both.returncode == 0, both.stderr
    said = " ".join(both.stdout.split())
    assert said.startswith("No difference shown between a and b by P@1 once judges' errors are allowed for: -0.10")
    assert "over 100 and 100 queries, none of them the same." in said
    assert "not relevant 0.800" in said
    assert max(map(len, both.stdout.splitlines())) <= 100
    tsv = correct(
        study["labels.csv"], study["a.run"], study["b.run"], "-m", "P@1", "--confusion", study["m.csv"], "--tsv"
    )
    assert [line.split("\t")[0] for line in tsv.stdout.splitlines()] == ["method", "naive", "independent", "shared"]


def test_an_impossible_score_gives_no_verdict_and_exit_code_1(study: dict[str, str]) -> None:
    """Judges who call 55 % of relevant documents relevant and 25 % of others: .62 becomes 1.23."""
    runs = [study["labels.csv"], study["a.run"], study["b.run"], "-m", "P@1"]
    counts = ["--relevant", "55/100", "--nonrelevant", "75/100"]
    for done in (
        correct(*runs, *counts),
        correct("--score", "0.62", "--n-queries", "100", "--score", "0.55", "--n-queries", "100", *counts),
    ):
        assert done.returncode == 1
        assert done.stdout.startswith("Cannot say which is better")
        assert "1.23" in done.stdout
    # A hair above 1 is as impossible: (.87 - .2) / .66 = 1.015.
    done = correct("--score", "0.87", "--n-queries", "90", "--score", "0.5", "--n-queries", "90", *GOOD)
    assert done.returncode == 1
    assert "1.02" in done.stdout


GOOD = ["--relevant", "86/100", "--nonrelevant", "80/100"]


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        ("labels.csv a.run -m P@1", "gold labels, or a confusion matrix", 2),
        ("labels.csv a.run -m P@1 --gold gold.csv --confusion m.csv", "--gold and --confusion both say", 2),
        ("labels.csv a.run -m P@1 --gold gold.csv --score 0.5", "--score would do nothing", 2),
        ("--score 0.5 --n-queries 9 --relevant 9/10 --nonrelevant 9/10 --gold gold.csv", "--gold would do nothing", 2),
        ("--score 0.5 --n-queries 9", "--relevant and --nonrelevant are needed", 2),
        ("", "LABELS and a run are needed, or printed figures", 2),
        ("labels.csv a.run -m P@1 --confusion m.csv --per-run", "accuracies per run: expected gold labels", 2),
        ("labels.csv a.run -m P@1 --confusion m.csv --confusion m.csv", "one, or one for each run", 2),
        ("labels.csv a.run -m AP --gold gold.csv", "a sum over documents", 2),
        ("labels.csv a.run -m P@1 --confusion wrong.csv", "the wrong way round", 1),
        ("labels.csv a.run b.run -m P@1 --gold gold.csv --per-run", "a: no document has both", 1),
        ("labels.csv a.run b.run -m P@1 --confusion labels.csv", "expected a square", 2),
        ("labels.csv -m P@1 --gold gold.csv", "no run to score", 2),
    ],
)
def test_what_files_cannot_tell_is_said(study: dict[str, str], words: str, said: str, code: int) -> None:
    done = correct(*[study.get(word, word) for word in words.split()])
    assert said in done.stderr
    assert done.returncode == code
    assert done.stdout == ""
