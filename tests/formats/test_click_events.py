"""Clicks as they are logged: OpenSearch's User Behavior Insights, in all its wrappings, and tables of events."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import karat as kt

# As in the samples and the schemas of UBI 1.3.
SEARCHES = [
    {
        "application": "primary-search",
        "query_id": "00112233-4455",
        "client_id": "BugsBunny::Firefox",
        "user_query": "RAM memory",
        "query_attributes": {"page": 1},
        "timestamp": "2025-02-18T20:20:39Z",
        "query_response_id": "5e3b",
        "query_response_hit_ids": ["B1", "B2", "B3"],
    },
    {
        "query_id": "xyz890",
        "client_id": "quepid-nightly-bot",
        "user_query": "laptop",
        "timestamp": "2025-02-18T20:30:00Z",
        "query_response_hit_ids": ["77", "B9"],
    },
]


def event(action: str, search: str, doc: Any, rank: int, second: int, **more: Any) -> dict[str, Any]:
    thing = {"object_id": doc, "object_id_field": "sku"} | more
    return {
        "action_name": action,
        "query_id": search,
        "session_id": "84266f",
        "client_id": "BugsBunny::Firefox",
        "timestamp": f"2025-02-18T20:21:{second:02}Z",
        "message_type": "CONVERSION",
        "event_attributes": {"object": thing, "position": {"ordinal": rank}},
    }


EVENTS = [
    event("click", "00112233-4455", "B2", 2, 0),
    event("add_to_cart", "00112233-4455", "B2", 2, 45),
    event("click", "xyz890", 77, 1, 50),  # an id may be a number
    event("click", "xyz890", 77, 1, 55),
]
EXPECTED = [
    ("RAM memory", "B1", False, 1),
    ("RAM memory", "B2", True, 2),
    ("RAM memory", "B3", False, 3),
    ("laptop", "77", True, 1),
    ("laptop", "B9", False, 2),
]


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def bulk(index: str, rows: list[dict[str, Any]]) -> str:
    return "".join(lines({"index": {"_index": index}}, row) for row in rows)


def hits(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"_index": "ubi", "_id": str(n), "_source": row} for n, row in enumerate(rows)]


@pytest.mark.parametrize(
    "text",
    [
        lines(*SEARCHES, *EVENTS),
        bulk("ubi_queries", SEARCHES) + bulk("ubi_events", EVENTS),
        lines(*hits([*SEARCHES, *EVENTS])),
        json.dumps({"took": 1, "hits": {"total": 6, "hits": hits([*SEARCHES, *EVENTS])}}, indent=2),
        json.dumps([*SEARCHES, *EVENTS]),
    ],
    ids=["lines", "bulk", "hits", "answer", "list"],
)
def test_user_behavior_insights_are_read_however_they_are_wrapped(text: str, tmp_path: Path) -> None:
    (tmp_path / "ubi.json").write_text(text)
    log = kt.read_clicks(tmp_path / "ubi.json")
    assert isinstance(log, kt.ClickLog)
    assert sorted(log.frame.select("query", "doc", "clicked", "rank").rows()) == EXPECTED


def test_searches_and_events_may_be_in_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "ubi_queries.ndjson").write_text(bulk("ubi_queries", SEARCHES))
    (tmp_path / "ubi_events.ndjson").write_text(bulk("ubi_events", EVENTS))
    log = kt.read_clicks(tmp_path / "ubi_queries.ndjson", tmp_path / "ubi_events.ndjson")
    assert sorted(log.frame.select("query", "doc", "clicked", "rank").rows()) == EXPECTED
    assert "2 searches without impressions: all that was returned counts as shown" in log.notes
    assert any("1 event that are neither" in note or "neither impressions nor clicks" in note for note in log.notes)


def test_parquet_of_the_indices_is_read_alike(tmp_path: Path) -> None:
    with_text = [row | {"event_attributes": json.loads(json.dumps(row["event_attributes"]))} for row in EVENTS]
    for row in with_text:
        row["event_attributes"]["object"]["object_id"] = str(row["event_attributes"]["object"]["object_id"])
    pl.DataFrame(SEARCHES).write_parquet(tmp_path / "q.parquet")
    pl.DataFrame(with_text).write_parquet(tmp_path / "e.parquet")
    log = kt.read_clicks(tmp_path / "q.parquet", tmp_path / "e.parquet")
    assert sorted(log.frame.select("query", "doc", "clicked", "rank").rows()) == EXPECTED


def test_parquet_may_have_numbers_for_ids_and_other_fields(tmp_path: Path) -> None:
    shared = {"query_id": "i1", "client_id": 7, "timestamp": datetime(2024, 1, 1)}
    search = {**shared, "user_query": "tv", "query_response_hit_ids": [11, 12], "query_attributes": {"price": 1}}
    click = {"object": {"object_id": 12, "object_detail": {"sku": 1}}, "position": {"ordinal": 2, "x": 1.5}}
    pl.DataFrame([search]).write_parquet(tmp_path / "q.parquet")
    pl.DataFrame([{**shared, "action_name": "click", "event_attributes": click}]).write_parquet(tmp_path / "e.parquet")
    log = kt.read_clicks(tmp_path / "q.parquet", tmp_path / "e.parquet")
    assert log.frame.select("query", "doc", "rank", "clicked", "user").rows() == [
        ("tv", "12", 2, True, "7"),
        ("tv", "11", 1, False, "7"),
    ]


def test_session_user_stay_and_team_are_kept(tmp_path: Path) -> None:
    clicked = [EVENTS[0] | {"event_attributes": {"object": {"object_id": "B2", "search_config": "teamA"}}}, *EVENTS[1:]]
    clicked[0]["event_attributes"]["position"] = {"ordinal": 2}
    (tmp_path / "u.ndjson").write_text(lines(*SEARCHES, *clicked))
    log = kt.read_clicks(tmp_path / "u.ndjson")
    row = log.frame.filter(pl.col("doc") == "B2").row(0, named=True)
    assert (row["session"], row["user"], row["impression"]) == ("84266f", "BugsBunny::Firefox", "00112233-4455")
    assert (row["dwell"], row["team"]) == (45.0, "teamA")  # until the next event of the session


def test_impressions_that_are_logged_stand_above_what_was_returned(tmp_path: Path) -> None:
    seen = [event("impression", "00112233-4455", doc, rank, 1) for rank, doc in enumerate(["B1", "B2"], 1)]
    (tmp_path / "u.ndjson").write_text(lines(*SEARCHES, *seen, *EVENTS))
    log = kt.read_clicks(tmp_path / "u.ndjson")
    assert log.frame.filter(pl.col("query") == "RAM memory")["doc"].to_list() == ["B1", "B2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines(*SEARCHES), "expected events (ubi_events), found searches alone; name the file of events, too"),
        (lines(*EVENTS), "expected impressions beside the clicks, found clicks alone"),
        (lines(*SEARCHES, EVENTS[1]), "expected clicks among the events"),
        (lines(*SEARCHES, *EVENTS) + "{broken\n", "line 7: expected a JSON object"),
        (lines(*SEARCHES, event("click", "xyz890", "B9", 0, 1)), "expected a whole number from 1 as rank"),
    ],
)
def test_what_cannot_be_a_log_is_refused_in_words(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "u.ndjson").write_text(text)
    with pytest.raises(kt.BadInput) as error:
        kt.read_clicks(tmp_path / "u.ndjson")
    assert said in str(error.value)


TABLE = """time,session_id,query,doc,event_type,position
2025-01-01T10:00:00Z,s1,cats,a,impression,1
2025-01-01T10:00:00Z,s1,cats,b,impression,2
2025-01-01T10:00:05Z,s1,cats,b,click,2
2025-01-01T10:01:05Z,s1,cats,,logout,
2025-01-01T11:00:00Z,s2,cats,b,impression,1
2025-01-01T11:00:00Z,s2,cats,a,impression,2
"""


def test_a_table_of_events_is_a_log(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(TABLE)
    log = kt.read_clicks(tmp_path / "events.csv")
    assert log.frame.select("session", "doc", "rank", "clicked", "dwell").rows() == [
        ("s1", "a", 1, False, None),
        ("s1", "b", 2, True, 60.0),
        ("s2", "b", 1, False, None),
        ("s2", "a", 2, False, None),
    ]
    assert "events of one session and query count as of one search: no column names the search" in log.notes


def test_several_files_of_a_log_are_taken_together(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("query,doc,rank,clicked\nq,d,1,true\n")
    assert len(kt.read_clicks(tmp_path / "one.csv", tmp_path / "two.csv")) == 2
    (tmp_path / "counts.csv").write_text("query,doc,impressions,clicks\nq,d,5,2\n")
    with pytest.raises(kt.BadInput, match="several files of one log, found counts among them"):
        kt.read_clicks(tmp_path / "one.csv", tmp_path / "counts.csv")


def test_columns_of_any_name_are_said(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(TABLE.replace("event_type", "what").replace("position", "slot"))
    log = kt.read_clicks(tmp_path / "e.csv", columns={"action": "what", "rank": "slot"})
    assert log.frame["clicked"].to_list() == [False, True, False, False]
    (tmp_path / "l.csv").write_text("q,d,slot,hit\nq,d,1,true\n")
    log = kt.read_clicks(tmp_path / "l.csv", columns="query=q,doc=d,rank=slot,clicked=hit")
    assert log.frame.row(0)[:3] == ("q", "d", True)


def test_events_with_lists_too_deep_in_each_other_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "ubi.ndjson"
    path.write_text('{"query_id": "q", "action_name": "click", "x": ' + "[" * 5000 + "]" * 5000 + "}\n")
    with pytest.raises(kt.BadInput, match="found lists or objects"):
        kt.read_clicks(path, format="ubi")
