"""Any result as a table for a paper, a page or a text: what LaTeX, HTML and Markdown would take for orders is shown."""

from __future__ import annotations

import re

import polars as pl
import pytest

import karat as kt
from karat.records import Result
from karat.reports.tables import latex_of_all, to_html, to_latex, to_markdown

NASTY = "a_b & 5% <script> [x] *y* | $z$ #1 {\\end{table}}"


def sound(text: str) -> None:
    """A LaTeX table whose braces, environments, dollars and columns are in order."""
    bare = re.sub(r"\\[\\{}$&%#_]", "", text.replace("\\\\", ""))
    depth = 0
    for sign in bare:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    opened, closed = (sorted(re.findall(rf"\\{word}{{(\w+\*?)}}", text)) for word in ("begin", "end"))
    assert opened == closed
    for columns, inside in re.findall(r"\\begin{(?:tabular|longtable)}{(\w+)}(.*?)\\bottomrule", text, re.DOTALL):
        rows = [line for line in inside.splitlines() if line.endswith("\\\\") and "&" in line]
        assert rows
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(columns) - 1}


def a_result(rows: int = 2, columns: int = 1) -> Result:
    figures = {f"figure_{place}": [0.25] * rows for place in range(columns)}
    frame = pl.DataFrame({"name": [NASTY] * rows, **figures})
    return Result(frame, f"{NASTY} agrees.", (f"by {NASTY}",))


@pytest.mark.parametrize("size", [(2, 1), (2, 14), (80, 2)])
def test_latex_is_sound_whatever_the_names_wide_or_long(size):
    text = to_latex(a_result(*size), NASTY)
    sound(text)
    assert r"a\_b \& 5\%" in text
    assert ("\\resizebox{\\textwidth}" in text) == (size == (2, 14))
    assert ("longtable" in text) == (size == (80, 2))
    assert text.count(r"\textless{}script") == size[0] + 2  # the caption, the notes and every row


def test_the_caption_has_the_finding_and_the_sizes_and_the_notes_say_how():
    frame = pl.DataFrame({"group": ["x", "y"], "kappa": [0.1, 0.2], "queries": [30, 30], "judges": [4, 9]})
    read = "crowd.csv: a column that was not understood, kept as it is: colour"
    text = to_latex(Result(frame, "They agree.", (read, "Fleiss' kappa"), columns=("group", "kappa")))
    assert r"\caption{They agree. 30 queries. 4 to 9 judges.}" in text
    assert r"{\scriptsize Fleiss' kappa.}" in text


@pytest.mark.parametrize(
    ("figures", "marked"),
    [
        # stars by the p value that allows for all tests
        ({"kappa": 0.4, "low": 0.1, "high": 0.7, "p": 0.0004, "holm": 0.02}, "$0.40^{*}$"),
        # on the figure that the p value is of
        ({"a": 0.4, "a_low": 0.1, "a_high": 0.7, "b": 0.5, "b_low": 0.2, "b_high": 0.8, "b_p": 0.004}, "$0.50^{**}$"),
        # no figure has an interval: on the p value itself
        ({"a": 0.4, "p": 0.004}, "$0.004^{**}$"),
        ({"kappa": -0.4, "low": -0.7, "high": 0.1, "p": 0.2}, "$-0.40$ {\\scriptsize $[-0.70, 0.10]$}"),
    ],
)
def test_marks_of_significance_stand_on_the_figure_they_are_about(figures, marked):
    text = to_latex(Result(pl.DataFrame([{"group": "x", **figures}]), "They agree."))
    sound(text)
    assert marked in text
    assert text.count("^{*") == marked.count("^{*")
    assert ("* p \\textless{} 0.05" in text) == ("^" in marked)


@pytest.mark.parametrize(
    ("adjusted", "said"),
    [({"holm": 0.02}, "0.001 after Holm's adjustment."), ({"bh": 0.02}, "Hochberg's adjustment."), ({}, "0.001.")],
)
def test_the_caption_says_for_how_many_tests_the_marks_allow(adjusted, said):
    figures = {"group": "x", "kappa": 0.4, "low": 0.1, "high": 0.7, "p": 0.0004, **adjusted}
    assert said in to_latex(Result(pl.DataFrame([figures]), "They agree."))


def test_markdown_and_html_show_what_names_hold_and_run_none_of_it():
    text, page = to_markdown(a_result()), to_html({"Title": a_result()})
    assert r"a\_b & 5% \<script\> \[x\] \*y\* \| $z$" in text
    assert "<script" not in page
    assert page.count("<tr>") == 3


def test_results_of_python_say_themselves_for_a_paper():
    found = kt.score(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}, "q2": {"a": 2.0, "b": 1.0}}, ["RR"], draws=100
    )
    sound(found.to_latex())
    assert r"\caption{Mean scores over 2 queries" in found.to_latex()
    assert "| RR |" in found.to_markdown()
    sound(latex_of_all({"one": found, "two": a_result()}))
