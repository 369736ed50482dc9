"""`karat validate`: curves, fitted measures, clicks, ratings, and reasons, from files to text and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.errors import BadInput
from karat.simulate import position_clicks, preference_study


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(karat, ["validate", *map(str, words)], catch_exceptions=False)


def document(*words: str | Path) -> dict[str, Any]:
    found = run(*words, "--json")
    assert found.exit_code == 0, found.output
    read: dict[str, Any] = json.loads(found.stdout)
    return read


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    made = preference_study("RBP(p=0.5)", queries=60, systems=3, pairs_per_query=2, judges=5, seed=1)
    made.preferences.frame.with_columns(reason=pl.lit("more relevant")).write_csv(folder / "preferences.csv")
    made.runs.frame.write_csv(folder / "runs.csv")
    made.judgments.frame.write_csv(folder / "labels.csv")
    shown = (
        made.runs.frame.filter(pl.col("system") == "s1")
        .with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query").cast(pl.Int64))
        .filter(pl.col("rank") <= 10)
        .join(made.judgments.frame, on=["query", "doc"])
        .with_columns(grade=pl.col("label").cast(pl.Int64))
    )
    position_clicks(shown, seed=2).frame.write_csv(folder / "clicks.csv")
    return folder


def files(study: Path) -> list[str | Path]:
    return [study / "labels.csv", study / "runs.csv"]


def test_a_measure_is_fitted_to_preferences(study: Path) -> None:
    words = ["fit", study / "preferences.csv", *files(study), "-m", "RBP(p=0.9)", "--draws", "200"]
    found = document(*words, "--vary", "p=0.3,0.5,0.7,0.9")
    assert found["better"] is True
    assert found["measure"] == "RBP(p=0.5)"
    assert found["rows"][0]["low"] <= 0.5 <= found["rows"][0]["high"]
    assert len(found["tried"]) == 5
    text = run(*words, "--vary", "p").stdout
    assert "better than RBP(p=0.9)" in text.replace("\n  ", " ")
    assert "On queries that were not fitted to" in text
    assert "Missing option '--vary'" in run(*words).output
    with pytest.raises(BadInput, match="NAME=X,Y"):
        run(*words, "--vary", "p=high")


def test_curves_have_every_row_in_json_and_a_summary_in_text(study: Path) -> None:
    words = ["curves", study / "preferences.csv", *files(study), "-m", "CG@5", "DCG@5", "--draws", "200"]
    rows = document(*words, "--condition", "few=0.1", "--condition", "own=users")["rows"]
    assert {row["curve"] for row in rows} == {"ties", "context"}
    assert {row["condition"] for row in rows} == {"-", "few", "own"}
    assert {row["preference"] for row in rows} == {"weak", "strong"}
    assert {row["measure"] for row in rows} == {"CG@5", "DCG@5"}
    text = run(*words).stdout
    assert "agrees best with users' weak preferences" in text.replace("\n  ", " ")
    assert "with --json" in text
    # In a paper the curves are a figure; the table has the ends and the middle, with intervals.
    latex = run(*words, "--condition", "own=users", "--latex").stdout
    rows = [line for line in latex.splitlines() if line.startswith("own & ")]
    assert [row.split(" & ")[1:3] for row in rows] == [[m, p] for m in ("CG@5", "DCG@5") for p in ("weak", "strong")]
    assert all("\\scriptsize $[" in row for row in rows)
    with pytest.raises(BadInput, match="NAME=SHARE"):
        run(*words, "--condition", "few")


def test_clicks_are_compared_with_measures(study: Path) -> None:
    found = document("clicks", study / "clicks.csv", *files(study), "-m", "DCG@5", "--draws", "200")
    assert {row["use"] for row in found["rows"]} == {"click rate", "satisfied rate", "click nDCG"}
    mine = [row for row in found["rows"] if row["system"] == "s1" and row["use"] == "click rate"]
    assert mine[0]["spearman"] > 0.5


def test_ratings_are_compared_with_measures(tmp_path: Path) -> None:
    lists = ["session\tQno\trank\turl"]
    labels, ratings = ["query,doc,label"], ["SessionID\tUser\tJoy"]
    for number in range(12):
        lists += [f"s{number}\t1\t1\td", f"s{number}\t2\t\t"]
        labels.append(f"s{number},d,{number % 4}")
        ratings.append(f"s{number}\tu{number % 6}\t{number % 4}")
    for name, rows in (("lists.tsv", lists), ("labels.csv", labels), ("ratings.tsv", ratings)):
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    words = ["ratings", tmp_path / "ratings.tsv", tmp_path / "labels.csv", tmp_path / "lists.tsv", "--rating", "joy"]
    words += ["-m", "DCG@5", "--aggregate", "max", "--resample", "user", "--draws", "200"]
    found = document(*words)
    assert found["rows"][0]["lists"] == "max"
    assert found["rows"][0]["spearman"] == pytest.approx(1)
    assert "DCG@5" in run(*words).stdout
    assert "Missing argument 'LISTS'" in run(*words[:3]).output


def test_reasons_are_counted_learned_and_written(study: Path, tmp_path: Path) -> None:
    found = document("reasons", study / "preferences.csv")
    assert found["rows"][0]["class"] == "more relevant"
    said = {"number": "gives me heaps", "position": "shows up sooner", "language": "speaks my tongue"}
    rows = ["comment,codes,coder"]
    for number in range(60):
        name = list(said)[number % 3]
        rows += [f"{said[name]} {number},{name},ann", f"{said[name]} {number},{name},bob"]
    (tmp_path / "coded.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "new.csv").write_text("comment\nit shows up sooner\n")
    words = ["reasons", tmp_path / "new.csv", "--coded", tmp_path / "coded.csv", "--draws", "200"]
    text = run(*words, "--out", tmp_path / "suggested.csv").stdout
    assert "better than the rules" in text.replace("\n  ", " ")
    assert pl.read_csv(tmp_path / "suggested.csv")["suggested"].to_list() == ["position"]
