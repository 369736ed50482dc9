"""Any result as a table for a paper, a page or a text: LaTeX with booktabs, HTML, Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from html import escape

import polars as pl

from karat.comparison import Comparison
from karat.measures.scores import Scores
from karat.records.number_format import PROBABILITIES, Written, capitalized, in_words, with_named_ends, written
from karat.records.result import ResultBase
from karat.records.table import count
from karat.reports.latex import LEGEND, cell, escaped, for_latex, mark, pairs_table, scores_table

#: Of several p values of a row, the first of these that is there decides its stars: adjusted ones before plain ones.
ADJUSTED = ("holm", "p_holm", "p_adjusted", "max_t", "bh", "q", "p")
#: What the caption says of them.
ADJUSTMENT = {
    "holm": " after Holm's adjustment",
    "p_holm": " after Holm's adjustment",
    "p_adjusted": " after adjustment for several tests",
    "max_t": " by max-T",
    "bh": " after Benjamini and Hochberg's adjustment",
    "q": " after Benjamini and Hochberg's adjustment",
}
#: Columns that say how many; where they are not among those shown, the caption has them.
SIZES = {"queries": "query", "n_queries": "query", "documents": "document", "pairs": "pair", "judges": "judge"}
#: A table of more letters than these is made to fit the width of the page; one of more rows runs over pages.
WIDEST, LONGEST = 95, 50
#: Letters of tables over several pages, which cannot be resized: the smaller, the more of them stand in a row.
LETTERS = {WIDEST: "footnotesize", 105: "scriptsize", math.inf: "tiny"}
#: A figure with its interval, as it is written.
WITH_INTERVAL = re.compile(r"(\S+) (\[.+\])")

NEEDS = "% Made by karat. Needs \\usepackage{booktabs}, and graphicx and longtable for wide and long tables.\n"
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "table{border-collapse:collapse;border-block:2px solid;font-variant-numeric:tabular-nums;display:block;"
    "overflow-x:auto;width:fit-content;max-width:100%}"
    "caption{text-align:left;padding:.5rem 0}th,td{padding:.2rem .8rem .2rem 0;text-align:right}"
    ".w{text-align:left}thead th{border-bottom:1px solid}"
)


def to_latex(result: ResultBase, title: str = "") -> str:
    r"""The result as a LaTeX table with its finding, n and method as caption, ready for \input.

    >>> from karat.records import Result
    >>> frame = pl.DataFrame({"group": ["crowd"], "kappa": [0.4], "low": [0.1], "high": [0.7], "p": [0.004]})
    >>> print(to_latex(Result(frame, "The crowd agrees.", ("Fleiss' kappa",))).partition("midrule")[2].splitlines()[1])
    crowd & $0.40^{**}$ {\scriptsize $[0.10, 0.70]$} & 0.004 \\
    """
    if isinstance(result, Scores):
        return scores_table(result)
    if isinstance(result, Comparison) and result.pairs.height:
        return pairs_table(result)
    frame = with_named_ends(in_words(result.shown(), result.scale))
    told = written(frame, result.columns)
    stars = _stars(frame, told)
    lines = [
        " & ".join(_figure(text, stars.get((row, told.heads[at]), ""), at < told.lead) for at, text in enumerate(texts))
        for row, texts in enumerate(told.rows)
    ]
    by = next((name for name in ADJUSTED if name in told.names), "p")
    legend = f"{LEGEND}{ADJUSTMENT.get(by, '')}." if any(stars.values()) else ""
    said = [result.finding, *_sizes(frame, told), legend]
    caption = " ".join(escaped(part) for part in said if part)
    # Which columns of a file are kept as they are is no method.
    notes = " ".join(escaped(_sentence(note)) for note in result.notes if "not understood" not in note)
    slug = slug_of(title or "table")
    return _environment(slug, caption, notes, told, [f"{line} \\\\" for line in lines])


def to_markdown(result: ResultBase, title: str = "") -> str:
    r"""The result as a Markdown table under its finding, with the notes below.

    >>> from karat.records import Result
    >>> print(to_markdown(Result(pl.DataFrame({"group": ["a|b"], "kappa": [0.4]}), "They agree.")))
    They agree.
    <BLANKLINE>
    | group | kappa |
    |:---|---:|
    | a\|b | 0.400 |
    <BLANKLINE>
    """
    told = _read(result)
    rules = [":---" if at < told.lead else "---:" for at in range(len(told.heads))]
    rows = [f"| {' | '.join(_plain(text) for text in row)} |" for row in [told.heads, *told.rows]]
    table = [rows[0], f"|{'|'.join(rules)}|", *rows[1:]] if told.heads else []
    head = [f"## {title}", ""] if title else []
    notes = [f"- {_plain(note, bars=False)}" for note in result.notes]
    lines = [*head, _plain(result.finding, bars=False), "", *table, "", *notes]
    return "\n".join(lines).rstrip("\n") + "\n"


def to_html(results: Mapping[str, ResultBase]) -> str:
    """Results as one page that needs nothing else: a table each, its finding above, its notes below."""
    parts = []
    for title, result in results.items():
        told = _read(result)
        heads = "".join(f'<th scope="col"{_side(at, told)}>{escape(text)}</th>' for at, text in enumerate(told.heads))
        rows = "".join(
            f"<tr>{''.join(f'<td{_side(at, told)}>{escape(text)}</td>' for at, text in enumerate(row))}</tr>"
            for row in told.rows
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in result.notes)
        parts.append(
            f"<h2>{escape(title)}</h2><p>{escape(result.finding)}</p>"
            f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{f'<ul>{notes}</ul>' if notes else ''}"
        )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>karat</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body>{''.join(parts)}</body></html>\n"
    )


def latex_of_all(results: Mapping[str, ResultBase]) -> str:
    """Results as LaTeX tables, one after another."""
    return for_latex(NEEDS + "\n".join(to_latex(result, title) for title, result in results.items()))


def slug_of(title: str) -> str:
    """A title as it stands in a label or the name of a file.

    >>> slug_of("Agreement by wikipedia")
    'agreement-by-wikipedia'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "table"


