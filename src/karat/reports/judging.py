"""Can the judges be trusted? Agreement, how they use the scale, how far they are from gold, where they go wrong."""

from __future__ import annotations

import polars as pl

from karat.errors import Undefined
from karat.judges import add_features, against_gold, agreement, distribution, error_distribution, find_bias, judge_table
from karat.judges.slices import called, does
from karat.labels import ALL, Panel
from karat.labels.panel import ALL_LABELS
from karat.records import ClickLog, Clicks, Judgments, Result
from karat.records.result import ResultBase
from karat.records.runs import joined
from karat.records.table import count
from karat.reports import charts
from karat.reports.figure import ACCENT, GROUPS, QUIET, Figure
from karat.reports.section import Section, Table, headline, section_of
from karat.study import Study
from karat.users.click_preferences import against_clicks

#: More judges or slices than these do not fit a chart that is read in a minute; the table has them all.
MOST_JUDGES, MOST_SLICES = 20, 12
#: The false discovery rate of each family of slices in the search for biases.
FALSE_DISCOVERY_RATE = 0.05


def judges_section(study: Study, draws: int, seed: int) -> Section:
    """All that the data tells about the judges."""
    labels = study.of_group(None)
    if not len(labels):
        raise Undefined("there are no judgments")
    gold, clicks = study.known, study.clicks
    panel = Panel.of(labels, gold)
    parts = {
        "agreement": lambda: _agreement(labels, gold, draws, seed),
        "label distribution": lambda: _distribution(panel),
    }
    if panel.has_gold:
        parts["error against gold"] = lambda: _errors(panel)
    if panel.has_gold or len(study.groups) > 1:
        parts["bias"] = lambda: _bias(study, labels)
    if labels.has("judge"):
        parts["judge by judge"] = lambda: _each_judge(labels, gold)
    if clicks is not None:
        parts["labels against clicks"] = lambda: _clicks(panel, clicks, draws, seed)
    return section_of(parts)


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """The figures with a name for judges who are in no group."""
    return frame.with_columns(pl.col("group").replace(ALL, "judges"))


def _overall(result: Result) -> pl.DataFrame:
    """The figures over all documents, named."""
    return _named(result.frame.filter(pl.col("feature") == ALL))


#: What the notes of a part say without its name, which the whole section needs: which labels count how, and where.
NAMED = {
    "agreement": ("here each counts alike", "in agreement each counts alike"),
    "errors": ("each counts with 1 /", "in shares and errors each counts with 1 /"),
    "bias": ("but count alike here", "but count alike in the search for biases"),
}


def _of(result: ResultBase, part: str) -> tuple[str, ...]:
    """The notes of a part of the section; features that nobody asked for and nobody can make are no news."""
    notes = (note for note in result.notes if not note.startswith("features that cannot be made"))
    return tuple(note.replace(*NAMED[part]) for note in notes)


