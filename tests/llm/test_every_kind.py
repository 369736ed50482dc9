"""Every kind of task asked of a real model: its answers enter the log as a judge's, and people's tasks stay theirs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import vendor_replies as replies
from commands import karat
from karat.cli.open_study import opened_study
from karat.formats.study_folder import read_study
from karat.llm.answer_store import AnswerStore
from karat.study.people import add_judge
from karat.study.queue import next_task
from karat.study.store import Store
from karat.web.dashboard import overview

STUDY = """
id = "kinds"
title = "Every kind"
[scale]
levels = [{ grade = 0, name = "no" }, { grade = 1, name = "yes" }]
[[aspects]]
name = "fresh"
[overlap]
labels = 1
judges_per_pair = 1
[pairs]
classes = ["topic", "date"]
"""
TASKS = """query,doc,context,left,right,reason,sentence,nugget
q,d0,,,,,,
q,d1,d0,,,,,
q,,,a,b,,,
q,,,,,it is newer,,
q,d0,,,,,The capital is Paris.,
q,d0,,,,,,Paris
"""
#: The pair has two orders, all others one question each.
TO_DO, QUESTIONS = 6, 7


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study with a task of every kind, a document alone and one after another; documents have an aspect."""
    folder = tmp_path / "study"
    (folder / "runs").mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY)
    (folder / "tasks.csv").write_text(TASKS)
    (folder / "queries.csv").write_text("query,text\nq,capital of France\n")
    texts = ["Paris is the capital of France.", "Lyon is a city."]
    rows = [{"doc": f"d{n}", "text": text} for n, text in enumerate(texts)]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "runs" / "a.run").write_text("q Q0 d0 1 2 a\n")
    (folder / "runs" / "b.run").write_text("q Q0 d1 1 2 b\n")
    (tmp_path / "short.txt").write_text("You judge passages.\n---\n{query}\n{context}\n{document}\n")
    return folder


def exported(folder: Path, kind: str) -> pl.DataFrame:
    out = folder.parent / f"{kind}.csv"
    done = karat("export", str(folder), str(out), "--kind", kind)
    return pl.read_csv(out) if done.returncode == 0 else pl.DataFrame()


def open_tasks_of_people(folder: Path) -> int:
    """How many tasks a person is asked who comes now and puts each aside."""
    with opened_study(str(folder), None, load=True) as opened:  # as karat serve opens it
        person = add_judge(opened.store)[0]["id"]
        assert next_task(opened.store, person).task is not None
        state = overview(opened.store)
    tasks = exported(folder, "tasks").filter(pl.col("group") == "judges")
    assert tasks["filled"].sum() == 0
    # Nor does a model that answers all at once make the lead hope.
    assert (state["answers"], state["finished"], state["history"]) == (0, 0, [])
    assert state["forecast"]["text"] == "Too few answers to say when it will be done."
    assert {row["group"] for row in state["rows"]} == {"judges", "llm"}
    return tasks.height


def test_a_real_model_answers_every_kind_of_task(study: Path, language_model: Any) -> None:
    out = study.parent / "llm.csv"
    words = ["ask", str(study), "--model", language_model.model, "--url", f"{language_model.url}/v1"]
    words += ["--prompt", str(study.parent / "short.txt"), "--as", "small", "--max-tokens", "40", "--logprobs"]
    words += ["--concurrency", "1", "--out", str(out)]
    done = karat(*words)
    assert "this is a fault" not in done.stderr
    assert "small answered" in done.stdout, done.stderr
    table = pl.read_csv(out)
    # A schema binds the model: both documents have a grade, and their aspect has one or does not apply.
    overall = table.filter(pl.col("aspect").is_null())
    assert overall.select("doc", "context").rows() == [("d0", None), ("d1", "d0")]
    assert {*overall["label"]} <= {0, 1}
    assert {*overall["outcome"]} <= {"graded", "can't tell"}
    graded = overall.filter(pl.col("outcome") == "graded")
    assert graded.height
    assert graded["expected_grade"].is_between(0, 1).all()
    assert (graded["mass"] <= 1).all()
    # Both orders of the pair were asked, and one choice is in the study: of both, or equal.
    orders = pl.read_csv(out.with_name("llm-preferences.csv")).sort("order")
    assert orders["order"].to_list() == [0, 1]
    one, shown_second = orders["choice"]
    other = {"left": "right", "right": "left"}.get(shown_second, shown_second)
    assert orders["left"].to_list() == orders["right"].to_list()[::-1]
    kept = exported(study, "preferences").filter(pl.col("group") == "llm").sort("order")
    assert kept.select("left", "right", "choice").rows() == orders.select("left", "right", "choice").rows()
    (choice,) = exported(study, "log").filter(pl.col("kind") == "answer").drop_nulls(["choice", "left"])["choice"]
    assert choice == (one if one == other else "equal")
    codes = pl.read_csv(out.with_name("llm-codes.csv"))
    if codes["outcome"][0] == "graded":
        assert {*codes["class"]} <= {"topic", "date"}
        assert exported(study, "codes")["class"].to_list() == codes["class"].to_list()
    said = {"graded", "can't tell"}
    for name, text, choices in (
        ("support", "The capital is Paris.", ("full", "partial", "none", "against")),
        ("nuggets", "Paris", ("full", "partial", "none")),
    ):
        (row,) = pl.read_csv(out.with_name(f"llm-{name}.csv")).iter_rows(named=True)
        assert (row["doc"], row.get("sentence") or row.get("nugget")) == ("d0", text)
        assert row["outcome"] in said, row
        if row["outcome"] == "graded":
            assert row["choice"] in choices
            assert exported(study, name).select("doc", "choice", "judge").rows() == [("d0", row["choice"], "small")]
    labels = exported(study, "judgments")
    assert {*labels["group"]} == {"llm"}
    assert {*labels["judge"]} == {"small"}
    log = exported(study, "log").filter(pl.col("kind").is_in(["answer", "cant_tell"]))
    assert {*log["judge"]} == {"small"}
    assert log.height == TO_DO - (codes["outcome"][0] not in said)
    assert open_tasks_of_people(study) == TO_DO
    # The same command again asks nothing, and a replay writes the same bytes.
    with_store = AnswerStore(study / "llm-answers.db")
    assert len(with_store) == QUESTIONS
    before = out.read_bytes()
    karat(*words)
    assert len(with_store) == QUESTIONS
    with_store.close()
    out.unlink()
    karat(*words, "--replay")
    assert out.read_bytes() == before


