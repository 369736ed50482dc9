"""Inputs for the fuzz job: small files as people have them, and the ways in which they are spoilt."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable

import polars as pl
import zstandard

Mutation = Callable[[bytes, random.Random], bytes]

QUERIES, DOCS = ("q1", "q2", "q3", "q4", "q5", "q6"), ("d1", "d2", "d3", "d4", "d5")
_RNG = random.Random(0)
_PAIRS = [(query, doc) for query in QUERIES for doc in DOCS]


def _csv(head: str, rows: list[str]) -> bytes:
    return "\n".join([head, *rows, ""]).encode()


def _lines(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(data: bytes) -> bytes:
    stream = io.BytesIO()
    pl.read_csv(data).write_parquet(stream, compression="uncompressed")
    return stream.getvalue()


def _run(name: str, seed: int) -> bytes:
    rng = random.Random(seed)
    rows = []
    for query in QUERIES:
        order = rng.sample(DOCS, len(DOCS))
        rows += [f"{query} Q0 {doc} {rank} {10 - rank}.5 {name}" for rank, doc in enumerate(order, 1)]
    return "\n".join([*rows, ""]).encode()


LABELS = _csv(
    "query,doc,label,judge,group,time,seconds,comment",
    [
        f"{query},{doc},{_RNG.randint(0, 3)},{judge},{'crowd' if judge != 'pro' else 'pro'},"
        f'2024-05-0{place % 9 + 1}T10:00:0{place % 10}Z,{place}.5,"so, so"'
        for place, (query, doc) in enumerate(_PAIRS)
        for judge in ("ann", "bob", "pro")
    ],
)
QRELS = "".join(f"{query} 0 {doc} {_RNG.randint(0, 3)}\n" for query, doc in _PAIRS).encode()
GOLD = _csv("query,doc,label,probability", [f"{query},{doc},{_RNG.randint(0, 3)},0.5" for query, doc in _PAIRS[::2]])
PREFERENCES = _csv(
    "query,left,right,choice,judge,reason,strength",
    [
        f"{query},{left},{right},{_RNG.choice(('left', 'right', 'equal'))},{judge},better,1"
        for query in QUERIES
        for left, right in (("a", "b"), ("b", "a"))
        for judge in ("ann", "bob")
    ],
)
BOOK = json.dumps(
    {
        "name": "book",
        "scale": [0, 1, 2, 3],
        "query_doc_pairs": [
            {"query_text": query, "doc_id": doc, "judgements": [{"rating": 2.0, "user_email": "ann@x"}]}
            for query, doc in _PAIRS[:6]
        ],
    }
).encode()
TOPICS = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<webtrack2010>'
    + "".join(
        f'<topic number="{query}" type="faceted"><query>words {query}</query><description>more</description>'
        f'<subtopic number="1" type="inf">one</subtopic></topic>'
        for query in QUERIES
    )
    + "</webtrack2010>"
).encode()
STUDY = b"""id = "fuzzed"
title = "A study"
groups = ["judges", "gold", "crowd", "pro"]
[scale]
levels = ["no", "some", "yes", "all"]
[overlap]
labels = 2
third_when_apart_by = 1
[pairs]
reasons = ["newer", "broader"]
depth = 10
[live]
measure = "nDCG@10"
"""
#: A file of each kind and format, by a name that tells both.
SAMPLES: dict[str, bytes] = {
    "labels.csv": LABELS,
    "labels.tsv": LABELS.replace(b'"so, so"', b"so").replace(b",", b"\t"),
    "labels.jsonl": _lines(pl.read_csv(LABELS).to_dicts()),
    "labels.json": json.dumps(pl.read_csv(LABELS).head(8).to_dicts(), indent=1).encode(),
    "labels.parquet": _parquet(LABELS),
    "labels.csv.gz": gzip.compress(LABELS, mtime=0),
    "labels.csv.zst": zstandard.ZstdCompressor().compress(LABELS),
    "qrels.txt": QRELS,
    "gold.csv": GOLD,
    "a.run": _run("a", 1),
    "b.run": _run("b", 2),
    "run.csv": _csv("system,query,doc,score", [f"{s},{q},{d},{_RNG.random():.3f}" for s in "ab" for q, d in _PAIRS]),
    "run.jsonl": _lines([{"query": q, "doc": d, "rank": n % 5 + 1} for n, (q, d) in enumerate(_PAIRS)]),
    "book.json": BOOK,
    "basic.csv": _csv("query,docid,rating", [f"{q},{d},2" for q, d in _PAIRS]),
    "judges.csv": _csv("query,docid,Ann,Bob", [f"{q},{d},1,{n % 3}" for n, (q, d) in enumerate(_PAIRS)]),
    "umbrela.jsonl": _lines(
        [{"model": "m", "query": q, "passage": d, "prediction": "##final score: 2", "judgment": 2} for q, d in _PAIRS]
    ),
    "preferences.csv": PREFERENCES,
    "preferences.jsonl": _lines(pl.read_csv(PREFERENCES).to_dicts()),
    "clicks.csv": _csv(
        "query,doc,impressions,clicks", [f"{q},{d},{n + 190},{n % 50 + 100}" for n, (q, d) in enumerate(_PAIRS)]
    ),
    "log.csv": _csv(
        "session,query,doc,rank,clicked,dwell",
        [f"s{n // 5},{q},{d},{n % 5 + 1},{n % 2},{n}" for n, (q, d) in enumerate(_PAIRS)],
    ),
    "teams.csv": _csv(
        "impression,query,doc,team,clicked",
        [f"i{n // 5},{q},{d},{'ab'[n % 2]},{n % 3 // 2}" for n, (q, d) in enumerate(_PAIRS)],
    ),
    "queries.csv": _csv("query,text,kind", [f"{q},words of {q},{'nav' if q < 'q3' else 'inf'}" for q in QUERIES]),
    "topics.xml": TOPICS,
    "subtopics.csv": _csv("query,subtopic,weight", [f"{q},{n},0.5" for q in QUERIES for n in (1, 2)]),
    "documents.jsonl": _lines([{"doc": d, "title": d, "url": f"http://x.org/{d}", "text": "words"} for d in DOCS]),
    "documents.csv": _csv("doc,title,snippet,url", [f"{d},{d},some words,http://x.org/{d}" for d in DOCS]),
    "sessions.csv": _csv(
        "session,step,doc,rank,query", [f"s{n // 3},1,{d},{n % 3 + 1},{q}" for n, (q, d) in enumerate(_PAIRS)]
    ),
    "ratings.csv": _csv("session,user,satisfied", [f"s{n},u{n % 2},{n % 5}" for n in range(10)]),
    "reasons.csv": _csv(
        "query,left,right,reason,codes,coder",
        [
            f"q1,a,b,it is newer {n},{'on topic' if n % 2 else 'on topic;specific links'},{who}"
            for n in range(6)
            for who in ("ann", "bob")
        ],
    ),
    "nested.json": json.dumps({q: {d: n + 0.5 for n, d in enumerate(DOCS)} for q in QUERIES}).encode(),
    "opensearch.json": json.dumps(
        {"name": "l", "judgmentRatings": [{"query": q, "ratings": [{"docId": "d1", "rating": "2.0"}]} for q in QUERIES]}
    ).encode(),
    "evaluated.jsonl": _lines(
        [{"searchText": q, "searchConfigurationId": "a", "documentIds": [*DOCS], "metrics": []} for q in QUERIES]
    ),
    "request.json": json.dumps(
        {"requests": [{"id": q, "ratings": [{"_index": "i", "_id": "d1", "rating": 1}]} for q in QUERIES]}
    ).encode(),
    "response.json": json.dumps(
        {"metric_score": 0.5, "details": {q: {"hits": [{"hit": {"_id": d}} for d in DOCS]} for q in QUERIES}}
    ).encode(),
    "case.json": json.dumps(
        {"case_name": "c", "queries": [{"query_text": q, "ratings": dict.fromkeys(DOCS, 1)} for q in QUERIES]}
    ).encode(),
    "snapshot.csv": _csv(
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,Rating",
        [f"s,2024,7,{q},{d},{n % 5 + 1},1" for n, (q, d) in enumerate(_PAIRS)],
    ),
    "judgements.jsonl": _lines([{"scenario_id": q, "doc_id": d, "rating": 1, "@meta": {}} for q, d in _PAIRS]),
    "nuggets.jsonl": _lines(
        [
            {
                "qid": q,
                "query": q,
                "run_id": run,
                "answer_text": "words",
                "nuggets": [{"text": d, "importance": "vital", "assignment": "support"} for d in DOCS],
            }
            for q in QUERIES
            for run in ("a", "b")
        ]
    ),
    "confusion.csv": b"grade,0,1,2,3\n0,8,2,0,0\n1,1,7,1,1\n2,0,1,8,1\n3,0,0,2,8\n",
    "weights.csv": _csv("at_least,of,level,weight", [f"1,3,{n},{n / 3:.2f}" for n in range(4)]),
    "tasks.csv": _csv("query,doc,labels,probability", [f"{q},{d},2,0.5" for q, d in _PAIRS[:8]]),
    "study.toml": STUDY,
}

#: Words that programs stumble over.
WORDS: tuple[bytes, ...] = (
    *(b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"\xc3\xa9",),
    *(b"\xf0\x9f\x98\x80", b'"', b"'", b"\\", b"\\ud800", b"\\u0000", b",", b";", b":", b"{", b"}", b"[", b"]",),
    *(b"<", b">", b"&", b"/", b"#", b"=", b"nan", b"NaN", b"inf", b"-inf", b"1e23", b"1e308", b"1e999", b"-1",),
    *(b"0", b"-0", b"0.5", b"1_000", b"0x10", b"1e-300", b"9" * 20, b"9" * 400, b"-9223372036854775809",),
    *(b"2147483648", b"4294967296", b"null", b"None", b"true", b"True", b"[" * 80, b'{"a":' * 80, b"[" * 3000,),
    *(b"a" * 5000, b"=1+1", b"N/A", b"can't tell", b"gold", b"overall", b"left", b"2024-02-30",),
    *(b"2024-01-01T25:00:00Z", b"99999-01-01", b"yesterday", b"1e18", b"query", b"doc", b"label", b"score",),
    *(b"\xe2\x80\xae", b"\xcc\x88" * 50, b"a\nb", b"a,b", b'a"b', b"../../x", b"http://[::1", b"%00", b"%s", b"{}",),
    *(b"Q0",),
)  # fmt: skip


def spoilt(data: bytes, rng: random.Random) -> bytes:
    """A sample with one to four things wrong with it."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(MUTATIONS)(data, rng)
    return data[:200_000]


