"""The server is killed again and again while people judge: every acknowledged answer is there, none twice."""

from __future__ import annotations

import asyncio
import os
import random
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest
from sqlalchemy import func, select

from karat.engines.http_calls import done as finished
from karat.formats.study_folder import read_study, write_example
from karat.study.answer_tables import events_frame, judgments
from karat.study.backup import copy_study
from karat.study.people import add_judge
from karat.study.store import Store
from karat.study.tables import reservations, tasks
from light_judges import Judge
from simulated import THOROUGH, studies

#: How many judges there are, how often the server is killed, and how many documents they judge meanwhile.
JUDGES, KILLS, TASKS = 50 if THOROUGH else 12, len(studies(1, 8)), len(studies(24, 300))

Answers = set[tuple[int, str]]


@dataclass
class Work:
    """A study in a folder and a database, its judges, and what the server said that it has."""

    folder: Path
    database: str
    port: int
    tokens: list[str]
    acknowledged: list[tuple[int, str]] = field(default_factory=list)
    trouble: list[object] = field(default_factory=list)

    async def server(self) -> asyncio.subprocess.Process:
        """A server of our own, ready to answer."""
        what = ("serve", str(self.folder), "--port", str(self.port), "--database", self.database)
        with (self.folder / "log").open("ab") as log:
            server = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "karat", *what),
                stdout=log,
                stderr=log,
                env=os.environ | {"POLARS_MAX_THREADS": "1"},
            )
        visitor = Judge(self.port, "nobody")
        for _ in range(1200):
            assert server.returncode is None, (self.folder / "log").read_text()[-3000:]
            try:
                await visitor.ask("GET", "/api/me")
            except ConnectionError:
                await asyncio.sleep(0.1)
            else:
                visitor.close()
                return server
        raise AssertionError("the server does not start")

    async def judge(self, number: int) -> None:
        """Judge until there is nothing left; an answer without reply is sent again with the same key."""
        me, waiting, idle = Judge(self.port, self.tokens[number]), None, 0
        while idle < 3:
            try:
                if waiting is None:
                    task = await me.next()
                    if task is None:
                        idle += 1
                        await asyncio.sleep(0.2)
                        continue
                    doc = task["document"]["doc"]
                    label = (number + int(doc[1:])) % 2 if int(doc[1:]) % 3 == 0 else 1
                    waiting = (task["id"], {"label": label, "key": doc}, doc)
                status, said = await me.answer(*waiting[:2])
            except ConnectionError:
                await asyncio.sleep(0.1)
                continue
            if status == 200:
                self.acknowledged.append((number, waiting[2]))
            elif status != 409:
                self.trouble.append(said)
            waiting, idle = None, 0
        me.close()

    async def more_answers(self, many: int) -> None:
        """Wait until so many answers are there."""
        async with asyncio.timeout(300):
            while len(self.acknowledged) < many:
                await asyncio.sleep(0.005)

    async def killed(self, times: int) -> None:
        """Everybody judges, while the server is killed so often; then to the end."""
        lots = random.Random(0)
        server = await self.server()
        judges = [asyncio.create_task(self.judge(number)) for number in range(len(self.tokens))]
        copies: list[tuple[Answers, asyncio.Task[Answers]]] = []
        try:
            for kill in range(times):
                await self.more_answers((kill + 1) * 2 * TASKS // (times + 1))
                if kill % 10 == 0:
                    copies.append((set(self.acknowledged), asyncio.create_task(self.copied(kill))))
                await asyncio.sleep(lots.uniform(0, 0.1))
                server.kill()
                await server.wait()
                server = await self.server()
            before = len(self.acknowledged)
            await asyncio.gather(*judges)
            assert len(self.acknowledged) > before, "work went on after the last restart"
            for known, copy in copies:
                assert known <= await copy <= set(self.acknowledged), "what was there when the copy began, nothing else"
        finally:
            if server.returncode is None:
                server.kill()
            await server.wait()

    async def copied(self, kill: int) -> Answers:
        """The answers in a copy that was made while the study was served and killed."""
        target = self.folder.parent / f"copy{kill}"
        await asyncio.to_thread(copy_study, str(self.folder), str(target), database=self.database)
        store = Store.open(str(target / "karat.db"), read_study(str(target)).study, made=False)
        found = answers_in(store)
        store.close()
        return found


def answers_in(store: Store) -> Answers:
    said = judgments(store).select("judge", "doc").rows()
    found = {(int(judge.split()[1]) - 1, doc) for judge, doc in said}
    assert len(found) == len(said), "none twice"
    return found


@pytest.mark.evidence
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)], indirect=True)
def test_every_acknowledged_answer_survives_a_killed_server(database: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_example(str(folder), empty=True)
    rows = [{"query": f"q{n // 10}", "doc": f"d{n}"} for n in range(TASKS)]
    pl.DataFrame(rows).write_csv(folder / "tasks.csv")
    store = Store.open(database, read_study(str(folder)).study)
    tokens = [add_judge(store)[1] for _ in range(JUDGES)]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        work = Work(folder, database, free.getsockname()[1], tokens)
    finished(work.killed(KILLS))
    assert not work.trouble
    said = judgments(store)
    assert set(work.acknowledged) == answers_in(store)
    assert len(work.acknowledged) == said.height
    for doc, labels in said.group_by("doc", maintain_order=True).agg("label").iter_rows():
        assert len(labels) == (3 if labels[0] != labels[1] else 2), doc
    assert said["doc"].n_unique() == TASKS
    assert events_frame(store).filter(pl.col("kind") == "answer").height == said.height
    mine = (reservations.c.study_id == store.study_id, reservations.c.state == "held")
    assert store.value(select(func.count()).where(*mine)) == 0, "nothing is kept for anybody"
    wrong = select(func.count()).where(
        tasks.c.study_id == store.study_id, (tasks.c.held != 0) | (tasks.c.wanted != tasks.c.filled)
    )
    assert store.value(wrong) == 0, "every task has what it wants"
    store.close()
