"""Errors and notes advise options on the command line, and parameters in Python."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import karat as kt
from commands import run

SOURCE = Path(kt.__file__).parent
#: Packages that only commands use.
COMMANDS = {"cli", "llm", "web"}
#: The database of a study, which only commands open.
DATABASE = {
    f"study/{name}.py"
    for name in ("answers", "database", "exports", "gold_plans", "imports", "people", "sampling_probabilities", "tasks")
}
#: A report writes whole commands for its reader to type; the option of UMBRELA is no option of karat.
WHOLE_COMMANDS = {"reports/next_steps.py", "formats/umbrela.py", "advice.py"}
AN_OPTION = re.compile(r"(?<![\w-])--[a-z]")


def options_in_messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The texts with an option that are neither docstrings nor said to the command line only."""
    known: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            known |= {id(part) for part in ast.walk(first)} if isinstance(first, ast.Expr) else set()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "advise":
            known |= {id(part) for part in ast.walk(node.args[0])}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in known else None
        if isinstance(node, ast.Constant) and isinstance(text, str) and AN_OPTION.search(text):
            yield node.lineno, text


def test_no_message_of_a_function_names_an_option() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}: {text[:60]}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).parts[0] not in COMMANDS
        and path.relative_to(SOURCE).as_posix() not in DATABASE
        and path.relative_to(SOURCE).as_posix() not in WHOLE_COMMANDS
        for line, text in options_in_messages(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


LABELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}


def misnamed(folder: Path) -> str:
    """A file of labels whose header has a slip."""
    path = folder / "labels.csv"
    path.write_text("query,doc,stars\nq1,a,1\n")
    return str(path)


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        (lambda _: kt.compare(LABELS, {"a": RUN, "b": RUN}, method="ppi"), "gold="),
        (lambda _: kt.confusion(LABELS), "gold="),
        (lambda _: kt.corrected_runs(LABELS, RUN, "P@1"), "gold="),
        (lambda folder: kt.read_judgments(misnamed(folder)), 'columns={"label": "..."}'),
        (lambda folder: kt.read_judgments(misnamed(folder), columns={"label": "rating"}), "expected the column rating"),
        (lambda _: kt.score(pl.DataFrame({"query": ["q"], "doc": ["d"], "stars": [1]}), RUN), "name the columns so"),
        (lambda _: kt.score(pd.DataFrame({"query": ["q"], "doc": ["d"], "label": ["good"]}), RUN), "Judgments.of"),
        (lambda _: kt.score(LABELS, RUN, "nDCF@10"), "did you mean nDCG"),
        (lambda _: kt.score(LABELS, RUN, "wonder"), "list(karat.measures.MEASURES)"),
        (lambda _: kt.Engine("postgresql://localhost/db"), "sql="),
    ],
)
def test_advice_in_python_is_about_parameters(call: Callable[[Path], object], advice: str, tmp_path: Path) -> None:
    with pytest.raises((kt.KaratError, ValueError)) as error:
        call(tmp_path)
    assert advice in str(error.value)
    assert not AN_OPTION.search(str(error.value))


def test_a_note_in_python_is_about_parameters() -> None:
    scores = kt.score(LABELS | {"q3": {"a": 1}}, RUN, "P@1", draws=0)
    assert any("complete=True" in note for note in scores.notes)
    slip = {f"q{n}": {"a": n % 4, "b": (n + 1) % 4} for n in range(30)} | {"q30": {"a": 33}}
    assert any('scale="0..3"' in note for note in kt.Judgments.of(slip).notes)


def test_advice_on_the_command_line_is_about_options(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,doc,score\nq1,a,1\n")
    with pytest.raises(kt.BadInput, match=r"--columns label=\.\.\."):
        run("score", misnamed(tmp_path), tmp_path / "run.csv")
    (tmp_path / "good.csv").write_text("query,doc,label\nq1,a,1\nq2,a,0\n")
    assert "--complete counts 0" in run("score", tmp_path / "good.csv", tmp_path / "run.csv", "-m", "P@1").output
