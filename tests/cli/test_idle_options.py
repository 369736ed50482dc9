"""No option is ignored without a word: one that would do nothing is refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from karat.cli import karat
from karat.cli.lazy_group import LazyGroup
from karat.errors import BadInput


def run(words: str) -> Result:
    return CliRunner().invoke(karat, words.split(), catch_exceptions=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Labels of two judges with a kind, two runs, tasks and queries."""
    rows = [f"q{q},d{d},{(q + d) % 3},j{j},nav" for q in range(6) for d in range(4) for j in range(2)]
    (tmp_path / "labels.csv").write_text("\n".join(["query,doc,label,judge,kind", *rows]) + "\n")
    for name, order in (("a", (0, 1, 2, 3)), ("b", (3, 2, 1, 0))):
        lines = [f"q{q} Q0 d{d} {rank} {9 - rank} {name}" for q in range(6) for rank, d in enumerate(order, start=1)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    (tmp_path / "queries.csv").write_text("query,text\nq0,zero\n")
    (tmp_path / "weights.csv").write_text("at_least,of,level,weight\n1,3,2,1\n")
    (tmp_path / "reasons.csv").write_text("query,left,right,choice,reason\nq0,a,b,left,better results\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("score labels.csv a.run --weights weights.csv", "--weights"),
        ("report labels.csv a.run b.run --weights weights.csv", "--weights"),
        ("score labels.csv a.run -m nDCG@10 --subtopics queries.csv", "--subtopics"),
        ("convert a.run b.csv --scale 0..3", "--scale"),
        ("convert a.run b.csv --drop-bad-labels", "--drop-bad-labels"),
        ("convert a.run b.csv --time-format %Y", "--time-format"),
        ("convert a.run b.csv --consensus median", "--consensus"),
        ("simulate two-systems --judge fair --leniency 0.2", "--leniency"),
        ("plan power --difference 0.1 --sd-difference 0.2 --pool 8", "--pool"),
        ("plan power --difference 0.1 --sd-difference 0.2 --gold-variance 0.1 --pool 8 --cost-gold 1", "--cost-gold"),
        ("plan power --difference 0.1 --sd-difference 0.2 --scale 0..3", "--scale"),
        ("plan gold labels.csv a.run b.run --whole-queries --floor 0.1", "--floor"),
        ("plan gold labels.csv a.run b.run --force", "--force"),
        ("judges llm labels.csv --difference 0.1", "--difference"),
        ("judges llm labels.csv -m P@5", "--measure"),
        ("judges llm labels.csv a.run b.run --width 0.2", "--width"),
        ("plan pairs labels.csv a.run b.run --teams queries.csv --same-team", "--teams"),
        ("disagree by labels.csv kind --queries queries.csv", "--queries"),
        ("context labels labels.csv --expected", "--expected"),
        ("validate agreement reasons.csv labels.csv a.run b.run --queries queries.csv", "--queries"),
        ("validate reasons reasons.csv --folds 3", "--folds"),
        ("train labels.csv --runs a.run --queries queries.csv", "--queries"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused_with_the_reason(here: Path, words: str, option: str) -> None:
    with pytest.raises(BadInput, match=rf"^{option} would do nothing: .{{10}}"):
        run(words)


@pytest.mark.parametrize("command", ["judges all", "judges gold", "context change", "context all"])
def test_a_column_to_report_by_is_named_once(here: Path, command: str) -> None:
    with pytest.raises(BadInput, match="--by: expected each column once, found kind 2 times"):
        run(f"{command} labels.csv --by kind --by kind")


def commands(group: click.Group, words: str = "") -> Iterator[tuple[str, click.Command]]:
    found = group.loaded if isinstance(group, LazyGroup) else group.commands
    for name, command in found.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{words}{name} ")
        else:
            yield f"{words}{name}", command


EVERY = dict(commands(karat))


@pytest.mark.parametrize("name", EVERY)
def test_an_option_given_twice_is_refused_unless_it_may_be_repeated(here: Path, name: str) -> None:
    for option in EVERY[name].params:
        if (
            isinstance(option, click.Option)
            and not option.multiple
            and not option.is_flag
            and option.opts[-1] != "--help"
        ):
            with pytest.raises(BadInput, match=rf"{option.opts[-1]}: expected one, found 2"):
                run(f"{name} {option.opts[-1]} 1 {option.opts[-1]} 1")


@pytest.mark.parametrize("name", EVERY)
def test_what_prints_a_document_prints_lines_as_well(name: str) -> None:
    options = {spelled for option in EVERY[name].params for spelled in option.opts}
    whole = {"report", "demo", "ask"}  # a file of its own
    assert ("--json" in options) == ("--tsv" in options) == ("--latex" in options) or name in whole
    assert "--json" not in options or "--out" in options or name in whole
    assert ("--json" in options) == ("--plot" in options) or name in whole | {"measures", "fetch", "help"}  # no chart
    if "--seed" in options and "--level" not in options:
        assert name in {
            "plan power",  # whose simulated power has a standard error
            "validate correlation",  # no interval over queries would hold the figure of many
            "disagree consistency",  # a standard deviation
            "disagree resampled",
            "simulate disagreement",
            "simulate bronze",  # how often 95 % intervals hold the truth
            "init",  # of queries
            "plan gold",
            "plan context",
            "plan pairs",
            "plan documents",
            "simulate two-systems",
            "simulate judging",
            "simulate context",
            "simulate llm-judge",
            "simulate preferences",
            "simulate clicks",
            "simulate interleaving",
            "demo",
            "report",  # whose sections are all at one level
            "ask",  # whose seed is the model's
        }
