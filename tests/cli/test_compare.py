"""`karat compare` and `karat plan gold` as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.simulate import two_systems


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A judge who is lenient to B, although A is as good; 500 gold labels."""
    folder = tmp_path_factory.mktemp("study")
    made = two_systems(200, judge="lenient", seed=5)
    files = {name: str(folder / name) for name in ("labels.csv", "gold.csv", "A.run", "B.run", "whole.csv")}
    kt.write(made.judgments(), files["labels.csv"])
    kt.write(made.gold(made.draw_gold(500, 3), 500 / len(made.truth)), files["gold.csv"])
    kt.write(made.gold(made.truth >= 0, 1.0), files["whole.csv"])
    for run, name in zip(made.runs(), ("A.run", "B.run"), strict=True):
        kt.write(run, files[name])
    return files


def arguments(study: dict[str, str], *more: str) -> list[str]:
    return ["compare", study["labels.csv"], study["A.run"], study["B.run"], "-m", "P@10", *more]


def test_json_has_the_promised_shape(study: dict[str, str]) -> None:
    done = karat(*arguments(study, "--gold", study["gold.csv"], "--json"))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert {"measure", "systems", "methods", "verdict", "method", "reason", "notes"} <= document.keys()
    assert [row["method"] for row in document["methods"]] == ["plain", "ppi", "inversion", "inversion-independent"]
    row = document["methods"][1]
    assert {"method", "a", "b", "difference", "low", "high", "p", "n_queries", "n_gold"} <= row.keys()
    assert row["difference"] == pytest.approx(row["b"] - row["a"])
    assert (row["n_queries"], row["n_gold"]) == (200, 500)
    assert (document["verdict"], document["method"]) == ("no difference shown", "ppi")


def test_the_sentence_comes_first_and_unfairness_is_said(study: dict[str, str]) -> None:
    done = karat(*arguments(study, "--gold", study["gold.csv"]))
    assert done.stdout.startswith("No difference shown between A and B by P@10:")
    words = " ".join(done.stdout.split())
    assert "the labels call B better" in words
    assert "errors favour B" in words
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_the_methods_are_explained_where_there_are_several(study: dict[str, str]) -> None:
    with_gold = karat(*arguments(study, "--gold", study["gold.csv"])).stdout
    last = " ".join(with_gold.split()).partition("Methods: ")[2]
    assert last.startswith("plain, the labels as they are; ppi, corrected with gold labels; ")
    assert last.endswith("More: docs/compare.md")
    assert "Methods" not in karat(*arguments(study)).stdout


