"""`karat context --part labels` tells how well labels in context are predicted, and writes them for `karat score`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

import karat as kt
from karat.cli import karat
from karat.records import Result as Told
from karat.records.number_format import in_words
from karat.simulate.context_study import context_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study")
    study = context_study(seed=1, queries=30)
    kt.write(study.judgments, str(path / "judgments.csv"))
    kt.write(study.documents, str(path / "documents.jsonl"))
    kt.write(study.runs, str(path / "runs.csv"))
    return path


def call(*words: str) -> Result:
    return CliRunner().invoke(karat, list(words), catch_exceptions=False)


def test_labels_in_context_are_written_and_scored_with(folder: Path) -> None:
    out = str(folder / "labels.csv")
    asked = ["context", "labels", str(folder / "judgments.csv"), str(folder / "runs.csv")]
    found = call(*asked, "--draws", "0", "--depth", "5", "--out", out)
    assert found.exit_code == 0
    assert "Wrote" in found.stderr
    labels = kt.read_judgments(out)
    assert {"judged", "predicted"} <= set(labels.frame["source"])
    scored = json.loads(call("score", out, str(folder / "runs.csv"), "-m", "CCG(context=0.5)@5", "--json").stdout)
    direct = kt.score(labels, kt.read_runs(str(folder / "runs.csv")), "CCG(context=0.5)@5")
    assert [system["system"] for system in scored["systems"]] == direct.best_first()


def test_the_report_has_accuracy_and_sources(folder: Path) -> None:
    asked = ["context", "labels", str(folder / "judgments.csv"), str(folder / "runs.csv")]
    said = call(
        *asked, "--draws", "0", "--predictor", "features", "--expected", "--documents", str(folder / "documents.jsonl")
    )
    for words in ("held-out queries", "the grade alone would be right on", "the label in context is judged for"):
        assert words in " ".join(said.output.split())


def test_labels_are_written_for_runs_only_and_into_tables_only(folder: Path) -> None:
    asked = ["context", "labels", str(folder / "judgments.csv")]
    with pytest.raises(kt.BadInput, match="name them after LABELS"):
        call(*asked, "--out", str(folder / "labels.csv"))
    for name in ("labels.qrels", "labels.foo", "labels"):
        with pytest.raises(kt.BadInput, match=r"expected a name that ends in \.csv, \.tsv, \.jsonl or \.parquet"):
            call(*asked, str(folder / "runs.csv"), "--out", str(folder / name))
        assert not (folder / name).exists()


def test_standard_output_gets_the_labels_alone(folder: Path) -> None:
    asked = ["context", "labels", str(folder / "judgments.csv"), str(folder / "runs.csv"), "--out", "-"]
    out = call(*asked).stdout
    assert out.startswith("query,doc,label,context,source\n")
    assert {line.count(",") for line in out.splitlines()} == {4}
    with pytest.raises(kt.BadInput, match="choose one"):
        call(*asked, "--json")


#: Too few judgments in context to learn from, and some after a document that nobody judged alone.
FEW = "query,doc,label,context\nq,a,2,\nq,b,1,\nq,b,0,a\nq,c,1,b\n"
#: No document read before was ever judged alone.
UNKNOWN = "query,doc,label,context\n" + "".join(f"q{n},b,{n % 3},\nq{n},b,{n % 2},a\n" for n in range(30))


@pytest.mark.parametrize("judged", [FEW, UNKNOWN])
def test_where_nothing_can_be_predicted_the_labels_there_are_are_counted(tmp_path: Path, judged: str) -> None:
    (tmp_path / "judged.csv").write_text(judged)
    query = judged.splitlines()[1].partition(",")[0]
    lines = [f"{query} Q0 {doc} {rank} {9 - rank} mine\n" for rank, doc in enumerate("abc", 1)]
    (tmp_path / "my.run").write_text("".join(lines))
    asked = ["context", "labels", str(tmp_path / "judged.csv"), str(tmp_path / "my.run")]
    found = call(*asked, "--out", str(tmp_path / "labels.csv"))
    assert found.exit_code == 0
    said = " ".join(found.stdout.split())
    assert said.startswith(
        "Where labels come from Of 2 documents after another (top 10), the label in context is judged"
    )
    assert "accuracy left out: Labels in context cannot be predicted: " in said
    assert kt.read_judgments(str(tmp_path / "labels.csv")).has("source")
    with pytest.raises(kt.Undefined, match="cannot be predicted"):
        call(*asked[:3])
    whole = json.loads(call("context", *asked[2:], "--json").stdout)
    assert whole["labels"]["finding"].startswith("Of 2 documents after another")


def test_grades_are_shown_by_their_names_where_a_scale_names_them(folder: Path) -> None:
    asked = [
        "context",
        "distribution",
        str(folder / "judgments.csv"),
        "--draws",
        "0",
        "--scale",
        "bad,fair,good,excellent,perfect",
    ]
    heads = [line.split() for line in call(*asked).output.splitlines()]
    assert ["documents", "aspect", "setting", "bad", "fair", "good", "excellent", "perfect"] in heads
    accuracy = Told(pl.DataFrame({"grade": ["all", "0", "1"], "accuracy": [0.6, 0.5, 0.7]}), "")
    assert in_words(accuracy.frame, kt.Scale.parse("bad,fair"))["grade"].to_list() == ["all", "bad", "fair"]
    plain = call(*asked[:-2]).output
    assert "grade 0" in plain
    told = json.loads(call(*asked, "--json").stdout)
    assert told["rows"][0]["grade"] == 0


def test_expected_labels_are_scored_with_the_scale_they_are_on(folder: Path) -> None:
    out, scale = str(folder / "expected.csv"), ["--scale", "bad,fair,good,excellent,perfect"]
    asked = ["context", "labels", str(folder / "judgments.csv"), str(folder / "runs.csv"), "--expected", *scale]
    (folder / "expected.csv").write_text(call(*asked, "--out", "-").stdout)
    found = call("score", out, str(folder / "runs.csv"), "-m", "ERR(context=0.5)@5", "--draws", "0", *scale)
    assert found.exit_code == 0
    said = " ".join(found.output.split())
    assert "between the grades of the scale, made by a model" in said
    assert "% predicted" in said


def test_documents_beside_a_predictor_that_does_not_look_at_them_are_refused(folder: Path) -> None:
    asked = ["context", "labels", str(folder / "judgments.csv"), "--documents", str(folder / "documents.jsonl")]
    with pytest.raises(kt.BadInput, match="--documents would do nothing: the predictor grades looks at the two grades"):
        call(*asked)
