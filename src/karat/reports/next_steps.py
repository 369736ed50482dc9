"""What to do next: how many queries and gold labels, and which documents are worth one."""

from __future__ import annotations

import shlex

import polars as pl

from karat.comparison import Comparison
from karat.correction.pool import stand_in
from karat.errors import Undefined
from karat.measures import as_measures, is_linear
from karat.plan import pilot_variance, plan_gold, plan_gold_queries, plan_power
from karat.records.runs import each_system
from karat.reports import charts
from karat.reports.figure import Figure
from karat.reports.section import Section, Table, section_of
from karat.study import Study

#: The documents of a plan that the page shows; karat plan gold writes them all.
SHOWN = 10
#: A page has the simulated power of one plan, from fewer studies than karat plan power.
SIMULATED_SHARE, SIMULATED_STUDIES = 0.25, 20


def next_section(
    found: Comparison | None, study: Study, group: str | None, difference: float, n: int, seed: int
) -> Section:
    """Power for a difference worth seeing, and the gold labels that say most about the first two systems."""
    if found is None:
        raise Undefined("there is no comparison to plan for")
    labels, runs = study.of_group(group), {run.systems[0]: run for runs in study.runs for run in each_system(runs)}
    a, b = found.systems[:2]
    pair = [runs[a], runs[b]]
    files = {name: shlex.quote(path) for name, path in study.files.items()}
    given = " ".join(
        (
            files.get("labels" if group is None else f"labels of {group}", "LABELS"),
            files.get(f"run of {a}", "RUN_A"),
            files.get(f"run of {b}", "RUN_B"),
            "-m",
            shlex.quote(found.measure),
        )
    )

    def power() -> Section:
        spread = pilot_variance(labels, pair, found.measure, gold=study.gold)
        shares = () if spread.model is None else (SIMULATED_SHARE,)
        plan = plan_power(difference, spread, shares=shares, studies=SIMULATED_STUDIES, seed=seed)
        curve = plan.curve.with_columns(series=pl.lit(f"{b} against {a}"))
        figure = Figure(
            "power",
            f"{plan.queries:,} queries detect a difference of {difference:g}; this study has {found.by_query.height:,}",
            f"Power of a paired t test at 0.05 to detect {difference:g} in {found.measure} between {a} and {b}, with "
            "the variance observed here and every label right. Line: 80%.",
            charts.lines(
                curve,
                x="queries",
                value="power",
                series="series",
                x_title="queries",
                y_title="power",
                line=0.8,
                whole=True,
                percent=True,
            ),
            curve.drop("series"),
        )
        tables = (Table("Queries and gold labels that detect it", plan.shares),) if plan.shares.height else ()
        command = f"karat plan power {given} --difference {difference:g}"
        return Section((plan.finding,), (figure,), tables, plan.notes, (command,))

    def gold_labels() -> Section:
        measure = as_measures(found.measure)[0]
        single = not measure.diverse and (is_linear(measure) or stand_in(measure) is not None)
        if single:
            drawn = plan_gold(labels, pair, found.measure, n, pilot=study.gold, seed=seed)
        else:
            drawn = plan_gold_queries(labels, pair, found.measure, n, seed=seed)
        top = drawn.frame.drop("label").sort("probability", descending=True).head(SHOWN)
        caption = f"{top.height} of the {drawn.frame.height:,} documents to label next, likeliest first"
        whole = f"-n {min(n, drawn.frame.height)}" if single else f"-n {n} --whole-queries"
        gold = f" --gold {files.get('gold', 'GOLD')}" if single and study.gold is not None else ""
        command = f"karat plan gold {given} {whole}{gold} --out more-gold.csv"
        said = (f"Next gold labels: {drawn.finding}",)
        return Section(said, (), (Table(caption, top, True),), drawn.notes, (command,))

    return section_of({"plan of power": power, "plan of gold labels": gold_labels})
