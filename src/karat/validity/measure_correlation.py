"""Measures against measures: do they rank systems alike?"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, Undefined
from karat.estimate import Scorer
from karat.measures import Profile, as_measures
from karat.records import Judgments, LabelsLike, Queries, Result, RunsLike
from karat.records.base import count
from karat.records.runs import joined
from karat.stats.ap_correlation import tau_ap, tau_ap_b

Floats = npt.NDArray[np.float64]

#: With fewer systems a rank correlation says next to nothing.
FEWEST_SYSTEMS = 3
FIGURES = ("tau", "tau_b", "tau_ap", "tau_ap_b")
COLUMNS = {
    **dict.fromkeys(("first", "second"), pl.String),
    **dict.fromkeys((*FIGURES, "first_self", "second_self"), pl.Float64),
    **dict.fromkeys(("systems", "queries"), pl.Int64),
}


def measure_correlation(
    labels: LabelsLike,
    runs: RunsLike,
    measures: object,
    *,
    profile: str | Profile = "trec_eval",
    weights: Queries | None = None,
    halvings: int = 100,
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
    symmetric form with ties, in both of which the top counts more. All systems' means are over all queries with labels,
    a missing list counting 0.

    Chance in the queries makes two measures look less alike than they are with many queries, and no interval over
    queries holds the figure of many: `first_self` and `second_self` tell instead how alike a measure ranks the systems
    by two random halves of the queries, tau_b on average over `halvings`. Measures that are as alike as that, or
    more, differ by no more than chance.

    Reference: Kendall (Biometrika 1938); Yilmaz, Aslam and Robertson (SIGIR 2008); Urbano and Marrero (ICTIR 2017);
    Sanderson et al. (SIGIR 2010), Table 3.
    """
    wanted = as_measures(measures)
    if len(wanted) < 2:
        raise BadInput.at("the measures", expected="two or more to compare", found=str(len(wanted)))
    judged, lists = Judgments.of(labels), joined(runs)
    if len(lists.systems) < FEWEST_SYSTEMS:
        raise Undefined(
            f"a rank correlation of measures needs {FEWEST_SYSTEMS} systems or more, not {len(lists.systems)}"
        )
    scorer = Scorer(judged, wanted, profile=profile, complete=True, draws=0, weights=weights)
    table = scorer.score(lists).queries
    names = [str(measure) for measure in wanted]
    values, notes = _by_query(table, lists.systems, names)
    means = np.round(values.mean(axis=1), 12)  # equal means differ by rounding
    alike = _alike_with_itself(values, halvings, seed)
    rows = []
    for one, two in combinations(range(len(names)), 2):
        x, y = means[:, one], means[:, two]
        figures = (*kendall(x, y), tau_ap(x, y), tau_ap_b(x, y), alike[one], alike[two])
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


def kendall(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[float, float]:
    """Kendall's tau (ties in the base) and tau_b of two columns, NaN where one has a single value.

    >>> kendall([1, 2, 3, 4], [1, 3, 2, 2])
    (0.16666666666666666, 0.18257418583505536)
    """
    one, two = np.asarray(x, np.float64), np.asarray(y, np.float64)
    upper = np.triu_indices(len(one), 1)
    above = np.sign(one[:, None] - one)[upper]
    higher = np.sign(two[:, None] - two)[upper]
    score, untied, other = float(above @ higher), float((above**2).sum()), float((higher**2).sum())
    if not untied or not other:
        return np.nan, np.nan
    return score / len(above), score / float(np.sqrt(untied * other))


def matrix(result: Result, figure: str = "tau_b") -> pl.DataFrame:
    """One figure of every two measures as a square table, 1 on its diagonal.

    >>> rows = [{"first": "AP", "second": "RR", "tau_b": 0.5, "tau_ap": 0.4}]
    >>> matrix(Result(pl.DataFrame(rows), "")).rows()
    [('AP', 1.0, 0.5), ('RR', 0.5, 1.0)]

    `tau_ap` is not symmetric; its square shows the row's measure as the truth above the diagonal only.
    """
    frame = result.frame
    if figure not in FIGURES:
        raise BadInput.at("the figure", expected=" or ".join(FIGURES), found=f'"{figure}"')
    names = pl.concat([frame["first"], frame["second"]]).unique(maintain_order=True).to_list()
    square = np.full((len(names), len(names)), np.nan)
    np.fill_diagonal(square, 1.0)
    place = {name: n for n, name in enumerate(names)}
    for one, two, value in frame.select("first", "second", figure).iter_rows():
        square[place[one], place[two]] = value
        if figure != "tau_ap":
            square[place[two], place[one]] = value
    return pl.DataFrame({"measure": names, **{name: square[:, n] for n, name in enumerate(names)}})


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


def _alike_with_itself(values: Floats, halvings: int, seed: int) -> list[float]:
    """For each measure, tau_b between the systems' means over two random halves of the queries, on average."""
    rng = np.random.default_rng(seed)
    _, number, width = values.shape
    half = number // 2
    found = np.full((halvings, width), np.nan)
    for place in range(halvings if half else 0):
        order = rng.permutation(number)
        one = np.round(values[:, order[:half]].mean(axis=1), 12)
        two = np.round(values[:, order[half : 2 * half]].mean(axis=1), 12)
        found[place] = [kendall(one[:, measure], two[:, measure])[1] for measure in range(width)]
    known = ~np.isnan(found)
    return [float(found[known[:, m], m].mean()) if known[:, m].any() else np.nan for m in range(width)]
