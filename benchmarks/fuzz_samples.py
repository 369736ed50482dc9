"""Small files as people have them, of every kind and format that karat reads, for the fuzz job to spoil."""

from __future__ import annotations

import gzip
import io
import json
import random

import cbor2
import lz4.frame
import polars as pl
import zstandard

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
    "wide.csv": _csv("query,doc,anna,ben", [f"{q},{d},2,{n % 3}" for n, (q, d) in enumerate(_PAIRS)]),
    "umbrela.jsonl": _lines(
        [{"model": "m", "query": q, "passage": d, "prediction": "##final score: 2", "judgment": 2} for q, d in _PAIRS]
    ),
    "preferences.csv": PREFERENCES,
    "answers.pref": b"q1 d1 d2 d1\nq1 d2 d3 d3\nq2 d1 d2 equal\nq2 d1 d3 d1\n",
    "answers.prefs": b"q1 ann s1 d1 3\nq1 ann s1 d2 2.5\nq1 bob s1 d1 0\nq1 bob s1 d3 1\n",
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
        "session,step,doc,rank,query", [f"s{n // 5},1,{d},{n % 5 + 1},{q}" for n, (q, d) in enumerate(_PAIRS)]
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
    "compared.json": json.dumps(
        {
            "type": "PAIRWISE_COMPARISON",
            "results": [
                {"queryText": q, "snapshots": [{"searchConfigurationId": s, "docIds": [*DOCS]} for s in ("a", "b")]}
                for q in QUERIES
            ],
        }
    ).encode(),
    "request.json": json.dumps(
        {"requests": [{"id": q, "ratings": [{"_index": "i", "_id": "d1", "rating": 1}]} for q in QUERIES]}
    ).encode(),
    "response.json": json.dumps(
        {"metric_score": 0.5, "details": {q: {"hits": [{"hit": {"_id": d}} for d in DOCS]} for q in QUERIES}}
    ).encode(),
    "searched.json": json.dumps(
        {
            q: {"took": 1, "timed_out": False, "hits": {"hits": [{"_id": d, "_score": 9.5} for d in DOCS]}}
            for q in QUERIES
        }
    ).encode(),
    "searched.jsonl": _lines(
        [{"query": q, "response": {"took": 1, "hits": {"hits": [{"_id": d} for d in DOCS]}}} for q in QUERIES]
    ),
    "searches.json": json.dumps(
        {"took": 1, "responses": [{"hits": {"hits": [{"_id": d} for d in DOCS]}} for _ in QUERIES]}
    ).encode(),
    "searches.requests.ndjson": _lines(
        [row for q in QUERIES for row in ({"index": "x"}, {"query": {"match": {"title": q}}})]
    ),
    "raters-case.json": json.dumps(
        {
            "case_name": "c",
            "queries": [
                {
                    "query_text": q,
                    "ratings": [{"doc_id": d, "rating": 1, "user_email": who} for d in DOCS for who in ("a@x", "b@x")],
                }
                for q in QUERIES
            ],
        }
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
    "rag-answers.jsonl": _lines(
        [
            {
                "run_id": run,
                "topic_id": q,
                "topic": q,
                "references": DOCS,
                "response_length": 3,
                "answer": [{"text": "one.", "citations": [0, 1]}, {"text": "two.", "citations": []}],
            }
            for q in QUERIES
            for run in ("a", "b")
        ]
    ),
    "confusion.csv": b"grade,0,1,2,3\n0,8,2,0,0\n1,1,7,1,1\n2,0,1,8,1\n3,0,0,2,8\n",
    "weights.csv": _csv("at_least,of,level,weight", [f"1,3,{n},{n / 3:.2f}" for n in range(4)]),
    "tasks.csv": _csv("query,doc,labels,probability", [f"{q},{d},2,0.5" for q, d in _PAIRS[:8]]),
    "study.toml": STUDY,
    # Test collections and toolkits.
    "pyterrier.csv": _csv(
        "qid,query,docid,docno,rank,score",
        [f"{q},words,{n},{d},{n % 5},{9 - n % 5}.5" for n, (q, d) in enumerate(_PAIRS)],
    ),
    "packed.lz4": lz4.frame.compress(lz4.frame.compress(cbor2.dumps({q: dict.fromkeys(DOCS, 0.5) for q in QUERIES}))),
    "cbor.json": cbor2.dumps({q: {d: n + 0.5 for n, d in enumerate(DOCS)} for q in QUERIES}),
    "predictions.json": json.dumps(
        {"mteb_model_meta": {"model_name": "m"}, "default": {"test": {q: dict.fromkeys(DOCS, 0.5) for q in QUERIES}}}
    ).encode(),
    "beir.tsv": _csv("query-id\tcorpus-id\tscore", [f"{q}\t{d}\t1" for q, d in _PAIRS]),
    "beir-queries.jsonl": _lines([{"_id": q, "text": f"words of {q}", "metadata": {}} for q in QUERIES]),
    "beir-documents.jsonl": _lines([{"_id": d, "title": d, "text": "words", "metadata": {}} for d in DOCS]),
    "msmarco.tsv": "".join(f"{n}\t{k * 7}\t{k}\n" for n in (101, 102) for k in range(1, 7)).encode(),
    "texts.tsv": "".join(f"{n}\twords of a text\n" for n in (101, 102, 103)).encode(),
    "classic.txt": "".join(
        f"<top>\n<num> Number: {q}\n<title> words of {q}\n<desc> Description:\nmore words\n</top>\n\n" for q in QUERIES
    ).encode(),
    "metadata.run": b"# ir_metadata.start\n# tag: a\n# platform:\n#   cpu: 'x'\n# ir_metadata.end\n" + _run("a", 1),
    "letor.txt": "".join(
        f"{n % 3} qid:{q[1:]} 1:0.{n} 2:1e-3 46:1 #docid = {d}\n" for n, (q, d) in enumerate(_PAIRS)
    ).encode(),
    # Annotation tools and crowds.
    "mturk.csv": _csv(
        '"HITId","AssignmentId","WorkerId","AssignmentStatus","SubmitTime","WorkTimeInSeconds","Input.qid","Input.docid","Answer.rel"',
        [
            f'"h{n}","a{n}","w{n % 3}","Approved","Wed Nov 01 12:00:42 PDT 2023","{n}","{q}","{d}","{n % 3}"'
            for n, (q, d) in enumerate(_PAIRS)
        ],
    ),
    "radio.csv": _csv(
        "HITId,AssignmentId,WorkerId,Input.qid,Input.docid,Answer.rel.0,Answer.rel.1",
        [f"h{n},a{n},w1,{q},{d},{'true,false' if n % 2 else 'false,true'}" for n, (q, d) in enumerate(_PAIRS)],
    ),
    "crowd-form.csv": _csv(
        "HITId,AssignmentId,WorkerId,Input.qid,Input.docid,Answer.taskAnswers",
        [
            f'h{n},a{n},w1,{q},{d},"[{{""rel"": {{""{n % 3}"": true, ""7"": false}}}}]"'
            for n, (q, d) in enumerate(_PAIRS)
        ],
    ),
    "toloka.tsv": _csv(
        "INPUT:qid\tINPUT:docid\tOUTPUT:rel\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:started",
        [f"{q}\t{d}\t{n % 3}\ta{n}\tw{n % 3}\tAPPROVED\t2021-11-05T10:00:00.000" for n, (q, d) in enumerate(_PAIRS)],
    ),
    "appen.csv": _csv(
        "_unit_id,_created_at,_golden,_id,_started_at,_tainted,_trust,_worker_id,rel,rel_gold,query_id,docno",
        [
            f"{n},5/21/2015 14:10:30,false,{n},5/21/2015 14:10:00,false,0.9,{n % 3},{n % 3},,{q},{d}"
            for n, (q, d) in enumerate(_PAIRS)
        ],
    ),
    "studio.json": json.dumps(
        [
            {
                "id": n,
                "data": {"query_id": q, "docid": d},
                "annotations": [
                    {
                        "id": n,
                        "result": [{"from_name": "rel", "type": "choices", "value": {"choices": [str(n % 3)]}}],
                        "was_cancelled": n % 4 == 3,
                        "created_at": "2021-03-09T22:16:08.728353Z",
                        "lead_time": 4.2,
                        "completed_by": {"id": 1, "email": "ann@x"},
                    }
                ],
            }
            for n, (q, d) in enumerate(_PAIRS[:9])
        ]
    ).encode(),
    "studio.csv": _csv(
        "annotation_id,annotator,created_at,docid,id,lead_time,query_id,rel,updated_at",
        [
            f'{n},1,2021-03-09T22:16:08Z,{d},{n},4.2,{q},"[{{""rating"": 2}}]",2021-03-09T22:16:08Z'
            for n, (q, d) in enumerate(_PAIRS)
        ],
    ),
    "prodigy.jsonl": _lines(
        [
            {
                "text": "x",
                "meta": {"query_id": q, "docid": d},
                "_task_hash": n,
                "options": [{"id": "0", "text": "No"}, {"id": "2", "text": "Yes"}],
                "accept": ["2"],
                "answer": "accept" if n % 4 else "ignore",
                "_timestamp": 1690289516,
                "_annotator_id": "ann",
            }
            for n, (q, d) in enumerate(_PAIRS[:12])
        ]
    ),
    "doccano.jsonl": _lines(
        [{"id": n, "text": "x", "query_id": q, "docno": d, "label": ["2"]} for n, (q, d) in enumerate(_PAIRS[:12])]
    ),
    "crowd-kit.csv": _csv("task,worker,label", [f"t{n // 3},w{n % 3},{n % 2}" for n in range(30)]),
    "evaluations.json": json.dumps(
        {
            "workspace_id": "w",
            "benchmark_id": "b",
            "strategy_id": ["a"],
            "results": [
                {
                    "strategy_id": "a",
                    "searches": [{"scenario_id": q, "hits": [{"hit": {"_id": d}} for d in DOCS]} for q in QUERIES],
                }
            ],
        }
    ).encode(),
    "ubi.ndjson": _lines(
        [
            line
            for n, q in enumerate(QUERIES)
            for line in (
                {"index": {"_index": "ubi_queries"}},
                {"query_id": f"i{n}", "user_query": q, "client_id": "u", "query_response_hit_ids": [*DOCS]},
                {"index": {"_index": "ubi_events"}},
                {
                    "action_name": "click",
                    "query_id": f"i{n}",
                    "client_id": "u",
                    "timestamp": "2024-04-22T14:20:22.135Z",
                    "event_attributes": {"object": {"object_id": "d1"}, "position": {"ordinal": 1}},
                },
            )
        ]
    ),
    "events.csv": _csv(
        "impression,query,doc,rank,action,time",
        [
            f"i{n // 5},{q},{d},{n % 5 + 1},{'click' if n % 3 else 'impression'},2024-05-01T10:00:00Z"
            for n, (q, d) in enumerate(_PAIRS)
        ],
    ),
    # What engines answer.
    "answer-elasticsearch.json": json.dumps(
        {
            "took": 5,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {
                "total": {"value": 5, "relation": "eq"},
                "hits": [{"_index": "i", "_id": d, "_score": 1.5, "_source": {"title": d}} for d in DOCS],
            },
        }
    ).encode(),
    "answer-solr.json": json.dumps(
        {"responseHeader": {"status": 0}, "response": {"numFound": 5, "docs": [{"id": d, "score": 1} for d in DOCS]}}
    ).encode(),
    "answer-vespa.json": json.dumps(
        {"root": {"children": [{"id": f"id:x:y::{d}", "relevance": 0.5, "fields": {"title": d}} for d in DOCS]}}
    ).encode(),
    "answer-other.json": json.dumps({"items": [{"sku": d, "name": d} for d in DOCS], "next": None}).encode(),
    "features.csv": _csv("query,doc,bm25,length", [f"{q},{d},{n}.5,{n % 7}" for n, (q, d) in enumerate(_PAIRS)]),
    # What is typed or sent, not read as records.
    "template.json": b'{"query": {"match": {"text": "{{query}}"}}, "size": {{depth}}}',
    "engines.toml": b'[a]\nurl = "http://127.0.0.1:9/x?q={{query}}"\ncolumns = { doc = "_id", title = "name" }\n',
    "measure.txt": b"nDCG(gains=exp)@10,P(rel=2)@5,alpha_nDCG(alpha=0.5)@10,ndcg_cut_10,RBP(p=0.8)",
    "scale.txt": b"0..3",
    "columns.txt": b"query=query,doc=doc,label=label,judge=judge",
}
