"""Answers of engines in the form that their documentation shows, shortened; each is a query that finds two documents.

- Elasticsearch: "The search API", response body,
  https://www.elastic.co/guide/en/elasticsearch/reference/8.19/search-search.html, with highlights as in "Highlighting",
  https://www.elastic.co/guide/en/elasticsearch/reference/8.19/highlighting.html
- OpenSearch: "Search", https://docs.opensearch.org/docs/latest/api-reference/search/ (the same form), and Amazon's
  sample, https://docs.aws.amazon.com/opensearch-service/latest/developerguide/searching.html
- Solr: "Response Writers", https://solr.apache.org/guide/solr/latest/query-guide/response-writers.html, with
  highlighting beside the documents as in the tutorial of its techproducts, and numFoundExact since version 8.6
- Vespa: "Default JSON Result Format", https://docs.vespa.ai/en/reference/default-result-format.html: no `children`
  where nothing is found
- Groonga: "select", https://groonga.org/docs/reference/commands/select.html, in its command versions 1 and 3
- Others: Algolia, Meilisearch, Typesense, Azure AI Search and Qdrant, as their search references show a hit
"""

from __future__ import annotations

from typing import Any

ELASTICSEARCH: dict[str, Any] = {
    "took": 5,
    "timed_out": False,
    "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
    "hits": {
        "total": {"value": 20, "relation": "eq"},
        "max_score": 1.3862942,
        "hits": [
            {
                "_index": "my-index-000001",
                "_id": "b",
                "_score": 1.3862942,
                "_source": {"title": "Horse hoof", "url": "https://example.org/hoof", "body": "The hoof of a horse."},
                "highlight": {"body": ["The <em>hoof</em> of a horse.", "A <em>hoof</em> grows."]},
            },
            {"_index": "my-index-000001", "_id": "a", "_score": 0.7, "_source": {"title": "Horse", "body": "A horse."}},
        ],
    },
}

OPENSEARCH: dict[str, Any] = {
    "took": 25,
    "timed_out": False,
    "_shards": {"total": 10, "successful": 10, "skipped": 0, "failed": 0},
    "hits": {
        "total": {"value": 85, "relation": "eq"},
        "max_score": 6.6137657,
        "hits": [
            {"_index": "movies", "_id": "b", "_score": 6.6137657, "fields": {"title": ["Horse hoof"]}},
            {"_index": "movies", "_id": "a", "_score": 6.2, "fields": {"title": ["Horse"]}},
        ],
    },
}

#: As "Empty search" of Elasticsearch: The Definitive Guide has it, for versions that knew types,
#: https://www.elastic.co/guide/en/elasticsearch/guide/current/empty-search.html; the total is a number there, and with
#: rest_total_hits_as_int ("Search" of OpenSearch's API reference) today.
ELASTICSEARCH_2: dict[str, Any] = {
    "hits": {
        "total": 14,
        "hits": [
            {"_index": "us", "_type": "page", "_id": "b", "_score": 2, "_source": {"title": "Horse hoof"}},
            {"_index": "us", "_type": "page", "_id": "a", "_score": 1, "_source": {"title": "Horse"}},
        ],
        "max_score": 2,
    },
    "took": 4,
    "_shards": {"failed": 0, "successful": 10, "total": 10},
    "timed_out": False,
}

SOLR: dict[str, Any] = {
    "responseHeader": {"status": 0, "QTime": 10, "params": {"q": "hoof", "hl": "true", "fl": "id,score,title"}},
    "response": {
        "numFound": 2,
        "start": 0,
        "maxScore": 2.5,
        "numFoundExact": True,
        "docs": [{"id": "b", "title": ["Horse hoof"], "score": 2.5}, {"id": "a", "title": ["Horse"], "score": 1.25}],
    },
    "highlighting": {"b": {"body": ["The <em>hoof</em> of a horse."]}, "a": {}},
}

VESPA: dict[str, Any] = {
    "root": {
        "id": "toplevel",
        "relevance": 1.0,
        "fields": {"totalCount": 2},
        "coverage": {"coverage": 100, "documents": 8, "full": True, "nodes": 1, "results": 1, "resultsFull": 1},
        "children": [
            {
                "id": "index:docs/0/3a4e1b",
                "relevance": 0.8,
                "source": "docs",
                "fields": {"sddocname": "doc", "documentid": "id:docs:doc::b", "title": "Horse hoof"},
            },
            {"id": "id:docs:doc::a", "relevance": 0.4, "source": "docs", "fields": {"title": "Horse"}},
        ],
    }
}