@pytest.mark.parametrize("others", [["p_new"], ["p_new", "score"]])
def test_systems_are_named_as_they_are_given(tmp_path: Path, others: list[str]) -> None:
    queries = [f"q{number}" for number in range(8)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 d {1 + (query < 'q4')}\n" for query in queries))
    for place, system in enumerate(["my_old", *others]):
        rows = "".join(
            f"{query} Q0 {'de'[(number + place) % 2]} 1 1 {system}\n" for number, query in enumerate(queries)
        )
        (tmp_path / f"{system}.run").write_text(rows)
    files = [str(tmp_path / f"{system}.run") for system in ("my_old", *others)]
    said = karat("compare", str(tmp_path / "qrels"), *files, "-m", "P@1").stdout
    assert "my_old" in next(line for line in said.splitlines() if line.startswith("method"))
    assert "my old" not in said


def test_without_gold_the_labels_are_taken_as_they_are(study: dict[str, str]) -> None:
    done = karat(*arguments(study))
    assert done.stdout.startswith("B is better than A by P@10:")
    assert "sign-flip" in done.stdout


def test_what_the_data_cannot_say_ends_with_1_and_bad_input_with_2(study: dict[str, str], tmp_path: Path) -> None:
    done = karat(
        "compare",
        study["labels.csv"],
        study["A.run"],
        study["B.run"],
        "-m",
        "AP",
        "--gold",
        study["gold.csv"],
        "--json",
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "cannot say"
    assert json.loads(done.stdout)["measure"] == "AP"
    assert karat("compare", study["labels.csv"], study["A.run"]).returncode == 2
    assert karat(*arguments(study, "--method", "ppi")).returncode == 2
    wrong = tmp_path / "gold.csv"
    wrong.write_text("query,doc,label,probability\n000001,00000024,1,7\n")
    done = karat(*arguments(study, "--gold", str(wrong)))
    assert done.returncode == 2
    assert "a probability above 0" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_is_drawn_labelled_and_read_back(study: dict[str, str], tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.csv")
    files = [study["labels.csv"], study["A.run"], study["B.run"]]
    done = karat("plan", "gold", *files, "-m", "P@10", "-n", "300", "--out", plan, "--cost-gold", "2")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("300 documents to label out of 2,800 that the systems show")
    assert "cost: 600.00" in done.stdout
    frame = pl.read_csv(plan, schema_overrides={"query": pl.String, "doc": pl.String})
    assert frame.columns == ["query", "doc", "label", "probability", "drawn_for"]
    assert frame.height == 300
    assert frame["probability"].unique().to_list() == pytest.approx([300 / 1600])
    truth = pl.read_csv(study["whole.csv"], schema_overrides={"query": pl.String, "doc": pl.String})
    filled = frame.drop("label").join(truth.select("query", "doc", "label"), on=["query", "doc"])
    filled.write_csv(plan)
    document = json.loads(karat(*arguments(study, "--gold", plan, "--json")).stdout)
    assert document["methods"][1]["n_gold"] == 300
    again = karat("plan", "gold", *files, "-m", "P@10", "-n", "300", "--out", plan)
    assert again.returncode == 2
    assert "one with 300 labels" in again.stderr
    assert karat("plan", "gold", *files, "--out", str(tmp_path / "plan.txt")).returncode == 2
    half = filled.with_columns(pl.when(pl.int_range(pl.len()) % 2 == 0).then("label").alias("label"))
    half.write_csv(plan)
    document = json.loads(karat(*arguments(study, "--gold", plan, "--json")).stdout)
    assert document["methods"][1]["n_gold"] == 150
    assert any("150 drawn documents of 300 without a gold label" in note for note in document["notes"])


def test_whole_queries_are_drawn_for_ndcg(study: dict[str, str], tmp_path: Path) -> None:
    plan = str(tmp_path / "plan.jsonl")
    files = [study["labels.csv"], study["A.run"], study["B.run"]]
    done = karat("plan", "gold", *files, "-m", "nDCG@10", "-n", "300", "--whole-queries", "--out", plan)
    assert done.stdout.startswith("294 documents to label: all that the systems show of 21 queries, drawn from 200.")
    assert karat("plan", "gold", *files, "-m", "AP").returncode == 2
    assert karat("plan", "gold", *files, "-m", "nDCG@10", "-n", "3", "--whole-queries").returncode == 1


def test_labels_may_stand_as_they_are_beside_gold_labels(study: dict[str, str]) -> None:
    """The lenient judge is found out either way; without calibration the interval is the wider."""
    words = arguments(study, "--gold", study["gold.csv"], "--json")
    learned, plain = (json.loads(karat(*words, *more).stdout)["methods"][1] for more in ([], ["--calibrate", "none"]))
    assert plain["method"] == learned["method"] == "ppi"
    assert plain["high"] - plain["low"] > learned["high"] - learned["low"]
    done = karat(*words, "--calibrate", "none", "--calibrate", "column")
    assert done.returncode == 2
    assert "none goes with no column" in done.stderr


def test_a_verdict_for_each_group_of_queries(study: dict[str, str], tmp_path: Path) -> None:
    queries = sorted({line.split()[0] for line in Path(study["A.run"]).read_text().splitlines()})
    rows = [f"{query},{'short' if place % 2 else 'long'}" for place, query in enumerate(queries)]
    (tmp_path / "queries.csv").write_text("\n".join(["query,kind", *rows]) + "\n")
    done = karat(*arguments(study, "--by", "kind", "--queries", str(tmp_path / "queries.csv"), "--json"))
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (groups,) = document["groups"]
    told = {row["group"]: row for row in groups["rows"]}
    assert {name: row["queries"] for name, row in told.items()} == {"short": 100, "long": 100}
    halves = [row["difference"] for row in told.values()]
    assert sum(halves) / 2 == pytest.approx(document["methods"][0]["difference"])
    shown = karat(*arguments(study, "--by", "kind", "--queries", str(tmp_path / "queries.csv"))).stdout
    head = next(line for line in shown.splitlines() if line.startswith("group "))
    assert head.split()[:5] == ["group", "verdict", "queries", "A", "B"]  # by their names, and no gold where none is
    refused = karat(*arguments(study, "--by", "nope"))
    assert refused.returncode == 2
    assert "nope" in refused.stderr


def test_lines_to_cut_up_say_which_other_tables_there_are(study: dict[str, str]) -> None:
    done = karat(*arguments(study, "-m", "RR", "--gold", study["gold.csv"], "--moved", "1", "--tsv"))
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["measure", "P@10", "RR"]
    assert "with --json also: queries that moved, methods" in done.stderr


def test_one_systems_score_is_not_refused_in_words_about_a_comparison(study: dict[str, str], tmp_path: Path) -> None:
    """Gold labels drawn to tell A and B apart do not speak for all that A shows."""
    plan = str(tmp_path / "plan.csv")
    files = [study["labels.csv"], study["A.run"], study["B.run"]]
    karat("plan", "gold", *files, "-m", "P@10", "-n", "300", "--out", plan)
    frame = pl.read_csv(plan, schema_overrides={"query": pl.String, "doc": pl.String}).with_columns(label=pl.lit(1))
    frame.write_csv(plan)
    done = karat("score", study["labels.csv"], study["A.run"], "-m", "P@10", "--gold", plan)
    said = " ".join(done.stdout.split())
    assert "of the 2,000 documents that A shows, they stand for" in said
    assert "compar" not in said
    tsv = karat("score", study["labels.csv"], study["A.run"], "-m", "P@10", "--gold", study["gold.csv"], "--tsv").stdout
    heads, row = (line.split("\t") for line in tsv.splitlines())
    found = dict(zip(heads, row, strict=True))
    assert float(found["low"]) < float(found["value"]) < float(found["high"])
    assert float(found["uncorrected_low"]) < float(found["uncorrected"]) < float(found["uncorrected_high"])


def test_one_run_alone_is_sent_to_karat_score(study: dict[str, str]) -> None:
    done = karat("compare", study["labels.csv"], study["A.run"], "-m", "P@10")
    assert done.returncode == 2
    assert "found one, A; name another run, or score this one with karat score" in done.stderr
