"""Runs: the documents that systems returned for queries, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, EmptyRun
from karat.records import column_names as names
from karat.records.judgments import Judgments
from karat.records.list_order import SCORE_NOT_USED, order_by_position
from karat.records.schema import Column, Schema
from karat.records.source import Source
from karat.records.table import ORDER, Blocks, Records, count, frame_of, from_nested, is_table, plain_data, repeats

#: An odd number that spreads small numbers over 64 bits, so that they mix with hashes.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
#: BEIR calls labels so, where others mean the scores of a system.
BEIR = {"query-id", "corpus-id", "score"}


@dataclass(frozen=True, eq=False, repr=False)
class Runs(Records):
    """What systems returned: `system, query, doc` with `score` (higher is better) or `rank` (1 is best).

    >>> Runs.of({"q1": {"d1": 1.5, "d2": 0.5}}, system="mine")
    2 documents for 1 query by mine
    """

    #: Whether all rows are known to be of one system.
    one_system: bool = False

    schema: ClassVar[Schema] = Schema(
        "runs",
        (
            Column("system", pl.String, "the system's name", False, ("run", "run_id", "runid", "tag"), filled=True),
            Column("query", pl.String, "the query's id", True, names.QUERY),
            Column("doc", pl.String, "the document's id", True, names.DOC),
            Column(
                "rank",
                pl.Int64,
                "the position in the list, 1 the best",
                False,
                ("position", "pos", "ranking"),
                filled=True,
            ),
            Column("score", pl.Float64, "the system's score, higher is better", aliases=("sim", "similarity")),
            Column("team", pl.String, "who submitted the system"),
            Column(SCORE_NOT_USED, pl.Float64, "the score of a document in a list that is ordered by position"),
        ),
        ordinary=("query", "doc", "score"),
        beside=("query_text", "text", "title", "snippet", "url"),
    )

    @classmethod
    def of(cls, data: Any, system: str = "run") -> Runs:
        """Runs from a frame, from `{query: {doc: score}}` as pytrec_eval takes them, or from a dictionary by system.

        >>> frame = pl.DataFrame({"query": ["q"], "doc": ["d"], "score": [1.0]})
        >>> Runs.of({"bm25": frame, "mine": {"q": {"e": 2.0}}}).systems
        ['bm25', 'mine']
        """
        if isinstance(data, Runs):
            return data
        system = _own_name(data) or system
        data = plain_data(data, "the run")
        if isinstance(data, Mapping) and any(is_table(run) for run in data.values()):
            return together([_called(str(name), cls.of(run, system=str(name))) for name, run in data.items()])
        return cls.check(frame_of(from_nested(data, "score"), "the run"), system=system)

    @classmethod
    def check(
        cls,
        frame: pl.DataFrame,
        *,
        system: str = "run",
        source: Source | None = None,
        follow_scores: bool | pl.Series = False,
    ) -> Runs:
        """Runs from a frame; `BadInput` names the first row that breaks a rule.

        Where positions and scores disagree, the positions order a list, unless it is one in which to `follow_scores`,
        as in TREC run files. Where all scores of a list are equal, its positions order it.
        """
        source = source or Source("the run")
        notes = [*source.notes]
        headers, spelled = frame.columns, cls.schema.spelled(frame.columns, source.columns)
        hint = _are_labels(headers)
        if {name.strip().lower().replace("_", "-") for name in headers} == BEIR and not source.columns:
            raise BadInput.at(
                source.name,
                expected="a run",
                found=f"{', '.join(headers)}, the columns of BEIR's labels",
                remedy=f"{hint}. If it is a run, {cls.schema.say('doc', headers[1], source)}",
            )
        frame = cls.schema.conform(frame, source, hint, notes=notes)
        one_system = "system" not in frame.columns
        if one_system:
            frame = frame.select(pl.lit(system).alias("system"), pl.all())
        has_both = {"rank", "score"} <= {*frame.columns}
        if "score" not in frame.columns:
            if "rank" not in frame.columns:
                raise BadInput.at(
                    source.name,
                    expected="a column score or rank",
                    found=", ".join(headers),
                    remedy=hint
                    or cls.schema.slip("score", headers, source)
                    or "say by which number the documents are ordered",
                )
            frame = frame.with_columns(score=-pl.col("rank").cast(pl.Float64))
        source.refuse(
            frame["score"].is_null() | frame["score"].is_nan().fill_null(True),
            expected=f"a number as {spelled['score']}",
            found=lambda row: "NaN" if frame["score"][row] is not None else "nothing",
            remedy="a list without scores cannot be ordered; give ranks or scores to all of it",
        )
        runs = cls(frame, tuple(notes), one_system=one_system)
        runs._refuse_duplicates(source)
        return replace(runs, frame=order_by_position(frame, runs.blocks, follow_scores)) if has_both else runs

    @cached_property
    def systems(self) -> list[str]:
        """The systems, in the order in which they come."""
        names: list[str] = self.blocks.keys["system"].unique(maintain_order=True).to_list()
        return names

    @cached_property
    def blocks(self) -> Blocks:
        """The ranked lists that the rows form: one for each system and query."""
        if not self.one_system:
            return Blocks.of(self.frame, ["system", "query"])
        blocks = Blocks.of(self.frame, ["query"])
        system = pl.lit(self.frame["system"][0] if len(self) else None, dtype=pl.String)
        return Blocks(blocks.keys.select(system.alias("system"), "query"), blocks.of_row, blocks.together)

    @cached_property
    def doc_hashes(self) -> npt.NDArray[np.uint64]:
        """A number for each row's document: equal ids have equal numbers, others hardly ever."""
        return self.frame["doc"].hash().to_numpy()

    def _refuse_duplicates(self, source: Source) -> None:
        # As `repeats` does, but with the lists' numbers at hand, which are quicker to mix than names are to hash.
        keys = self.blocks.of_row.astype(np.uint64)
        keys *= SPREAD
        keys ^= self.doc_hashes
        keys.sort()
        if (keys[1:] != keys[:-1]).all():
            return
        key = ["system", "query", "doc"]
        again = self.frame.select(key).with_row_index("row").filter(repeats(self.frame, key))
        if not again.height:
            return
        row = again.row(0, named=True)
        same = self.frame.select(pl.all_horizontal(pl.col(name) == row[name] for name in key)).to_series()
        more = again.height - 1
        raise BadInput.at(
            source.at(row["row"]),
            expected=f"document {row['doc']} once in the list of query {row['query']}",
            found=f"it again (first at {source.at(int(same.arg_max() or 0))})"
            + (f", and {count(more, 'more repeat')} in the run" if more else ""),
            remedy="remove the repeats: a document that stands twice is counted twice",
        )

    def __repr__(self) -> str:
        keys, systems = self.blocks.keys, self.systems
        who = systems[0] if len(systems) == 1 else count(len(systems), "system")
        return (
            f"{count(len(self), 'document')} for {count(keys['query'].n_unique(), 'query', 'queries')} "
            f"by {who if systems else 'nobody'}"
        )