def test_a_real_server_that_takes_a_schema_and_ignores_it_invents_no_grade(study: Path, language_model: Any) -> None:
    """llama.cpp's server takes Anthropic's tools and lets the model write what it likes."""
    (study / "tasks.csv").write_text("query,doc,context\nq,d0,\nq,d1,d0\n")
    out = study.parent / "llm.csv"
    words = ["ask", str(study), "--model", language_model.model, "--url", f"{language_model.url}/v1"]
    words += ["--dialect", "anthropic", "--prompt", str(study.parent / "short.txt"), "--max-tokens", "12"]
    done = karat(*words, "--out", str(out), "--concurrency", "1")
    assert done.returncode in (0, 1), done.stderr
    table = pl.read_csv(out)
    store = AnswerStore(study / "llm-answers.db")
    said = [json.loads(one.body) for _, one in store.asked()]
    store.close()
    assert len(said) == 2
    assert {*table["outcome"]} <= {"graded", "can't tell", "cut off", "invalid"}
    wrote = ["".join(block.get("text", "") for block in one["content"]) for one in said]
    grades = table.filter(pl.col("aspect").is_null())["label"].count() if "aspect" in table else table["label"].count()
    # Only a text that names the field may have become a grade.
    assert grades <= sum('"grade"' in text for text in wrote)


def answers(**chosen: Any) -> hostile.Behaviour:
    """An answer in whatever form is asked for: what is named here where it may be said, else the first choice."""

    def value(name: str, what: dict[str, Any]) -> Any:
        many, choices = "items" in what, what.get("items", what).get("enum", [name])
        first = choices[:1] if many else choices[0]
        said = chosen.get(name, first)
        return said if "enum" not in what or said in choices else first

    def text(call: hostile.Call) -> str:
        form = call.body["response_format"]["json_schema"]["schema"]["properties"]
        return json.dumps({name: value(name, what) for name, what in form.items()})

    return replies.says(text)


def test_a_choice_that_turns_with_the_order_is_equal_and_one_that_stays_is_a_choice(study: Path) -> None:
    out = study.parent / "llm.csv"
    base = ["ask", str(study), "--reasons", "--out", str(out)]
    with hostile.running(answers(choice="first", reason="so")) as server:
        assert karat(*base, "--url", server.url, "--model", "turns").returncode == 0
        turned = exported(study, "preferences")["choice"].to_list()
        orders = pl.read_csv(out.with_name("llm-preferences.csv"))
        assert orders.select("order", "choice", "reason").rows() == [(0, "left", "so"), (1, "left", "so")]
        lists = [call.prompt for call in server.calls if "The first list:" in call.prompt]
        assert [text.index("Paris") < text.index("Lyon") for text in lists] in ([True, False], [False, True])
        server.behaviour = lambda call: answers(
            choice="first" if 0 <= call.prompt.find("Paris") < call.prompt.find("Lyon") else "second"
        )(call)
        assert karat(*base, "--url", server.url, "--model", "stays").returncode == 0
    log = exported(study, "log").drop_nulls(["choice", "left"])
    assert turned == ["left", "left"]  # the side shown left, each time
    assert dict(log.select("judge", "choice").rows()) == {"turns": "equal", "stays": "left"}
    # Exported and read in again, the study knows the same.
    shown = ("judge", "left", "right", "choice")
    before, other = exported(study, "preferences"), study.parent / "other"
    assert karat("init", str(other), "--empty").returncode == 0
    done = karat("import", str(other), str(study.parent / "preferences.csv"))
    assert done.returncode == 0, done.stderr
    assert {*exported(other, "preferences").select(shown).rows()} == {*before.select(shown).rows()}
    log = exported(other, "log").drop_nulls("choice")
    assert dict(log.select("judge", "choice").rows())["turns"] == "equal"


