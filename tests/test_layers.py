"""No module of karat imports itself by way of others: whoever reads one file can stop at what stands below it.

`lint-imports` holds the order of the folders; this holds within them, too, for imports inside of functions as well.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import karat

ROOT = Path(karat.__file__).parent
#: Imports that would close a cycle and cannot be avoided, with the reason; none but these.
UNAVOIDABLE = {
    ("karat.records.result", "karat.reports.plots"): "a result draws itself when asked; only then are charts loaded",
    ("karat.records.result", "karat.reports.tables"): "a result writes itself as LaTeX or Markdown when asked",
    ("karat.measures.scores", "karat.reports.latex"): "scores have their stars in LaTeX, by comparisons that are given",
}


def modules(root: Path) -> dict[str, Path]:
    """The files of a package by the names of their modules."""
    found = {}
    for path in root.rglob("*.py"):
        parts = (root.name, *path.relative_to(root).with_suffix("").parts)
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def imported(tree: ast.AST) -> Iterator[str]:
    """What a module may load: its imports, wherever they stand, but not those for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{name.name}" for name in names)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name)), *_]):
                yield name
        yield from imported(node)


def loads(root: Path) -> dict[str, set[str]]:
    """For each module, the modules of the same package that it may load."""
    files = modules(root)
    found: dict[str, set[str]] = {}
    for module, path in files.items():
        names = imported(ast.parse(path.read_text(encoding="utf-8")))
        # `from a.b import c` loads a.b.c where that is a module, and otherwise a.b.
        known = {name if name in files else name.rpartition(".")[0] for name in names}
        found[module] = {name for name in known if name in files and (module, name) not in UNAVOIDABLE}
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    try:
        TopologicalSorter(loads(ROOT)).prepare()
    except CycleError as error:
        pytest.fail("these import each other in a circle: " + " <- ".join(error.args[1]))


def test_what_cannot_be_avoided_is_still_there() -> None:
    files = modules(ROOT)
    for module, other in UNAVOIDABLE:
        assert other in {*imported(ast.parse(files[module].read_text(encoding="utf-8")))}


def test_a_circle_is_found_even_where_a_function_closes_it(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("from pack.one import f\n")
    (package / "one.py").write_text("from pack import two\n\ndef f():\n    pass\n")
    (package / "two.py").write_text("def g():\n    from pack.one import f\n    return f\n")
    assert loads(package) == {"pack": {"pack.one"}, "pack.one": {"pack.two"}, "pack.two": {"pack.one"}}
    with pytest.raises(CycleError):
        TopologicalSorter(loads(package)).prepare()
    (package / "two.py").write_text("if TYPE_CHECKING:\n    from pack.one import f\n")
    TopologicalSorter(loads(package)).prepare()


def test_the_map_for_contributors_has_every_folder_in_the_order_of_imports() -> None:
    repository = ROOT.parents[1]
    settings = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    page = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Where things live")[2]
    named = [
        name
        for line in page.partition("## ")[0].splitlines()
        for name in re.findall(r"`(\w+)(?:/|\.py)`", line.rpartition("|")[0].rpartition("|")[0])
    ]
    packages = [package for layer in layers if layer != "__main__" for package in layer.split(" : ")]
    assert sorted(named) == sorted(packages)
    tier = {package: number for number, layer in enumerate(layers) for package in layer.split(" : ")}
    assert [tier[name] for name in named] == sorted(tier[name] for name in named)