def _agreement(labels: Judgments, gold: Judgments | None, draws: int, seed: int) -> Section:
    result = agreement(labels, gold, draws=draws, seed=seed)
    frame = result.frame
    first = frame["labels"] != ALL_LABELS
    names = frame.filter(first).select("group", "against").unique()
    # Where a third label was asked for only when two differed, figures on all labels flatter: the first ones are read.
    kept = frame.join(names, on=["group", "against"], how="anti", nulls_equal=True)
    kept = pl.concat([frame.filter(first), kept])
    rows = kept.select(
        # In two lines, so that a narrow page shows both.
        row=pl.col("group")
        + pl.when(pl.col("against").is_null()).then(pl.lit(", within")).otherwise(", and " + pl.col("against")),
        alpha="alpha_ordinal",
        low="alpha_ordinal_low",
        high="alpha_ordinal_high",
        documents="n_pairs",
        queries="n_queries",
        within=pl.col("against").is_null(),
    ).filter(pl.col("alpha").is_not_nan() & pl.col("alpha").is_not_null())
    if not rows.height:
        several = kept.filter(pl.col("n_pairs") > 0).height
        raise Undefined(result.finding.rstrip(".") if several else "no document has labels of two judges")
    rows = rows.sort(~pl.col("within"), -pl.col("alpha"), maintain_order=True).rename({"within": "look_at"})
    figure = Figure(
        "agreement",
        f"Judges agree most {_most(rows)}" if rows.height > 1 else _one(rows, headline(result.finding)),
        "Krippendorff's ordinal alpha (1: always alike, 0: as chance would) with 95 % intervals over queries; gold "
        "dots: within a group, grey: between groups, each reduced to its median.",
        charts.dots(rows, value="alpha", x_title="ordinal alpha", line=0.0, places=2),
        rows.drop("look_at"),
    )
    table = [name for name in ("group", "against", "labels", "n_pairs", "n_queries") if name in frame.columns]
    figures = [
        n for key in ("raw", "cohen", "fleiss", "alpha_ordinal", "jaccard") for n in (key, f"{key}_low", f"{key}_high")
    ]
    wide = frame.select([*table, *(name for name in figures if name in frame.columns)])
    return Section(
        (result.finding,), (figure,), (Table("Agreement in other figures", wide, True),), _of(result, "agreement")
    )


def _one(rows: pl.DataFrame, finding: str) -> str:
    """The only figure as a title: that of the chart, where the finding tells another one."""
    who, against = rows["row"][0].split(", ")
    if against == "within":
        return finding
    who = "Labels" if who == ALL else f"Labels of {who}"
    return f"{who} {against} agree with ordinal alpha {rows['alpha'][0]:.2f}"


def _most(rows: pl.DataFrame) -> str:
    within = rows.filter(pl.col("look_at")).sort("alpha")
    if within.height:
        return "within " + str(within["row"][-1]).removesuffix(", within")
    return "between " + str(rows.sort("alpha")["row"][-1]).replace(", and ", " and ")


def _distribution(panel: Panel) -> Section:
    result = distribution(panel)
    frame = _overall(result).select("group", "grade", "share", "low", "high", "n")
    # Gold comes last, so that groups keep their colours, and is not ranked: its documents were drawn, not all judged.
    frame = frame.sort(pl.col("group") == "gold", maintain_order=True)
    people = frame.filter(pl.col("group") != "gold")
    several = people["group"].n_unique() > 1
    title, how = headline(result.finding), "Share of each grade among a group's labels with 95 % intervals"
    # Fig. 1 of the paper is of groups side by side.
    how += " (Kazai et al. 2012, Fig. 1)." if several else "."
    if panel.has_gold:
        how += " Gold: only the documents that have a gold label."
    if several:
        title = _furthest_apart(people, panel)
    figure = Figure(
        "label-distribution",
        title,
        how,
        charts.bars(frame, x="grade", group="group", x_title="grade", scale=panel.scale),
        frame,
    )
    return Section((result.finding,), (figure,), notes=_of(result, "errors"))


def _furthest_apart(frame: pl.DataFrame, panel: Panel) -> str:
    """The grade that two groups use most unlike, as a title; none where their intervals overlap at every grade."""
    pairs = frame.join(frame, on="grade", suffix="_other").filter(pl.col("low") > pl.col("high_other"))
    if not pairs.height:
        return "No group is shown to give a grade more often than another"
    row = pairs.sort(pl.col("share") - pl.col("share_other"), maintain_order=True).row(-1, named=True)
    most, least = (f"{100 * row[share]:.0f} % of the labels of" for share in ("share", "share_other"))
    return (
        f"Groups differ most at grade {panel.said(row['grade'])}: {most} {called(row['group'])}, "
        f"{least} {called(row['group_other'])}"
    )


