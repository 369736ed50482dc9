"""Tables for a paper: booktabs, escaped names, marks of significance; compiled where pdflatex is there."""

from __future__ import annotations

import re
import shutil
import subprocess

import polars as pl
import pytest

import karat as kt
from karat.errors import Undefined
from karat.records import Result
from karat.reports.latex import escaped, for_latex, latex_tables, mark, pairs_table, scores_table
from karat.reports.tables import to_latex
from karat.study import Study


@pytest.fixture(scope="module")
def apart() -> Study:
    """A system that is always right, one that never is, and one that is right in most queries."""
    good = {f"q{i}": {"x": 2.0, "y": 1.0} for i in range(30)}
    bad = {f"q{i}": {"x": 1.0, "y": 2.0} for i in range(30)}
    mixed = {f"q{i}": {"x": 2.0 if i % 10 else 0.5, "y": 1.0} for i in range(30)}
    labels = {f"q{i}": {"x": 1, "y": 0} for i in range(30)}
    runs = kt.Runs.of({"good_1 & more": good, "bad%": bad, "mixed^2": mixed})
    return Study("Apart", labels=kt.Judgments.of(labels), runs=(runs,))


def rows_of(table):
    inside = table[table.index("\\midrule") : table.index("\\bottomrule")]
    return [line for line in inside.splitlines()[1:] if line]


@pytest.mark.parametrize(
    ("text", "as_latex"),
    [
        ("a_b", r"a\_b"),
        ("100 % & more", r"100 \% \& more"),
        ("x^2 ~ \\n", r"x\textasciicircum{}2 \textasciitilde{} \textbackslash{}n"),
        ("{$#}", r"\{\$\#\}"),
        ("--gold `a` ---", r"-{}-gold \textasciigrave{}a\textasciigrave{} -{}-{}-"),
        ("\u22120.5 \u2264 \u03ba \u00b1 1", r"$-$0.5 $\leq$ $\kappa$ $\pm$ 1"),
        ("zero\u200bwidth \x1b[31m", "zero width [31m"),
    ],
)
def test_names_are_escaped(text, as_latex):
    assert escaped(text) == as_latex


def test_marks_follow_the_usual_levels():
    assert [mark(p) for p in (0.0009, 0.009, 0.049, 0.05, float("nan"), None)] == [
        "^{***}", "^{**}", "^{*}", "", "", "",
    ]  # fmt: skip


def test_scores_have_a_row_for_each_system_the_best_in_bold(apart):
    report = kt.report(apart, measure="P@1", measures=["RR"], draws=200)
    table = scores_table(report.scores, report.by_measure)
    rows = rows_of(table)
    assert len(rows) == 3
    assert rows[0].startswith(r"good\_1 \& more & $\mathbf{1.0")
    assert all(row.count("&") - row.count(r"\&") == 2 for row in rows)
    # 3 of 30 queries apart: t = 0.1 / (0.3051 / sqrt(30)) = 1.80, p = 0.083: no mark.
    assert "^{" not in next(row for row in rows if row.startswith("mixed"))
    assert "Mean scores over 30 queries" in table


def test_scores_have_stars_from_comparisons_with_a_baseline_that_is_not_the_first_run(apart):
    """Bad against good: every query differs. Bad against mixed: 27 of 30, t = 0.9 / (0.3051 / sqrt(30)) = 16.2."""
    labels, runs = apart.labels, list(apart.runs)
    scores = kt.score(labels, runs, ["P@1", "RR"], draws=200)
    tested = [kt.compare(labels, runs, measure, baseline="bad%") for measure in scores.measures]
    table = scores.to_latex(tested)
    stars = {row.split(" & $")[0]: row.count("^{***}") for row in rows_of(table)}
    assert stars == {r"good\_1 \& more": 2, r"mixed\textasciicircum{}2": 2, r"bad\%": 0}
    assert r"for the difference from bad\%, the baseline" in table
    assert "^{" not in scores.to_latex()
    lists = {f"q{i}": {"x": float(i % 3), "y": 1.0} for i in range(30)}
    with pytest.raises(kt.BadInput, match=r"the stars: expected comparisons of .*, found b, a"):
        scores.to_latex([kt.compare(labels, {"b": lists, "a": lists | {"q0": {"y": 1.0}}}, "P@1", draws=100)])


def test_figures_of_one_column_have_the_same_decimals(apart):
    """Good and bad have no interval; mixed has one of 0.1 or more to either side, which two decimals say."""
    rows = rows_of(kt.score(apart.labels, list(apart.runs), "P@1", draws=200).to_latex())
    assert {len(number) for row in rows for number in re.findall(r"\d\.(\d+)", row)} == {2}


def test_pairs_have_differences_p_values_and_wins(apart):
    report = kt.report(apart, measure="P@1", measures=[], draws=200)
    rows = rows_of(pairs_table(report.comparison))
    assert len(rows) == 3
    mixed = next(row for row in rows if "bad" in row and "mixed" in row)
    assert "^{***}" in mixed
    assert re.search(r"(27/3/0|0/3/27)", mixed)


