"""From a model's labels to a verdict: ask, audit, draw gold documents, let people label them, compare, report."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_replies as replies
from commands import karat
from karat.cli.open_study import opened_study
from karat.study import Study
from karat.study.answers import answer
from karat.study.event_log import Answer
from karat.study.people import add_judge
from karat.study.queue import next_task

QUERIES, DOCUMENTS = 16, 8
#: What only an audit tells.
AUDITED = ("same grade when asked again", "raised")
GRADES = [0, 0, 0, 1, 1, 2, 3]


def true_grade(doc: str) -> int:
    """The grade that people give: it stands in the document's name."""
    return int(doc.rsplit("-", 1)[1])


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Two systems, a good one and a bad one; a third of the documents look better than they are."""
    folder, rng = tmp_path / "study", random.Random(1)
    assert karat("init", str(folder), "--empty").returncode == 0
    named = [[f"q{q}-{d}-{rng.choice(GRADES)}" for d in range(DOCUMENTS)] for q in range(QUERIES)]
    looks = {doc: min(3, true_grade(doc) + (rng.random() < 0.35)) for docs in named for doc in docs}
    rows = [{"doc": doc, "text": f"{doc} has merit {grade}."} for doc, grade in looks.items()]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.csv").write_text("query,text\n" + "".join(f"q{q},need {q}\n" for q in range(QUERIES)))
    (folder / "runs").mkdir(exist_ok=True)
    for name, noise in (("good", 1.0), ("bad", 3.0)):
        lines = []
        for q, docs in enumerate(named):
            order = sorted(docs, key=lambda doc: -true_grade(doc) + rng.gauss(0, noise))
            lines += [f"q{q} Q0 {doc} {rank + 1} {100 - rank} {name}" for rank, doc in enumerate(order)]
        (folder / "runs" / f"{name}.run").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def server() -> Iterator[hostile.HostileServer]:
    """A model that takes a document for what it looks like; the model "kind" gives a grade more."""

    def behave(call: hostile.Call) -> hostile.Reply:
        grade = int(call.prompt.split("has merit ")[1][0])
        return replies.graded(min(3, grade + (call.body["model"] == "kind")))(call)

    with hostile.running(behave) as running:
        yield running


def done(*words: object) -> Any:
    """A command that succeeds."""
    found = karat(*map(str, words))
    assert found.returncode == 0, found.stderr
    return found


def compared(*words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done("compare", *words, "-m", "nDCG@10", "--draws", 100, "--json").stdout)
    return found


def filled(plan: Path, judge: str = "anna") -> Path:
    """A plan with the labels that a person gives."""
    rows = pl.read_csv(plan, infer_schema=False)
    labels = [str(true_grade(doc)) for doc in rows["doc"]]
    out = plan.with_name(f"filled-{plan.name}")
    rows.with_columns(label=pl.Series(labels), judge=pl.lit(judge)).write_csv(out)
    return out


def test_a_models_labels_are_put_right_by_the_drawn_labels_of_people(
    study: Path, tmp_path: Path, server: hostile.HostileServer
) -> None:
    done("ask", study, "--model", "m", "--url", server.url, "--out", tmp_path / "llm.csv")
    before = compared(study)
    assert [row["method"] for row in before["methods"]] == ["plain"]
    gold = tmp_path / "gold.csv"
    done("plan", "gold", study, "-n", 60, "--out", gold)
    # The empty plan brings the probabilities; then people label what they are asked, here one drawn document after
    # the other as a filled file.
    done("import", study, gold)
    imported = done("import", study, filled(gold))
    assert "60 new labels" in imported.stderr
    after = compared(study)
    assert {row["method"]: row["n_gold"] for row in after["methods"]} == {"plain": 0, "ppi": 60}
    # The same as with files that never were in a study.
    runs = [study / "runs" / f"{name}.run" for name in ("bad", "good")]
    files = compared(tmp_path / "llm.csv", *runs, "--gold", filled(gold))
    differences = [
        {row["method"]: (row["difference"], row["low"], row["high"]) for row in found["methods"]}
        for found in (after, files)
    ]
    assert differences[0] == differences[1]
    # Nothing of people's is counted as the model's, and nothing is left out.
    loaded = Study.load(study)
    assert loaded.labels is not None
    assert loaded.gold is not None
    assert loaded.labels.frame["group"].unique().to_list() == ["llm"]
    assert loaded.gold.frame["label"].to_list() == [true_grade(doc) for doc in loaded.gold.frame["doc"]]
    assert not [note for note in loaded.notes if "left out" in note]
    assert "corrected with 60 gold labels" in json.loads(
        done("report", study, "-o", tmp_path / "r.html", "--draws", 100, "--json").stdout
    )["reason"]  # fmt: skip
    agreement = json.loads(done("judges", "agreement", study, "--json").stdout)
    assert "llm" in json.dumps(agreement)
    assert "gold" in json.dumps(agreement)
    score = json.loads(done("score", study, "-m", "nDCG@10", "--json").stdout)
    plain = next(row for row in after["methods"] if row["method"] == "plain")
    named = {plain["system_a"]: plain["a"], plain["system_b"]: plain["b"]}
    means = {row["system"]: row["scores"]["nDCG@10"]["value"] for row in score["systems"]}
    assert means == {system: pytest.approx(mean) for system, mean in named.items()}


def test_a_second_round_of_gold_labels_draws_new_documents(
    study: Path, tmp_path: Path, server: hostile.HostileServer
) -> None:
    done("ask", study, "--model", "m", "--url", server.url)
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    done("plan", "gold", study, "-n", 40, "--out", first)
    done("import", study, filled(first))
    said = done("plan", "gold", study, "-n", 20, "--out", second).stdout
    assert "40 have a gold label" in said
    rows = pl.read_csv(second, infer_schema=False)
    assert rows.select("query", "doc").is_unique().all()
    assert rows.height == 60
    assert "20 new labels" in done("import", study, filled(second)).stderr
    assert {row["method"]: row["n_gold"] for row in compared(study)["methods"]}["ppi"] == 60


def test_people_who_label_in_the_app_are_the_gold_of_a_panel_of_two_models(
    study: Path, tmp_path: Path, server: hostile.HostileServer
) -> None:
    asked = done("ask", study, "--model", "m", "--model", "kind", "--url", server.url)
    assert "of kind in the study, group llm" in asked.stdout
    gold = tmp_path / "gold.csv"
    done("plan", "gold", study, "-n", 50, "--out", gold)
    done("import", study, gold)
    drawn = {*pl.read_csv(gold)["doc"]}
    with opened_study(str(study), None, load=True) as opened:  # as karat serve opens it
        (note,) = opened.notes
        person = add_judge(opened.store)[0]["id"]
        said = set()
        while (turn := next_task(opened.store, person)).task is not None:
            doc = turn.task["doc"]
            answer(opened.store, person, turn.task["id"], Answer(label=float(true_grade(doc)), surface="page"))
            said.add(doc)
    # Models filled no slot of people, who are asked about the drawn documents and nothing else.
    assert said == drawn
    assert "note: tasks were imported" in note
    loaded = Study.load(study)
    assert loaded.labels is not None
    assert loaded.gold is not None
    assert sorted(loaded.labels.frame["judge"].unique()) == ["kind", "m"]
    assert {*loaded.gold.frame["doc"]} == drawn
    assert {row["method"]: row["n_gold"] for row in compared(study)["methods"]}["ppi"] == 50


def test_people_and_models_without_a_draw_are_counted_alike_and_this_is_said(
    study: Path, tmp_path: Path, server: hostile.HostileServer
) -> None:
    done("ask", study, "--model", "m", "--url", server.url)
    docs = [(f"q{q}", doc) for q in range(5) for doc in _shown(study, q)[:2]]
    people = tmp_path / "people.csv"
    people.write_text("query,doc,label,judge\n" + "".join(f"{q},{doc},{true_grade(doc)},bob\n" for q, doc in docs))
    done("import", study, people)
    loaded = Study.load(study)
    assert loaded.gold is None
    assert loaded.labels is not None
    assert len(loaded.labels) == QUERIES * DOCUMENTS + 10
    expected = f"10 labels of people and {QUERIES * DOCUMENTS} of language models count alike"
    assert any(note.startswith(expected) for note in loaded.notes)


def test_an_audit_asks_again_alters_and_leaves_the_study_alone(
    study: Path, tmp_path: Path, server: hostile.HostileServer
) -> None:
    words = audited(study, tmp_path / "gold.csv", server.url, tmp_path / "a.csv")
    done(*words)
    rows = pl.read_csv(tmp_path / "a.csv", infer_schema=False)
    plain = rows.filter(pl.col("altered").is_null())
    assert plain["repeat"].value_counts().sort("repeat").rows() == [("0", 100), ("1", 30)]
    kinds = rows.drop_nulls("altered")["altered"].value_counts().sort("altered").rows()
    assert kinds == [("claim", 30), ("orders", 30), ("words", 30)]
    assert {true_grade(doc) for doc in rows.drop_nulls("altered")["altered_from"]} == {0}
    calls = len(server.calls)
    assert calls == 100 + 30 + 90
    done(*words)
    assert len(server.calls) == calls
    # An audit is about the judge: its labels do not enter the study, and stand beside it for the sheet.
    assert "Wrote 0 rows" in done("export", study, tmp_path / "x.csv").stderr


@pytest.mark.thorough
def test_audits_of_two_models_stand_beside_the_study_and_in_its_report(
    study: Path, tmp_path: Path, server: hostile.HostileServer
) -> None:
    gold = tmp_path / "gold.csv"
    words = audited(study, gold, server.url, tmp_path / "a.csv")
    done(*words)
    done(*words[:3], "kind", *words[4:])  # another model's audit leaves that of the first
    assert [*sheets(study, gold)] == ["kind", "m"]
    # Asked for everything, the model's answers count once, and the report has the audit's figures with the study's.
    done("ask", study, "--model", "m", "--url", server.url)
    every = sheets(study, gold)["m"]
    assert every["ordinal alpha with gold"][1] == QUERIES * DOCUMENTS
    assert [every[figure][1] for figure in AUDITED] == [30, 30]
    (study / "gold.csv").write_text(gold.read_text())
    done("report", study, "-o", tmp_path / "r.html", "--draws", 100)
    assert "raised: it gives orders to the judge" in (tmp_path / "r.html").read_text()


def audited(study: Path, gold: Path, url: str, out: Path) -> tuple[object, ...]:
    """The command that audits a model with the true grades as gold labels, which are written."""
    docs = [(f"q{q}", doc) for q in range(QUERIES) for doc in _shown(study, q)]
    gold.write_text("query,doc,label\n" + "".join(f"{q},{doc},{true_grade(doc)}\n" for q, doc in docs))
    return "ask", study, "--model", "m", "--url", url, "--audit", "--gold", gold, "--out", out


def sheets(labels: Path, gold: Path) -> dict[str, dict[str, tuple[float, int]]]:
    """The figures of each judge's sheet, and of how many answers they are."""
    words = ("judges", "llm", labels, "--gold", gold, "--draws", 100, "--json")
    judges = json.loads(done(*words).stdout)["judges"]
    return {one["judge"]: {row["figure"]: (row["value"], row["n"]) for row in one["rows"]} for one in judges}


def _shown(study: Path, query: int) -> list[str]:
    lines = (study / "runs" / "good.run").read_text().splitlines()
    return [line.split()[2] for line in lines if line.startswith(f"q{query} ")]
