"""Tables for a paper: scores with intervals and significance marks, comparisons with p values, as LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

import polars as pl

from karat.comparison import Comparison
from karat.comparison.verdict import IN_WORDS
from karat.errors import BadInput, Undefined
from karat.measures.scores import Scores
from karat.records.number_format import decimals
from karat.records.table import count
from karat.reports.scores import corrected_scores
from karat.stats.multiple_testing import holm

#: Signs and Greek letters that pdflatex knows in mathematics only.
MATHEMATICS = {
    "\u2212": "-",
    "\u00b1": r"\pm",
    "\u00d7": r"\times",
    "\u00b7": r"\cdot",
    "\u2264": r"\leq",
    "\u2265": r"\geq",
    "\u2260": r"\neq",
    "\u2248": r"\approx",
    "\u2192": r"\rightarrow",
    "\u2190": r"\leftarrow",
    "\u221e": r"\infty",
    "\u0394": r"\Delta",
    "\u03b1": r"\alpha",
    "\u03b2": r"\beta",
    "\u03b3": r"\gamma",
    "\u03b4": r"\delta",
    "\u03ba": r"\kappa",
    "\u03bb": r"\lambda",
    "\u03bc": r"\mu",
    "\u03c1": r"\rho",
    "\u03c3": r"\sigma",
    "\u03c4": r"\tau",
    "\u03c7": r"\chi",
}
#: What LaTeX would not print as it stands.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    **{sign: f"${name}$" for sign, name in MATHEMATICS.items()},
}
PATTERN = re.compile("|".join(re.escape(sign) for sign in SPECIAL))
#: What pdflatex prints as it stands: the letters of Western and Central Europe, and typographic quotes and dashes.
PLAIN = re.compile(r"[\x20-\x7e\xa1-\u017e\u2013\u2014\u2018-\u201e\u2020-\u2022\u2026\u20ac\u2122]*")
OTHER_SCRIPTS = (
    "% Has letters that pdflatex does not know: compile with lualatex or xelatex and a font that has them.\n"
)
#: More pairs than these do not fit a page.
MOST_PAIRS = 40
#: More scores with intervals side by side than these do not fit the usual page.
MOST_COLUMNS = 3
#: Marks of significance, allowing for the number of tests.
LEGEND = "* p < 0.05, ** p < 0.01, *** p < 0.001"
MARKS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))


def escaped(text: str) -> str:
    r"""A text as LaTeX prints it.

    >>> escaped("nDCG@10 & 50 % of bm_25")
    'nDCG@10 \\& 50 \\% of bm\\_25'
    """
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    said = PATTERN.sub(lambda sign: SPECIAL[sign[0]], " ".join(shown.split()))
    return re.sub("-(?=-)", "-{}", said)  # two hyphens would print as a dash, and options begin with them


def for_latex(text: str) -> str:
    """A whole file of tables, with a word at its head where pdflatex cannot print all of its letters.

    >>> for_latex("\u68c0\u7d22").splitlines()[0][:58]
    '% Has letters that pdflatex does not know: compile with lu'
    """
    return text if all(PLAIN.fullmatch(line) for line in text.splitlines()) else OTHER_SCRIPTS + text


def cell(text: str) -> str:
    r"""A text at the start of a row: a star or bracket there would belong to the end of the row before.

    >>> cell("*star"), cell("[x]"), cell("plain")
    ('{}*star', '{}[x]', 'plain')
    """
    said = escaped(text)
    return "{}" + said if said.startswith(("*", "[")) else said


def mark(p: float | None) -> str:
    """The mark of a p value: three, two or one star, or none.

    >>> mark(0.004), mark(0.2), mark(None)
    ('^{**}', '', '')
    """
    if p is None or math.isnan(p):
        return ""
    return next((f"^{{{stars}}}" for most, stars in MARKS if p < most), "")


def latex_tables(scores: Scores | None, comparison: Comparison | None, tested: Sequence[Comparison] = ()) -> str:
    r"""The tables that there are, ready for \input; they need the package booktabs, wide ones graphicx."""
    tables = []
    if scores is not None:
        tables.append(scores_table(scores, tested))
    if comparison is not None and comparison.pairs.height:
        tables.append(pairs_table(comparison))
    if not tables:
        raise Undefined("there are no scores and no comparison to put in a table")
    return for_latex(
        "% Made by karat. Needs \\usepackage{booktabs}, and graphicx for wide tables.\n" + "\n".join(tables)
    )


def scores_table(scores: Scores, tested: Sequence[Comparison] = ()) -> str:
    """Every system's scores with intervals, the highest in bold, stars where a system differs from the baseline.

    The baseline is the first system of the comparisons in `tested`, one for each measure.
    Scores are corrected where gold labels allow, with the uncorrected ones in the next column.
    """
    shown = [found for found in tested if found.verdict != "cannot say"]
    for found in shown:
        if {*found.systems} != {*scores.systems} or found.systems[0] != shown[0].systems[0]:
            raise BadInput.at(
                "the stars",
                expected=f"comparisons of {', '.join(scores.systems)} with one of them",
                found=f"{', '.join(found.systems)}, the first of them the baseline",
            )
    first, tests = scores.measures[0], _tests(shown)
    stars = {(measure, system): mark(p) for measure, system, p in tests.iter_rows()}
    columns, right = dict[str, dict[str, str]](), dict[str, pl.DataFrame]()
    for measure in scores.measures:
        plain = scores.uncorrected_means.filter(pl.col("measure") == measure)
        mine = {name: stars.get((measure, name), "") for name in scores.systems}
        corrected = corrected_scores(scores, measure)
        if corrected is not None:
            right[measure] = corrected
            columns[measure] = _column(corrected, mine)
            columns[f"{measure}, uncorrected"] = _column(plain.with_columns(low=math.nan, high=math.nan), {}, corrected)
        else:
            lacks_gold = scores.has_gold and (scores.means.filter(pl.col("measure") == measure)["reason"] != "").any()
            columns[f"{measure}, uncorrected" if lacks_gold else measure] = _column(plain, mine)
    systems = right[first]["system"].to_list() if first in right else scores.best_first()
    lines = [" & ".join([cell(name), *(column[name] for column in columns.values())]) + r" \\" for name in systems]
    n = sorted({int(number) for number in scores.uncorrected_means["n"]})
    queries = count(n[0], "query", "queries") if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} queries"
    labels = "corrected with gold labels unless marked uncorrected" if right else "by the labels as they are"
    caption = f"Mean scores over {queries} with {scores.level * 100:g} % intervals, {labels}; highest in bold."
    if tested:
        caption += _about_stars(scores, shown, tests, right)
    table = _table("scores", caption, "l" + "r" * len(columns), ["System", *columns], lines)
    return _fitted(table) if len(columns) > MOST_COLUMNS else table


def _fitted(table: str) -> str:
    """A wide table over all columns of the page, made smaller where it would be wider than the page."""
    wide = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"
    table = table.replace(r"\begin{tabular}", wide + "\n" + r"\begin{tabular}", 1)
    return table.replace(r"\end{tabular}", r"\end{tabular}}", 1).replace("{table}", "{table*}")


def _tests(shown: Sequence[Comparison]) -> pl.DataFrame:
    """Every system against the first by every measure: measure, system, and Holm's p over all of them."""
    chosen = [found.methods.filter(pl.col("method") == found.method) for found in shown]
    rows = [
        mine.select(pl.lit(one.measure).alias("measure"), "system_b", "p")
        for one, mine in zip(shown, chosen, strict=True)
    ]
    frame = pl.concat(rows) if rows else pl.DataFrame(schema=["measure", "system_b", "p"])
    return frame.with_columns(p=pl.Series(holm(frame["p"].cast(pl.Float64).to_numpy())))