def ranked(runs: Runs, depth: int | None = None) -> pl.DataFrame:
    """The lists in the order in which measures see them, down to a depth: system, query, doc, rank.

    >>> ranked(Runs.of({"q": {"a": 1.0, "b": 2.0, "c": 1.0}})).select("doc", "rank").rows()
    [('b', 1), ('c', 2), ('a', 3)]

    Best score first, and of equal scores the larger doc id, as trec_eval does. Scoring has a faster way to the same
    order (`karat.measures.rank_order`).
    """
    frame = runs.frame.sort("system", "query", "score", "doc", descending=[False, False, True, True])
    frame = frame.select("system", "query", "doc", rank=pl.int_range(1, pl.len() + 1).over("system", "query"))
    return frame if depth is None else frame.filter(pl.col("rank") <= depth)


def _are_labels(headers: Sequence[str]) -> str:
    """What to say when these columns are those of labels."""
    if not {*Judgments.schema.required} <= {*Judgments.schema.chosen(headers)}:
        return ""
    return f"are these labels? The {ORDER}"


def several(data: Any) -> list[Runs]:
    """Each of several runs, or the one that there is: a list of rows is one run, a list of frames several.

    >>> [run.systems for run in several([pl.DataFrame({"query": ["q"], "doc": ["d"], "score": [1.0]})] * 2)]
    [['run1'], ['run2']]
    """
    if isinstance(data, list | tuple) and not data:
        raise BadInput.at("the runs", expected="at least one", found="none")
    if isinstance(data, list | tuple):
        for place, run in enumerate(data, 1):
            if isinstance(run, Mapping) and not run:
                raise _empty(f"run {place}")
    if isinstance(data, list | tuple) and all(is_table(run) for run in data):
        return [Runs.of(run, system=f"run{place}") for place, run in enumerate(data, 1)]
    return [Runs.of(data)]


def each_system(runs: Runs) -> list[Runs]:
    """A run for each system."""
    return [Runs(runs.frame.filter(pl.col("system") == name), runs.notes) for name in runs.systems]


def headed_by(runs: Sequence[Runs], system: str) -> list[Runs]:
    """The same runs with this system, the baseline, as the first.

    >>> two = Runs.of({"query": ["q", "q"], "doc": ["d", "d"], "score": [1.0, 2.0], "system": ["a", "b"]})
    >>> [run.systems for run in headed_by([two], "b")]
    [['b'], ['a']]
    """
    every = [one for run in runs for one in each_system(run)]
    names = [one.systems[0] for one in every]
    if system not in names:
        raise BadInput.at("the baseline", expected=f"one of the systems ({', '.join(names)})", found=system)
    return sorted(every, key=lambda run: run.systems[0] != system)


def _own_name(data: Any) -> str:
    """The name that a ranx run has; none where there is none."""
    name = getattr(data, "name", None) if type(data).__module__.partition(".")[0] == "ranx" else None
    return name if isinstance(name, str) else ""


def _empty(place: str) -> EmptyRun:
    return EmptyRun.at(
        place, expected="ranked documents", found="none", remedy="leave it out, or check where it is from"
    )


def _called(name: str, run: Runs) -> Runs:
    """The run of one system under this name, whatever name it has in the run."""
    if not len(run):
        raise _empty(f"the run {name}")
    if len(run.systems) > 1:
        raise BadInput.at(f"the run {name}", expected="one system", found=", ".join(run.systems))
    return replace(run, frame=run.frame.with_columns(system=pl.lit(name)))


def together(runs: Sequence[Runs]) -> Runs:
    """Several runs as one; the names of their systems must differ."""
    if len(runs) == 1:
        return runs[0]
    systems = [name for run in runs for name in run.systems]
    again = next((name for name in systems if systems.count(name) > 1), None)
    if again is not None:
        raise BadInput.at("the runs", expected="a different name for each system", found=f"two called {again}")
    columns = ["system", "query", "doc", "score", "team", SCORE_NOT_USED]
    if all(run.has("rank") for run in runs):
        columns.append("rank")
    frames = [run.frame.select(name for name in columns if name in run.frame.columns) for run in runs]
    return Runs(pl.concat(frames, how="diagonal"), tuple(note for run in runs for note in run.notes))


def joined(data: Any) -> Runs:
    """One run or several, in any form, as one.

    >>> joined([{"q": {"d": 1.0}}, {"q": {"e": 1.0}}]).systems
    ['run1', 'run2']
    """
    return together(several(data))
