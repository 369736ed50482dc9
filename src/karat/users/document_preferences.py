"""Pairs of documents that users compared: do labels say the same, and do rankings put the preferred one first?"""

from __future__ import annotations

import numpy as np
import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels import consensus
from karat.labels.document_order import document_order
from karat.records import FrameLike, Judgments, LabelsLike, Preferences, Result, RunsLike
from karat.records.runs import joined, ranked
from karat.records.table import count
from karat.stats.arrays import Floats
from karat.stats.bootstrap import FEWEST, Resampling
from karat.users.votes import counted, trusted, votes

#: The row of the labels, beside those of systems.
LABELS = "labels"


def preferred_documents(preferences: Preferences | FrameLike) -> Result:
    """The documents of each query in the order that users' preferences make.

    >>> said = [{"query": "q", "left": a, "right": b, "choice": "left"} for a, b in ("xy", "xz", "yz")]
    >>> preferred_documents(said).frame.select("doc", "wins", "losses", "grade").rows()
    [('x', 2, 0, 3), ('y', 1, 1, 2), ('z', 0, 2, 1)]

    `left` and `right` are documents; which answers count is as in `votes`. `strength` is Bradley and Terry's, with
    ties, of each query by itself; `grade` is 1 for the least preferred. The grades are labels for measures that look at
    the order only: `Compat`. `wrong_way` in the finding is the share of answers against that order: 0 where users
    agree with each other and no three documents go round in a circle.
    """
    kept = counted(trusted(preferences))
    frame = document_order(kept)
    place = frame.select("query", "doc", "grade")
    sides = kept.frame.filter(pl.col("choice").is_in(["left", "right"]))
    for side in ("left", "right"):
        sides = sides.join(place.rename({"doc": side, "grade": f"of_{side}"}), on=["query", side], how="left")
    ahead = (pl.col("of_left") - pl.col("of_right")) * pl.when(pl.col("choice") == "left").then(1).otherwise(-1)
    against = int((sides.select(ahead=ahead)["ahead"] < 0).sum())
    finding = (
        f"{count(len(kept), 'preference')} put {count(frame.height, 'document')} of "
        f"{count(frame['query'].n_unique(), 'query', 'queries')} in order; {against:,} of "
        f"{count(sides.height, 'answer')} for a side ({_percent(against, sides.height)}) go against it."
    )
    return Result(frame, finding, kept.notes)