def _about_stars(scores: Scores, shown: Sequence[Comparison], tests: pl.DataFrame, corrected: Collection[str]) -> str:
    """What the stars say, and which measures have none, for the caption."""
    said, silent = "", [name for name in scores.measures if name not in tests["measure"]]
    if shown:
        number = int(tests["p"].is_not_nan().sum())
        said = (
            f" {LEGEND} for the difference from {shown[0].systems[0]}, the baseline ({IN_WORDS[shown[0].method]}), "
            f"Holm-adjusted over {count(number, 'test')} of systems and measures."
        )
        own = [found.measure for found in shown if found.method != "plain" and found.measure not in corrected]
        if own:
            said += f" Gold labels correct the differences in {', '.join(own)}, not the systems' own scores."
    return said + (f" Not tested, as the data cannot say: {', '.join(silent)}." if silent else "")


def _column(rows: pl.DataFrame, marks: dict[str, str], beside: pl.DataFrame | None = None) -> dict[str, str]:
    """The figures of each system by one measure, the highest of several in bold.

    A column beside another has as many decimals as that one.
    """
    best = rows["value"].fill_nan(None).max() if rows.height > 1 else None
    said = {}
    # A column has as many decimals as its widest interval supports.
    known = (rows if beside is None else beside).filter(pl.col("low") < pl.col("high")).select("low", "high").rows()
    places = min((decimals(low, high) for low, high in known), default=4)
    for row in rows.iter_rows(named=True):
        value = f"{row['value']:.{places}f}"
        value = rf"\mathbf{{{value}}}" if best is not None and abs(row["value"] - best) < 1e-12 else value
        ends = "" if math.isnan(row["low"]) else _ends(row, "", places)
        said[row["system"]] = "--" if math.isnan(row["value"]) else f"${value}{marks.get(row['system'], '')}{ends}$"
    return said