def test_whoever_read_several_documents_before_is_shown_as_such(study: Path) -> None:
    (study / "tasks.csv").write_text('query,doc,context\nq,d1,"[""d2"", ""d0""]"\n')
    with (study / "documents.jsonl").open("a") as file:
        file.write('\n{"doc": "d2", "text": "Bonn was a capital."}')
    with hostile.running(answers(grade="1")) as server:
        assert karat("ask", str(study), "--url", server.url, "--model", "m").returncode == 0
        (call,) = server.calls
    assert 0 < call.prompt.index("Bonn") < call.prompt.index("Paris") < call.prompt.index("Lyon")
    assert exported(study, "judgments").row(0, named=True)["context"] == '["d2", "d0"]'


def test_a_task_that_is_to_be_repeated_is_asked_again_and_not_answered_by_the_first_answer(study: Path) -> None:
    (study / "tasks.csv").write_text("query,doc,repeat\nq,d0,\nq,d0,1\n")
    with hostile.running(lambda call: answers(grade="1" if call.body["seed"] else "0")(call)) as server:
        done = karat("ask", str(study), "--url", server.url, "--model", "m")
        assert done.returncode == 0, done.stderr
        assert len(server.calls) == 2
    labels = exported(study, "judgments").filter(pl.col("aspect") == "overall")
    assert labels.select("repeat", "label").sort("repeat").rows() == [(None, 0), (1, 1)]


def test_where_a_study_grades_snippets_first_a_model_grades_both(study: Path) -> None:
    first = '\n[snippet]\nlevels = [{ grade = 0, name = "skip" }, { grade = 1, name = "open" }]\n'
    (study / "study.toml").write_text(STUDY + first)
    (study / "tasks.csv").write_text("query,doc\nq,d0\n")
    out = study.parent / "llm.csv"
    with hostile.running(lambda call: answers(grade="0" if "(skip)" in call.prompt else "1")(call)) as server:
        done = karat("ask", str(study), "--url", server.url, "--model", "m", "--out", str(out))
        assert done.returncode == 0, done.stderr
        snippet, page = sorted(server.calls, key=lambda call: "(skip)" not in call.prompt)
    form = snippet.body["response_format"]["json_schema"]["schema"]["properties"]
    assert form["grade"]["enum"] == ["0", "1"]
    assert "<result " in snippet.prompt
    assert "<document " in page.prompt
    for table in (pl.read_csv(out), exported(study, "judgments")):
        overall = table.filter(pl.col("aspect").fill_null("overall") == "overall")
        assert {*overall.select("surface", "label").rows()} == {("snippet", 0), ("page", 1)}


def test_who_cannot_tell_is_counted_so_in_every_kind(study: Path) -> None:
    unknown = "can't tell"
    with hostile.running(answers(grade=unknown, choice=unknown, classes=[unknown], fresh="not applicable")) as server:
        done = karat("ask", str(study), "--url", server.url, "--model", "m", "--out", str(study.parent / "llm.csv"))
    assert done.returncode == 0, done.stderr
    assert f'm answered 7 of 7 questions, 7 of them "{unknown}".' in done.stdout
    assert Counter(exported(study, "log")["kind"].to_list())["cant_tell"] == TO_DO
    assert exported(study, "judgments")["label"].null_count() == 2
    assert open_tasks_of_people(study) == TO_DO


def test_no_answer_to_any_kind_leaves_the_study_as_it_was(study: Path) -> None:
    out = study.parent / "llm.csv"
    with hostile.running(replies.says("I would rather not")) as server:
        done = karat("ask", str(study), "--url", server.url, "--model", "m", "--out", str(out))
    assert done.returncode == 1
    assert "m answered 0 of 7 questions; no answer: 7 invalid." in done.stdout
    assert (
        "note: invalid, the first of them: expected one JSON object and nothing else, found I would rather not"
        in done.stderr
    )
    assert "2 questions about lists came to no choice" in done.stderr
    assert pl.read_csv(out)["outcome"].to_list() == ["invalid", "invalid"]
    assert exported(study, "people").height == 0


def test_people_keep_their_names(study: Path) -> None:
    store = Store.open(str(study / "karat.db"), read_study(str(study)).study)
    add_judge(store, name="anna")
    store.close()
    with hostile.running(answers()) as server:
        done = karat("ask", str(study), "--url", server.url, "--model", "m", "--as", "anna")
        assert server.calls == []
    assert done.returncode == 2
    assert "the judge anna: expected a name that no judge of another group has" in done.stderr


def test_an_aspect_with_the_name_of_another_field_is_refused(study: Path) -> None:
    (study / "study.toml").write_text(STUDY.replace('"fresh"', '"reason"'))
    with hostile.running(answers()) as server:
        done = karat("ask", str(study), "--url", server.url, "--model", "m")
        assert server.calls == []
    assert done.returncode == 2
    assert "the aspect reason: expected a name that no other part of a model's answer has" in done.stderr
