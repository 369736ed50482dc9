"""What other tools call karat's columns: one table, the best name first.

Where a table has several names for one id, the first of its list counts, and a note says so. That is why `query` and
`doc` stand in their lists, too: PyTerrier has a query's text in `query` beside `qid`, and an internal number in `docid`
beside `docno`.
"""

from __future__ import annotations

#: A query's id, best name first; the last is a text where there is an id beside it.
QUERY = ("qid", "query_id", "query-id", "queryid", "q_id", "topic", "topic_id", "topicid", "query")
#: A query's id in a table of queries, where every row is one.
QUERY_OF_QUERIES = (*QUERY[:-1], "number", "_id", "id", "query")
#: A document's id, best name first.
DOC = (
    *("docno", "doc_id", "document_id", "corpus-id", "corpus_id", "pid", "passage_id"),
    *("docid", "doc", "document", "_id", "id"),
)
#: Who judged.
JUDGE = ("annotator", "worker", "worker_id", "_worker_id", "workerid", "completed_by", "assessor", "user")
#: The grade given; a score is one only where nothing else is.
LABEL = ("relevance", "rel", "rating", "grade", "judgment", "judgement", "score")
#: What the user typed; `query` is the text only where something else is the id.
TEXT_OF_QUERIES = ("text", "query_text", "title", "query")
#: The text of a document; `document` and `doc` are texts only where something else is the id.
TEXT_OF_DOCUMENTS = (
    *("text", "body", "contents", "content", "passage", "segment", "abstract", "description"),
    *("document", "doc"),
)

#: What a table of an LLM's answers says of the answer, and not of the query or document.
OF_ANSWERS_OF_LLMS = (
    *("outcome", "expected_grade", "mass", "repeat", "altered", "altered_from", "model", "returned_model", "prompt"),
    *("fingerprint", "tokens_in", "tokens_out", "cost", "attempts", "parser"),
)
#: What else karat writes beside answers, or looks for beside labels.
BESIDE_ANSWERS = (
    *OF_ANSWERS_OF_LLMS,
    *("fingerprint", "without", "why", "class", "codes", "answer", "reason", "order", "text", "comment"),
    *(
        "source",
        "round",
        "drawn_for",
        "trap",
        "expected",
        "task",
        "labels",
        "item",
        "block",
        "place",
        "session",
        "step",
    ),
    *(f"draw_{number}" for number in range(1, 1001)),  # what predicted labels may have been instead
    *("query_text", "query_kind", "kind", "description", "rank", "url", "site", "title", "snippet", "document_text"),
)

#: How a column is called that another one was preferred to; a query's text gets a name that analyses know.
OTHER, PASSED_OVER = "other_", {"query": "query_text"}


def passed_over(name: str, taken: set[str]) -> str:
    """A name for a column that another was preferred to: none that could be meant again.

    >>> passed_over("docid", {"docno", "docid"}), passed_over("query", {"qid", "query"})
    ('other_docid', 'query_text')
    """
    new = PASSED_OVER.get(name.strip().lower(), OTHER + name)
    while new in taken:
        new += "_"
    return new
