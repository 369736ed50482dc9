"""`karat disagree` as people type it."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import polars as pl
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
    ends = {f"{name}_{end}" for name in ("binomial", "experimental") for end in ("low", "high")}
    figures = {"at_least", "of", "level", "binomial", "beta_binomial", "experimental", "n", "n_counted"}
    assert row.keys() == figures | ends
    assert row["binomial"] == pytest.approx(0.75)
    assert row["n"] == 24


def test_the_first_line_is_the_finding(crowd: str) -> None:
    done = karat("disagree", crowd)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("When one user says 1, another says 2 with probability 0.500")
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_conditions_robustness_and_consistency_are_reported(crowd: str) -> None:
    by = json.loads(karat("disagree", "by", crowd, "kind", "--json").stdout)
    assert {row["kind"] for row in by["rows"]} == {"faceted", "ambiguous"}
    robust = json.loads(karat("disagree", "robustness", crowd, "--json").stdout)
    assert [row["measure"] for row in robust["rows"]][:2] == ["AP(rel=2)", "GAP(gains=udm(1/2))"]
    assert all(0 <= row["mean"] <= 1 for row in robust["rows"])
    none = karat("disagree", "consistency", crowd)
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
    for words, column in ((["by", crowd, "kind"], "kind"), (["robustness", crowd], "measure")):
        done = karat("disagree", *words, "--out", str(out))
        assert done.returncode == 0, done.stderr
        assert out.read_text().startswith(column + ",")
        out.unlink()
    lines = Path(crowd).read_text().splitlines()
    both = tmp_path / "both.csv"
    both.write_text(
        "\n".join([lines[0] + ",surface", *(f"{line},{s}" for line in lines[1:] for s in ("snippet", "page"))])
    )
    done = karat(
        "disagree", "combined", str(both), "--parts", "snippet,page", "--top", "2,2", "--of", "3", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("level,snippet,page,weight")
    twice = tmp_path / "twice.csv"
    twice.write_text("\n".join([*lines, *lines[1:]]))
    done = karat("disagree", "consistency", str(twice), "--draws", "0", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "table-consistency.csv").read_text().startswith("kind,level,p,sd")


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
        (["consistency", "--of", "3"], "No such option:? '?--of"),
        (["consistency", "--min-labels", "3"], "No such option:? '?--min-labels"),
        (["robustness", "--at-least", "1"], "No such option:? '?--at-least"),
        (["robustness", "--draws", "100"], "No such option:? '?--draws"),
        (["by", "--zero-lowest"], "No such option:? '?--zero-lowest"),
        (["combined", "--max-labels", "2"], "No such option:? '?--max-labels"),
        (["weights", "--queries", "q.csv"], "No such option:? '?--queries"),
        (["weights", "--zero-lowest"], "--zero-lowest is about the weights that --out writes"),
    ],
)
def test_options_that_would_change_nothing_are_refused(crowd: str, words: list[str], said: str) -> None:
    done = karat("disagree", words[0], crowd, *words[1:])
    assert done.returncode == 2
    assert re.search(said, done.stderr)  # as Click's versions put it


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (["weights", "--top", "9"], "expected a label of these judgments", 2),
        (["weights", "--top", "great"], "expected a level, as a number or a name of --scale", 2),
        (["weights", "--at-least", "4", "--of", "3"], "expected M from 1 to N", 2),
        (["by", "colour"], "list_quality, or top5", 2),
        (["weights", "--min-labels", "9"], "no document has 9 labels", 1),
    ],
)
def test_bad_questions_get_answers_that_help(crowd: str, words: list[str], said: str, code: int) -> None:
    done = karat("disagree", words[0], crowd, *words[1:])
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disagreement")
    assert karat("simulate", "disagreement", "--n-queries", "8", "--n-engines", "6", "--crowd-queries", "12",
                 "--out", str(folder / "study")).returncode == 0  # fmt: skip
    return folder / "study"


def test_gains_are_labels_for_every_command(study: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "weighted.csv")
    words = ["disagree", "gains", str(study / "judgments.csv"), "--parts", "snippet,page", "--top", "3,3"]
    assert karat(*words, "--zero", "page=0", "--draws", "0", "--out", out).returncode == 0
    runs = [str(study / "runs" / name) for name in ("e1.run", "e2.run")]
    for command in (["score", out, *runs, "-m", "nDCG@5"], ["compare", out, *runs, "-m", "nDCG@5"]):
        assert karat(*command).returncode == 0
    refused = karat("disagree", "gains", str(study / "crowd.csv"), "--zero", "page=0")
    assert "--zero would do nothing: it is about combined levels" in refused.stderr


def test_several_files_are_several_groups(study: Path) -> None:
    files = [str(study / name) for name in ("llm.csv", "judgments.csv")]
    done = karat("disagree", "users", *files, "--given", "llm", "--group", "assessor", "--top", "3", "--draws", "0")
    assert done.stdout.startswith("When llm says 2, a user of assessor says 3 or higher with probability 0.")
    assert "in every command: nDCG(gains={0:" in done.stdout
    wrong = karat("disagree", "users", *files, "--given", "gpt")
    assert "expected one of assessor, llm, found gpt" in wrong.stderr


def test_what_a_person_would_say_after_an_llm_is_written_as_labels(study: Path, tmp_path: Path) -> None:
    files, out = [str(study / name) for name in ("llm.csv", "judgments.csv")], str(tmp_path / "weighted.csv")
    asked = ["--given", "llm", "--group", "assessor", "--top", "3", "--draws", "0"]
    found = json.loads(karat("disagree", "users", *files, *asked, "--json").stdout)
    worth = {row["level"]: row["weight"] for row in found["rows"]}
    karat("disagree", "users", *files, *asked, "--out", out)
    said = pl.read_csv(study / "llm.csv").select("query", "doc", grade="label")
    both = pl.read_csv(out).join(said, on=["query", "doc"])
    assert both.height == said.height
    assert all(row["label"] == pytest.approx(worth[row["grade"]]) for row in both.to_dicts())


def test_crossed_conditions_are_shown_with_their_differences(study: Path) -> None:
    done = karat("disagree", "by", str(study / "judgments.csv"), "kind,list_quality", "--draws", "0")
    assert done.returncode == 0, done.stderr
    assert "faceted, with top" in done.stdout
    assert "differences between conditions are clear" in done.stdout


def test_spammers_are_left_out_first_and_both_figures_told(tmp_path: Path) -> None:
    folder = tmp_path / "crowd"
    truth = [(f"q{q}", f"q{q}d{d}", (q + d) % 3) for q in range(12) for d in range(10)]
    rng = random.Random(1)
    lines = [
        f"{query},{doc},{rng.randrange(3) if judge == 'sam' else grade},{judge}"
        for query, doc, grade in truth
        for judge in ("ann", "bob", "cat", "sam")
    ]
    folder.mkdir()
    (folder / "labels.csv").write_text("\n".join(["query,doc,label,judge", *lines]))
    done = karat("disagree", "weights", str(folder / "labels.csv"), "--without-spammers", "--of", "2", "--draws", "0")
    assert "1 judge left out as spammers: sam" in " ".join(done.stdout.split())
    # Without sam the others always agree: another says 2 after 2, and never after 1.
    assert "before" in done.stdout
    assert "when one says 2, 1.000" in done.stdout


def test_the_papers_figures_are_drawn(study: Path, tmp_path: Path) -> None:
    for part, file in (("resampled", "crowd.csv"), ("weights", "crowd.csv"), ("opinions", "judgments.csv")):
        drawn = tmp_path / f"{part}.svg"
        assert karat("disagree", part, str(study / file), "--plot", str(drawn)).returncode == 0
        assert drawn.read_text().startswith("<svg")
    done = karat("disagree", "consistency", str(study / "judgments.csv"), "--draws", "100", "--by", "vertical",
                 "--plot", str(tmp_path / "c.svg"))  # fmt: skip
    assert "Wrote" in done.stderr
    assert "share of draws" in (tmp_path / "c-consistency.svg").read_text()


def test_count_repeats_takes_repeated_labels_for_other_users(tmp_path: Path) -> None:
    # Of a ann says 1 and then 2, bob 1: by the first labels nobody says 2 after 1, by all of them one of two others.
    (tmp_path / "crowd.csv").write_text(
        "query,doc,label,judge\nq,a,1,ann\nq,a,2,ann\nq,a,1,bob\nq,b,2,ann\nq,b,1,bob\n"
    )
    path = str(tmp_path / "crowd.csv")
    once = json.loads(karat("disagree", "weights", path, "--draws", "0", "--json").stdout)
    every = json.loads(karat("disagree", "weights", path, "--draws", "0", "--count-repeats", "--json").stdout)
    # Of b the other label after 1 is 2. A document weighs the share of its labels that are 1.
    assert once["p"]["1"]["value"] == pytest.approx((1 * 0 + 0.5 * 1) / 1.5)
    assert every["p"]["1"]["value"] == pytest.approx((2 / 3 * 1 / 2 + 0.5 * 1) / (2 / 3 + 1 / 2))
    assert any("repeated labels of the same judge count as other users" in note for note in every["notes"])
    for command in (["by", path, "query"], ["resampled", path, "--min-labels", "2"]):
        done = karat("disagree", *command, "--count-repeats", "--json")
        assert any("count as other users" in note for note in json.loads(done.stdout)["notes"]), command


def test_gains_of_a_negative_page_are_zero_with_zero_page_0(tmp_path: Path) -> None:
    # One of two judges calls the page of d1 -2 and that of d2 0; the other gives both the top combination, worth 1.
    rows = ["query,doc,judge,surface,label"]
    for doc, low in (("d1", -2), ("d2", 0), ("d3", 3)):
        rows += [f"q,{doc},ann,snippet,3", f"q,{doc},ann,page,{low}", f"q,{doc},bob,snippet,3", f"q,{doc},bob,page,3"]
    (tmp_path / "labels.csv").write_text("\n".join(rows) + "\n")
    given = ("disagree", "gains", str(tmp_path / "labels.csv"), "--parts", "snippet,page", "--top", "3,3")
    out = str(tmp_path / "weighted.csv")
    assert karat(*given, "--zero", "page=0", "--draws", "0", "--out", out).returncode == 0
    assert pl.read_csv(out).select("doc", "label").rows() == [("d1", 0.5), ("d2", 0.5), ("d3", 1.0)]