def _ends(row: dict[str, float], sign: str, places: int) -> str:
    """The ends of an interval, in small figures."""
    return rf"\,{{\scriptstyle [{row['low']:{sign}.{places}f}, {row['high']:{sign}.{places}f}]}}"


def pairs_table(comparison: Comparison) -> str:
    """Every pair of systems: the difference with its interval, p, Holm's p, and wins, ties and losses.

    Of many pairs only those with the best system fit a page; Holm's p allows for all of them all the same.
    """
    lines, pairs, only = [], comparison.pairs, ""
    if pairs.height > MOST_PAIRS and comparison.baseline is None:
        pairs = _with_best(comparison)
        only = f" Only the pairs with {_best(comparison)}, the best, are shown of {comparison.pairs.height:,}."
    for row in pairs.iter_rows(named=True):
        p, holm = row["p"], row["holm"]
        places = decimals(row["low"], row["high"])
        ends = "" if math.isnan(row["low"]) else _ends(row, "+", places)
        difference = f"${row['difference']:+z.{places}f}{mark(holm)}{ends}$"
        counts = f"{row['wins']:,}/{row['ties']:,}/{row['losses']:,}"
        names = [cell(row["b"]), escaped(row["a"])]
        lines.append(" & ".join([*names, difference, _p(p), _p(holm), counts]) + r" \\")
    n = comparison.by_query.height
    caption = (
        f"Differences in {comparison.measure} over {n:,} queries with {comparison.level * 100:g} % intervals, "
        f"{IN_WORDS[comparison.method]}. {LEGEND} after Holm's adjustment for all pairs; wins, ties and losses by the "
        f"labels as they are.{only}"
    )
    heads = ["System", "against", "difference", "$p$", "$p$ (Holm)", "wins/ties/losses"]
    return _table("comparisons", caption, "llrrrr", heads, lines)


def _best(comparison: Comparison) -> str:
    """The best system by the method that decides."""
    if comparison.ranks.height:
        return str(comparison.ranks.sort("rank")["system"][0])
    row = comparison.pairs.row(0, named=True)
    return str(row["b"] if row["difference"] > 0 else row["a"])


def _with_best(comparison: Comparison) -> pl.DataFrame:
    best = _best(comparison)
    return comparison.pairs.filter((pl.col("a") == best) | (pl.col("b") == best))


def _p(value: float) -> str:
    if value is None or math.isnan(value):
        return "--"
    return "$<0.001$" if value < 0.001 else f"${value:.3f}$"


def _table(label: str, caption: str, columns: str, heads: list[str], lines: list[str]) -> str:
    named = [head if head.startswith("$") else escaped(head) for head in heads]
    rows = "\n".join(lines)
    return (
        f"\\begin{{table}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n\\caption{{{escaped(caption)}}}\n\\label{{tab:karat-{label}}}\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{' & '.join(named)} \\\\\n\\midrule\n{rows}\n"
        f"\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )
