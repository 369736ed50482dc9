"""karat as a process of its own: pipes, full disks, exit codes, what it loads. Other tests call it in their process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import karat

QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
RUN = "q1 Q0 d1 1 3 bm25\nq1 Q0 d2 2 2 bm25\nq2 Q0 d7 1 2 bm25\nq2 Q0 d1 2 1 bm25\n"
#: What the installed script `karat` does.
SCRIPT = [sys.executable, "-c", "import sys; sys.argv[0] = 'karat'; from karat.cli import main; main()"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    return str(tmp_path / "qrels.txt"), str(tmp_path / "bm25.run")


def others(*forms: str) -> list[Any]:
    """The other forms of what is printed: each takes a process more."""
    return [pytest.param(form, marks=pytest.mark.thorough) for form in forms]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    line = command.replace("karat", f"{sys.executable} -m karat", 1)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("words", "given", "code"),
    [
        (["score", "QRELS", "RUN", "-m", "RR"], None, 0),
        (["score", "QRELS", "-", "-m", "RR", "--json"], RUN, 0),
        (["compare", "QRELS", "RUN", "RUN"], None, 2),
        (["correct", "--score", "0.5", "--n-queries", "100", "--relevant", "5/10", "--nonrelevant", "5/10"], None, 1),
        (["score"], None, 2),
        *(
            pytest.param(words, given, code, marks=pytest.mark.thorough)
            for words, given, code in (
                (["score", "QRELS", "nowhere.run"], None, 2),
                (["score", "QRELS", "-"], "Zürich", 2),
                (["score", "--no-such-option"], None, 2),
                (["plan", "--help"], None, 0),
            )
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_process_prints_and_exits_as_the_tests_see_it(
    files: tuple[str, str], words: list[str], given: str | None, code: int
) -> None:
    words = [dict(zip(("QRELS", "RUN"), files, strict=True)).get(word, word) for word in words]
    process = subprocess.run([*SCRIPT, *words], capture_output=True, text=True, input=given or "")
    here = karat(*words, given=given)
    assert process.returncode == code, process.stderr
    assert (here.returncode, here.stdout, here.stderr) == (process.returncode, process.stdout, process.stderr)


def test_pipes_are_read_like_files(files: tuple[str, str]) -> None:
    done = shell(f"karat score <(cat {files[0]}) <(gzip -c {files[1]}) -m RR --json")
    assert json.loads(done.stdout)["systems"][0]["scores"]["RR"]["value"] == 0.75, done.stderr


def test_a_full_disk_is_not_called_a_fault_of_karat(files: tuple[str, str]) -> None:
    done = shell(f"karat score {files[0]} {files[1]} > /dev/full")
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", ["", *others("--tsv -q", "--json")])
def test_a_closed_pipe_is_no_error(files: tuple[str, str], form: str) -> None:
    done = shell(f"karat score {files[0]} {files[1]} {form} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("form", ["", "2>&1", *others("--tsv", "--json", "--latex", "--json 2>&1")])
def test_a_rule_that_failed_has_failed_though_nobody_reads_on(tmp_path: Path, form: str) -> None:
    """`karat compare ... | head -1` under pipefail: a closed pipe must not turn a failed check green."""
    queries = [f"q{number}" for number in range(8)]
    (tmp_path / "qrels").write_text("".join(f"{query} 0 good 1\n{query} 0 bad 0\n" for query in queries))
    for name, first, second in (("old", "good", "bad"), ("new", "bad", "good")):
        lists = (f"{query} Q0 {first} 1 2 {name}\n{query} Q0 {second} 2 1 {name}\n" for query in queries)
        (tmp_path / f"{name}.run").write_text("".join(lists))
    rule = f"cd {tmp_path}; karat compare qrels old.run new.run -m P@1 --fail-if-worse 0.01 --out rows.csv {form}"
    done = shell(f"{rule} | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == "3\n"
    assert ("failed" in done.stderr) == ("2>&1" not in form)  # what goes the same way is lost with it
    assert (tmp_path / "rows.csv").exists()


def test_files_are_written_though_nobody_reads_on(tmp_path: Path) -> None:
    rows = [f"q,d{doc},{(doc + judge) % 2},j{judge}" for doc in range(6) for judge in range(3)]
    (tmp_path / "crowd.csv").write_text("\n".join(["query,doc,label,judge", *rows]))
    done = shell(f"cd {tmp_path}; karat judges labels crowd.csv --out labels.csv | true; echo ${{PIPESTATUS[0]}}")
    assert done.stdout == "0\n", done.stderr
    assert (tmp_path / "labels.csv").exists()


def test_help_loads_no_command() -> None:
    code = "import sys; from karat.cli import karat; karat(['--help'], standalone_mode=False); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "karat.cli.score" not in loaded
    assert "polars" not in loaded


def test_python_m_karat_is_karat() -> None:
    assert shell("karat --version").stdout.startswith("karat ")
