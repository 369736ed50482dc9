"""Formulas in CSV: no cell is run by a spreadsheet, and every text comes back as it was."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import karat as kt
from simulated import studies

#: Outer blanks of a cell are nothing to the reader, but for those before what could be a formula.
SIGNS = r"=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20"
AWKWARD = st.text(alphabet="=+-@\uff1d\uff0b\uff0d\uff20'\" \t\r\n,;a1.e", min_size=1, max_size=6).filter(
    lambda text: text.rstrip(" \t") == text and (text.lstrip(" ") == text or re.match(f"[ ']*[{SIGNS}]", text))
)
RUNS = re.compile(rf"\s*[{SIGNS}]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")
every = settings(max_examples=len(studies(16, 120)), suppress_health_check=[HealthCheck.function_scoped_fixture])


def cells(path: Path) -> list[str]:
    """Every cell as another program reads it."""
    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(newline="", encoding="utf-8") as stream:
        return [cell for row in csv.reader(stream, delimiter=separator) for cell in row]


def back(records: kt.Judgments | kt.Runs | kt.Preferences, path: Path, read: object) -> pl.DataFrame:
    """What is read from the file that was written, in which no cell would be run."""
    assert callable(read)
    kt.write(records, str(path))
    assert [cell for cell in cells(path) if RUNS.match(cell) and not NUMBER.fullmatch(cell)] == []
    frame: pl.DataFrame = read(str(path)).frame
    return frame


def rows(texts: list[str], *names: str) -> list[dict[str, str]]:
    """Rows of so many columns, every text in every column."""
    return [
        dict(zip(names, [*texts[place:], *texts[:place]][: len(names)], strict=True)) for place in range(len(texts))
    ]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@given(texts=st.lists(AWKWARD, min_size=5, max_size=12, unique=True))
@example(texts=["=1+1", "'=1", "''=1", " =1", "'"])
@example(texts=["-q", "+d", "@j", "\t=x", "\n=x"])
@example(texts=["-5", "'-5", "+1e5", "-inf", "-1-2"])
@every
def test_judgments_come_back_as_they_were(tmp_path: Path, ending: str, texts: list[str]) -> None:
    given_rows = [row | {"label": -2.0} for row in rows(texts, "query", "doc", "judge", "comment")]
    frame = back(kt.Judgments.of(given_rows), tmp_path / f"x.{ending}", kt.read_judgments)
    assert frame.select("query", "doc", "judge", "comment", "label").to_dicts() == given_rows


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@given(texts=st.lists(AWKWARD, min_size=5, max_size=12, unique=True))
@every
def test_runs_come_back_as_they_were(tmp_path: Path, ending: str, texts: list[str]) -> None:
    given_rows = [row | {"score": -0.5} for row in rows(texts, "system", "query", "doc")]
    assert back(kt.Runs.of(given_rows), tmp_path / f"x.{ending}", kt.read_runs).to_dicts() == given_rows


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@given(texts=st.lists(AWKWARD, min_size=5, max_size=12, unique=True))
@every
def test_preferences_come_back_as_they_were(tmp_path: Path, ending: str, texts: list[str]) -> None:
    names = ("query", "subtopic", "left", "right", "reason")
    given_rows = [row | {"choice": "left"} for row in rows(texts, *names)]
    frame = back(kt.Preferences.of(given_rows), tmp_path / f"x.{ending}", kt.read_preferences)
    assert frame.select(*names, "choice").to_dicts() == given_rows


def test_ids_are_guarded_and_plain_numbers_are_not(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    kt.write(kt.Judgments.of({"-q": {"=d": 2, "-7": 1, "'=e": 0}}), str(path))
    assert path.read_text().splitlines() == ["query,doc,label", "'-q,'=d,2", "'-q,-7,1", "'-q,''=e,0"]


def test_a_columns_name_is_guarded_too(tmp_path: Path) -> None:
    rows = [{"query": "q", "doc": "d", "label": 1.0, "=cmd|x": "a", "'@b": "c"}]
    frame = back(kt.Judgments.of(rows), tmp_path / "x.csv", kt.read_judgments)
    assert frame.columns == ["query", "doc", "label", "=cmd|x", "'@b"]


def test_two_columns_that_are_one_without_their_guard_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("query,doc,label,=a,'=a\nq,d,1,x,y\n")
    with pytest.raises(kt.BadInput, match=r"expected each column once, found =a twice"):
        kt.read_judgments(str(tmp_path / "x.csv"))


def test_formats_that_no_spreadsheet_opens_keep_ids_as_they_are(tmp_path: Path) -> None:
    judgments = kt.Judgments.of({"-q": {"=d": 2}})
    for name in ("x.txt", "x.jsonl"):
        kt.write(judgments, str(tmp_path / name))
        assert "'" not in (tmp_path / name).read_text()
    kt.write(judgments, str(tmp_path / "x.parquet"))
    assert pl.read_parquet(tmp_path / "x.parquet")["doc"].to_list() == ["=d"]


def test_the_numbers_behind_a_figure_are_guarded() -> None:
    from karat.reports.figure import Figure

    figure = Figure("x", "t", "s", {}, pl.DataFrame({"system": ["=1+1", "b"], "value": [-0.5, 1.0]}))
    assert figure.csv().splitlines()[1:] == ["'=1+1,-0.500000", "b,1.000000"]


def test_a_spreadsheet_that_parts_cells_at_semicolons_sees_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    said = 'fine;=cmd|"/c calc"!A1;\'=b; @c'
    kt.write(kt.Judgments.of([{"query": "q", "doc": "d", "label": 1, "comment": said}]), str(path))
    with path.open(newline="", encoding="utf-8") as stream:
        rows = csv.reader(stream, delimiter=";")
        assert not [cell for row in rows for cell in row if RUNS.match(cell)]
    assert kt.read_judgments(str(path)).frame["comment"].item() == said
