"""Agreement from counts: how often a measure and users point the same way, with tests, from a table in print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from karat.errors import BadInput
from karat.records import Result
from karat.stats.bootstrap import check_level
from karat.stats.many import holm
from karat.stats.signs import binomial_p, share_interval, welch_p

TIES = ("out", "in")


def agreement_from_counts(
    counts: Mapping[str, Sequence[int]], *, ties: str = "out", level: float = 0.95
) -> tuple[Result, Result]:
    """A table of agreement from its counts, and the tests between its columns.

    >>> table, tests = agreement_from_counts({"Small": (25, 2, 15), "Large": (25, 2, 9)})
    >>> table.frame.select("measure", pl.col("agree_share", "p").round(3)).rows()
    [('Small', 0.595, 0.154), ('Large', 0.694, 0.009)]
    >>> tests
    Small agrees with users in 60 % of 42 pairs, Large in 69 % of 36: no significant difference (p = 0.367).

    Each column has the number of pairs in which users agree, find both equal, disagree, and maybe those tied on the
    measure, which are left out of the base (`ties` "out") or are a row of it ("in"). `p` is the binomial test of agree
    against disagree; `t_p` is the paper's t-test of the two, which finds too much: they share their pairs. The second
    result compares every two columns by that t-test, where it is in place, adjusted by Holm. Pairs are taken for
    independent; where several are of one query, use `agreement` on the preferences.

    Reference: Sanderson et al. (SIGIR 2010), Tables 1 to 9.
    """
    check_ties(ties)
    check_level(level)
    if not isinstance(counts, Mapping) or not counts:
        expected = "names with counts, {name: (agree, equal, disagree)}"
        raise BadInput.at("the counts", expected=expected, found=str(counts) if counts else "none")
    rows = []
    for name, column in counts.items():
        numbers = _whole(column)
        if len(numbers) not in (3, 4) or min(numbers) < 0:
            expected = "agree, equal, disagree and maybe ties, 0 or more"
            raise BadInput.at(f"the counts of {name}", expected=expected, found=str(column))
        agree, equal, disagree, tied = (*numbers, 0)[:4]
        rows.append({"measure": name, **figures(agree, equal, disagree, tied, ties, level)})
    table = pl.DataFrame(rows)
    first = rows[0]
    finding = (
        f"{first['measure']} agrees with users in {first['agree']:,} of {first['n']:,} pairs "
        f"({percent(first['agree_share'])}, interval {percent(first['low'])} to {percent(first['high'])})."
    )
    return Result(table, finding), _between(rows)


def _whole(column: object) -> list[int]:
    """The counts as whole numbers, none where one is not."""
    if isinstance(column, str) or not isinstance(column, Iterable):
        return []
    numbers = list(column)
    if not all(isinstance(number, int | float | np.number) and float(number).is_integer() for number in numbers):
        return []
    return [int(number) for number in numbers]


def figures(agree: int, equal: int, disagree: int, tied: int, ties: str, level: float) -> dict[str, Any]:
    """One column of a table of agreement: counts, shares, the interval of the first, and tests against chance."""
    n = agree + equal + disagree + (tied if ties == "in" else 0)
    low, high = share_interval(agree, n, level)
    base = n or np.nan
    return {
        "agree": agree,
        "equal": equal,
        "disagree": disagree,
        "ties": tied,
        "n": n,
        "agree_share": agree / base,
        "low": low,
        "high": high,
        "equal_share": equal / base,
        "disagree_share": disagree / base,
        "ties_share": tied / base if ties == "in" else np.nan,
        "p": binomial_p(agree, disagree),
        "t_p": welch_p(agree, n, disagree, n),
    }


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.6410)
    '64 %'
    """
    return f"{100 * share:.0f} %"


def check_ties(ties: str) -> None:
    """Refuse anything but out and in."""
    if ties not in TIES:
        raise BadInput.at("the ties", expected=" or ".join(TIES), found=f'"{ties}"')


def _between(rows: list[dict[str, Any]]) -> Result:
    tests = []
    for one, two in combinations(rows, 2):
        p = welch_p(one["agree"], one["n"], two["agree"], two["n"])
        tests.append((one["measure"], two["measure"], one["agree_share"], two["agree_share"], p))
    schema = {"first": pl.String, "second": pl.String, "first_share": pl.Float64, "second_share": pl.Float64}
    table = pl.DataFrame(tests, schema={**schema, "p": pl.Float64}, orient="row")
    table = table.with_columns(p_adjusted=pl.Series(holm(table["p"].to_numpy()), dtype=pl.Float64))
    if not table.height:
        return Result(table, "One column only: nothing to compare.")
    if table.height == 1:
        one, two = rows
        found = table["p"][0]
        verdict = "a significant difference" if found < 0.05 else "no significant difference"
        said = "no test" if np.isnan(found) else f"{verdict} (p = {found:.3f})"
        return Result(
            table,
            f"{one['measure']} agrees with users in {percent(one['agree_share'])} of {one['n']:,} pairs, "
            f"{two['measure']} in {percent(two['agree_share'])} of {two['n']:,}: {said}.",
        )
    different = int((table["p_adjusted"] < 0.05).sum())
    return Result(table, f"{different:,} of {table.height:,} differences between columns are significant (Holm).")
