"""A judge is asked in one way: changed guidelines, scale or prompt make another judge, never a silent mixture."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("httpx2", reason="the extra http is not installed")

import hostile_server as hostile
import karat as kt
import vendor_replies as replies
from commands import karat
from karat.judges.agreement import agreement

STUDY = """
id = "versions"
title = "Versions"
guidelines = "Be kind."
[scale]
levels = [{ grade = 0, name = "no", definition = "useless" }, { grade = 1, name = "yes" }, { grade = 2, name = "very" }]
[[aspects]]
name = "fresh"
definition = "not known before"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of twelve documents, of which four are tasks at first."""
    folder = tmp_path / "study"
    (folder / "runs").mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY)
    (folder / "queries.csv").write_text("query,text\nq,hooves\n")
    rows = [{"doc": f"d{n}", "text": f"Text number {n}."} for n in range(12)]
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with_tasks(folder, 4)
    for name, order in (("a", 1), ("b", -1)):
        lines = [f"q Q0 d{n} {rank + 1} {99 - rank} {name}\n" for rank, n in enumerate(range(12)[::order])]
        (folder / "runs" / f"{name}.run").write_text("".join(lines))
    (tmp_path / "mine.txt").write_text("You judge.\n---\n{query} {document}\n{grades}")
    return folder


def with_tasks(folder: Path, number: int) -> None:
    (folder / "tasks.csv").write_text("query,doc\n" + "".join(f"q,d{n}\n" for n in range(number)))


def changed(folder: Path, before: str, after: str) -> None:
    text = (folder / "study.toml").read_text()
    assert before in text
    (folder / "study.toml").write_text(text.replace(before, after))


def labels(folder: Path) -> pl.DataFrame:
    out = folder.parent / "x.csv"
    assert karat("export", str(folder), str(out)).returncode == 0
    return pl.read_csv(out).filter(pl.col("aspect") == "overall")


def grades(call: hostile.Call) -> hostile.Reply:
    return replies.says('{"grade": "1", "fresh": "1"}')(call)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"Be kind."', '"Be strict."'),
        ('"useless"', '"of no use"'),
        ('"very"', '"perfect"'),
        ("not known before", "of this year"),
    ],
)
def test_changed_guidelines_are_refused_under_the_same_name(study: Path, before: str, after: str) -> None:
    with hostile.running(grades) as server:
        words = ["ask", str(study), "--model", "m", "--url", server.url]
        assert karat(*words).returncode == 0
        first = labels(study)
        with_tasks(study, 12)
        changed(study, before, after)
        done = karat(*words)
        assert len(server.calls) == 4
        assert done.returncode == 2
        said = " ".join(done.stderr.split())
        assert "the judge m: expected the prompt, guidelines, scale and options of its 4 labels in the study (" in said
        assert "found changed ones (" in said
        name = said.split("--as ")[1].split()[0]
        assert name.startswith("m-")
        assert labels(study).equals(first)
        # The advice works: another judge labels everything, and each has one version.
        assert karat(*words, "--as", name).returncode == 0
        assert len(server.calls) == 4 + 12
        found = labels(study).group_by("judge").agg(pl.len(), pl.col("prompt").n_unique()).sort("judge")
        assert found.rows() == [("m", 4, 1), (name, 12, 1)]
        changed(study, after, before)
        assert karat(*words).returncode == 0
    assert labels(study).filter(judge="m")["prompt"].n_unique() == 1


@pytest.mark.parametrize("more", [["--prompt", "mine.txt"], ["--reasons"], ["--most-shown", "500"]])
def test_changed_options_are_refused_under_the_same_name(study: Path, more: list[str]) -> None:
    more = [str(study.parent / word) if word.endswith(".txt") else word for word in more]
    with hostile.running(grades) as server:
        words = ["ask", str(study), "--model", "m", "--url", server.url, "--as", "j"]
        assert karat(*words).returncode == 0
        done = karat(*words, *more)
        assert done.returncode == 2
        assert "the judge j: expected the prompt, guidelines, scale and options" in " ".join(done.stderr.split())
        done = karat("ask", str(study), "--model", "other", "--url", server.url, "--as", "j")
        assert done.returncode == 2
        assert "the judge j: expected the model of its 4 labels in the study, m, found other" in " ".join(
            done.stderr.split()
        )
        assert len(server.calls) == 4


def test_what_does_not_shape_the_question_changes_nothing(study: Path) -> None:
    with hostile.running(grades) as server:
        words = ["ask", str(study), "--model", "m", "--url", server.url]
        assert karat(*words).returncode == 0
        changed(study, 'title = "Versions"', 'title = "Other"')
        with_tasks(study, 12)
        more = ("--concurrency", "2", "--price", "1/1", "--budget", "5", "--max-tokens", "300")
        assert karat(*words, *more).returncode == 0
    found = labels(study)
    assert (found.height, found["prompt"].n_unique()) == (12, 1)


def test_an_audit_and_the_study_have_one_version(study: Path) -> None:
    changed(
        study,
        "[[aspects]]",
        '[snippet]\nlevels = [{ grade = 0, name = "skip" }, { grade = 1, name = "open" }]\n[[aspects]]',
    )
    gold = study.parent / "gold.csv"
    gold.write_text("query,doc,label\n" + "".join(f"q,d{n},1\n" for n in range(4)))
    out = study.parent / "audit.csv"
    with hostile.running(grades) as server:
        words = ["ask", str(study), "--model", "m", "--url", server.url]
        assert karat(*words).returncode == 0
        assert karat(*words, "--audit", "--gold", str(gold), "--out", str(out)).returncode == 0
        assert karat(*words).returncode == 0
    of_page = labels(study).filter(surface="page")["prompt"].unique().to_list()
    of_snippet = labels(study).filter(surface="snippet")["prompt"].unique().to_list()
    assert pl.read_csv(out)["prompt"].unique().to_list() == of_page
    assert len(of_page) == len(of_snippet) == 1
    assert of_page != of_snippet


def test_labels_of_unknown_guidelines_are_noted(study: Path) -> None:
    """As an older version left them: beside each label stands the hash of the template alone."""
    from karat.llm.prompt_templates import read_prompt

    with hostile.running(grades) as server:
        words = ["ask", str(study), "--model", "m", "--url", server.url]
        assert karat(*words).returncode == 0
        with closing(sqlite3.connect(study / "karat.db")) as database:
            for (trigger,) in database.execute("select name from sqlite_master where type = 'trigger'").fetchall():
                database.execute(f"drop trigger {trigger}")
            old = read_prompt("grade").mark
            database.execute("update events set more = json_set(more, '$.prompt', ?) where more is not null", [old])
            database.commit()
        with_tasks(study, 12)
        changed(study, '"Be kind."', '"Be strict."')
        done = karat(*words)
        assert done.returncode == 0, done.stderr
        said = " ".join(done.stderr.split())
        assert "4 labels of m in the study came without a hash of guidelines and scale: karat cannot tell" in said
    done = karat("score", str(study), "-m", "nDCG@10")
    said = " ".join((done.stdout + done.stderr).split())
    assert "the 12 labels of m were made with 2 versions of its prompt, guidelines or scale" in said


def rows_of(*prompts: str) -> list[dict[str, object]]:
    return [
        {"query": "q", "doc": f"d{n}", "label": n % 2, "judge": "m", "group": "llm", "prompt": prompt}
        for n, prompt in enumerate(prompts)
    ]


def test_analyses_warn_of_one_judge_with_two_prompts() -> None:
    run = {"q": {f"d{n}": 9.0 - n for n in range(6)}}
    warned = "the 6 labels of m were made with 2 versions of its prompt, guidelines or scale"
    mixed = rows_of("a", "a", "a", "b", "b", "b")
    for notes in (kt.score(mixed, run, "P@5").notes, kt.compare(mixed, {"x": run, "y": run}, "P@5").notes):
        assert any(warned in str(note) for note in notes), notes
    other = [row | {"judge": "n", "label": 1} for row in mixed]
    assert any(warned in str(note) for note in agreement([*mixed, *other]).notes)


@pytest.mark.parametrize("prompts", ["aaaaaa", "abcdef"])
def test_one_prompt_or_a_prompt_for_each_label_is_fine(prompts: str) -> None:
    run = {"q": {f"d{n}": 9.0 - n for n in range(6)}}
    assert not any("versions of its prompt" in str(note) for note in kt.score(rows_of(*prompts), run, "P@5").notes)
