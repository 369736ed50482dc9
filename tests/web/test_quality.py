"""The figures of the dashboard: agreement on first labels, grades given, disagreements, judges, and what is left."""

from __future__ import annotations

import krippendorff
import numpy as np
import polars as pl
import pytest

from karat.formats import read_judgments
from karat.judges import agreement, judge_table
from karat.labels import Panel
from karat.records import Judgments, Scale
from karat.records.study_design import Rules, StudyDesign
from karat.study import answer_tables as read_tables
from karat.study.answers import answer, cant_tell, undo
from karat.study.event_log import Answer
from karat.study.imports import import_records
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.study.tasks import add_tasks
from karat.web.dashboard import overview
from karat.web.quality import agreement_now, disagreements_now, distribution_now, panel_now, quality, split_finding
from karat.web.roster import roster
from simulated import THOROUGH, about, studies


def labels(*rows, rules=None):
    """A panel as the dashboard has it."""
    names = ("query", "doc", "group", "judge", "label")
    said = pl.DataFrame(rows, schema=dict.fromkeys(names[:4], pl.String) | {"label": pl.Float64}, orient="row")
    said = said.with_columns(seconds=10.0, comment=pl.lit(None, pl.String))
    return Panel.of(Judgments(said, (), Scale.parse("0..3"), rules or Rules(labels=2)), apart=("context", "subtopic"))


def with_third(rng, items=400):
    """Two labels of each document, a third where they differ; agreement of the first two is what is wanted."""
    rows = []
    for item in range(items):
        truth = rng.integers(0, 4)
        given = [float(np.clip(round(truth + rng.normal(0, 0.8)), 0, 3)) for _ in range(3)]
        for place, label in enumerate(given[: 2 + (given[0] != given[1])]):
            rows.append((f"q{item % 40}", f"d{item}", "crowd", f"j{(item + place) % 7}", label))
    return labels(*rows)


def test_agreement_is_on_the_first_two_labels_though_thirds_were_asked():
    said = with_third(np.random.default_rng(4))
    found = agreement_now(said)["rows"][0]
    # By hand: two labels of each document are in the order in which they were given.
    two = said.frame.group_by("doc", maintain_order=True).agg(pl.col("label").head(2))
    pairs = np.array(two["label"].to_list()).T
    assert found["labels"] == "first two"
    assert found["alpha"] == pytest.approx(krippendorff.alpha(pairs, level_of_measurement="ordinal"))
    inflated = agreement(said, draws=0).frame.filter(pl.col("labels") == "all")["alpha_ordinal"][0]
    assert found["alpha"] < inflated, "all labels make it look better than it is"
    assert found["alpha_low"] < found["alpha"] < found["alpha_high"]


@pytest.mark.evidence
def test_the_interval_of_agreement_covers_the_truth_of_many_documents():
    rng = np.random.default_rng(9)
    truth = agreement_now(with_third(rng, 20_000 if THOROUGH else 4000))["rows"][0]["alpha"]
    covered, seeds = 0, studies(10, 300)
    for _ in seeds:
        row = agreement_now(with_third(rng, 400))["rows"][0]
        covered += row["alpha_low"] <= truth <= row["alpha_high"]
    assert covered / len(seeds) == about(0.95, len(seeds), off=0.01)


def test_one_label_each_is_no_agreement_and_says_so():
    assert agreement_now(labels(("q", "d", "g", "ann", 1.0)))["rows"] == []
    assert agreement_now(None)["finding"] == "No document has two labels yet."
    assert split_finding(None) == "No document has two labels yet."
    assert split_finding(labels(("q", "d", "g", "ann", 1.0))) == "No document has two labels yet."


def test_groups_are_not_mixed_in_the_first_two():
    said = labels(("q", "d", "a", "ann", 1.0), ("q", "d", "b", "bob", 2.0), ("q", "d", "a", "cem", 1.0))
    assert split_finding(said) == "The labels differ on 0 of 1 document (0 %)."
    third = (("q", "e", "a", "ann", 0.0), ("q", "e", "a", "bob", 1.0), ("q", "e", "a", "cem", 1.0))
    assert split_finding(labels(*third)) == "The first two labels differ on 1 of 1 document (100 %)."


