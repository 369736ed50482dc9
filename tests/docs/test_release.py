"""What stands around the code works, too: notebooks, the gate, files for man, shells, containers and test servers."""

from __future__ import annotations

import ast
import csv
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import karat as kt
from commands import typed

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples" / "shop-search"
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def parsed(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text())


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == kt.__version__ == parsed("CITATION.cff")["version"]


def test_the_pythons_that_are_named_are_those_that_are_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r":: Python :: (3\.\d+)", " ".join(project["classifiers"]))
    assert project["requires-python"] == f">={named[0]}"
    assert parsed(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]["python"] == named
    assert parsed(".gitlab-ci.yml")["test"]["parallel"]["matrix"] == [{"PYTHON": named}]
    assert f"Python {named[0]} or newer (tested up to {named[-1]})" in (ROOT / "README.md").read_text()


def pages(nav: list[Any]) -> list[str]:
    found: list[str] = []
    for entry in nav:
        inner = next(iter(entry.values())) if isinstance(entry, dict) else entry
        found += [inner] if isinstance(inner, str) else pages(inner)
    return found


def test_every_page_is_in_the_sites_menu_once() -> None:
    there = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    there -= {name for name in there if name.startswith("decisions/0")}
    assert sorted(pages(parsed("mkdocs.yml")["nav"])) == sorted(there)


def test_the_page_for_man_and_the_completions_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make_share", ROOT / "docs" / "make_share.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.BashComplete, "_check_version", staticmethod(lambda: None))
    for name, text in module.files().items():
        assert (ROOT / "share" / name).read_text() == text, "run python docs/make_share.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_what_it_shows_can_be_shown(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    for cell in cells:
        *before, last = ast.parse("".join(cell["source"])).body
        ends = isinstance(last, ast.Expr)
        exec(compile(ast.Module(before if ends else [*before, last], []), path.name, "exec"), space)
        shown = (
            eval(compile(ast.Expression(last.value), path.name, "eval"), space) if isinstance(last, ast.Expr) else None
        )
        if hasattr(shown, "_repr_html_"):
            assert shown._repr_html_()
    assert capsys.readouterr().err == ""


def test_there_is_a_notebook_for_each_of_five_questions() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["agreement", "interleaving", "llm-judge", "paper-table", "whole-study"]


@pytest.mark.parametrize("engine", ["live", "new"])
def test_the_shops_engines_give_the_runs_that_are_there(engine: str) -> None:
    done = subprocess.run([sys.executable, SHOP / "search.py", engine], capture_output=True, text=True, check=True)
    assert done.stdout == (SHOP / f"{engine}.run").read_text()


def test_the_shops_gold_labels_are_the_truth_of_what_was_drawn() -> None:
    spec = importlib.util.spec_from_file_location("make_shop", SHOP / "make_shop.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shop, queries = module.made()
    parts = {one["doc"]: {*one["parts"].split()} for one in shop}
    asked = {one["query"]: one["parts"].split() for one in queries}
    with (SHOP / "gold.csv").open() as file:
        for row in csv.DictReader(file):
            kind, wanted = asked[row["query"]]
            there = parts[row["doc"]]
            assert int(row["label"]) == (2 if {kind, wanted} <= there else int(kind in there))


def test_the_shops_gate_fails_by_labels_alone_and_passes_with_gold_labels() -> None:
    lines = re.findall(r"^    karat (compare .*)$", (SHOP / "README.md").read_text(), re.MULTILINE)
    alone, with_gold = [typed(f"karat {line}", SHOP) for line in lines]
    assert alone.returncode == 3, alone.stderr
    assert "+0.030" in alone.stdout
    assert with_gold.returncode == 0, with_gold.stderr
    assert "+0.293 (95 % interval +0.222 to +0.365" in with_gold.stdout


@pytest.mark.thorough
def test_the_step_for_github_keeps_the_report_and_ends_with_the_verdicts_code(tmp_path: Path) -> None:
    for name in ("llm.csv", "gold.csv", "live.run", "new.run"):
        shutil.copy(SHOP / name, tmp_path)
    action = parsed("examples/ci/action.yml")
    inputs = {name: entry.get("default", "") for name, entry in action["inputs"].items()}
    inputs |= parsed("examples/shop-search/.github/workflows/search.yml")["jobs"]["compare"]["steps"][-1]["with"]
    inputs["gold"] = ""  # without gold labels the change does not pass
    step = next(step for step in action["runs"]["steps"] if "karat compare" in step.get("run", ""))
    names = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: inputs[m[1]], text) for name, text in step["env"].items()
    }
    (tmp_path / "karat").write_text(f'#!/bin/sh\nexec {sys.executable} -m karat "$@"\n')
    (tmp_path / "karat").chmod(0o755)
    environment = os.environ | names | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "GITHUB_STEP_SUMMARY": "summary.md"}
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 3, done.stderr
    assert "nDCG@10" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "karat.html").stat().st_size < 2_000_000


def test_the_containers_files_name_what_is_there() -> None:
    compose = parsed("deploy/compose.yaml")
    assert {*compose["services"]} == {"app", "db", "proxy", "backup"}
    assert {*compose["volumes"]} == {"study", "database", "certificates", "backups"}
    for service in compose["services"].values():
        if "build" in service:
            assert (ROOT / "deploy" / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
    options = [word for word in compose["services"]["app"]["command"] if word.startswith("--")]
    shown = typed("karat serve --help", ROOT).stdout
    assert all(option in shown for option in options)


def test_containers_have_no_rights_and_no_room_beyond_their_own() -> None:
    for name, service in parsed("deploy/compose.yaml")["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service["read_only"] is True
        assert service["mem_limit"]
        assert service["pids_limit"]
        assert "privileged" not in service
        assert not any("docker.sock" in str(volume) for volume in service["volumes"])
    steps = (ROOT / "deploy" / "Dockerfile").read_text()
    assert re.findall(r"^USER (.*)$", steps, re.MULTILINE) == ["10001:10001"]
    assert {*re.findall(r"^FROM (\S+)", steps, re.MULTILINE)} == {"${PYTHON_IMAGE}"}, "a digest can be given"


def test_the_unit_is_confined_to_what_the_app_needs(tmp_path: Path) -> None:
    """`systemd-analyze security` says how much a unit may do: 10 is everything, 7.1 what it was before."""
    unit = (ROOT / "deploy" / "karat.service").read_text()
    said = dict(line.split("=", 1) for line in unit.splitlines() if re.match(r"\w+=", line))
    wanted = {"CapabilityBoundingSet": "", "NoNewPrivileges": "true", "UMask": "0077", "ProtectSystem": "strict"}
    assert wanted.items() <= said.items()
    assert "SystemCallFilter=@system-service" in unit
    assert said["MemoryMax"]
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run(
        [analyze, "security", "--offline=true", "--threshold=20", str(ROOT / "deploy" / "karat.service")],
        capture_output=True,
        text=True,
    )
    if "unrecognized option" in done.stderr:
        pytest.skip("systemd-analyze is older than 250")
    assert done.returncode == 0, done.stdout[-300:] + done.stderr


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", ".gitlab-ci.yml", "examples/ci/gitlab.yml", ".pre-commit-config.yaml"]
)
def test_servers_of_tests_call_what_the_makefile_has(path: str) -> None:
    assert parsed(path)
    asked = re.findall(r"make ([\w-]+)", (ROOT / path).read_text())
    there = re.findall(r"^([\w -]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {*asked} - {"check runs"} <= {name for line in there for name in line.split()} | {"check"}
