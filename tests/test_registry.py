"""What users add: by a decorator here, by entry point from a package that is only looked at when it is asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import karat as kt
from karat.errors import BadInput
from karat.formats import FORMATS
from karat.judges import MODELS
from karat.measures import MEASURES, about
from karat.registry import Registry

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text()


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Take out again what a test put in."""
    registries: list[Registry[object]] = [MEASURES, FORMATS, MODELS]  # type: ignore[list-item]
    before = [set(registry.own) for registry in registries]
    yield
    sys.modules.pop("house_rules", None)
    for registry, names in zip(registries, before, strict=True):
        for name in [*registry.own]:
            if name not in names:
                registry.forget(name)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The page's package as pip would leave it: its file and the entry points of its pyproject.toml."""
    package = tmp_path / "site"
    info = package / "house_rules-1.0.dist-info"
    info.mkdir(parents=True)
    (package / "house_rules.py").write_text(block("python"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 1.0\n")
    groups = tomllib.loads(block("toml"))["project"]["entry-points"]
    lines = [
        line for group, names in groups.items() for line in (f"[{group}]", *(f"{n}={v}" for n, v in names.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    return package


def block(kind: str) -> str:
    found = re.search(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def run(
    words: str, folder: Path, package: Path, program: str = f"{sys.executable} -m karat"
) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    command = words.replace("karat", program, 1)
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )


def test_the_pages_commands_use_the_package_and_print_what_it_shows(installed: Path, tmp_path: Path) -> None:
    for name, text in re.findall(r"```text (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(text)
    shown = re.search(r"```\n\$ (karat convert.*?)\n\$ (karat score.*?)\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None
    for words, expected in ((shown[1], ""), (shown[2], shown[3])):
        done = run(words, tmp_path, installed)
        assert (done.returncode, done.stdout) == (0, expected), done.stderr
    # Bored by two in a row: a, then b and c. By three: a and d.
    assert [float(line.split("\t")[3]) for line in shown[3].splitlines()[1:]] == [1, 2]


def test_commands_list_and_take_what_packages_offer(installed: Path, tmp_path: Path) -> None:
    # One process for all: to start takes it longer than to say this.
    (tmp_path / "four.py").write_text(
        "import sys\n"
        "from karat.cli import main\n"
        "for words in ('measures', 'compare --help', 'convert --help', 'score x y -m early_stopp'):\n"
        "    sys.argv = ['karat', *words.split()]\n"
        "    try:\n"
        "        main()\n"
        "    except SystemExit:\n"
        "        print('---', flush=True)\n"
    )
    done = run("karat", tmp_path, installed, f"{sys.executable} four.py")
    measures, compare, convert, *_ = done.stdout.split("---\n")
    assert "early_stop" in measures
    assert "alike" in compare
    assert "pipes" in convert
    assert "did you mean early_stop?" in done.stderr


def test_a_package_is_loaded_when_a_name_is_asked_for_that_nobody_has_registered(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed))
    assert str(kt.parse_measure("nDCG@10")) == "nDCG@10"
    assert "house_rules" not in sys.modules
    assert "early_stop" in list(MEASURES)  # by its name alone
    assert "house_rules" not in sys.modules
    assert str(kt.early_stop(bored=1) @ 5) == "early_stop(bored=1)@5"
    assert "house_rules" in sys.modules
    assert about(MEASURES["early_stop"]).startswith("Useful documents met")


def test_an_entry_point_that_registers_nothing_is_named(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))
    (installed / "house_rules-1.0.dist-info" / "entry_points.txt").write_text("[karat.measures]\nmissing=json\n")
    with pytest.raises(BadInput, match=r"the entry point missing of karat.measures: expected json to register the mea"):
        kt.parse_measure("missing@5")


def test_a_function_of_labels_at_ranks_is_the_measure_that_it_says() -> None:
    @kt.register_measure("my_P")
    def my_p(labels: np.ndarray) -> float:
        return float((labels >= 1).mean())

    @kt.register_measure("my_Judged", cutoff=3)
    def my_judged(judged: np.ndarray) -> float:
        return float(judged.mean())

    @kt.register_measure("my_nDCG", cutoff=10)
    def my_ndcg(labels: np.ndarray, ideal: np.ndarray) -> float:
        def gain(values: np.ndarray) -> float:
            return float((values[:10] / np.log2(np.arange(2, len(values[:10]) + 2))).sum())

        return gain(labels) / gain(ideal)

    rng = np.random.default_rng(1)
    labels = {f"q{q}": {f"d{d}": int(rng.integers(-1, 4)) for d in rng.permutation(30)[:20]} for q in range(20)}
    run = {q: {f"d{d}": float(rng.random()) for d in rng.permutation(30)[:15]} for q in labels}
    names = ["my_P@5", "P@5", "my_Judged", "Judged@3", "my_nDCG", "nDCG@10"]
    found = kt.score(labels=labels, runs={"a": run}, measures=names, draws=0).means
    values = dict(zip(found["measure"].to_list(), found["value"].to_list(), strict=True))
    for mine, known in (("my_P@5", "P@5"), ("my_Judged@3", "Judged@3"), ("my_nDCG@10", "nDCG@10")):
        assert values[mine] == pytest.approx(values[known]), mine


def test_parameters_of_a_function_are_the_measures() -> None:
    @kt.register_measure("shifted")
    def shifted(labels: np.ndarray, *, by: float = 1.0) -> float:
        return float(labels.sum() + by)

    measure = kt.parse_measure("shifted(by=2)@3")
    assert measure == shifted(by=2) @ 3
    found = kt.score(labels={"q": {"d": 1}}, runs={"a": {"q": {"d": 1.0}}}, measures=[measure, "shifted"], draws=0)
    assert found.means["value"].to_list() == [3, 2]


def test_what_cannot_be_a_measure_is_refused() -> None:
    with pytest.raises(
        BadInput, match=r'the measure "nDCG": expected a name of its own, found one that karat.measures'
    ):
        kt.register_measure("nDCG")(lambda labels: 0.0)
    with pytest.raises(BadInput, match="expected letters, digits and _"):
        kt.register_measure("n-DCG")
    with pytest.raises(BadInput, match=r"arguments named labels, judged, ideal, .* found scores"):
        kt.register_measure("odd")(lambda scores: 0.0)
    kt.register_measure("wordy")(lambda labels: "good")
    with pytest.raises(BadInput, match="the measure wordy: expected a number for each list, found 'good'"):
        kt.score(labels={"q": {"d": 1}}, runs={"a": {"q": {"d": 1.0}}}, measures="wordy", draws=0)


def test_a_cell_that_is_run_twice_registers_anew() -> None:
    kt.register_measure("again")(lambda labels: 1.0)
    kt.register_measure("again")(lambda labels: 2.0)
    found = kt.score(labels={"q": {"d": 1}}, runs={"a": {"q": {"d": 1.0}}}, measures="again", draws=0)
    assert found.means["value"].to_list() == [2]


def test_a_format_is_read_by_ending_by_first_bytes_and_by_name_and_is_checked(tmp_path: Path) -> None:
    @kt.register_format("hashed", endings=(".hash",), sniff=lambda head: head.startswith(b"#!"))
    def read_hashed(text: str) -> list[dict[str, str]]:
        return [dict(zip(("query", "doc", "label"), line.split(), strict=True)) for line in text.splitlines()[1:]]

    for name in ("a.hash", "b.txt", "c.csv"):
        (tmp_path / name).write_text("#!\nq1 d1 2\n")
    for name, form in (("a.hash", None), ("b.txt", None), ("c.csv", "hashed")):
        assert kt.read_judgments(tmp_path / name, format=form).frame.rows() == [("q1", "d1", 2.0)], name
    with pytest.raises(BadInput, match=r'expected csv or .* or trec or .*, found "hashed"'):
        kt.write(kt.Judgments.of({"q": {"d": 1}}), tmp_path / "d.hash")
    (tmp_path / "bad.hash").write_text("#!\nq1 d1 good\n")
    with pytest.raises(BadInput, match=r"bad.hash"):
        kt.read_judgments(tmp_path / "bad.hash")


def test_what_a_format_writes_it_reads_back(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))
    labels = kt.Judgments.of([{"query": "q", "doc": "d", "label": 2, "judge": "ann"}])
    kt.write(labels, tmp_path / "x.pipes.gz", "pipes")
    assert kt.read_judgments(tmp_path / "x.pipes.gz").frame.equals(labels.frame)


def test_an_error_model_of_ones_own_weighs_labels(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(installed))
    rows = [
        {"query": f"q{i}", "doc": "d", "label": label, "judge": judge}
        for i in range(12)
        for judge, label in (("ann", i % 2), ("bob", i % 2), ("eve", (i // 2) % 2))
    ]
    model = MODELS["alike"](rows)
    # Two of three say so, and all err alike: the majority, for any error rate below one half.
    assert model.posterior.sort("query")["label"].to_list() == [
        int(q[1:]) % 2 for q in sorted(f"q{i}" for i in range(12))
    ]
    runs = {"a": {f"q{i}": {"d": 1.0} for i in range(12)}, "b": {f"q{i}": {"e": 1.0} for i in range(12)}}
    found = kt.compare(
        labels=kt.Judgments.of(rows), runs=runs, measure="P@1", consensus="alike", draws=100, allow_unjudged=True
    )
    assert found.to_dict()["methods"][0]["a"] == pytest.approx(0.5, abs=0.05)
    with pytest.raises(BadInput, match=r'expected median or majority or mean or .* or alike, found "unlike"'):
        kt.compare(labels=kt.Judgments.of(rows), runs=runs, measure="P@1", consensus="unlike")


def test_a_thread_that_asks_while_another_looks_for_karats_own_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that did not wait found nothing yet, and said that there was no such format."""
    (tmp_path / "slow_house").mkdir()
    (tmp_path / "slow_house" / "__init__.py").touch()
    (tmp_path / "slow_house" / "gold.py").write_text(
        "import sys, time\ntime.sleep(0.2)\nsys.modules['slow_house'].colours.register('gold', '#9a6b00', __name__)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    colours = Registry[str]("colour", "karat.colours", home="slow_house")
    monkeypatch.setattr(import_module("slow_house"), "colours", colours, raising=False)
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(colours.__getitem__, ["gold"] * 4)] == ["#9a6b00"] * 4
