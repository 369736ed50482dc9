"""Documents without a label in a comparison: the share of each system, bounds on the difference, and a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from karat.advice import advise
from karat.comparison.prepared import Matrix
from karat.correction.pool import shown
from karat.measures.label_coverage import REFUSE_SHARE, WARN_GAP, WARN_SHARE, as_percent, in_percent, is_above
from karat.measures.scorer import Scorer
from karat.records import Runs
from karat.records.number_format import decimals
from karat.records.result import VerdictWarning
from karat.records.runs import each_system, together
from karat.stats.arrays import Floats


@dataclass(frozen=True)
class Unjudged:
    """The share of each system's top `depth` documents without a label; empty where the measure copes with them."""

    shares: dict[str, float] = field(default_factory=dict)
    depth: int = 0

    @classmethod
    def of(cls, coverage: pl.DataFrame) -> Unjudged:
        """The shares of the systems of some scores."""
        known = coverage.drop_nulls("unjudged")
        if not known.height:
            return cls()
        return cls(dict(known.select("system", "unjudged").iter_rows()), int(known["depth"][0]))

    @property
    def refusal(self) -> str:
        """Why there can be no verdict; empty where there can."""
        most = {name: share for name, share in self.shares.items() if is_above(share, REFUSE_SHARE)}
        if not most:
            return ""
        option = advise("--allow-unjudged", "allow_unjudged=True")
        return (
            f"{in_percent(most, self.depth)} have no label and would count as not relevant; label them, or compare all "
            f"the same with {option} if documents without a label are known to be not relevant"
        )

    @property
    def needs_warning(self) -> bool:
        """Whether the shares are so large, or so far apart, that they may change the verdict."""
        if len(self.shares) < 2:
            return False
        most, least = max(self.shares.values()), min(self.shares.values())
        return is_above(most, WARN_SHARE) or is_above(most - least, WARN_GAP)

    def warning(self, pair: Sequence[str], bounds: tuple[float, float] | None) -> VerdictWarning:
        """The shares of the two systems that the verdict is about, with the bounds on their uncorrected difference."""
        shares = {name: self.shares[name] for name in pair}
        text = f"{in_percent(shares, self.depth)} have no label and count as not relevant"
        others = {name: share for name, share in self.shares.items() if name not in shares}
        if others and is_above(max(others.values()), WARN_SHARE):
            name = max(others, key=lambda one: others[one])
            text += f" (other systems: up to {as_percent(others[name])}, {name})"
        if bounds is not None:
            a, b = pair
            places = decimals(*bounds)
            text += (
                f". The uncorrected difference would be {bounds[0]:+z.{places}f} if all of these were relevant for {a} "
                f"and none for {b}, and {bounds[1]:+z.{places}f} the other way round"
            )
        return VerdictWarning(text)


def difference_bounds(
    scorer: Scorer, lists: Sequence[Runs], matrix: Matrix, pair: Sequence[str], depth: int
) -> tuple[float, float]:
    """The difference b - a if all unjudged documents were relevant for a and none for b, and the other way round."""
    runs = {one.systems[0]: one for one in each_system(together(list(lists))) if one.systems[0] in pair}
    as_is = {name: matrix.values[:, matrix.systems.index(name)] for name in pair}
    best = {name: _best(scorer, runs[name], matrix, as_is[name], depth) for name in pair}
    a, b = pair
    return float((as_is[b] - best[a]).mean()), float((best[b] - as_is[a]).mean())


def _best(scorer: Scorer, run: Runs, matrix: Matrix, as_is: Floats, depth: int) -> Floats:
    """The scores of a system by query if all its unjudged documents had the top grade."""
    docs = shown(run, list(matrix.queries), scorer.profile, depth).select("query", "doc")
    judged = scorer.topics.judged.filter(pl.col("label").is_null() | ~(pl.col("label") < 0)).select("query", "doc")
    docs = docs.join(judged, on=["query", "doc"], how="anti", maintain_order="left")
    if not docs.height:
        return as_is
    found = scorer.with_labels_for(docs).counted_queries(run)
    name = str(scorer.measures[0])
    scores = pl.DataFrame({"query": matrix.queries}).join(
        found.select("query", score=name), on="query", how="left", maintain_order="left"
    )
    # A measure that divides by the ideal may fall where more is relevant.
    best = scores["score"].fill_null(np.nan).to_numpy().astype(np.float64)
    return np.asarray(np.fmax(as_is, best), dtype=np.float64)
