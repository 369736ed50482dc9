"""What the lead looks at is made beside the judges' requests: nobody who judges waits for it."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from karat.engines.http_calls import done as finished
from karat.errors import BadInput
from karat.records import Scale, StudyDesign
from karat.study.exports import exported
from karat.study.people import add_judge
from karat.study.store import Store
from karat.web import api_lead, dashboard
from karat.web.background import Beside
from karat.web.roster import roster
from served import Served


def test_judges_do_not_wait_for_the_leads_figures(served: Served, monkeypatch: Any) -> None:
    enough = threading.Event()

    def slow(store: Store) -> dict[str, Any]:
        enough.wait(20)
        return {"rows": [], "disagreements": []}

    for where, name in ((dashboard, "quality"), (dashboard, "roster"), (api_lead, "overview")):
        monkeypatch.setattr(where, name, slow)
    judge, lead = served.judge(), served.lead()
    with served.client() as client:  # one loop with its few threads, as a server has
        asked = [
            threading.Thread(target=client.get, args=(f"/api/{name}",), kwargs={"headers": lead.headers})
            for name in ("agreement", "judges", "progress") * 2
        ]
        for each in asked:
            each.start()
        time.sleep(0.3)
        start = time.monotonic()
        assert client.get("/api/task/next", headers=judge.headers).json()["state"] == "task"
        took = time.monotonic() - start
        enough.set()
        for each in asked:
            each.join()
    assert took < 10


def test_another_process_makes_them_by_a_connection_of_its_own_and_says_what_is_wrong(tmp_path: Path) -> None:
    store = Store.open(str(tmp_path / "karat.db"), StudyDesign("s", "S", Scale.parse("0..3")))
    beside = Beside.in_process(str(tmp_path / "karat.db"), store)
    add_judge(store, name="ana")

    async def ask() -> None:
        writer = sqlite3.connect(tmp_path / "karat.db", isolation_level=None)
        writer.execute("BEGIN IMMEDIATE")  # somebody is in the middle of a change
        found = await beside.figure("judges", 1, roster)
        writer.close()
        assert [row["name"] for row in found["rows"]] == ["ana"]
        assert await beside.figure("judges", 1, roster) is found, "nothing was said since"
        with pytest.raises(BadInput, match=r'expected judgments or .*, found "weather"'):
            await beside.run(exported, "weather")
        (other,) = multiprocessing.active_children()
        other.kill()
        assert await beside.run(roster) == found, "a new one takes the place of a process that was ended"

    finished(ask())
    beside.close()
    store.close()


def test_a_figure_is_made_once_for_all_who_ask_and_anew_after_a_change_by_the_lead() -> None:
    made: list[float] = []

    def figure(store: Store) -> int:
        time.sleep(0.15)
        made.append(time.monotonic())
        return len(made)

    async def ask() -> None:
        beside = Beside(None)
        assert await asyncio.gather(*(beside.figure("a", n, figure) for n in range(5))) == [1] * 5
        assert await beside.figure("a", 7, figure) == 1, "it took longer than a moment: judging comes first"
        beside.renew()
        assert await beside.figure("a", 8, figure) == 2
        beside.close()

    finished(ask())


ORPHAN = """
import asyncio, os, sys, multiprocessing
from karat.web.background import Beside
from karat.web.roster import roster
from karat.records import Scale, StudyDesign
from karat.study.store import Store
if __name__ == "__main__":
    store = Store.open(sys.argv[1], StudyDesign("s", "S", Scale.parse("0..3")))
    beside = Beside.in_process(sys.argv[1], store)
    asyncio.run(beside.run(roster))
    print(multiprocessing.active_children()[0].pid, flush=True)
    os.kill(os.getpid(), 9)
"""


def test_a_server_that_is_killed_leaves_no_process_behind(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(ORPHAN)
    done = subprocess.run([sys.executable, script, tmp_path / "karat.db"], stdout=subprocess.PIPE, check=False)
    other = int(done.stdout)
    end = time.monotonic() + 30
    while Path(f"/proc/{other}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{other}").exists()
