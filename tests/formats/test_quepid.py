"""Quepid's book (JSON) and basic export (CSV)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from karat.errors import BadInput

BOOK = {
    "name": "Shoes",
    "query_doc_pairs": [
        {
            "query_text": "red shoes",
            "doc_id": 11,
            "position": 1,
            "document_fields": "{}",
            "judgements": [
                {
                    "rating": 3.0,
                    "unrateable": False,
                    "judge_later": False,
                    "user_email": "a@x",
                    "explanation": "yes",
                },
                {
                    "rating": None,
                    "unrateable": True,
                    "judge_later": False,
                    "user_email": "b@x",
                    "explanation": None,
                },
            ],
        },
        {"query_text": "red shoes", "doc_id": "12", "judgements": [{"rating": None, "judge_later": True}]},
    ],
}


def test_a_book_gives_judgments_with_judges_and_says_what_is_open(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text(json.dumps(BOOK))
    judgments = kt.read_judgments(str(path))
    assert judgments.frame.rows() == [
        ("red shoes", "11", 3.0, "a@x", "yes"),
        ("red shoes", "11", None, "b@x", None),
    ]
    assert judgments.notes == (f"{path}: 1 pair not judged yet",)


def test_a_book_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text(json.dumps(BOOK))
    judgments = kt.read_judgments(str(path))
    assert kt.write(judgments, str(tmp_path / "again.json")) == []
    assert kt.read_judgments(str(tmp_path / "again.json")).frame.equals(judgments.frame)


def test_the_basic_export_lists_queries_without_ratings_too(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text('query,docid,rating\n"star wars, new",11,3\nempty one\n')
    judgments = kt.read_judgments(str(path))
    assert judgments.frame.rows() == [("star wars, new", "11", 3.0)]
    assert judgments.notes == (f"{path}: 1 query without a rating",)
    kt.write(judgments, str(tmp_path / "out.csv"), "quepid-csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "query,docid,rating"
    assert kt.read_judgments(str(tmp_path / "out.csv")).frame.equals(judgments.frame)


def test_json_that_is_no_book_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.json"
    path.write_text('{"query_doc_pairs": 3}')
    with pytest.raises(kt.BadInput, match="a Quepid book"):
        kt.read_judgments(str(path))


def test_what_a_format_cannot_hold_is_named(tmp_path: Path) -> None:
    judgments = kt.Judgments.of([{"query": "q", "doc": "d", "label": 1, "judge": "ann", "seconds": 3}])
    assert kt.write(judgments, str(tmp_path / "x.qrels")) == ["trec has no place for judge, seconds: left out"]
    two = kt.Judgments.of([{"query": "q", "doc": "d", "label": n, "judge": f"j{n}"} for n in (0, 1)])
    with pytest.raises(kt.BadInput, match="reduce them first with consensus"):
        kt.write(two, str(tmp_path / "x.qrels"))


@pytest.mark.parametrize("name", ["book.json", "qrels.txt", "basic.csv"])
def test_only_overall_labels_of_documents_read_alone_are_written_and_this_is_said(tmp_path, name):
    rows = [
        {"query": "q", "doc": "d", "label": 3, "aspect": "overall", "context": None},
        {"query": "q", "doc": "d", "label": 2, "aspect": "novelty", "context": None},
        {"query": "q", "doc": "d", "label": None, "aspect": "scope", "context": None},
        {"query": "q", "doc": "d", "label": 0, "aspect": "overall", "context": "e"},
    ]
    judgments = kt.Judgments.of([row | {"judge": "ann"} for row in rows])
    kind = {"book.json": "quepid", "qrels.txt": "trec", "basic.csv": "quepid-csv"}[name]
    said = kt.write(judgments, str(tmp_path / name), kind)
    # In the words that every analysis has for labels that do not count.
    assert "1 label given after another document left aside" in said
    assert "2 labels of single aspects left aside" in said
    assert kt.read_judgments(str(tmp_path / name)).frame["label"].to_list() == [3.0]
    with pytest.raises(BadInput, match="expected some overall labels, found only labels of single aspects"):
        kt.write(kt.Judgments.of(rows[1:2]), str(tmp_path / name), kind)


def test_a_books_csv_has_a_column_for_each_judge(tmp_path: Path) -> None:
    path = tmp_path / "book_7_export.csv"
    path.write_text("query,docid,Ann,GPT judge\nred shoes,11,3.0,2.0\nred shoes,12,,1\nred shoes,13,,\n")
    judgments = kt.read_judgments(str(path))
    assert judgments.frame.rows() == [
        ("red shoes", "11", 3.0, "Ann"),
        ("red shoes", "11", 2.0, "GPT judge"),
        ("red shoes", "12", 1.0, "GPT judge"),
    ]
    assert judgments.notes == (
        f"{path}: a column for each judge, Ann, GPT judge",
        f"{path}: 1 pair not judged yet",
    )


@pytest.mark.parametrize("judge", ["Matt Smith", "Ann", "ann@example.com", "anonymous"])
def test_a_books_csv_may_have_one_judge(tmp_path: Path, judge: str) -> None:
    (tmp_path / "book.csv").write_text(f"query,docid,{judge}\nstar wars,11,3.0\nstar wars,12,\n")
    labels = kt.read_judgments(tmp_path / "book.csv")
    assert labels.frame.select("query", "doc", "label", "judge").rows() == [("star wars", "11", 3.0, judge)]
    assert "1 pair not judged yet" in " ".join(labels.notes)


@pytest.mark.parametrize("name", ["lable", "Relevanse", "position", "price"])
def test_one_more_column_need_not_be_a_judge(tmp_path: Path, name: str) -> None:
    (tmp_path / "book.csv").write_text(f"query,docid,{name}\nstar wars,11,3\n")
    with pytest.raises(kt.BadInput, match=r"\(no label\)"):
        kt.read_judgments(tmp_path / "book.csv")


def test_ratings_of_quepid_for_learning_name_the_document_and_then_the_query(tmp_path: Path) -> None:
    # As show_ltr.txt.erb writes them, and older versions show.txt.erb (app/views/api/v1/export/ratings of o19s/quepid)
    for text in (
        "3 qid:1 # 11 star wars\n\n2 qid:1 # 1892 star wars\n",
        '\n3    qid:1 #    11; "star wars"\n\n2    qid:1 #    1892; "star wars"\n',
    ):
        (tmp_path / "ltr.txt").write_text(text)
        labels = kt.read_judgments(tmp_path / "ltr.txt")
        assert labels.frame.select("query", "doc", "label").rows() == [("1", "11", 3.0), ("1", "1892", 2.0)]
        assert "the first word behind # counts as the document's id" in labels.notes[-1]


def test_a_books_csv_points_at_the_line_of_what_is_no_number(tmp_path: Path) -> None:
    path = tmp_path / "book.csv"
    path.write_text("query,docid,Ann,Bob\nred shoes,11,3,2\nred shoes,12,good,1\n")
    with pytest.raises(BadInput, match='line 3: expected a number as label, found "good"'):
        kt.read_judgments(str(path))


def case(ratings: object) -> dict[str, object]:
    return {"case_name": "Shoes", "queries": [{"query_text": "red shoes", "ratings": ratings}]}


def test_a_case_with_raters_has_a_judge_for_each(tmp_path: Path) -> None:
    given = [
        {"doc_id": "11", "rating": 3, "user_email": "a@x"},
        {"doc_id": "11", "rating": 1, "user_email": "b@x"},
        {"doc_id": 12, "rating": 0, "user_email": "a@x"},
        {"doc_id": "13", "rating": None, "user_email": "a@x"},
    ]
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case(given)))
    assert kt.read_judgments(path).frame.select("query", "doc", "label", "judge").rows() == [
        ("red shoes", "11", 3.0, "a@x"),
        ("red shoes", "11", 1.0, "b@x"),
        ("red shoes", "12", 0.0, "a@x"),
    ]


def test_a_case_with_ratings_of_nobody_in_a_list_has_no_judge(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case([{"doc_id": "11", "rating": 3}, {"doc_id": "12", "rating": 0}])))
    assert kt.read_judgments(path).frame.rows() == [("red shoes", "11", 3.0), ("red shoes", "12", 0.0)]


def test_a_rating_without_a_document_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case([{"rating": 3, "user_email": "a@x"}])))
    with pytest.raises(BadInput, match="a list of doc_id, rating and user_email, found an object with rating"):
        kt.read_judgments(path)
