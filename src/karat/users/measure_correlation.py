"""Measures against measures: do they rank systems alike?"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.advice import advise
from karat.errors import BadInput, Undefined
from karat.measures import Profile, as_measures
from karat.measures.scorer import Scorer
from karat.records import Judgments, LabelsLike, Result, Runs, RunsLike
from karat.records.result import Caution
from karat.records.runs import joined
from karat.records.swapped import refuse_swapped
from karat.records.table import count
from karat.stats.arrays import Floats
from karat.stats.rank_correlation import kendall, tau_ap, tau_ap_b

#: With fewer systems a rank correlation says next to nothing.
FEWEST_SYSTEMS = 3
#: How often the queries are parted in two halves.
HALVINGS = 100
COLUMNS = {
    **dict.fromkeys(("first", "second"), pl.String),
    **dict.fromkeys(("tau", "tau_b", "tau_ap", "tau_ap_b", "first_self", "second_self"), pl.Float64),
    **dict.fromkeys(("systems", "queries"), pl.Int64),
}


def measure_correlation(
    labels: LabelsLike,
    runs: RunsLike,
    measures: object,
    *,
    profile: str | Profile = "trec_eval",
    common_queries: bool = False,
    seed: int = 0,
) -> Result:
    """How alike every two measures rank the systems, by the systems' means over queries.

    >>> from karat.simulate import preference_study
    >>> study = preference_study(queries=30, systems=8, judges=1)
    >>> found = measure_correlation(study.judgments, study.runs, ["nDCG@10", "RR"])
    >>> found.frame.select("first", "second", pl.col("tau", "tau_b", "tau_ap", "tau_ap_b").round(3), "systems").row(0)
    ('nDCG@10', 'RR', 0.286, 0.309, 0.258, 0.244, 8)

    `tau` is Kendall's, pairs of systems with a tie counting nowhere but in the base; `tau_b` allows for ties; `tau_ap`
    is AP correlation with the first measure's ranking as the truth (tau_AP,a where the second has ties), `tau_ap_b` its
    symmetric form with ties, in both of which the top counts more.

    All systems' means are over the same queries for all measures: those with labels, a missing ranking counting 0 as in
    `compare`, and a note says how many are missing. With `common_queries` queries for which a system has no ranking are
    left out. A query for which a measure is undefined is left out of all means.

    Chance in the queries makes two measures look less alike than they are with many queries, and no interval over
    queries holds the figure of many: `first_self` and `second_self` tell instead how alike a measure ranks the systems
    by two random halves of the queries, tau_b on average. Measures that are as alike as that, or more, differ
    by no more than chance.

    Reference: Kendall (Biometrika 1938); Yilmaz, Aslam and Robertson (SIGIR 2008); Urbano and Marrero (ICTIR 2017);
    Sanderson et al. (SIGIR 2010), Table 3.
    """
    wanted = as_measures(measures)
    if len(wanted) < 2:
        raise BadInput.at("the measures", expected="two or more to compare", found=str(len(wanted)))
    judged, lists = Judgments.of(labels), joined(runs)
    refuse_swapped(judged, lists)
    if len(lists.systems) < FEWEST_SYSTEMS:
        raise Undefined(
            f"a rank correlation of measures needs {FEWEST_SYSTEMS} systems or more, not {len(lists.systems)}"
        )
    scorer = Scorer(judged, wanted, profile=profile, complete=True, draws=0)
    table = scorer.score(lists).queries
    names = [str(measure) for measure in wanted]
    table, missing = _missing_rankings(table, lists, common_queries)
    values, undefined = _by_query(table, lists.systems, names)
    notes = [*missing, *undefined]
    means = np.round(values.mean(axis=1), 12)  # equal means differ by rounding
    alike = _alike_with_itself(values, seed)
    rows = []
    for one, two in combinations(range(len(names)), 2):
        x, y = means[:, one], means[:, two]
        tau_b = kendall(x, y).item()
        tau = np.nan if np.isnan(tau_b) else kendall_a(x, y)
        figures = (tau, tau_b, tau_ap(x, y), tau_ap_b(x, y), alike[one], alike[two])
        rows.append((names[one], names[two], *figures, len(x), values.shape[1]))
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    known = frame.filter(pl.col("tau_b").is_not_nan())
    if not known.height:
        return Result(frame, "The measures tie all systems: no correlation can be told.", tuple(notes))
    least = known.sort("tau_b").row(0, named=True)
    finding = (
        f"{least['first']} and {least['second']} rank {count(len(lists.systems), 'system')} least alike: "
        f"tau_b {least['tau_b']:.2f}, AP correlation {least['tau_ap_b']:.2f} over "
        f"{count(values.shape[1], 'query', 'queries')}"
    )
    selves = [least[name] for name in ("first_self", "second_self")]
    if not np.isnan(selves).any():
        finding += f"; between two halves of the queries {least['first']} has {selves[0]:.2f} with itself, "
        finding += f"{least['second']} {selves[1]:.2f}"
    return Result(frame, finding + ".", tuple(notes), columns=tuple(frame.columns[:-2]))


def kendall_a(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Kendall's first tau, in which a pair with a tie counts in the base only.

    >>> kendall_a([1, 2, 3, 4], [1, 3, 2, 2])
    0.16666666666666666
    """
    above, higher = (np.sign(np.subtract.outer(values, values)) for values in (x, y))
    return float((above * higher).sum() / (above.size - len(above)))


