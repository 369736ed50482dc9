"""`karat disagree` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import karat


@pytest.fixture
def crowd(tmp_path: Path) -> str:
    documents = {"a": [2, 2, 1], "b": [1, 0, 0], "c": [2, 1, 1]}
    lines = ["query,doc,label,judge,kind"]
    for q in range(6):
        for doc, labels in documents.items():
            lines += [
                f"q{q},{doc},{label},j{n},{'faceted' if q % 2 else 'ambiguous'}" for n, label in enumerate(labels)
            ]
    path = tmp_path / "crowd.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_json_has_the_promised_shape(crowd: str) -> None:
    document = json.loads(karat("disagree", crowd, "--top", "2", "--at-least", "1", "--of", "3", "--json").stdout)
    assert document["top"] == 2
    assert document["p"]["1"].keys() == {"value", "low", "high", "n"}
    # Given 1: a has one of three (others 2 of 2 top), b one (0), c two (1 of 2): (1/3 + 0 + 2/3 * 1/2) / (4/3).
    assert document["p"]["1"]["value"] == pytest.approx(0.5)
    (row,) = [row for row in document["weights"] if row["level"] == 1]
    assert row.keys() == {"at_least", "of", "level", "binomial", "beta_binomial", "experimental", "n", "n_counted"}
    assert row["binomial"] == pytest.approx(0.75)
    assert row["n"] == 24


def test_the_first_line_is_the_finding(crowd: str) -> None:
    done = karat("disagree", crowd)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("When one user says 1, another says 2 with probability 0.500")
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_conditions_robustness_and_consistency_are_reported(crowd: str) -> None:
    by = json.loads(karat("disagree", crowd, "--by", "kind", "--json").stdout)
    assert {row["kind"] for row in by["rows"]} == {"faceted", "ambiguous"}
    robust = json.loads(karat("disagree", crowd, "--robustness", "--json").stdout)
    assert [row["measure"] for row in robust["rows"]][:2] == ["AP(rel=2)", "GAP(gains=udm(1/2))"]
    assert all(0 <= row["mean"] <= 1 for row in robust["rows"])
    none = karat("disagree", crowd, "--consistency")
    assert none.returncode == 1
    assert "no judge judged a document twice" in none.stderr


def test_weights_go_from_a_file_into_a_score(crowd: str, tmp_path: Path) -> None:
    weights = str(tmp_path / "weights.csv")
    karat("disagree", crowd, "--of", "3", "--out", weights, "--zero-lowest")
    (tmp_path / "r.run").write_text("".join(f"q{q} Q0 {d} 1 {s} t\n" for q in range(6) for s, d in enumerate("abc")))
    asked = ["score", crowd, str(tmp_path / "r.run"), "-m", "nDCG(gains=udm(1/3,zero=True))@3", "--json"]
    from_file = json.loads(karat(*asked, "--weights", weights).stdout)
    estimated = json.loads(karat(*asked).stdout)
    name = "nDCG(gains=udm(1/3,zero=True))@3"
    values = [d["systems"][0]["scores"][name]["value"] for d in (from_file, estimated)]
    assert values[0] == pytest.approx(values[1])
    missing = karat("score", crowd, str(tmp_path / "r.run"), "-m", "nDCG(gains=udm(1/9))@3", "--weights", weights)
    assert missing.returncode == 2
    assert "expected weights for 1 of 9 users, found 1/3, 2/3, 3/3" in missing.stderr


def test_tables_of_other_views_are_written_too(crowd: str, tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    for words, column in ((["--by", "kind"], "kind"), (["--robustness"], "measure")):
        done = karat("disagree", crowd, *words, "--out", str(out))
        assert done.returncode == 0, done.stderr
        assert out.read_text().startswith(column + ",")
        out.unlink()
    lines = Path(crowd).read_text().splitlines()
    both = tmp_path / "both.csv"
    both.write_text(
        "\n".join([lines[0] + ",surface", *(f"{line},{s}" for line in lines[1:] for s in ("snippet", "page"))])
    )
    done = karat("disagree", str(both), "--combine", "snippet,page", "--top", "2,2", "--of", "3", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("level,snippet,page,weight")
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([*lines, *lines[1:]]))
    done = karat("disagree", str(twice), "--consistency", "--draws", "0", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("kind,level,p,sd\n")


def test_levels_are_named_by_the_scale(crowd: str) -> None:
    done = karat("disagree", crowd, "--scale", "Non,Rel,Key")
    assert done.stdout.startswith("When one user says Rel, another says Key with probability 0.500")


def test_weights_up_to_top_score_labels_above_it(crowd: str, tmp_path: Path) -> None:
    weights = str(tmp_path / "weights.csv")
    assert karat("disagree", crowd, "--top", "1", "--of", "3", "--out", weights).returncode == 0
    (tmp_path / "r.run").write_text("".join(f"q{q} Q0 {d} 1 {s} t\n" for q in range(6) for s, d in enumerate("abc")))
    done = karat(
        "score", crowd, str(tmp_path / "r.run"), "-m", "nDCG(gains=udm(1/3))@3", "--weights", weights, "--json"
    )
    assert done.returncode == 0, done.stderr
    notes = json.loads(done.stdout)["notes"]
    assert "18 labels above 1, the top of the user weights: as top" in notes
    assert any("medians of several" in note for note in notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--consistency", "--of", "3"], "--of says nothing with --consistency"),
        (["--consistency", "--min-labels", "3"], "--min-labels says nothing with --consistency"),
        (["--robustness", "--at-least", "1"], "--at-least says nothing with --robustness"),
        (["--robustness", "--draws", "100"], "--draws says nothing with --robustness"),
        (["--by", "kind", "--zero-lowest"], "--zero-lowest says nothing with --by"),
        (["--combine", "a,b", "--most-labels", "2"], "--most-labels says nothing with --combine"),
        (["--combine", "a,b", "--by", "kind"], "--combine stands alone"),
        (["--by", "kind", "--robustness", "--out", "x.csv"], "--out writes one table"),
        (["--queries", "q.csv"], "--queries says nothing without --by"),
        (["--zero-lowest"], "--zero-lowest is about the weights that --out writes"),
    ],
)
def test_options_that_would_change_nothing_are_refused(crowd: str, words: list[str], said: str) -> None:
    done = karat("disagree", crowd, *words)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["--top", "9"], "expected a label of these judgments", 2),
        (["--top", "great"], "expected a level, as a number or a name of --scale", 2),
        (["--at-least", "4", "--of", "3"], "expected M from 1 to N", 2),
        (["--by", "colour"], "list_quality, or top5", 2),
        (["--min-labels", "9"], "no document has 9 labels", 1),
    ],
)
def test_bad_questions_get_answers_that_help(crowd: str, words: list[str], said: str, code: int) -> None:
    done = karat("disagree", crowd, *words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