def _errors(panel: Panel) -> Section:
    result = against_gold(panel)
    frame = _overall(result)
    rows = frame.select("group", "error", "low", "high", "under", "correct", "over", "n", "n_queries").sort("error")
    worst = rows.sort(pl.col("error").abs()).row(-1, named=True)
    way = "high" if worst["error"] > 0 else "low"
    furthest = "Labels are" if rows.height == 1 else f"Furthest from gold: {called(worst['group'])},"
    title = f"{furthest} {abs(worst['error']):.2f} of a grade too {way}"
    if (rows["low"] <= 0).all() and (rows["high"] >= 0).all():
        title = "Labels are not shown to be too high or too low on average"
    one = Figure(
        "error-by-group",
        title,
        "Mean of label less gold label with 95 % intervals; drawn labels stand for the documents that could be drawn.",
        charts.dots(rows, row="group", value="error", x_title="mean error in grades", line=0.0, places=2),
        rows,
    )
    spread = error_distribution(panel)
    shares = _overall(spread).select("group", pl.col("error").cast(pl.Int64), "share", "low", "high", "n")
    two = Figure(
        "error-distribution",
        spread.finding.split(";")[0].rstrip("."),
        "Share of labels that are off by so many grades, below 0 too low (Kazai et al. 2012, Fig. 3).",
        charts.bars(shares, x="error", group="group", x_title="label less gold label", zero=True),
        shares,
    )
    shown = frame.select(
        "group", "error", "low", "high", "under", "under_low", "under_high", "correct", "correct_low", "correct_high",
        "over", "over_low", "over_high", "n",
    )  # fmt: skip
    return Section(
        (result.finding,), (one, two), (Table("Under, correct and over", shown, True),), _of(result, "errors")
    )


def _bias(study: Study, labels: Judgments) -> Section:
    runs = joined(list(study.runs)) if study.runs else None
    with_features = add_features(labels, queries=study.queries, documents=study.documents, runs=runs)
    gold = study.known
    result = find_bias(with_features, gold=gold, q=FALSE_DISCOVERY_RATE, everything=True)
    if not result.frame.height:
        return Section((result.finding,), notes=_of(result, "bias"))
    frame = _named(result.frame).with_columns(size=pl.col("effect").abs())
    # Grades and shares do not go on one axis: the charts have the biases, the table what was found of both.
    single = frame.filter(pl.col("feature_2").is_null(), pl.col("kind") == "bias")
    titles = {
        "primary": "{} among the slices chosen in advance: which system retrieves the document",
        "exploration": "Exploration: {} among slices of one feature",
    }
    figures = [
        _bias_figure(single.filter(pl.col("family") == family), title, family, has_gold=gold is not None)
        for family, title in titles.items()
        if (single["family"] == family).any()
    ]
    table = frame.filter(pl.col("found")).select(
        "family", "group", "against", "kind", "slice", "effect", "low", "high", "inside", "outside", "n_pairs",
        p_adjusted="p_bh",
    )  # fmt: skip
    tables = (Table("Biases and noise found", table),) if table.height else ()
    return Section((result.finding,), tuple(figures), tables, _of(result, "bias"))


def _bias_figure(slices: pl.DataFrame, title: str, family: str, *, has_gold: bool) -> Figure:
    """The largest biases of a family of slices; gold dots are those with an adjusted p value at most the FDR."""
    against, grade = ("gold", "gold grade") if has_gold else ("the other groups", "average grade")
    shown = slices.sort(~pl.col("found"), -pl.col("size")).head(MOST_SLICES)
    rows = shown.select(
        # In two lines, so that a narrow page shows both.
        row=pl.col("group") + ", " + pl.col("slice").str.replace_all(", ", " / "),
        group="group",
        slice="slice",
        effect="effect",
        low="low",
        high="high",
        p_adjusted="p_bh",
        inside="inside",
        outside="outside",
        documents="n_pairs",
        queries="n_queries",
        look_at="found",
    )
    significant = int(slices["found"].sum())
    result = f"{count(significant, 'significant bias', 'significant biases')}" if significant else "no significant bias"
    told = title.format(result)
    cut = f" The {MOST_SLICES} largest of {slices.height} slices." if slices.height > shown.height else ""
    return Figure(
        "bias" if family == "primary" else "bias-exploration",
        told[:1].upper() + told[1:],
        f"Mean error against {against} on the slice minus that on the rest, at the same {grade}, with 95% CI (not "
        f"adjusted for multiple testing). Gold dots: adjusted p at most {FALSE_DISCOVERY_RATE:g}, the false discovery "
        f"rate of these tests.{cut}",
        charts.dots(rows, value="effect", x_title=f"grades above the rest, same {grade}", line=0.0, places=2),
        rows.drop("row"),
    )