def document_agreement(
    preferences: Preferences | FrameLike,
    labels: LabelsLike | None = None,
    runs: RunsLike | None = None,
    *,
    depth: int | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> Result:
    """How often labels, and rankings, prefer the document that users prefer.

    >>> said = [{"query": "q", "left": a, "right": b, "choice": "left"} for a, b in ("xy", "xz", "yz")]
    >>> runs = {"bm25": {"q": {"x": 3.0, "z": 2.0}}}
    >>> found = document_agreement(said, {"q": {"x": 2, "y": 1, "z": 1}}, runs, draws=0)
    >>> found.frame.select("by", "agree", "disagree", "ties", "unseen", "ppref", "rpref").rows()[0]
    ('labels', 2, 0, 1, 0, 1.0, 0.6666666666666666)
    >>> found.frame.select("by", "agree", "disagree", "ties", "unseen", "ppref", "rpref").rows()[1]
    ('bm25', 2, 1, 0, 0, 0.6666666666666666, 0.6666666666666666)

    Users prefer the document of a pair with more votes; pairs with equally many are left aside. A ranking agrees where
    the preferred one stands above the other, or alone in the top `depth`; a pair with neither there is unseen. Labels
    tie where both have the same grade, and have not seen a pair of which one has none. `ppref` is the share that agree
    of those ordered, `rpref` of all; both are means over queries, with a bootstrap over queries.

    Reference: Carterette, Bennett, Chapelle and Dumais, preference precision and recall (SIGIR workshop 2008).
    """
    resampling = Resampling(level, draws, seed)
    if depth is not None and depth < 1:
        raise BadInput.at("the depth", expected="1 or more", found=str(depth))
    told = votes(preferences)
    pairs = told.frame.filter(pl.col("for_a") != pl.col("for_b"))
    if not pairs.height:
        raise Undefined("users prefer neither document of any pair: there is nothing to agree with")
    equal = told.frame.height - pairs.height
    notes = list(told.notes)
    if equal:
        notes.append(f"{count(equal, 'pair')} with as many votes for either document left aside")
    first = pl.col("for_a") > pl.col("for_b")
    pairs = pairs.select(
        "query", good=pl.when(first).then("a").otherwise("b"), bad=pl.when(first).then("b").otherwise("a")
    )
    tables = []
    if labels is not None:
        given = consensus(Judgments.of(labels)).frame.select("query", "doc", worth="label").drop_nulls("worth")
        tables.append((LABELS, given, False))
    if runs is not None:
        lists = ranked(joined(runs), depth)
        for (name,), part in lists.group_by("system", maintain_order=True):
            tables.append((str(name), part.select("query", "doc", worth=-pl.col("rank").cast(pl.Float64)), True))
    if not tables:
        raise BadInput.at("what to compare", expected="labels or runs", found="neither")
    rows = [_row(name, _ways(pairs, known, listed), pairs["query"], resampling) for name, known, listed in tables]
    frame = pl.DataFrame(rows)
    if frame["queries"].min() < FEWEST and draws:  # type: ignore[operator]
        notes.append(f"no interval for a mean of fewer than {FEWEST} queries: too few to tell")
    return Result(frame, _sentence(frame, pairs.height), tuple(notes))


def _ways(pairs: pl.DataFrame, known: pl.DataFrame, listed: bool) -> pl.Series:
    """For each pair 1 where the preferred one is ahead, -1 where behind, 0 where equal, null where not seen."""
    for side in ("good", "bad"):
        worth = known.rename({"doc": side, "worth": f"of_{side}"})
        pairs = pairs.join(worth, on=["query", side], how="left", maintain_order="left")
    good, bad = pl.col("of_good"), pl.col("of_bad")
    if listed:
        # A document that is not in the list stands below all that are.
        seen = good.is_not_null() | bad.is_not_null()
        good, bad = good.fill_null(-np.inf), bad.fill_null(-np.inf)
    else:
        seen = good.is_not_null() & bad.is_not_null()
    way = (good > bad).cast(pl.Int64) - (good < bad).cast(pl.Int64)
    return pairs.select(way=pl.when(seen).then(way))["way"]


def _row(name: str, way: pl.Series, query: pl.Series, resampling: Resampling) -> dict[str, object]:
    agree, disagree, tie = (int((way == value).sum()) for value in (1, -1, 0))
    by_query = (
        pl.DataFrame({"query": query, "way": way})
        .group_by("query")
        .agg(good=(pl.col("way") == 1).sum(), ordered=(pl.col("way").fill_null(0) != 0).sum(), all=pl.len())
    )
    good, ordered, every = (by_query[part].to_numpy().astype(np.float64) for part in ("good", "ordered", "all"))
    told = ordered > 0
    precision, recall = good[told] / ordered[told], good / every
    low, high = _ends(precision, resampling)
    r_low, r_high = _ends(recall, resampling)
    return {
        "by": name,
        "agree": agree,
        "disagree": disagree,
        "ties": tie,
        "unseen": way.null_count(),
        "ppref": float(precision.mean()) if told.any() else np.nan,
        "low": low,
        "high": high,
        "rpref": float(recall.mean()),
        "rpref_low": r_low,
        "rpref_high": r_high,
        "queries": int(told.sum()),
    }


def _ends(values: Floats, resampling: Resampling) -> tuple[float, float]:
    if len(values) < FEWEST or not resampling.draws:
        return np.nan, np.nan
    drawn = np.concatenate([times @ values / len(values) for times in resampling.times(len(values))])
    return resampling.ends(drawn, len(values))


def _sentence(frame: pl.DataFrame, pairs: int) -> str:
    best = frame.filter(pl.col("ppref").is_not_nan()).sort("ppref", descending=True, maintain_order=True)
    if not best.height:
        return f"None of {count(pairs, 'pair')} of documents that users compared is ordered by labels or rankings."
    said = {row["by"]: row for row in frame.iter_rows(named=True)}
    parts = []
    if LABELS in said:
        row = said[LABELS]
        ordered = row["agree"] + row["disagree"]
        parts.append(
            f"Of {count(pairs, 'pair')} of documents labels order {ordered:,} and prefer what users prefer in "
            f"{row['agree']:,} ({_percent(row['agree'], ordered)}); {row['ties']:,} have the same grade"
        )
    systems = best.filter(pl.col("by") != LABELS)
    if systems.height:
        row = systems.row(0, named=True)
        parts.append(
            f"{row['by']} puts the preferred document first most often, in {100 * row['ppref']:.0f} % of the pairs of "
            "a query that it orders"
        )
    return "; ".join(parts) + "."


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "none"
