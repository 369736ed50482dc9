"""Which documents stand one above the other, and what judges said about each, alone and after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from karat.errors import BadInput, Undefined
from karat.labels.consensus import consensus, reduced
from karat.labels.gold import split_gold
from karat.labels.order import first_of_each, in_order
from karat.labels.panel import numbered
from karat.labels.selection import OVERALL, select
from karat.records import Judgments, Runs, Scale
from karat.records.judgments import paths
from karat.records.runs import ranked
from karat.records.table import count
from karat.stats import FEWEST
from karat.stats.arrays import Ints

#: A label in context belongs to these.
PAIR = ["query", "doc", "context"]
#: More different grades than this are no scale of levels that could be predicted one by one.
MOST_GRADES = 20


@dataclass(frozen=True, eq=False)
class Graded:
    """One grade for each document alone and for each after another, and the grades of single aspects beside them."""

    alone: pl.DataFrame  # query, doc, grade
    given: pl.DataFrame  # query, doc, context, grade
    aspects: pl.DataFrame  # query, doc and a column for each aspect, all alone
    judges: pl.DataFrame  # query, doc, context and whoever graded them so: group, judge
    longer: pl.DataFrame  # as given, where several documents were read before
    scale: Scale | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, data: Any) -> Graded:
        """The grades of these judgments (or of what `Judgments.of` takes): of several their median, without N/A."""
        judgments = Judgments.of(data)
        if judgments.has("subtopic"):
            raise BadInput.at(
                "the judgments",
                expected="judgments of whole queries",
                found="subtopics",
                remedy="labels in context are of queries: leave the column subtopic out",
            )
        labels = consensus(judgments, apart=("context",))
        if not len(labels):
            raise Undefined("No judgment has a grade: every answer is N/A, or there is none.")
        frame, notes = labels.frame, list(labels.notes)
        if "context" not in frame.columns:
            frame = frame.with_columns(context=pl.lit(None, dtype=pl.String))
        itself = frame.filter(pl.col("context") == pl.col("doc")).height
        if itself:
            notes.append(f"{count(itself, 'label')} of a document given itself left aside: no list shows it twice")
        frame = frame.rename({"label": "grade"}).select(*PAIR, "grade")
        long = paths(frame["context"])["read"] > 1
        longer, frame = frame.filter(long), frame.filter(~long)
        if longer.height:
            notes.append(
                f"{count(longer.height, 'label')} given after several documents: they count where a list has these "
                "above it, and no model learns from them"
            )
        return cls(
            longer=longer.sort(PAIR),
            alone=frame.filter(pl.col("context").is_null()).drop("context").sort("query", "doc"),
            given=frame.filter(pl.col("context") != pl.col("doc")).sort(PAIR),
            aspects=_aspects(judgments),
            judges=_judges(judgments),
            scale=labels.scale,
            notes=tuple(notes),
        )

    def with_grades(self, pairs: pl.DataFrame) -> pl.DataFrame:
        """The pairs with the grades of both documents alone: `alone` and `above`, null where nobody gave one."""
        above = self.alone.rename({"doc": "context", "grade": "above"})
        pairs = pairs.join(
            self.alone.rename({"grade": "alone"}), on=["query", "doc"], how="left", maintain_order="left"
        )
        return pairs.join(above, on=["query", "context"], how="left", maintain_order="left")

    def training(self) -> pl.DataFrame:
        """The judged pairs whose two documents were judged alone too: what a predictor can learn from."""
        pairs = self.with_grades(self.given).drop_nulls(["alone", "above"])
        grades = pairs["grade"].n_unique()
        if grades > MOST_GRADES:
            raise BadInput.at(
                "the judgments in context",
                expected=f"grades of a scale with at most {MOST_GRADES} levels",
                found=f"{grades:,} different labels",
                remedy="round them to the levels that judges could choose from",
            )
        return pairs

    def judged(self, pairs: pl.DataFrame) -> tuple[Ints, Ints] | None:
        """Whose grades each pair stands on, in context and alone: pairs and judges by number.

        Nothing where judges do not stand for others like them: fewer than five, or some without a name.
        """
        pairs = pairs.select(PAIR).with_row_index("_pair")
        alone, above = (
            pairs.select("_pair", "query", pl.col(name).alias("doc"), context=pl.lit(None, pl.String))
            for name in ("doc", "context")
        )
        sheets = pl.concat([pairs.select("_pair", *PAIR), alone, above])
        who = sheets.join(self.judges, on=PAIR, nulls_equal=True).select("_pair", "group", "judge").unique()
        who = who.sort("_pair", "group", "judge")
        people, number = numbered(who.select("group", "judge"))
        if who["judge"].null_count() or people.height < FEWEST:
            return None
        return who["_pair"].cast(pl.Int64).to_numpy(), number

    def untaught(self, training: pl.DataFrame) -> list[str]:
        """A note on labels in context that no model can learn from."""
        lost = self.given.height - training.height
        if not lost:
            return []
        return [
            f"no model learns from {count(lost, 'label')} in context: one of the two documents was never judged alone"
        ]


def adjacent(runs: Runs, depth: int) -> pl.DataFrame:
    """Every document of the lists down to `depth` with the one above it: system, query, doc, context, rank, first.

    >>> adjacent(Runs.of({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, system="mine"), 10).rows()
    [('mine', 'q', 'b', 'a', 2, 'a'), ('mine', 'q', 'c', 'b', 3, 'a')]

    Lists are in the order that scores give them, of equal scores the larger doc id first, as when they are scored.
    """
    if not isinstance(depth, int) or depth < 2:
        raise BadInput.at("the depth", expected="2 documents or more, so that one follows another", found=str(depth))
    listed = ranked(runs, depth).with_columns(
        context=pl.col("doc").shift(1).over("system", "query"), first=pl.col("doc").first().over("system", "query")
    )
    return listed.drop_nulls("context").select("system", *PAIR, "rank", "first")


def _judges(judgments: Judgments) -> pl.DataFrame:
    """Who gave a grade to each document, alone and after another."""
    frame = select(split_gold(judgments)[0], ("context",)).frame.drop_nulls("label")
    absent = [pl.lit(None, pl.String).alias(n) for n in ("context", "group", "judge") if n not in frame.columns]
    return frame.with_columns(absent).select(*PAIR, "group", "judge").unique()


def _aspects(judgments: Judgments) -> pl.DataFrame:
    """The mean grade of each document alone in each aspect but overall, a column for each."""
    selected, key = select(judgments, ["aspect"]), ["query", "doc"]
    if "aspect" not in selected.key or "context" in selected.key:
        return judgments.frame.select(key).clear()
    said = selected.frame.filter(pl.col("aspect") != OVERALL).drop_nulls("label")
    once = first_of_each(in_order(said), selected.key)
    means = reduced(once, [*key, "aspect"], "mean").frame
    names = means["aspect"].unique().sort().to_list()
    of = [pl.col("label").filter(pl.col("aspect") == name).first().alias(f"aspect {name}") for name in names]
    return means.group_by(key).agg(of).sort(key)