def test_grades_are_counted_by_group_with_cant_tell_apart():
    said = labels(("q", "d", "a", "ann", 1.0), ("q", "e", "a", "ann", None), ("q", "d", "b", "bob", 3.0))
    assert distribution_now(said, Scale.parse("0..3")) == [
        {"group": "a", "counts": [0, 1, 0, 0], "cant_tell": 1, "n": 2},
        {"group": "b", "counts": [0, 0, 0, 1], "cant_tell": 0, "n": 1},
    ]


def test_the_widest_disagreement_comes_first():
    said = labels(
        ("q", "d", "a", "ann", 1.0), ("q", "d", "a", "bob", 2.0),
        ("q", "e", "a", "ann", 0.0), ("q", "e", "a", "bob", 3.0),
        ("q", "f", "a", "ann", 1.0), ("q", "f", "a", "bob", 1.0),
    )  # fmt: skip
    assert [(row["doc"], row["apart"]) for row in disagreements_now(said)] == [("e", 3.0), ("d", 1.0)]


@pytest.fixture
def store():
    study = StudyDesign("s", "S", Scale.parse("0..3"), rules=Rules(labels=2))
    opened = Store.open("sqlite://", study)
    rows = [{"query": f"q{n % 3}", "doc": f"d{n}", "gold": float(n % 4) if n < 4 else None} for n in range(10)]
    add_tasks(opened, pl.DataFrame(rows, infer_schema_length=None))
    yield opened
    opened.close()


def test_what_was_taken_back_is_not_counted_and_cant_tell_is_no_label(store):
    judge, _ = add_judge(store, name="ann")
    for label in (1.0, 2.0):
        task = next_task(store, judge["id"]).task
        answer(store, judge["id"], task["id"], Answer(label=label, seconds=5.0))
    undo(store, judge["id"], task["id"])
    other = next_task(store, judge["id"], besides=[task["given"]]).task
    cant_tell(store, judge["id"], other["id"], Answer(reason="other"))
    panel = panel_now(store)
    assert panel.frame["label"].to_list() == [1.0]
    assert distribution_now(panel, store.scale)[0]["cant_tell"] == 1
    row = roster(store)["rows"][0]
    assert (row["name"], row["answers"], row["cant_tell"]) == ("ann", 1, 0.5)


def test_the_roster_has_everybody_also_those_without_labels(store):
    add_judge(store, name="zoe")
    found = roster(store)
    assert found["finding"] == "No labels yet."
    assert (found["rows"][0]["name"], found["rows"][0]["answers"], found["rows"][0]["agreement"]) == ("zoe", 0, None)


def test_the_roster_knows_gold(store):
    ann, _ = add_judge(store, name="ann")
    for _ in range(10):
        task = next_task(store, ann["id"]).task
        answer(store, ann["id"], task["id"], Answer(label=task["gold"] if task["gold"] is not None else 0.0))
    row = roster(store)["rows"][0]
    assert (row["n_gold"], row["accuracy"]) == (4, 1.0)


def test_thirds_that_are_to_be_expected_count_in_what_is_left(store):
    said = overview(store)
    assert (said["answers"], said["wanted"], said["expected"]) == (0, 20, 20.0)
    people = [add_judge(store, name=name)[0]["id"] for name in ("ann", "bob")]
    for number, judge in enumerate(people):
        for _ in range(4):
            task = next_task(store, judge).task
            answer(store, judge, task["id"], Answer(label=float(number)))
    said = overview(store)
    split = sum(row["wanted"] for row in said["rows"]) - 20
    assert said["answers"] == 8
    assert split >= 1, "some document has two labels that differ"
    # All documents with two labels differ here: every other document is expected to need three.
    assert said["expected"] == pytest.approx(20 + split + (10 - split))


def test_an_empty_study_says_that_there_is_nothing():
    opened = Store.open("sqlite://", StudyDesign("s", "S", Scale.parse("0..3")))
    assert overview(opened)["finding"] == "There are no tasks yet."
    assert roster(opened) == {"finding": "Nobody has been invited yet.", "rows": []}
    opened.close()