def matrix(result: Result) -> pl.DataFrame:
    """The tau_b of every two measures as a square table, 1 on its diagonal.

    >>> matrix(Result(pl.DataFrame([{"first": "AP", "second": "RR", "tau_b": 0.5}]), "")).rows()
    [('AP', 1.0, 0.5), ('RR', 0.5, 1.0)]
    """
    pairs = result.frame.select("first", "second", "tau_b")
    turned = pairs.select(first="second", second="first", tau_b="tau_b")
    names = pl.concat([pairs["first"], pairs["second"]]).unique(maintain_order=True)
    itself = pl.DataFrame({"first": names, "second": names, "tau_b": 1.0})
    every = pl.concat([itself, pairs, turned])
    return every.pivot("second", index="first", values="tau_b", maintain_order=True).rename({"first": "measure"})


def _missing_rankings(table: pl.DataFrame, runs: Runs, common_queries: bool) -> tuple[pl.DataFrame, list[str]]:
    """The rows that count, and a note on judged queries for which a system has no ranking."""
    ranked = runs.frame.select(pl.col("system", "query").cast(pl.String)).unique()
    rows = table.select(pl.col("system", "query").cast(pl.String)).with_row_index("row")
    empty = rows.join(ranked, on=["system", "query"], how="anti")
    queries = empty["query"].unique()
    if not len(queries):
        return table, []
    every = rows["query"].n_unique()
    if common_queries:
        table = table.filter(~pl.col("query").cast(pl.String).is_in(queries.implode()))
        if not table.height:
            raise Undefined("no query has a ranking of every system: the systems have no common queries")
        return table, [f"{count(len(queries), 'query', 'queries')} left out: a system has no ranking there"]
    by_system = empty.group_by("system").len().sort(["len", "system"], descending=[True, False])
    named = [f"{system} {n:,}" for system, n in by_system.head(3).iter_rows()]
    others = [f"{by_system.height - 3} more systems"] if by_system.height > 3 else []
    which = count(len(queries), "query", "queries")
    remedy = advise(f"--common-queries leaves out the {which}", f"common_queries=True leaves out the {which}")
    note = (
        f"{empty.height:,} of {every * len(runs.systems):,} rankings are missing and count 0 for every measure "
        f"({', '.join([*named, *others])}): {remedy}"
    )
    return table, [Caution(note)]


def _by_query(table: pl.DataFrame, systems: list[str], names: list[str]) -> tuple[Floats, list[str]]:
    """Scores by system, query and measure; a query in which a measure is undefined counts for none."""
    queries = table["query"].unique().sort()
    table = table.join(pl.DataFrame({"system": systems, "place": range(len(systems))}), on="system")
    values = table.sort("place", "query").select(names).to_numpy().reshape(len(systems), len(queries), len(names))
    known = ~np.isnan(values).any(axis=(0, 2))
    if not known.any():
        raise Undefined("in every query one of the measures is undefined: their means cannot be compared")
    lost = int((~known).sum())
    notes = [f"{count(lost, 'query', 'queries')} left out: a measure is undefined there"] if lost else []
    return values[:, known], notes


def _alike_with_itself(values: Floats, seed: int) -> list[float]:
    """For each measure, tau_b between the systems' means over two random halves of the queries, on average."""
    rng = np.random.default_rng(seed)
    _, number, width = values.shape
    half = number // 2
    found = np.full((HALVINGS, width), np.nan)
    for place in range(HALVINGS if half else 0):
        order = rng.permutation(number)
        one = np.round(values[:, order[:half]].mean(axis=1), 12)
        two = np.round(values[:, order[half : 2 * half]].mean(axis=1), 12)
        found[place] = [kendall(one[:, measure], two[:, measure]).item() for measure in range(width)]
    known = ~np.isnan(found)
    return [float(found[known[:, m], m].mean()) if known[:, m].any() else np.nan for m in range(width)]
