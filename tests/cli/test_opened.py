"""Whether a judge opened the page is a fact beside the label: every label of a collected study counts."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.formats import read_judgments
from karat.formats.study_folder import read_study
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.web.quality import panel_now

DOCS = [f"d{number}" for number in range(6)]


def run(*arguments: object) -> Result:
    found = CliRunner().invoke(karat, [str(argument) for argument in arguments])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two queries with six documents each, a run that shows them all."""
    folder = tmp_path / "study"
    run("init", folder, "--empty")
    (folder / "tasks.csv").write_text("query,doc\n" + "".join(f"{q},{doc}\n" for q in "12" for doc in DOCS))
    lines = [f"{q} Q0 {doc} {n + 1} {6 - n} here" for q in "12" for n, doc in enumerate(DOCS)]
    (folder / "here.run").write_text("\n".join(lines) + "\n")
    run("import", folder, folder / "tasks.csv")
    return folder


def judged(folder: Path, names: str = "ab") -> Path:
    """All documents judged by all; page and snippet in turn, each judge the other way round. d0 to d2 are good."""
    store = Store.open(str(folder / "karat.db"), read_study(str(folder)).study)
    for place, name in enumerate(names):
        judge = add_judge(store, name=name)[0]["id"]
        while (turn := next_task(store, judge)).task is not None:
            number = int(turn.task["doc"][1])
            seen = "page" if (number + place) % 2 else "snippet"
            answer(store, judge, turn.task["id"], Answer(label=3.0 if number < 3 else 0.0, surface=seen))
    store.close()
    return folder


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_every_label_of_a_study_scores_whoever_opened_pages(study: Path, ending: str) -> None:
    labels = judged(study) / f"labels.{ending}"
    run("export", study, labels)
    frame = read_judgments(str(labels)).frame
    assert "surface" not in frame.columns
    assert frame.sort("judge", "query", "doc")["opened"].to_list() == 6 * [False, True] + 6 * [True, False]
    said = json.loads(run("score", labels, study / "here.run", "-m", "P@6", "-m", "Judged@6", "--json").stdout)
    assert [score["value"] for score in said["systems"][0]["scores"].values()] == [0.5, 1.0]
    assert "24 labels of 12 documents: the median counts" in said["notes"]
    told = run("judges", "agreement", labels).output
    assert "left aside" not in told
    assert "No pair has two labels" not in told


def test_the_consensus_is_of_all_labels_in_trecs_format_as_well(study: Path) -> None:
    said = run("export", judged(study), study / "qrels.txt", "--consensus").output
    assert "left aside" not in said
    assert len(read_judgments(str(study / "qrels.txt"))) == 12


def test_a_study_with_one_label_each_is_written_as_qrels(study: Path) -> None:
    run("export", judged(study, "a"), study / "qrels.txt")
    assert len(read_judgments(str(study / "qrels.txt"))) == 12


def test_what_was_opened_comes_back_by_import_and_in_the_log(study: Path, tmp_path: Path) -> None:
    run("export", judged(study), tmp_path / "labels.csv")
    run("export", study, tmp_path / "log.csv", "--kind", "log")
    log = pl.read_csv(tmp_path / "log.csv").filter(pl.col("kind") == "answer")
    assert log["opened"].sum() == 12
    other = tmp_path / "other"
    run("init", other, "--empty")
    run("import", other, tmp_path / "labels.csv")
    run("export", other, tmp_path / "again.csv")
    names = ["query", "doc", "judge", "label", "opened"]
    one, two = (pl.read_csv(tmp_path / name).select(names).sort(names) for name in ("labels.csv", "again.csv"))
    assert one.equals(two)


def test_surfaces_of_a_study_that_judged_both_are_kept_and_exported_as_they_came(study: Path, tmp_path: Path) -> None:
    both = tmp_path / "both.csv"
    rows = ["1,d0,3,x,page", "1,d0,0,x,snippet", "1,d1,3,x,page", "1,d1,1,x,snippet"]
    both.write_text("\n".join(["query,doc,label,judge,surface", *rows]) + "\n")
    assert "4 new labels" in run("import", study, both).output
    assert "4 were there already" in run("import", study, both).output
    run("export", judged(study, "a"), tmp_path / "out.csv")
    found = pl.read_csv(tmp_path / "out.csv")
    came = found.filter(pl.col("judge") == "x").select("query", "doc", "label", "judge", "surface")
    assert sorted(f"{q},{d},{n:.0f},{j},{s}" for q, d, n, j, s in came.rows()) == sorted(rows)
    assert found.filter(pl.col("judge") == "a")["surface"].null_count() == 12
    store = Store.open(str(study / "karat.db"), read_study(str(study)).study)
    panel = panel_now(store)
    assert panel is not None
    assert panel.frame.filter(pl.col("judge") == "x")["label"].to_list() == [3.0, 3.0], "of pages"
    store.close()
    kept = run("export", study, tmp_path / "one.csv", "--consensus").output
    assert "2 labels of snippets left aside" in kept
    assert pl.read_csv(tmp_path / "one.csv").height == 12