def test_the_dashboard_and_the_exported_file_have_the_same_figures(tmp_path):
    """Thirds where two differ, answers of those who cannot tell, and a few grades that are known."""
    design = StudyDesign("s", "S", Scale.parse("0..3"), rules=Rules(labels=2))
    store = Store.open("sqlite://", design)
    rows = [{"query": f"q{n % 8}", "doc": f"d{n}", "gold": float(n % 4) if n < 12 else None} for n in range(64)]
    add_tasks(store, pl.DataFrame(rows, infer_schema_length=None))
    rng = np.random.default_rng(3)
    for name in ("ann", "bob", "cem", "dan", "eve", "fay", "gus"):
        judge, _ = add_judge(store, name=name)
        for place in range(40):
            task = next_task(store, judge["id"]).task
            if task is None:
                break
            truth = int(task["doc"][1:]) % 4
            if place == 7:
                cant_tell(store, judge["id"], task["id"], Answer(reason="other"))
                continue
            label = float(np.clip(round(truth + rng.normal(0, 0.8)), 0, 3))
            answer(store, judge["id"], task["id"], Answer(label=label, seconds=5.0))
    shown = agreement_now(panel_now(store))["rows"][0]
    known = {row["name"]: row for row in roster(store)["rows"]}
    path = tmp_path / "labels.csv"
    read_tables.judgments(store).drop("gold").write_csv(path)
    store.close()
    exported = read_judgments(str(path))
    told = agreement(exported, draws=500).frame.filter(pl.col("labels") == "first two").row(0, named=True)
    assert (shown["labels"], shown["n_pairs"]) == ("first two", told["n_pairs"])
    for mine, theirs in (("alpha", "alpha_ordinal"), ("same", "raw")):
        for end in ("", "_low", "_high"):
            assert shown[f"{mine}{end}"] == pytest.approx(told[f"{theirs}{end}"], abs=1e-12)
    gold = Judgments.of(pl.DataFrame(rows, infer_schema_length=None).rename({"gold": "label"}).drop_nulls("label"))
    for row in judge_table(exported, gold=gold).to_dict()["rows"]:
        for name in ("n", "cant_tell", "agreement", "n_gold", "accuracy", "leniency", "drift", "one_grade"):
            assert known[row["judge"]][name] == pytest.approx(row[name]), name


def test_a_models_labels_beside_peoples_change_no_figure_of_people():
    """It has a row of its own in each: group llm, as karat ask brings it in."""
    store = Store.open("sqlite://", StudyDesign("s", "S", Scale.parse("0..3"), rules=Rules(labels=2)))
    rows = [{"query": f"q{n % 6}", "doc": f"d{n}", "gold": float(n % 4) if n < 12 else None} for n in range(36)]
    add_tasks(store, pl.DataFrame(rows, infer_schema_length=None))
    rng = np.random.default_rng(6)
    for name in ("ann", "bob", "cem"):
        judge, _ = add_judge(store, name=name)
        while (task := next_task(store, judge["id"]).task) is not None:
            label = float(np.clip(round(int(task["doc"][1:]) % 4 + rng.normal(0, 0.8)), 0, 3))
            answer(store, judge["id"], task["id"], Answer(label=label, seconds=5.0))
    before = overview(store), quality(store), roster(store)
    assert before[1]["finding"].startswith("Judges agree with ordinal alpha"), "not judges of judges"
    said = pl.DataFrame({"query": [row["query"] for row in rows], "doc": [row["doc"] for row in rows]})
    said = said.with_columns(label=pl.Series(rng.integers(0, 4, 36)).cast(pl.Float64), judge=pl.lit("m"))
    import_records(store, Judgments(said.with_columns(group=pl.lit("llm"))))
    after = overview(store), quality(store), roster(store)
    store.close()
    for name in ("answers", "wanted", "tasks", "history", "left", "kinds"):
        assert after[0][name] == before[0][name], name
    for name in ("rows", "distribution"):
        assert [row for row in after[1][name] if row["group"] != "llm"] == before[1][name], name
    assert [row["n"] for row in after[1]["distribution"] if row["group"] == "llm"] == [36]
    assert after[1]["disagreements"] == before[1]["disagreements"]
    assert after[1]["split"] == before[1]["split"]
    assert [row for row in after[2]["rows"] if row["group"] != "llm"] == before[2]["rows"]
    (model,) = (row for row in after[2]["rows"] if row["group"] == "llm")
    assert (model["name"], model["answers"], model["n_gold"]) == ("m", 36, 12)