def _flip(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randint(0, len(data))
    return data[:place] + rng.choice(WORDS) + data[place:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + (data[rng.randint(start, len(data)) :] if rng.random() < 0.7 else b"")


def _again(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    end = min(len(data), start + rng.choice((1, 10, 200)))
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _line(data: bytes, rng: random.Random) -> bytes:
    """Lines left out, doubled, exchanged, emptied, or cells more or less in one of them."""
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            del lines[one]
        case 1:
            lines.insert(two, lines[one])
        case 2:
            lines[one], lines[two] = lines[two], lines[one]
        case 3:
            lines[one] = rng.choice(WORDS)
        case 4:
            lines = lines[:1]
        case _:
            lines[one] += rng.choice((b",", b" ", b"\t", b";")) + rng.choice(WORDS)
    return b"\n".join(lines)


def _cell(data: bytes, rng: random.Random) -> bytes:
    """A cell, or a whole column below the first line, with another word; or a column less, or twice."""
    lines = data.split(b"\n")
    separator = max((b",", b"\t", b" "), key=lines[0].count)
    rows = [line.split(separator) for line in lines]
    column, word, how = rng.randrange(len(rows[0])), rng.choice(WORDS), rng.randrange(5)
    chosen = [rng.randrange(len(rows))] if how < 3 else range(how % 2, len(rows))
    for place in chosen:
        if column < len(rows[place]):
            row = rows[place]
            rows[place] = row[:column] + ([word] if how != 4 else []) + row[column + (how != 2) :]
    return b"\n".join(separator.join(row) for row in rows)


def _node(data: bytes, rng: random.Random) -> bytes:
    """A value somewhere in JSON replaced, left out, wrapped or doubled; other files have a word replaced."""
    lines = data.split(b"\n")
    whole = data[:1] in (b"{", b"[") and (len(lines) < 3 or lines[0].strip() in (b"[", b"{"))
    place = rng.randrange(len(lines))
    try:
        document = json.loads(data if whole else lines[place])
    except (ValueError, RecursionError):
        return _cell(data, rng)
    odd = rng.choice((None, True, [], {}, "", 1e300, -1, [[1]], {"a": {"b": []}}, "x" * 300, 10**25, [None], "\ud800"))
    document = _changed(document, odd, rng)
    made = json.dumps(document).encode()
    if whole:
        return made
    lines[place] = made
    return b"\n".join(lines)


def _changed(node: object, odd: object, rng: random.Random) -> object:
    if rng.random() < 0.25 or not isinstance(node, dict | list) or not node:
        return rng.choice((odd, odd, [node], {"a": node}))
    if isinstance(node, list):
        place = rng.randrange(len(node))
        return [*node[:place], *([] if rng.random() < 0.2 else [_changed(node[place], odd, rng)]), *node[place + 1 :]]
    name = rng.choice(list(node))
    left = {key: value for key, value in node.items() if key != name or rng.random() > 0.2}
    return left | {rng.choice((name, name, "", "query", "doc", "label")): _changed(node[name], odd, rng)}


def _packed(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data, 1) if rng.random() < 0.5 else zstandard.ZstdCompressor().compress(data)
    return packed if rng.random() < 0.3 else _flip(packed, rng)


def _bomb(data: bytes, rng: random.Random) -> bytes:
    large = data + rng.choice((b"\0", b"a", b"q1 0 d1 1\n", b"[", data[-40:])) * (rng.choice((1, 4)) << 20)
    return (
        gzip.compress(large[: 30 << 20], 1)
        if rng.random() < 0.5
        else zstandard.ZstdCompressor().compress(large[: 30 << 20])
    )


def _spliced(data: bytes, rng: random.Random) -> bytes:
    other = SAMPLES[rng.choice(list(SAMPLES))]
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


MUTATIONS: tuple[Mutation, ...] = (
    *(
        _flip,
        _insert,
        _insert,
        _cut,
        _again,
        _line,
        _line,
        _cell,
        _cell,
        _cell,
        _node,
        _node,
        _node,
        _spliced,
    ),
    *(
        _packed,
        lambda data, rng: _bomb(data, rng) if rng.random() < 0.1 else _insert(data, rng),
    ),
)
