"""Some of the queries: --only COLUMN=VALUE, --only FILE; documents' titles beside what moved; what charts show."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from commands import karat
from karat.cli.query_filter import only_of
from karat.comparison import by_group, groups_of, moved
from karat.comparison.query_deltas import moved_table
from karat.records import Documents, Queries
from karat.reports.plots import figure_of
from karat.study import Study

#: 30 queries; b has the relevant document on top in all, a in the last 20 only: P@1 of a is 2/3, of b 1.
QUERIES = [f"q{n:02d}" for n in range(30)]
TEXTS = ["how tall is it", "which one", "red kettle"] * 10


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    rows = {
        "labels.csv": ["query,doc,label", *(f"{q},{d},{int(d == 'rel')}" for q in QUERIES for d in ("rel", "non"))],
        "queries.csv": ["query,text,kind"],
        "ten.csv": ["query", *QUERIES[:10]],
        "documents.csv": ["doc,title,text", f"rel,{'A very long title of a kettle ' * 3},x", "non,,Text instead"],
    }
    for place, query in enumerate(QUERIES):
        rows["queries.csv"].append(f"{query},{TEXTS[place]},{'head' if place < 10 else 'tail'}")
    for name, first in (("a", 10), ("b", 0)):
        rows[f"{name}.run"] = [
            f"{q} Q0 {d} 1 {1 + (d == ('rel' if n >= first else 'non'))} {name}"
            for n, q in enumerate(QUERIES)
            for d in ("rel", "non")
        ]
    for name, lines in rows.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return {name: str(tmp_path / name) for name in rows}


def compared(files: dict[str, str], *more: str) -> dict[str, object]:
    words = ["compare", files["labels.csv"], files["a.run"], files["b.run"], "-m", "P@1", *more, "--json"]
    done = karat(*words)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_verdict_on_some_queries_by_a_column_or_as_a_file_lists_them(files: dict[str, str]) -> None:
    for only in (["--only", "kind=head", "--queries", files["queries.csv"]], ["--only", files["ten.csv"]]):
        found = compared(files, *only)
        assert found["methods"][0]["difference"] == 1.0  # type: ignore[index]
        assert found["methods"][0]["n_queries"] == 10  # type: ignore[index]
        assert found["notes"][0] == f"only 10 queries of 30 with labels: {only[1]}"  # type: ignore[index]
        assert not [note for note in found["notes"] if "without labels" in note]  # type: ignore[attr-defined]


def test_score_takes_the_same_option(files: dict[str, str]) -> None:
    scored = {}
    for value in ("head", "tail", "head,tail"):
        only = ["--only", f"kind={value}", "--queries", files["queries.csv"]]
        done = karat("score", files["labels.csv"], files["a.run"], "-m", "P@1", *only, "--json")
        scored[value] = json.loads(done.stdout)["systems"][0]["scores"]["P@1"]
    assert [scored[value]["value"] for value in scored] == [0.0, 1.0, pytest.approx(2 / 3)]
    assert [scored[value]["n"] for value in scored] == [10, 20, 30]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--queries", "ten.csv"], "for a verdict on the queries of this file alone: --only"),
        (["--only", "kind=hed", "--queries", "queries.csv"], "expected a kind of the queries (head, tail), found hed"),
        (["--only", "kind=head"], "give the queries' table with --queries"),
        (["--documents", "documents.csv"], "documents are read for their titles beside --moved"),
    ],
)
def test_what_cannot_be_is_told_with_the_way_to_it(files: dict[str, str], more: list[str], said: str) -> None:
    done = karat("compare", files["labels.csv"], files["a.run"], files["b.run"], *(files.get(w, w) for w in more))
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_questions_of_any_word_are_a_group_beside_those_of_each() -> None:
    queries = Queries.of({"query": QUERIES, "text": TEXTS})
    sizes = dict(groups_of(queries, "question").group_by("group").len().iter_rows())
    assert sizes == {"how": 10, "which": 10, "no question word": 10, "any question word": 20}
    one_word = Queries.of({"query": ["1", "2"], "text": ["how so", "kettle"]})
    assert groups_of(one_word, "question")["group"].to_list() == ["how", "no question word"]


@pytest.mark.parametrize("texts", [["how so", "which one", "kettle"], ["how so", "how much", "kettle"]])
def test_any_question_is_asked_for_by_any_whether_of_one_word_or_several(texts: list[str]) -> None:
    queries = Queries.of({"query": ["1", "2", "3"], "text": texts})
    study = Study("Q", labels=kt.Judgments.of({query: {"d": 1} for query in "123"}), queries=queries)
    for asked in ("question=any", "question=any question word"):
        kept = only_of(study, asked)[1].queries
        assert kept is not None
        assert kept.sort().to_list() == ["1", "2"]


def test_one_group_alone_is_not_allowed_for_and_the_verdict_is_said_to_be_about_all(files: dict[str, str]) -> None:
    runs = [kt.read_runs(files[name]) for name in ("a.run", "b.run")]
    found = kt.compare(kt.read_judgments(files["labels.csv"]), runs, "P@1")
    groups = pl.DataFrame({"query": QUERIES[10:], "group": ["tail"] * 20})
    told = by_group(found, groups, "kind")
    assert told.finding == "tail does not show a difference between a and b by P@1, the only group by kind."
    assert told.notes[0] == "10 queries without a kind left aside"
    assert told.notes[1].startswith("the verdict over all queries counts them, too")


def test_what_moved_has_titles_and_the_largest_first() -> None:
    labels = {q: {"rel": 3, "fair": 1, "non": 0} for q in "stuvwx"}
    orders = {"rel": ["rel", "fair", "non"], "fair": ["fair", "rel", "non"], "non": ["non", "rel", "fair"]}
    # By DCG@1 with the gains of the labels: rel 3, fair 1, non 0.
    tops = {"s": ("rel", "fair"), "t": ("rel", "non"), "u": ("fair", "non")}
    tops |= {"v": ("fair", "rel"), "w": ("non", "rel"), "x": ("non", "fair")}
    lists = [
        {q: {doc: 3.0 - place for place, doc in enumerate(orders[top[side]])} for q, top in tops.items()}
        for side in (0, 1)
    ]
    runs = {"a": lists[0], "b": lists[1]}
    documents = Documents.of([{"doc": "rel", "title": "Kettle"}, {"doc": "fair", "title": None, "url": "https://k"}])
    found = kt.compare(labels, runs, "DCG@1")
    told = moved(found, labels, runs, number=3, documents=documents)
    assert [one["difference"] for one in told] == [-3.0, -2.0, -1.0, 3.0, 2.0, 1.0]
    titles = {row["doc"]: row["title"] for one in told for row in one["documents"]}
    assert titles == {"rel": "Kettle", "fair": "https://k", "non": None}
    chart = figure_of(moved_table(found, told))
    assert chart.data["row"].to_list() == ["t", "s", "u", "w", "v", "x"]
    assert chart.data["look_at"].to_list() == [False] * 3 + [True] * 3


def test_titles_stand_in_terminal_json_and_report(files: dict[str, str], tmp_path: Path) -> None:
    more = ["--moved", "1", "--documents", files["documents.csv"], "--queries", files["queries.csv"]]
    document = compared(files, *more)
    shown = document["moved"][0]["documents"]  # type: ignore[index]
    assert {row["doc"]: row["title"][:14] for row in shown} == {"rel": "A very long ti", "non": "Text instead"}
    done = karat("compare", files["labels.csv"], files["a.run"], files["b.run"], "-m", "P@1", *more)
    assert "Text instead" in done.stdout
    assert "A very long title" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    words = ["report", files["labels.csv"], files["a.run"], files["b.run"], "-m", "P@1", "--draws", "100"]
    done = karat(*words, "--documents", files["documents.csv"], "-o", str(tmp_path / "r.html"))
    assert done.returncode == 0, done.stderr
    assert "Text instead" in (tmp_path / "r.html").read_text()


def test_the_chart_of_a_comparison_has_its_interval_its_direction_and_a_line_at_zero(
    files: dict[str, str], tmp_path: Path
) -> None:
    run = [files["labels.csv"], files["a.run"], files["b.run"], "-m", "P@1"]
    found = kt.compare(kt.read_judgments(run[0]), [kt.read_runs(path) for path in run[1:3]], "P@1")
    figure = figure_of(found)
    assert figure.title == found.finding.partition(" over ")[0]
    assert figure.title.startswith("b is better than a by P@1: +0.33 (95 % interval ")
    first = figure.spec["layer"][0]
    assert (first["mark"]["type"], figure.spec["datasets"][first["data"]["name"]]) == ("rule", [{"at": 0.0}])
    assert figure.data["pair"].to_list() == ["b less a"]
    more = ["--by", "question", "--queries", files["queries.csv"], "--moved", "2", "--plot", str(tmp_path / "s.svg")]
    done = karat("compare", *run, *more)
    assert done.returncode == 0, done.stderr
    assert "difference in P@1, b less a" in (tmp_path / "s.svg").read_text()
    moved_most = (tmp_path / "s-queries-that-moved.svg").read_text()
    assert "q00" in moved_most
    assert "how tall is it" in moved_most