def _read(result: ResultBase) -> Written:
    return written(in_words(result.shown(), result.scale), result.columns)


def _stars(frame: pl.DataFrame, told: Written) -> dict[tuple[int, str], str]:
    """The marks of significance by row and head: on the figure that a p value is of, on the p value where none is."""
    found = dict[tuple[int, str], str]()
    by_head = dict(zip(told.heads, told.names, strict=True))
    figures = [head for head, name in by_head.items() if f"{name}_low" in frame.columns]
    for head, name in by_head.items():
        if name.endswith(("_p", "_holm", "_bh")) and name not in (*PROBABILITIES, *ADJUSTED):
            owner, values = name.rpartition("_")[0].replace("_", " "), frame[name]
        elif f"{name}_low" in frame.columns or "sd" in frame.columns:
            continue  # a probability that is estimated, not one by chance
        elif name == next((one for one in ADJUSTED if one in frame.columns), None):
            at = told.heads.index(head)
            before = [one for one in figures if told.heads.index(one) < at]
            owner, values = (before[-1] if before else head), frame[name]
        else:
            continue
        if owner not in told.heads or not values.dtype.is_numeric():
            owner = head
        for row, p in enumerate(values.to_list() if values.dtype.is_numeric() else []):
            found[row, owner] = mark(p)
    return found


def _figure(text: str, stars: str, word: bool) -> str:
    """A cell: words escaped, a figure as mathematics where it has a sign or a mark, its interval in small print."""
    if word:
        return cell(text)
    whole = WITH_INTERVAL.fullmatch(text)
    value, ends = whole.groups() if whole else (text, "")
    if value == "-":
        said = "--"
    elif stars or value.startswith(("-", "+", "<")):
        said = f"${value.replace(',', '{,}')}{stars}$"
    else:
        said = escaped(value)
    return f"{said} {{\\scriptsize ${escaped(ends)}$}}" if ends else said


def _sizes(frame: pl.DataFrame, told: Written) -> list[str]:
    """How many queries, documents and so on, where the columns shown do not say it."""
    said = []
    for name, one in SIZES.items():
        if name in frame.columns and name not in told.names and frame[name].dtype.is_integer() and frame.height:
            *_, most = sizes = frame[name].drop_nulls().sort().to_list()
            many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
            said.append(f"{count(most, one, many)}." if sizes[0] == most else f"{sizes[0]:,} to {most:,} {many}.")
    return said


def _environment(slug: str, caption: str, notes: str, told: Written, lines: list[str]) -> str:
    """The table in its environment: plain, as wide as the page, or over several pages."""
    columns = "l" * told.lead + "r" * (len(told.heads) - told.lead)
    head = f"\\toprule\n{' & '.join(map(escaped, told.heads))} \\\\\n\\midrule\n"
    titled = f"\\caption{{{caption}}}\n\\label{{tab:karat-{slug}}}"
    rows = "\n".join(lines)
    below = f"\\par\\smallskip\\noindent\n\\parbox{{\\linewidth}}{{\\scriptsize {notes}}}\n" if notes else ""
    width = sum(max(len(row[at]) for row in [told.heads, *told.rows]) + 2 for at in range(len(told.heads)))
    if len(lines) > LONGEST:
        size = next(size for most, size in LETTERS.items() if width <= most)
        if size != "footnotesize":  # where the small print of intervals would be no smaller
            rows = rows.replace("{\\scriptsize $", "{\\tiny $")
        return (
            f"{{\\{size}\\setlength{{\\tabcolsep}}{{3pt}}\n\\begin{{longtable}}{{{columns}}}\n{titled}\\\\\n{head}\\endhead\n"
            f"{rows}\n\\bottomrule\n\\end{{longtable}}\n{below}}}\n"
        )
    star, before, after = ("*", "\\resizebox{\\textwidth}{!}{%\n", "}") if width > WIDEST else ("", "", "")
    return (
        f"\\begin{{table{star}}}\n\\centering\\footnotesize\\setlength{{\\tabcolsep}}{{3pt}}\n{titled}\n"
        f"{before}\\begin{{tabular}}{{{columns}}}\n{head}{rows}\n\\bottomrule\n\\end{{tabular}}{after}\n"
        f"{below}\\end{{table{star}}}\n"
    )


def _sentence(note: str) -> str:
    said = capitalized(note)
    return said if said.endswith((".", "!", "?")) else f"{said}."


def _plain(text: str, bars: bool = True) -> str:
    """A text as Markdown shows it: nothing in it is markup."""
    said = re.sub(r"([\\`*_<>\[\]#])", r"\\\1", " ".join(text.split()))
    return said.replace("|", "\\|") if bars else said


def _side(at: int, told: Written) -> str:
    return ' class="w"' if at < told.lead else ""
