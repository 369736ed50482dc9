"""Do the judges agree? Within a group, between groups, with gold, and by any feature of query and document."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.judges.agreement_sums import FIGURES, SHARES, By, Sums, figures_of, overall_name
from karat.judges.jackknife import AT_ONCE, Judges, LeftOut, all_left_out, check_judges
from karat.labels import ALL, GOLD, Panel
from karat.labels.order import ThirdRule
from karat.labels.panel import ALL_LABELS
from karat.labels.selection import ASKED
from karat.records import LabelsLike, Result
from karat.records.table import count
from karat.stats import FEWEST, Resampling
from karat.stats.agreement_coefficients import fleiss_test
from karat.stats.arrays import Floats
from karat.stats.paired_statistics import bounded_ends
from karat.stats.rogan_gladen import half_width


def with_figures(
    panel: Panel, sums: Sums, found: LeftOut, first: int, at: float, resampling: Resampling
) -> pl.DataFrame:
    """The rows with their figures, the ends of their intervals, Fleiss' p, and whether judges were a `sample`.

    They are the `first` of those that were `found` and the ones behind it.
    """
    whole = found.whole[:, first : first + sums.rows.height]
    ends = np.full((2, *whole.shape), np.nan)
    starts = np.searchsorted(sums.row, np.arange(sums.rows.height + 1))
    sampled = [resampling.draws > 0 and found.sampled(first + row) for row in range(sums.rows.height)]
    for row, queries in enumerate(sums.rows["n_queries"]):
        if not resampling.draws or queries < FEWEST:
            continue
        if sampled[row]:
            ends[:, :, row] = _ends(found, first + row, resampling.level)
            continue
        drawn = _resampled(sums.tables[starts[row] : starts[row + 1]], panel.grades, at, resampling)
        ends[:, :, row] = np.transpose([resampling.ends(of, queries) for of in drawn])
    # An undefined figure has no interval, even where some draws would define it.
    ends[:, np.isnan(whole)] = np.nan
    columns = [pl.Series("sample", sampled, pl.Boolean)]
    for name, *values in zip(FIGURES, whole, *ends, strict=True):
        columns += [pl.Series(name + end, of) for end, of in zip(("", "_low", "_high"), values, strict=True)]
        if name == "fleiss":
            p = fleiss_test(sums.of_rows(sums.tables[:, 0]), sums.of_rows(sums.spread))[1]
            columns.append(pl.Series("fleiss_p", p))
    return sums.rows.with_columns(columns)


def _resampled(cells: Floats, grades: Floats, at: float, resampling: Resampling) -> Floats:
    """The figures of resampled queries, figures x draws."""
    flat = cells.reshape(len(cells), -1)
    at_once = max(1, AT_ONCE // flat.shape[1])
    found = []
    for times in resampling.times(len(cells)):
        for start in range(0, len(times), at_once):
            summed = (times[start : start + at_once] @ flat).reshape(-1, *cells.shape[1:])
            found.append(figures_of(summed, grades, at))
    return np.concatenate(found, axis=1)


def _ends(found: LeftOut, row: int, level: float) -> Floats:
    """The ends of a row's intervals by Student's t: shares lie between 0 and 1, agreement beyond chance below 1."""
    error, df = found.error(row)
    half, value = np.asarray(half_width(error, level, df)), found.whole[:, row]
    share, kappa = bounded_ends(value, half, "share"), bounded_ends(value, half, "kappa")
    ends: Floats = np.where(np.isin(list(FIGURES), SHARES), share, kappa)
    return ends


#: What is shown of the many figures, beside whose agreement it is.
COLUMNS = ("labels", "n_queries", "n_pairs", "raw", "cohen", "fleiss", "alpha_ordinal")

#: What all judges are called where nobody named a group: in labels without one, and in a new study.
UNNAMED = (ALL, "judges")


def agreement(
    labels: Panel | LabelsLike,
    gold: LabelsLike | None = None,
    *,
    by: str | None = None,
    judges: Judges = "sample",
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    at: float | None = None,
) -> Result:
    """How far judges agree, beyond what chance would do, with intervals over queries and judges.

    >>> said = {"ann": [2, 0, 1, 2, 0, 1], "bob": [2, 0, 1, 1, 0, 2]}
    >>> agreement([{"query": f"q{i}", "doc": "d", "label": label, "judge": judge}
    ...            for judge, labels in said.items() for i, label in enumerate(labels)], draws=0)
    Judges agree with ordinal alpha 0.77 (6 pairs, 6 queries).
    - jaccard is the overlap of documents labelled 2 or higher

    A row for each group of judges, for all groups together when there are several (gold is not among them), and for
    every two groups, each reduced to its median and compared as two judges; gold, a group of that name or given apart,
    is always in `against`. With `by`, any column, also a row for each of its values. `cohen` and its kin are there for
    two sides only; `fleiss` and `alpha` for any number of judges per pair, `fleiss_p` against chance alone; `jaccard`
    is the overlap at grade `at` or above, by default the highest of the scale.

    Where a third label was asked only when the first two differed, figures on all labels come out too high; rows with
    `labels` "first two" are there beside them and are the ones to read.

    Judges are a sample as queries are: intervals are about judges like these where a group has five with names or
    more (`sample`), else, and with `judges="fixed"`, about these judges (whole queries are drawn again `draws` times).
    `agreement_tests` tells whether two groups, or two kinds of documents, differ.

    Ordinal alpha suits grades; kappa treats every disagreement alike and falls with the number of grades. High
    agreement is not accuracy: judges may share a habit. References: Cohen 1960, Fleiss 1971, Krippendorff 2004; for
    the intervals Cameron, Gelbach and Miller 2011.
    """
    panel, by = told_by(labels, gold, by, judges)
    resampling = Resampling(level, draws, seed)
    at = panel.top if at is None else at
    return table_of(panel, by, at, judges, resampling, all_left_out(panel, by, at, judges if draws else "fixed"))


def table_of(
    panel: Panel,
    by: str | None,
    at: float,
    judges: Judges,
    resampling: Resampling,
    left_out: tuple[list[Sums], LeftOut],
) -> Result:
    """The table of agreement from what its figures are with clusters left out."""
    draws, level, told, (parts, found) = resampling.draws, resampling.level, By.of_panel(panel, by), left_out
    firsts = np.cumsum([0, *(sums.rows.height for sums in parts[:-1])]).tolist()
    frame = pl.concat(
        with_figures(panel, sums, found, first, at, resampling) for sums, first in zip(parts, firsts, strict=True)
    )
    if panel.third_rules:
        # The test needs numbers of labels that do not depend on the labels.
        ruled = [rule.group for rule in panel.third_rules]
        adaptive = pl.col("group").is_in([*ruled, overall_name(panel)]) & pl.col("against").is_null()
        adaptive &= pl.col("labels") == ALL_LABELS
        frame = frame.with_columns(pl.when(adaptive).then(math.nan).otherwise("fleiss_p").alias("fleiss_p"))
    unseen = int((told.of < 0).sum()) if by is not None else 0
    notes = [
        *panel.notes,
        *([f"{count(unseen, 'label')} without {by} stand in no row by {by}"] if unseen else []),
        *_notes(frame, panel, draws),
        *([population(frame, judges)] if draws else []),
        drawn_gold(panel),
        *_overlap(frame, panel, at),
    ]
    finding = _finding(frame, overall_name(panel), level)
    columns = ("group", "against", *([by] if by else []), *COLUMNS)
    return Result(_shown(frame, panel, by, told), finding, tuple(note for note in notes if note), columns=columns)


def told_by(
    labels: Panel | LabelsLike, gold: LabelsLike | None, by: str | None, judges: Judges
) -> tuple[Panel, str | None]:
    """The panel of these labels, with what `by` names told apart, and the column to tell agreement by."""
    check_judges(judges)
    by = None if by == "group" else by
    if by in ("label", "judge"):
        raise BadInput.at(
            "agreement by a column",
            expected="something about the query or document",
            found=by,
            remedy="overlap() compares every two judges" if by == "judge" else "",
        )
    taken = {"against", "labels", "value", "n_queries", "n_pairs", "n_labels", "n_judges", "n_single", "sample"}
    if by in taken | {"fleiss_p"} | {name + end for name in FIGURES for end in ("", "_low", "_high")}:
        raise BadInput.at("agreement by a column", expected="another name than the table's own columns", found=str(by))
    return Panel.of(labels, gold, apart=[by] if by in ASKED and not isinstance(labels, Panel) else []), by


def _shown(frame: pl.DataFrame, panel: Panel, by: str | None, told: By) -> pl.DataFrame:
    """The rows in reading order, with the values of `by` under its name."""
    frame = frame.sort(
        pl.col("against").is_not_null(),
        (pl.col("against") != GOLD).fill_null(False),
        pl.col("group") != overall_name(panel),
        "group",
        "against",
        "value",
        "labels",
    )
    if by is None:
        return frame.drop("value", "n_single")
    values = pl.DataFrame({"value": np.arange(len(told.values)), by: told.values})
    named = frame.join(values, on="value", how="left", maintain_order="left")
    rest = [name for name in frame.columns if name not in ("group", "against", "value", "n_single")]
    return named.select("group", "against", by, *rest)


def _notes(frame: pl.DataFrame, panel: Panel, draws: int) -> list[str]:
    """What a reader of the figures should know."""
    notes = [*_rule(panel.third_rules, panel.has_groups)]
    main = frame.filter((pl.col("value") < 0) & (pl.col("labels") == ALL_LABELS))
    within, between = main.filter(pl.col("against").is_null()), main.filter(pl.col("against").is_not_null())
    for group, single in (
        within.filter((pl.col("n_single") > 0) & (pl.col("n_pairs") > 0)).select("group", "n_single").iter_rows()
    ):
        notes.append(f"{group}: {count(single, 'pair')} with one label only left aside")
    empty = within.filter(pl.col("n_pairs") == 0)["group"].to_list()
    if empty:
        notes.append(f"no pair has two labels within {_listed(empty)}: no agreement to measure there")
    apart = [f"{a} and {b}" for a, b in between.filter(pl.col("n_pairs") == 0).select("group", "against").iter_rows()]
    if apart:
        notes.append(f"nothing judged by both {_listed(apart)}")
    filled = frame.filter(pl.col("n_pairs") > 0)
    alike = filled.filter(pl.col("alpha_nominal").is_nan()).height
    if alike:
        notes.append(f"all labels alike in {count(alike, 'row')}: agreement beyond chance is undefined there")
    few = filled.filter(pl.col("n_queries") < FEWEST).height
    if draws and few:
        notes.append(f"no interval for fewer than {FEWEST} queries ({count(few, 'row')}): too few to tell")
    enough = filled.filter(pl.col("n_queries") >= FEWEST)
    flat = enough.filter(pl.any_horizontal(pl.col(f).is_not_nan() & pl.col(f"{f}_low").is_nan() for f in FIGURES))
    if draws and flat.height:
        notes.append(
            f"no interval for a figure that resampling leaves unmoved or undefined ({count(flat.height, 'row')})"
        )
    return notes


def _rule(rules: Sequence[ThirdRule], has_groups: bool) -> list[str]:
    """That some labels had to be earned, and which figures to read."""
    if not rules:
        return []
    whose = f"{_listed([rule.group for rule in rules])}: " if has_groups else ""
    seen = "as the study says" if rules[0].known else "as the labels show"
    return [
        f"{whose}more than {rules[0].labels} labels only where the first two {rules[0].differed}, {seen}, which makes "
        "figures on all labels too high; read those on the first ones"
    ]


def population(frame: pl.DataFrame, judges: Judges) -> str:
    """Which judges intervals are about, in words."""
    wide = frame.filter(pl.col("n_queries") >= FEWEST)
    if not wide.height:
        return ""
    if judges == "fixed":
        return "intervals are about these judges, whoever else might judge"
    if not wide["sample"].any():
        return f"intervals are about these judges: fewer than {FEWEST} with names do not tell what others like them do"
    said = "intervals are about judges like these and queries like these"
    rest = wide.filter(~pl.col("sample"))
    if not rest.height:
        return said
    return f"{said}; in {count(rest.height, 'row')} with fewer than {FEWEST} named judges, about these judges only"


def drawn_gold(panel: Panel) -> str:
    """That gold labels were drawn with different chances, and count alike here; else nothing."""
    if len(np.unique(panel.gold_weight[panel.gold >= 0])) < 2:
        return ""
    return "gold labels were drawn with different probabilities: here each counts alike"


def _overlap(frame: pl.DataFrame, panel: Panel, at: float) -> list[str]:
    """What jaccard is the overlap of."""
    filled = frame.filter(pl.col("n_pairs") > 0)
    if not filled.height:
        return []
    nobody = filled["jaccard"].is_nan().all()
    said = "undefined: nobody gave" if nobody else "the overlap of documents labelled"
    return [f"jaccard is {said} {panel.said(at)}{'' if at >= panel.top and panel.scale else ' or higher'}"]


def _finding(frame: pl.DataFrame, overall: str, level: float) -> str:
    """The answer in words: how far groups agree within, and with gold or each other."""
    main = frame.filter(pl.col("value") < 0)
    within = main.filter(
        pl.col("against").is_null() & (pl.col("group") != overall) & pl.col("alpha_ordinal").is_not_nan()
    )
    # Where there are figures on the first two labels, they are the ones to read.
    within = within.sort("labels").unique("group", keep="last").sort("alpha_ordinal", "group", descending=[True, False])
    between = main.filter(pl.col("against").is_not_null() & pl.col("cohen").is_not_nan())
    between = between.sort("cohen", "group", "against", descending=[True, False, False])
    golden = between.filter(pl.col("against") == GOLD)
    said = []
    if within.height:
        best, worst = within.row(0, named=True), within.row(-1, named=True)
        alpha = [_said(row, "alpha_ordinal", "ordinal alpha", level) for row in (best, worst)]
        if within.height > 1:
            said.append(
                f"Judges agree most within {best['group']}: {alpha[0]}; least within {worst['group']}: {alpha[1]}."
            )
        else:
            whose = "" if best["group"] in UNNAMED else f" of {best['group']}"
            said.append(f"Judges{whose} agree with {alpha[0]}.")
    if golden.height:
        best, worst = golden.row(0, named=True), golden.row(-1, named=True)
        kappa = [_said(row, "cohen", "Cohen's kappa", level) for row in (best, worst)]
        if golden.height > 1:
            said.append(f"Closest to gold is {best['group']}: {kappa[0]}; furthest {worst['group']}: {kappa[1]}.")
        else:
            whose = "the judges agree" if best["group"] in UNNAMED else f"{best['group']} agrees"
            said.append(f"With gold, {whose} by {kappa[0]}.")
    elif between.height and not within.height:
        best = between.row(0, named=True)
        closest = "Groups" if between.height == 1 else "The closest groups,"
        whose = f"{closest} {best['group']} and {best['against']}{',' if between.height > 1 else ''}"
        kappa = [_said(best, "cohen", "Cohen's kappa", level)]
        said.append(f"{whose} agree by {kappa[0]}.")
    if not said and (main["n_pairs"] > 0).any():
        return (
            "Where two judges labelled the same document, all labels are alike: raw agreement is 1, and kappa and "
            "alpha are undefined (nothing tells agreement from chance)."
        )
    return " ".join(said) or "No pair has two labels: there is no agreement to measure."


def _said(row: dict[str, Any], figure: str, name: str, level: float) -> str:
    value, low, high = (row[figure + end] for end in ("", "_low", "_high"))
    # As many decimals as the interval supports.
    places = 2 if math.isnan(low) else min(max(2, 1 - math.floor(math.log10(high - low))), 4)
    interval = "" if math.isnan(low) else f"{level * 100:g} % interval {low:.{places}f} to {high:.{places}f}, "
    base = f"{count(row['n_pairs'], 'pair')}, {count(row['n_queries'], 'query', 'queries')}"
    first = "" if row["labels"] == ALL_LABELS else f", {row['labels']} labels"
    return f"{name} {value:.{places}f} ({interval}{base}{first})"


def _listed(names: Sequence[str]) -> str:
    """A few names, and how many more.

    >>> _listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    if len(names) <= 4:
        return ", ".join(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} more"
