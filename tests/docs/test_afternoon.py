"""The afternoon with three colleagues, as its page has it: started, served, judged by three at once, and decided."""

from __future__ import annotations

import csv
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from commands import typed
from stories import BLOCK, ROOT, holds, same_lists

PAGE = ROOT / "docs" / "how-to" / "judge-with-colleagues.md"


@contextmanager
def served(command: str, folder: Path) -> Iterator[list[tuple[str, str]]]:
    """The links that `karat serve` prints, while it serves."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [sys.executable, "-m", *command.split(), "--port", str(port)]
    with subprocess.Popen(
        words, cwd=folder, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stderr is not None
            said = ""
            for line in process.stderr:
                said += line
                if "Stop with Ctrl-C" in line:
                    break
            links = re.findall(r"(http://\S+)/join/(\S+)", said)
            assert len(links) == 3, said
            for _ in range(200):
                with socket.socket() as asked:
                    if asked.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield links
        finally:
            process.terminate()


def judged(base: str, token: str, grades: dict[tuple[str, str], int]) -> int:
    """How many results a colleague graded until there were none left."""
    many = 0
    with httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, timeout=60) as browser:
        while (task := browser.get("/api/task/next").json()["task"]) is not None:
            grade = grades[task["query"]["query"], task["document"]["doc"]]
            said = browser.post(f"/api/task/{task['id']}/answer", json={"label": grade, "seconds": 8})
            assert said.status_code == 200
            many += 1
    return many


@pytest.mark.thorough
def test_an_afternoon_with_three_colleagues(demo_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "karat-demo").symlink_to(demo_folder)
    (start, started), (verdict, decided) = BLOCK.findall(PAGE.read_text())
    serve = re.search(r"```\n(karat serve .*)\n```", PAGE.read_text())
    assert serve is not None
    done = typed(start, tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "karat-demo" / "hand.csv").open() as file:
        grades = {(row["query"], row["doc"]): int(row["label"]) for row in csv.DictReader(file)}
    with served(serve[1], tmp_path) as links, ThreadPoolExecutor(3) as three:
        shares = [*three.map(lambda link: judged(*link, grades), links)]
        found = typed(verdict, tmp_path)  # while it is served
    assert min(shares) > 0
    assert sum(shares) % 2 == 0, "two labels for each result: nobody differed"
    assert found.returncode == 0, found.stderr
    if same_lists():
        holds(done.stdout, started)
        holds(found.stdout, decided)


def test_files_that_make_no_study_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 1.0 a\n")
    (tmp_path / "queries.csv").write_text("query,text\nother,words\n")
    (tmp_path / "documents.jsonl").write_text('{"doc": "d", "text": "t"}\n')
    for files, expected in (
        ("a.run queries.csv", "one file of documents, found none"),
        ("queries.csv documents.jsonl", "at least one run, found none"),
        ("a.run queries.csv documents.jsonl", "queries of the file of queries, found others only"),
    ):
        done = typed(f"karat init new {files}", tmp_path)
        assert done.returncode == 2
        assert expected in " ".join(done.stderr.split())
        assert not (tmp_path / "new").exists()
    (tmp_path / "queries.csv").write_text("query,text\nq,words\n")
    again = "karat init new a.run queries.csv documents.jsonl"
    assert [typed(again, tmp_path).returncode for _ in range(2)] == [0, 2], "nothing is overwritten"
    assert typed("karat init example --n-results 5", tmp_path).returncode == 2
    assert (tmp_path / "new" / "tasks.csv").read_text() == "query,doc\nq,d\n"


@pytest.mark.parametrize(("wanted", "queries"), [(2, 1), (5, 2), (6, 3), (100, 4)])
def test_about_so_many_results_are_drawn_whole_queries_at_a_time(tmp_path: Path, wanted: int, queries: int) -> None:
    runs = [f"q{q} Q0 d{d} {d} {9 - d} {system}\n" for system in "ab" for q in range(4) for d in (1, 2)]
    for system in "ab":
        (tmp_path / f"{system}.run").write_text("".join(line for line in runs if line.endswith(f"{system}\n")))
    (tmp_path / "queries.csv").write_text("query,text\n" + "".join(f"q{q},words\n" for q in range(4)))
    (tmp_path / "documents.jsonl").write_text("".join(f'{{"doc": "d{d}", "text": "t"}}\n' for d in (1, 2)))
    done = typed(f"karat init new a.run b.run queries.csv documents.jsonl --n-results {wanted}", tmp_path)
    assert f"{2 * queries} results to judge: the first 10 of 2 systems for {queries} of 4 queries" in done.stdout
