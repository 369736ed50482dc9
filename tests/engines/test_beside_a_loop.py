"""What waits for servers works where a loop runs already: in a notebook, or beside a browser that tests drive."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import hostile_server as hostile
import karat as kt
from hostile_server import Reply


def test_an_engine_is_asked_from_within_a_loop(tmp_path: Path) -> None:
    answer = json.dumps({"hits": {"hits": [{"_id": "d1", "_score": 2.0}, {"_id": "d2", "_score": 1.0}]}})

    async def in_a_notebook(url: str) -> kt.Runs:
        found = kt.fetch(f"{url}/?q={{{{query}}}}", [{"query": "q", "text": "words"}], system="new")
        return found.runs

    with hostile.running(lambda call: Reply(answer.encode())) as server:
        runs = asyncio.run(in_a_notebook(server.url))
    assert runs.frame["doc"].to_list() == ["d1", "d2"]