GROONGA_1: list[Any] = [
    [0, 1337566253.89858, 0.000355720520019531],
    [
        [
            [2],
            [["_key", "ShortText"], ["_score", "Int32"], ["title", "ShortText"]],
            ["b", 6, "Horse hoof"],
            ["a", 1, "Horse"],
        ]
    ],
]

GROONGA_3: dict[str, Any] = {
    "header": {"return_code": 0, "start_time": 1337566253.89858, "elapsed_time": 0.000355720520019531},
    "body": {
        "n_hits": 2,
        "columns": [
            {"name": "_key", "type": "ShortText"},
            {"name": "_score", "type": "Float"},
            {"name": "title", "type": "ShortText"},
        ],
        "records": [["b", 6.0, "Horse hoof"], ["a", 1.0, "Horse"]],
    },
}

ALGOLIA = {
    "hits": [{"objectID": "b", "title": "Horse hoof"}, {"objectID": "a", "title": "Horse"}],
    "nbHits": 2,
    "page": 0,
}
MEILISEARCH = {
    "hits": [
        {"id": "b", "title": "Horse hoof", "_rankingScore": 0.99},
        {"id": "a", "title": "Horse", "_rankingScore": 0.5},
    ],
    "query": "hoof",
    "limit": 20,
}
TYPESENSE = {
    "found": 2,
    "hits": [
        {"document": {"id": "b", "title": "Horse hoof"}, "highlights": [], "text_match": 130916},
        {"document": {"id": "a", "title": "Horse"}, "highlights": [], "text_match": 130815},
    ],
}
AZURE = {
    "@odata.context": "https://service.search.windows.net/indexes('docs')/$metadata#docs(*)",
    "value": [
        {"@search.score": 2.1, "id": "b", "title": "Horse hoof"},
        {"@search.score": 1.1, "id": "a", "title": "Horse"},
    ],
}
QDRANT = {
    "usage": {},
    "status": "ok",
    "result": {
        "points": [
            {"id": "b", "version": 3, "score": 0.75, "payload": {"title": "Horse hoof"}},
            {"id": "a", "version": 3, "score": 0.5, "payload": {"title": "Horse"}},
        ]
    },
}

WHOLE = {
    "Elasticsearch": ELASTICSEARCH,
    "Elasticsearch 2": ELASTICSEARCH_2,
    "OpenSearch": OPENSEARCH,
    "Solr": SOLR,
    "Vespa": VESPA,
    "Groonga 1": GROONGA_1,
    "Groonga 3": GROONGA_3,
    "Algolia": ALGOLIA,
    "Meilisearch": MEILISEARCH,
    "Typesense": TYPESENSE,
    "Azure": AZURE,
    "Qdrant": QDRANT,
}

#: The same engines where nothing is found.
EMPTY: dict[str, Any] = {
    "Elasticsearch": {"took": 1, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"hits": []}},
    "Solr": {"responseHeader": {"status": 0}, "response": {"numFound": 0, "start": 0, "docs": []}},
    "Vespa": {"root": {"id": "toplevel", "relevance": 1.0, "fields": {"totalCount": 0}, "coverage": {"full": True}}},
    "Groonga 1": [[0, 1.0, 0.1], [[[0], [["_key", "ShortText"], ["_score", "Int32"]]]]],
    "Groonga 3": {"header": {"return_code": 0}, "body": {"n_hits": 0, "columns": [{"name": "_key"}], "records": []}},
    "Algolia": {"hits": [], "nbHits": 0},
}

#: Answers with status 200 that are not whole, and what is said of them.
PARTS: dict[str, tuple[Any, str]] = {
    "Elasticsearch, out of time": (ELASTICSEARCH | {"timed_out": True}, "time was up: only part of the hits"),
    "OpenSearch, shards": (
        OPENSEARCH | {"_shards": {"total": 10, "successful": 8, "failed": 2}},
        "2 of 10 shards failed: only part of the hits",
    ),
    "Solr": (SOLR | {"responseHeader": {"status": 0, "partialResults": True}}, "partialResults: only part of the hits"),
    "Vespa, degraded": (
        {"root": VESPA["root"] | {"coverage": {"coverage": 40, "full": False, "degraded": {"timeout": True}}}},
        "degraded (timeout): only part of the hits",
    ),
    "Vespa, errors": (
        {"root": {"id": "toplevel", "errors": [{"code": 12, "summary": "Timed out", "message": "Error in execution"}]}},
        "Error in execution",
    ),
    "Groonga": ([[-63, 1.0, 0.1, "Syntax error: <a (||>"]], "Syntax error: <a (||>"),
}
