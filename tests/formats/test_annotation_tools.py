"""Results of crowd platforms and annotation tools, as their documentation shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat as kt
from commands import karat

#: Of the batch results that MTurk's requesters download, some of the columns that are the same in all rows left out.
MTURK = """"HITId","HITTypeId","Title","AssignmentId","WorkerId","AssignmentStatus","AcceptTime","SubmitTime",\
"WorkTimeInSeconds","LifetimeApprovalRate","Input.qid","Input.docid","Input.text","Answer.relevance","Approve","Reject"
"3A1","3T","Judge pages","3X1","A1WORKER","Approved","Wed Nov 01 12:00:00 PDT 2023","Wed Nov 01 12:00:42 PDT 2023",\
"42","100% (5/5)","301","d1","words","2","x",""
"3A2","3T","Judge pages","3X2","A2WORKER","Rejected","Wed Nov 01 12:00:00 PDT 2023","Wed Nov 01 12:00:09 PDT 2023",\
"9","50% (1/2)","301","d1","words","0","",""
"3A3","3T","Judge pages","3X3","A2WORKER","Submitted","Wed Nov 01 12:01:00 PDT 2023","Wed Nov 01 12:01:31 PDT 2023",\
"31","100% (5/5)","301","d2","words","1","",""
"""
RADIO = """HITId,AssignmentId,WorkerId,Input.query_id,Input.doc_id,Answer.rel.0,Answer.rel.1,Answer.rel.2
h1,a1,w1,q1,d1,false,false,true
h2,a2,w1,q1,d2,true,false,false
"""
#: What forms of crowd elements answer: radio buttons, a classifier, a slider, each in one cell of JSON.
TASK_ANSWERS = [
    '[{"relevance": {"0": false, "1": false, "2": true}, "why": "on topic"}]',
    '[{"category": {"label": "2"}}]',
    '[{"rel": 2}]',
]
TOLOKA = """INPUT:query_id\tINPUT:docid\tOUTPUT:result\tGOLDEN:result\tHINT:text\tASSIGNMENT:link\t\
ASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:started\tASSIGNMENT:submitted
301\td1\t2\t\t\thttps://toloka\t0001--1\tw1\tAPPROVED\t2021-11-05T10:00:00.000\t2021-11-05T10:02:00.000
301\td2\t0\t\t\thttps://toloka\t0001--2\tw2\tREJECTED\t2021-11-05T10:00:00.000\t2021-11-05T10:02:00.000
301\td3\t1\t2\t\thttps://toloka\t0001--3\tw1\tAPPROVED\t2021-11-05T10:00:00.000\t2021-11-05T10:02:00.000
"""
#: Figure Eight's full report has NAME_gold beside each answer.
APPEN = """_unit_id,_created_at,_golden,_id,_missed,_started_at,_tainted,_channel,_trust,_worker_id,_country,_region,\
_city,_ip,how_relevant,how_relevant_gold,query_id,docno
7,5/21/2015 14:10:30,false,901,,5/21/2015 14:10:00,false,elite,0.9,123,USA,NY,,1.2.3.4,2,,301,d1
7,5/21/2015 14:12:30,false,902,,5/21/2015 14:10:00,true,elite,0.2,124,USA,NY,,1.2.3.4,0,,301,d1
8,5/21/2015 14:13:30,true,903,,5/21/2015 14:10:00,false,elite,0.9,123,USA,NY,,1.2.3.4,1,1,301,d9
"""
PRODIGY = """{"text": "Uber's Lesson", "meta": {"query_id": "301", "docid": "d1"}, "_input_hash": -8, "_task_hash": 2, \
"options": [{"id": "0", "text": "Not"}, {"id": "2", "text": "Highly"}], "accept": ["2"], "answer": "accept", \
"_timestamp": 1690289516, "_annotator_id": "news-ann", "_session_id": "news-ann"}
{"text": "Other", "meta": {"query_id": "301", "docid": "d2"}, "_input_hash": -9, "_task_hash": 3, \
"options": [{"id": "0", "text": "Not"}, {"id": "2", "text": "Highly"}], "accept": [], "answer": "ignore", \
"_timestamp": 1690289517, "_annotator_id": "news-ann", "_session_id": "news-ann"}
"""
BINARY = """{"text": "a", "query_id": "301", "docid": "d1", "label": "RELEVANT", "_task_hash": 2, "answer": "accept"}
{"text": "b", "query_id": "301", "docid": "d2", "label": "RELEVANT", "_task_hash": 4, "answer": "reject"}
"""
DOCCANO = """{"id": 11, "text": "words", "query_id": "301", "docno": "d1", "label": ["2"], "Comments": []}
{"id": 12, "text": "more", "query_id": "301", "docno": "d2", "label": [], "Comments": []}
"""
#: Label Studio's task format, with the fields that its documentation lists.
LABEL_STUDIO = [
    {
        "id": 1,
        "data": {"query_id": "301", "docid": "d1", "text": "words"},
        "annotations": [
            {
                "id": 1001,
                "result": [
                    {"from_name": "rel", "to_name": "text", "type": "choices", "value": {"choices": ["2"]}},
                    {"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": ["on topic"]}},
                ],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2021-03-09T22:16:08.728353Z",
                "lead_time": 4.288,
                "completed_by": {"id": 10, "email": "ann@example.org"},
            },
            {"id": 1002, "result": [], "was_cancelled": True, "lead_time": 1.0, "completed_by": 11},
        ],
        "predictions": [],
    },
    {"id": 2, "data": {"query_id": "301", "docid": "d2", "text": "more"}, "annotations": [], "predictions": []},
]
MIN = [
    {
        "query_id": "301",
        "docid": "d1",
        "id": 1,
        "rel": [{"rating": 2}],
        "annotator": 10,
        "annotation_id": 1001,
        "created_at": "2021-03-09T22:16:08.728353Z",
        "updated_at": "2021-03-09T22:16:08.728378Z",
        "lead_time": 4.288,
    }
]
LS_CSV = """annotation_id,annotator,created_at,docid,id,lead_time,query_id,rel,updated_at
1001,10,2021-03-09T22:16:08.728353Z,d1,1,4.288,301,"[{""rating"": 2}]",2021-03-09T22:16:08.728378Z
"""


def saved(folder: Path, text: str, name: str) -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_results_of_mturk_are_read_by_their_parts(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, MTURK, "Batch_results.csv"))
    assert labels.frame.select("query", "doc", "label", "judge", "seconds").rows() == [
        ("301", "d1", 2.0, "A1WORKER", 42.0),
        ("301", "d2", 1.0, "A2WORKER", 31.0),
    ]
    assert "1 rejected answer left out" in labels.notes[0]
    assert str(labels.frame["time"][0]).startswith("2023-11-01")


def test_radio_buttons_of_mturk_are_one_answer(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, RADIO, "x.csv"))
    assert labels.frame.select("query", "doc", "label").rows() == [("q1", "d1", 2.0), ("q1", "d2", 0.0)]


@pytest.mark.parametrize("answers", TASK_ANSWERS)
def test_a_cell_with_all_answers_of_mturk_is_taken_apart(tmp_path: Path, answers: str) -> None:
    header = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.qid,Input.docid,Answer.taskAnswers,Approve,Reject"
    cell = answers.replace('"', '""')
    labels = kt.read_judgments(saved(tmp_path, f'{header}\nh1,a1,w1,Approved,q1,d1,"{cell}",x,\n', "x.csv"))
    assert labels.frame.select("query", "doc", "label", "judge").rows() == [("q1", "d1", 2.0, "w1")]


def test_two_boxes_ticked_are_no_label(tmp_path: Path) -> None:
    both = TASK_ANSWERS[0].replace("false", "true").replace('"', '""')
    text = f'HITId,AssignmentId,WorkerId,Input.qid,Input.docid,Answer.taskAnswers\nh,a,w,q,d,"{both}"\n'
    with pytest.raises(kt.BadInput, match=r'expected a number as label \(column Answer.relevance\), found "0, 1, 2"'):
        kt.read_judgments(saved(tmp_path, text, "x.csv"))


def test_results_of_toloka_and_appen(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, TOLOKA, "assignments.tsv"))
    assert labels.frame.select("query", "doc", "label", "judge").rows() == [("301", "d1", 2.0, "w1")]
    assert [note.split(": ")[1] for note in labels.notes[:2]] == [
        "1 rejected or unfinished answer left out",
        "1 test question answer left out",  # what has a right answer beside it (GOLDEN:) is a control task
    ]
    labels = kt.read_judgments(saved(tmp_path, APPEN, "full.csv"))
    assert labels.frame.select("query", "doc", "label", "judge", "seconds").rows() == [("301", "d1", 2.0, "123", 30.0)]
    assert [note.split(": ")[1] for note in labels.notes[:2]] == [
        "1 tainted answer left out",
        "1 test question answer left out",
    ]


def test_annotations_of_prodigy(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, PRODIGY, "x.jsonl"))
    assert labels.frame.select("query", "doc", "label", "judge").rows() == [("301", "d1", 2.0, "news-ann")]
    assert "1 ignored answer left out" in labels.notes[0]
    binary = kt.read_judgments(saved(tmp_path, BINARY, "x.jsonl"))
    assert binary.frame.select("doc", "label").rows() == [("d1", 1.0), ("d2", 0.0)]


def test_who_rejects_a_question_of_prodigy_has_chosen_nothing(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, PRODIGY.replace('"accept", "_time', '"reject", "_time'), "x.jsonl"))
    assert labels.frame.select("doc", "label").rows() == [("d1", None)]


def test_annotations_of_doccano(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, DOCCANO, "all.jsonl"))
    assert labels.frame.select("query", "doc", "label").rows() == [("301", "d1", 2.0)]
    assert "1 text without a label" in labels.notes[0]
    # Some versions call the text data: https://github.com/doccano/doccano/issues/1522.
    older = kt.read_judgments(saved(tmp_path, DOCCANO.replace('"text"', '"data"'), "all.jsonl"))
    assert older.frame.select("label", "text").rows() == [(2.0, "words")]


def test_annotations_of_label_studio(tmp_path: Path) -> None:
    labels = kt.read_judgments(saved(tmp_path, json.dumps(LABEL_STUDIO), "export.json"))
    columns = ["query", "doc", "label", "judge", "seconds", "comment"]
    assert labels.frame.select(columns).rows() == [("301", "d1", 2.0, "ann@example.org", 4.288, "on topic")]
    assert [note.split(": ")[1] for note in labels.notes[:2]] == [
        "1 cancelled annotation left out",
        "1 task without an annotation",
    ]
    for text, name in ((json.dumps(MIN), "min.json"), (LS_CSV, "export.csv")):
        labels = kt.read_judgments(saved(tmp_path, text, name))
        assert labels.frame.select(columns[:-1]).rows() == [("301", "d1", 2.0, "10", 4.288)], name


@pytest.mark.parametrize("answer", ['[{"number": 2}]', '[{"taxonomy": [["2"]]}]', '"2"'])
def test_answers_of_label_studio_stand_in_lists_and_objects(tmp_path: Path, answer: str) -> None:
    """As its converter writes them (prettify_result): choices alone stand as they are."""
    cell = answer.strip('"').replace('"', '""')
    for text, name in (
        (json.dumps([{**MIN[0], "rel": json.loads(answer)}]), "min.json"),
        (LS_CSV.replace('[{""rating"": 2}]', cell), "export.csv"),
    ):
        assert kt.read_judgments(saved(tmp_path, text, name)).frame["label"].to_list() == [2.0], name


def test_a_name_says_the_format_and_columns_the_rest(tmp_path: Path) -> None:
    text = MTURK.replace("Answer.relevance", "Answer.choice").replace('"Reject"', '"Reject","Answer.other"')
    path = saved(tmp_path, text.replace('""\n', '"","z"\n'), "x.csv")
    with pytest.raises(kt.BadInput, match=r"\(no label\).*columns=..label"):
        kt.read_judgments(path)
    labels = kt.read_judgments(path, columns="label=Answer.choice", format="mturk")
    assert labels.frame["label"].to_list() == [2.0, 1.0]
    saved(tmp_path, "301 Q0 d1 1 2 a\n", "a.run")
    done = karat(
        "score",
        path,
        str(tmp_path / "a.run"),
        "-m",
        "P@1",
        "--draws",
        "0",
        "--tsv",
        "--from",
        "mturk",
        "--columns",
        "label=Answer.choice",
    )
    assert done.returncode == 0, done.stderr
    assert "1 rejected answer left out" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "format", "said"),
    [
        ("x.csv", "query,doc,label\nq,d,1\n", "mturk", "expected results of mturk with HITId, AssignmentId, WorkerId"),
        ("x.csv", "task,label\nt,1\n", "crowd-kit", "expected task, worker and label, found task, label"),
        ("x.jsonl", '{"text": "a"}\n', "prodigy", "expected Prodigy's answers, found text (no answer)"),
        ("x.jsonl", PRODIGY.replace('"ignore"', '"perhaps"'), None, "line 2: expected accept, reject or ignore"),
        ("x.jsonl", PRODIGY.replace('["2"]', '["0", "2"]'), None, "line 1: expected one option accepted, found 0, 2"),
        ("x.jsonl", DOCCANO.replace('["2"]', '["1", "2"]'), None, "line 1: expected one label, found 1, 2"),
        ("x.jsonl", '{"text": "a", "label": [[0, 3, "PER"]]}\n', None, "expected labels of whole texts"),
        ("x.json", json.dumps(LABEL_STUDIO).replace('["2"]', '["1", "2"]'), None, "expected one answer to rel"),
        (
            "x.json",
            json.dumps([{**MIN[0], "rel": {"choices": ["1", "2"]}}]),
            None,
            "task 1: expected one answer to rel",
        ),
        ("x.json", json.dumps(LABEL_STUDIO).replace('"data"', '"date"'), None, "expected data in task 1, found none"),
        (
            "x.json",
            '[{"annotations": 3, "was_cancelled": 1}]',
            None,
            "expected a list of annotations in task 1, found 3",
        ),
        ("x.csv", APPEN.replace(",docno", ",page"), None, "(no doc)"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, name: str, text: str, format: str | None, said: str) -> None:
    with pytest.raises(kt.BadInput) as error:
        kt.read_judgments(saved(tmp_path, text, name), format=format)
    assert said in str(error.value)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_crowd_kit_reads_what_karat_writes_and_back(tmp_path: Path) -> None:
    import pandas
    from crowdkit.aggregation import MajorityVote

    rows = [
        {"query": "q", "doc": d, "label": v, "judge": w} for d, v, w in [("a", 1, "x"), ("a", 1, "y"), ("b", 0, "x")]
    ]
    labels, path = kt.Judgments.of(rows), str(tmp_path / "answers.csv")
    kt.write(labels, path, "crowd-kit")
    frame = pandas.read_csv(path)
    assert [*frame.columns] == ["task", "worker", "label"]
    assert MajorityVote().fit_predict(frame).to_dict() == {"q\ta": 1, "q\tb": 0}
    assert kt.read_judgments(path).frame.select("query", "doc", "label", "judge").equals(labels.frame)
    plain = kt.read_judgments(saved(tmp_path, "task,worker,label\nt30006,w1,1\n", "relevance.csv"))
    assert plain.frame.select("query", "doc").rows() == [("t30006", "t30006")]
    assert "each counts as a query with one document" in plain.notes[0]
    with pytest.raises(kt.BadInput, match="a judge for every label"):
        kt.write(kt.Judgments.of({"q": {"d": 1}}), path, "crowd-kit")
