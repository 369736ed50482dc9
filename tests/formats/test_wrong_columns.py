"""Files with other columns than they should have: no names, names of other tools, labels and runs swapped."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import karat as kt

COME_FIRST = "The labels come first, then the runs"


def saved(folder: Path, text: str, name: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def said_of(read: object, path: str) -> str:
    assert callable(read)
    with pytest.raises(kt.BadInput) as error:
        read(path)
    return str(error.value).removeprefix(str(Path(path).parent) + "/")


@pytest.mark.parametrize(
    ("read", "text", "names"),
    [
        (kt.read_judgments, "q01,q01-d1,1\nq01,d2,0\n", "query,doc,label"),
        (kt.read_judgments, "q01;q01-d1;1\nq01;d2;0\n", "query;doc;label"),
        (kt.read_judgments, "q01,1,d1,1\nq01,1,d2,0\n", "query,doc,label"),
        (kt.read_runs, "q01,q01-d1,1\nq01,d2,0\n", "query,doc,score"),
        (kt.read_queries, "1,horse hooves\n", "query,text"),
    ],
)
def test_a_table_without_a_first_line_of_names_is_told_what_to_put_there(
    tmp_path: Path, read: object, text: str, names: str
) -> None:
    said = said_of(read, saved(tmp_path, text, "x.csv"))
    first = text.splitlines()[0]
    assert said == (
        f'x.csv line 1: expected the names of the columns, found none that is known: "{first}"; '
        f"if this is data, put a line of names above it, such as {names}; "
        'if these are names, say which is which: columns={"query": "..."}'
    )


def test_a_comma_separated_file_of_another_ending_is_told_the_same_way_out(tmp_path: Path) -> None:
    said = said_of(kt.read_judgments, saved(tmp_path, "q01,d1,1\nq01,d2,0\n", "labels.txt"))
    assert "line of names above it, such as query,doc,label" in said
    said = said_of(kt.read_runs, saved(tmp_path, "q01,d1,1.5\nq01,d2,0.5\n", "mine.run"))
    assert "line of names above it, such as query,doc,score" in said


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (kt.read_judgments, "topic,document,relevancy\nq,d,1\n", "found topic, document, relevancy (no label)"),
        (kt.read_runs, "topic,document,relevancy\nq,d,1\n", "found topic, document, relevancy;"),
        (
            kt.read_judgments,
            "topic,docno,grade\nq,,1\n",
            "line 2: expected a text as doc (column docno), found nothing",
        ),
        (kt.read_judgments, "topic,docno,grade\nq,d,x\n", "line 2: expected a number as label (column grade), found"),
        (kt.read_runs, "topic,docno,sim\nq,d,x\n", 'line 2: expected a number as score (column sim), found "x"'),
        (kt.read_runs, "topic,docno,sim\nq,d,NaN\n", "line 2: expected a number as score (column sim), found NaN"),
    ],
)
def test_messages_use_the_names_that_stand_in_the_file(tmp_path: Path, read: object, text: str, found: str) -> None:
    assert found in said_of(read, saved(tmp_path, text, "x.csv"))


def test_json_lines_are_not_told_of_a_first_line(tmp_path: Path) -> None:
    said = said_of(kt.read_judgments, saved(tmp_path, '{"a": "q", "b": "d"}\n', "x.jsonl"))
    assert "first line" not in said
    assert said.endswith(
        'found a, b (no query, doc, label); name the columns so, or say which it is: columns={"query": "..."}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "query,doc,label\nq,d,1\n",
        "qid,docid,relevance\nq,d,1\n",
        "query-id,corpus-id,score\nq,d,1\n",
    ],
)
@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_labels_where_a_run_should_be_are_told_from_their_columns(tmp_path: Path, text: str, name: str) -> None:
    path = saved(tmp_path, text, "x.csv")
    if name.endswith("parquet"):
        pl.read_csv(path).write_parquet(tmp_path / name)
    said = said_of(kt.read_runs, str(tmp_path / name))
    assert f"are these labels? {COME_FIRST}" in said


@pytest.mark.parametrize(
    "text", ["query,doc,rank\nq,d,1\n", "query,doc,rank,score\nq,d,1,0.5\n", "system,query,doc,score\nbm25,q,d,0.5\n"]
)
def test_a_run_where_labels_should_be_is_told_from_its_columns(tmp_path: Path, text: str) -> None:
    assert f"is this a run? {COME_FIRST}" in said_of(kt.read_judgments, saved(tmp_path, text, "x.csv"))


def test_preferences_given_as_labels_are_known_as_such(tmp_path: Path) -> None:
    text = "query,left,right,choice,judge\nq1,a,b,left,ann\n"
    said = said_of(kt.read_judgments, saved(tmp_path, text, "x.csv"))
    assert "are these preferences? Give them as preferences=" in said


def test_in_python_the_order_is_told() -> None:
    labels, run = {"query": ["q"], "doc": ["d"], "label": [1]}, {"query": ["q"], "doc": ["d"], "rank": [1]}
    with pytest.raises(kt.BadInput, match="is this a run\\? The labels come first, then the runs"):
        kt.score(pl.DataFrame(run), pl.DataFrame(labels), ["P@1"])
    with pytest.raises(kt.BadInput, match="are these labels\\? The labels come first, then the runs"):
        kt.Runs.of(pl.DataFrame(labels))


def test_scores_alone_may_be_labels(tmp_path: Path) -> None:
    assert kt.read_judgments(saved(tmp_path, "query,doc,score\nq,d,2\n", "x.csv")).frame["label"].to_list() == [2.0]


@pytest.mark.parametrize(
    ("read", "text", "names"),
    [
        (kt.read_runs, "q1 Q0 d1 1 3.5 bm25\nq1 Q0 my doc 2 2.5 bm25\n", "query,doc,score"),
        (kt.read_runs, "q1\tQ0\tmy doc\t1\t3.5\tbm25\n", "query,doc,score"),
        (kt.read_judgments, "q1 0 d1 1\nq1 0 my doc 1\n", "query,doc,label"),
    ],
)
def test_a_space_in_an_id_is_guessed_and_csv_named_as_the_way_out(
    tmp_path: Path, read: object, text: str, names: str
) -> None:
    said = said_of(read, saved(tmp_path, text, "x.txt"))
    assert f"is there a space in an id? Write CSV then, with a first line {names}" in said


def test_a_missing_column_is_guessed_and_csv_named_as_the_way_out(tmp_path: Path) -> None:
    said = said_of(kt.read_judgments, saved(tmp_path, "q1 d1 1\n", "x.qrels"))
    assert "is a column missing? A CSV file with a first line query,doc,label needs no more" in said


@pytest.mark.parametrize(
    ("read", "headers", "name", "slip"),
    [
        (kt.read_judgments, "query,doc,lable", "label", "lable"),
        (kt.read_judgments, "qurey,doc,label", "query", "qurey"),
        (kt.read_runs, "query,doc,scroe", "score", "scroe"),
    ],
)
def test_a_header_with_a_slip_is_told_what_it_may_mean_and_how_to_say_it(
    tmp_path: Path, read: object, headers: str, name: str, slip: str
) -> None:
    path = saved(tmp_path, f"{headers}\nq,d,1\n", "x.csv")
    said = said_of(read, path)
    assert said.endswith(f'did you mean {name} by {slip}? Call it so, or say columns={{"{name}": "{slip}"}}')
    assert callable(read)
    assert len(read(path, columns={name: slip})) == 1


def test_a_slip_in_a_column_that_may_be_absent_is_in_the_note(tmp_path: Path) -> None:
    path = saved(tmp_path, "query,doc,label,probabilty,colour\nq,d,1,0.5,red\n", "gold.csv")
    (note,) = kt.read_judgments(path).notes
    assert note.endswith(
        "kept as they are: probabilty, colour; did you mean probability by probabilty? "
        'Call it so, or say columns={"probability": "probabilty"}'
    )