def _each_judge(labels: Judgments, gold: Judgments | None) -> Section:
    result = judge_table(labels, gold=gold)
    frame = result.frame
    figure_of = (
        "accuracy" if gold is not None and frame["accuracy"].is_not_nan().sum() > frame.height / 2 else "agreement"
    )
    rows = frame.select(
        judge="judge",
        group=pl.col("group").fill_null("") if "group" in frame.columns else pl.lit("judges"),
        value=figure_of,
        low=f"{figure_of}_low",
        high=f"{figure_of}_high",
        labels="n",
        look_at="likely_spammer",
    ).filter(pl.col("value").is_not_nan())
    rows = rows.sort(~pl.col("look_at"), "value").head(MOST_JUDGES)
    if rows["judge"].n_unique() < rows.height:  # two groups may have a judge of the same name
        rows = rows.with_columns(judge=pl.col("group") + ", " + pl.col("judge"))
    of = "gold" if figure_of == "accuracy" else "the other judges"
    figure = Figure(
        "judges",
        result.finding.rstrip("."),
        f"How often a judge's label is that of {of}, with 95 % intervals; gold: likely spammers. "
        f"{f'The {MOST_JUDGES} lowest of {frame.height} judges.' if frame.height > MOST_JUDGES else ''}".strip(),
        charts.dots(rows, row="judge", value="value", x_title=f"share of labels as {of}", percent=True),
        rows.rename({"value": figure_of, "look_at": "likely_spammer"}),
    )
    wanted = ["group", "judge", "n", "agreement", "agreement_low", "agreement_high", "accuracy", "accuracy_low"]
    wanted += ["accuracy_high", "leniency", "leniency_low", "leniency_high", "seconds", "likely_spammer"]
    table = Table("Judge by judge", frame.select([name for name in wanted if name in frame.columns]), True)
    # One judge alone is no comparison.
    return Section((result.finding,), (figure,) if rows.height > 1 else (), (table,), result.notes)


def _clicks(panel: Panel, clicks: Clicks | ClickLog, draws: int, seed: int) -> Section:
    result = against_clicks(panel, clicks, draws=draws, seed=seed)
    frame = _named(result.frame)
    rows = pl.concat(
        frame.select("group", part=pl.lit(part), share=part, low=f"{part}_low", high=f"{part}_high", pairs="n_pairs")
        for part in ("correct", "insensitive", "incorrect")
    ).filter(pl.col("share").is_not_nan())
    # Gold is of other, fewer documents: it comes last and is not ranked, unless there is nothing else.
    ranked = frame.sort(pl.col("group") == "gold", -pl.col("correct"))
    order = {group: place for place, group in enumerate(ranked["group"].to_list())}
    rows = rows.sort(pl.col("group").replace_strict(order), maintain_order=True)
    best = ranked.row(0, named=True)
    people = ranked.filter(pl.col("group") != "gold")["group"].n_unique()
    most = f"Of the judges, {called(best['group'])} {does(best['group'], 'agree')} with clicks most often"
    title = most if people > 1 else "Labels agree with clicks"
    figure = Figure(
        "labels-and-clicks",
        f"{title}: in {100 * best['correct']:.0f} % of pairs",
        "Pairs of documents of which one is clicked more: the labels agree, are equal, or contradict "
        "(Kazai et al. 2012, Fig. 2). Intervals in the numbers.",
        charts.parts(rows, row="group", colours=(ACCENT, QUIET, GROUPS[0]), x_title="share of pairs"),
        rows,
    )
    return Section((result.finding,), (figure,), notes=result.notes)
