"""Elastic's Relevance Studio: its judgements, and the results of its evaluations as runs.

Both lie in indices of Elasticsearch (`esrs-judgements`, `esrs-evaluations`) and are read as a search answers them, as
documents, or as lines of them. A scenario is a query and a strategy a system.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from karat.errors import BadInput
from karat.formats.format import Format, Narrow, add_format
from karat.formats.json_text import load_objects, objects, shown
from karat.formats.jsonl import is_json, read_jsonl
from karat.formats.open_files import File
from karat.records import Judgments, Runs, Scale, Source

JUDGEMENTS = "judgements (scenario_id, doc_id, rating)"
EVALUATIONS = "evaluations (results with strategy_id and searches of scenario_id and hits)"
COLUMNS = ("query", "doc", "label", "judge", "time", "index")


def read_judgements(file: File, scale: Scale | None = None, drop_bad_labels: bool = False) -> Judgments:
    """Judgments with who last changed them, and when."""
    rows = []
    for one in load_objects(file, JUDGEMENTS):
        if one.get("scenario_id") is None or one.get("doc_id") is None or "rating" not in one:
            raise BadInput.at(file.name, expected=JUDGEMENTS, found=shown(one))
        meta = one.get("@meta")
        meta = meta if isinstance(meta, dict) else {}
        said = [meta.get(f"updated_{what}") or meta.get(f"created_{what}") for what in ("by", "at")]
        values = [one["scenario_id"], one["doc_id"], one["rating"], *said, one.get("index")]
        rows.append([None if value is None else str(value) for value in values])
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    frame = frame.select(name for name in COLUMNS if name == "label" or frame[name].count())
    return Judgments.check(frame, scale=scale, source=Source(file.name), drop_bad_labels=drop_bad_labels)


def read_evaluations(file: File, ranks: bool = True) -> Runs:
    """A run of each strategy from the hits of its searches."""
    rows: list[tuple[str, str, str, int]] = []
    for one in load_objects(file, EVALUATIONS):
        for strategy in objects(one.get("results"), file, EVALUATIONS):
            for search in objects(strategy.get("searches"), file, EVALUATIONS):
                hits = objects(search.get("hits"), file, EVALUATIONS)
                names = _name(strategy, "strategy_id", file), _name(search, "scenario_id", file)
                for rank, hit in enumerate(hits, 1):
                    found = hit.get("hit", hit)
                    rows.append((*names, _name(found if isinstance(found, dict) else {}, "_id", file), rank))
    schema = {"system": pl.String, "query": pl.String, "doc": pl.String, "rank": pl.Int64}
    return Runs.check(pl.DataFrame(rows, schema=schema, orient="row"), source=Source(file.name))


def _name(found: dict[str, Any], name: str, file: File) -> str:
    if found.get(name) is None:
        raise BadInput.at(file.name, expected=name, found=shown(found))
    return str(found[name])


def _holds(file: File) -> str | None:
    if b'"scenario_id"' in file.head and b'"rating"' in file.head and b'"doc_id"' in file.head:
        return "judgments"
    return "runs" if b'"strategy_id"' in file.head and b'"searches"' in file.head else None


add_format(
    Format(
        "relevance-studio",
        read_jsonl,
        read_from=(".json", ".jsonl", ".ndjson"),
        sniff=lambda file, schema: is_json(file) and _holds(file) is not None,
        records={Judgments: Narrow(read_judgements, several=True), Runs: Narrow(read_evaluations)},
        holds=_holds,
        exact=True,
    ),
    __name__,
)