def test_both_tables_are_balanced_and_use_booktabs(apart):
    text = kt.report(apart, draws=100).latex()
    # The scores by four measures are wide, the pairs are not.
    for name, number in (("table*", 1), ("table", 1), ("tabular", 2)):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == number
    assert text.count("\\resizebox") == 1
    assert text.count("\\toprule") == text.count("\\midrule") == text.count("\\bottomrule") == 2
    assert text.count("$") % 2 == 0
    heads = re.findall(r"\\begin\{tabular\}\{(\w+)\}\n\\toprule\n(.*?) \\\\", text)
    assert len(heads) == 2
    for columns, head in heads:
        assert len(columns) == head.count(" & ") + 1


def test_without_scores_there_is_no_table():
    with pytest.raises(Undefined, match="no scores and no comparison"):
        latex_tables(None, None)


def test_of_many_pairs_those_with_the_best_are_shown():
    systems = {f"s{k:02}": {f"q{i}": {"x": float(i % 12 < k), "y": 0.5} for i in range(24)} for k in range(12)}
    labels = {f"q{i}": {"x": 1, "y": 0} for i in range(24)}
    evidence = Study("Many", labels=kt.Judgments.of(labels), runs=(kt.Runs.of(systems),))
    table = pairs_table(kt.report(evidence, measure="P@1", measures=[], draws=100).comparison)
    rows = rows_of(table)
    assert len(rows) == 11
    assert all("s11" in row for row in rows)
    assert "Only the pairs with s11, the best, are shown of 66." in table


def test_the_caption_says_by_which_labels_and_against_which_baseline(favoured):
    report = kt.report(favoured, measure="P@10", measures=["AP"], draws=200)
    table = scores_table(report.scores, report.by_measure)
    assert "corrected with gold labels unless marked uncorrected" in table
    assert (
        "for the difference from A, the baseline (labels corrected with gold labels), Holm-adjusted over 1 test"
        in table
    )
    assert "P@10 & P@10, uncorrected & AP, uncorrected" in table
    # Gold labels of single documents do not correct average precision.
    assert "Not tested, as the data cannot say: AP." in table


def _fewer(losses):
    """A system that is always right, and one that is not in so many of 30 queries."""
    good = {f"q{i}": {"x": 2.0, "y": 1.0} for i in range(30)}
    less = {f"q{i}": {"x": 2.0 if i >= losses else 0.5, "y": 1.0} for i in range(30)}
    labels = kt.Judgments.of({f"q{i}": {"x": 1, "y": 0} for i in range(30)})
    return Study("Fewer", labels=labels, runs=(kt.Runs.of(good, system="good"), kt.Runs.of(less, system="less")))


@pytest.mark.parametrize(
    ("losses", "measures", "stars"),
    [
        # Mean 4 / 30, standard deviation 0.3457: t = 2.112 on 29 degrees of freedom, p = 0.0434; Holm over two: 0.087.
        (4, ["P@1"], "^{*}"),
        (4, ["P@1", "RR"], ""),
        # Mean 6 / 30, standard deviation 0.4068: t = 2.693, p = 0.0117; Holm over two: 0.023, and over five: 0.058.
        (6, ["P@1", "RR"], "^{*}"),
        (6, ["P@1", "RR", "AP", "nDCG@10", "nDCG@2"], ""),
    ],
)
def test_every_measure_has_its_stars_allowing_for_all_of_them(losses, measures, stars):
    report = kt.report(_fewer(losses), measure=measures[0], measures=measures[1:], draws=100)
    table = scores_table(report.scores, report.by_measure)
    good, less = rows_of(table)
    assert "^{" not in good
    assert less.count("^{*}") == (len(measures) if stars else 0)
    assert f"from good, the baseline (labels as they are), Holm-adjusted over {len(measures)} test" in table


def test_letters_that_pdflatex_does_not_know_are_named_at_the_head():
    assert "lualatex" not in for_latex("Caf\u00e9 \u2013 \u0141\u00f3d\u017a \u201cquoted\u201d")
    assert for_latex("\u691c\u7d22").startswith("% Has letters that pdflatex does not know")


def test_an_interval_in_percent_is_no_comment():
    frame = pl.DataFrame({"who": ["a"], "share": ["5% [1%, 9%]"]})
    assert r"[1\%, 9\%]" in to_latex(Result(frame, "Found."))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_the_tables_compile_with_any_name(tmp_path):
    names = [
        '"quoted"',
        "[bracket]",
        "*star",
        "a_b & c%",
        "x^2 ~ \\n {$#} <|>",
        "`Caf\u00e9` \u2212\u03ba \u2265 \u00b1 --x",
    ]
    systems = {name: {f"q{i}": {"x": float((i + k) % 5), "y": 1.5} for i in range(20)} for k, name in enumerate(names)}
    labels = {f"q{i}": {"x": i % 2, "y": 1} for i in range(20)}
    evidence = Study("Names", labels=kt.Judgments.of(labels), runs=(kt.Runs.of(systems),))
    before = "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}"
    (tmp_path / "paper.tex").write_text(f"{before}{kt.report(evidence, draws=100).latex()}\\end{{document}}")
    subprocess.run(["pdflatex", "-halt-on-error", "paper.tex"], cwd=tmp_path, check=True, capture_output=True)
