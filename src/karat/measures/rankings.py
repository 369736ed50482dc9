"""Ranked lists with their labels: what every measure is computed from, all systems and queries at once.

Only documents with a label are kept, each with its list and rank. The others matter to no measure but through the
length of the list, so seven million retrieved documents may come down to a few thousand rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from karat.errors import BadInput, EmptyRun
from karat.measures.rank_order import PROFILES, Ordered, Profile, order
from karat.measures.topics import Topics, pair_keys
from karat.records import Runs
from karat.records.judgments import THEN
from karat.stats import totals
from karat.stats.arrays import Bools, Floats, Ints

#: What ids of the same query often differ by, and the ids without it.
SPELLINGS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "spaces": lambda ids: ids.str.strip_chars(),
    "capital letters": lambda ids: ids.str.to_lowercase(),
    # Zeros before a digit, and not after one: 007 and q07, but not 107.
    "leading zeros": lambda ids: ids.str.replace_all(r"(^|\D)0+(\d)", "$1$2"),
    "a .0 at the end": lambda ids: ids.str.replace(r"^(\d+)\.0$", "$1"),
}
SHOWN = 3
#: So many ids are looked at for a prefix or suffix, and so many have to have it.
SAMPLED, FEWEST_PAIRS = 200, 2


def cause_of(labels: pl.Series, run: pl.Series) -> tuple[str, pl.DataFrame]:
    """What these ids differ by, if most of them differ by nothing else, and the pairs (`run`, `labels`).

    >>> cause_of(pl.Series(["01", "02"]), pl.Series(["1", "2"]))[0]
    'leading zeros'
    >>> cause_of(pl.Series(["doc-1", "doc-2"]), pl.Series(["1", "2"]))[0]
    'the prefix "doc-" in the labels'
    """
    every = list(SPELLINGS)
    tries = [[name] for name in every] + [[a, b] for i, b in enumerate(every) for a in every[i + 1 :]] + [every]
    for names in tries:
        pairs = _paired(labels, run, names)
        # A few that happen to meet are no cause.
        if pairs.height * 2 >= min(len(run), len(labels)) > 0:
            return " and ".join(names), pairs
    return _added_text(labels, run)


def _added_text(labels: pl.Series, run: pl.Series) -> tuple[str, pl.DataFrame]:
    """A prefix or suffix that the ids of one side have and those of the other have not, and the pairs."""
    sides = {"run": run.cast(pl.String), "labels": labels.cast(pl.String)}
    for side, other in (("run", "labels"), ("labels", "run")):
        ids, known = sides[side].unique(maintain_order=True), set(sides[other])
        found: Counter[tuple[str, str]] = Counter()
        for name in ids.gather_every(max(1, len(ids) // SAMPLED)):
            cuts = range(1, len(name))
            found.update(("prefix", name[:cut]) for cut in cuts if name[cut:] in known)
            found.update(("suffix", name[cut:]) for cut in cuts if name[:cut] in known)
        for (kind, text), _ in found.most_common(1):
            if text.isdigit():  # numbers meet by chance
                continue
            bare = ids.str.strip_prefix(text) if kind == "prefix" else ids.str.strip_suffix(text)
            pairs = pl.DataFrame({side: ids, other: bare}).filter(
                (pl.col(side) != pl.col(other)) & pl.col(other).is_in(sides[other].implode())
            )
            if pairs.height >= FEWEST_PAIRS and pairs.height * 2 >= min(len(run), len(labels)):
                where = "run" if side == "run" else "labels"
                return f'the {kind} "{text}" in the {where}', pairs.select("run", "labels")
    return "", pl.DataFrame(schema={"run": pl.String, "labels": pl.String})


def only_numbers_meet(labels: pl.Series, run: pl.Series) -> bool:
    """Whether the ids have a number each, and the same ones on both sides: 51 and topic-51."""
    pairs = _paired(labels.str.replace_all(r"\D", ""), run.str.replace_all(r"\D", ""), ["leading zeros"])
    return pairs.filter(pl.col("run") != "").height * 2 >= min(len(run), len(labels)) > 0


def shown(ids: pl.Series) -> str:
    """Some of the ids, those with spaces around them in quotes."""
    some = [f'"{name}"' if name.strip() != name else name for name in ids.head(SHOWN).to_list()]
    return ", ".join([*some, "..."] if len(ids) > SHOWN else some)


def _paired(labels: pl.Series, run: pl.Series, names: list[str]) -> pl.DataFrame:
    """The ids that are the same without these differences, where that holds for one of each side only."""
    sides = []
    for side, ids in (("run", run), ("labels", labels)):
        key = pl.col(side)
        for name in names:
            key = SPELLINGS[name](key)
        frame = ids.cast(pl.String).alias(side).to_frame().with_columns(key.alias("key"))
        sides.append(frame.filter(~pl.col("key").is_duplicated()))
    return sides[0].join(sides[1], on="key", maintain_order="left").select("run", "labels")


#: Documents without a label are named from so many of the first in a list, and so many lists at most.
NAMED_DEPTH, NAMED_LISTS = 10, 2000
UNLABELLED = {"system": pl.String, "query": pl.String, "doc": pl.String}
#: Where a batch has so many rows for a labelled document, it pays to let most of them fall away before they are joined.
FEW = 16


@dataclass(frozen=True, eq=False)
class Lists:
    """Every ranked list of some systems: rows are labelled documents, sorted by list, then rank."""

    keys: pl.DataFrame  # system, query of each list
    topic: Ints  # of each list
    size: Ints  # documents retrieved in each list
    row_list: Ints
    rank: Ints
    doc: Ints  # the document's number in the topics
    label: Floats
    conditional: Floats | None  # the label given the document above; NaN where there is none
    topics: Topics
    profile: Profile = PROFILES["trec_eval"]
    tie_list: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    tie_rank: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    unjudged_queries: pl.Series = field(default_factory=lambda: pl.Series(dtype=pl.String))  # the runs' others
    #: Some documents without a label among the first of the lists: system, query, doc.
    unlabelled: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=UNLABELLED))
    _cuts: dict[int, Lists] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.topic)

    def total(self, values: Floats | Bools) -> Floats:
        """The sum of the rows' values, for each list."""
        return totals(self.row_list, values, len(self))

    def where(self, rows: Bools) -> Lists:
        """The same lists with fewer rows."""
        if rows.all():
            return self
        return replace(
            self,
            row_list=self.row_list[rows],
            rank=self.rank[rows],
            doc=self.doc[rows],
            label=self.label[rows],
            conditional=None if self.conditional is None else self.conditional[rows],
            _cuts={},
        )

    def cut(self, cutoff: int | None) -> Lists:
        """The lists down to a rank."""
        if cutoff is None:
            return self
        if cutoff not in self._cuts:
            self._cuts[cutoff] = replace(self.where(self.rank <= cutoff), size=np.minimum(self.size, cutoff), _cuts={})
        return self._cuts[cutoff]

    def seen(self, which: Bools) -> Ints:
        """How many of these rows stand in the list down to each row, itself included."""
        running = np.cumsum(which)
        before = np.concatenate([[0], running])[np.searchsorted(self.row_list, np.arange(len(self)))]
        counted: Ints = running - before[self.row_list]
        return counted

    @cached_property
    def condensed(self) -> Lists:
        """The lists without the documents that nobody judged."""
        judged = self.where(self.label >= 0)
        size = np.bincount(judged.row_list, minlength=len(self))
        return replace(judged, rank=judged.seen(np.ones(len(judged.rank), bool)), size=size, _cuts={})

    def utility(self, context: float) -> Floats:
        """The worth of each row's document after the one above it: (1 - context) g(d) + context g(d | above).

        The first document has nothing above it, and a document without a conditional label keeps its own. One that
        was judged in context only is worth 0 alone, and counts as unjudged elsewhere.
        """
        if context == 0 or self.conditional is None:
            return self.label
        label = np.where(self.label > 0, self.label, 0.0)
        known = ~np.isnan(self.conditional) & (self.rank > 1)
        given = np.where(self.conditional > 0, self.conditional, 0.0)
        return np.where(known, (1 - context) * label + context * given, label)

    @cached_property
    def has_relevant(self) -> Bools:
        """Whether the list's topic has a document above grade 0."""
        return np.isin(self.topic, self.topics.topic[self.topics.label > 0])


def match(runs: Runs, topics: Topics, profile: Profile, complete: bool = False) -> Lists:
    """The lists of the judged queries, with labels; `complete` adds an empty list for a query a system misses."""
    return match_batches([runs], topics, profile, complete)[0]


def match_batches(
    batches: Iterable[Runs], topics: Topics, profile: Profile, complete: bool = False
) -> tuple[Lists, list[str]]:
    """The lists of runs that come in batches, each list whole in one of them, and the systems in the order they come.

    What a batch brings beside its labelled documents is let go before the next one comes.
    """
    systems: dict[str, None] = {}
    parts: list[Lists] = []
    for runs in batches:
        if not systems:
            topics.refuse_swapped(runs)
        systems |= dict.fromkeys(runs.systems)
        parts.append(_match(runs, topics, profile))
    if not systems:
        raise EmptyRun.at("the run", expected="ranked documents", found="none")
    lists = _joined(parts)
    if not len(lists):
        raise _nothing_in_common(lists, list(systems))
    return (_completed(lists, list(systems)) if complete else lists), list(systems)


def _match(runs: Runs, topics: Topics, profile: Profile) -> Lists:
    keys = runs.blocks.keys.join(topics.queries, on="query", how="left", maintain_order="left")
    wanted = keys["topic"].is_not_null().to_numpy()
    ordered = order(runs, profile)
    # The unjudged queries' lists fall away; the others are counted from 0.
    topic = keys["topic"].fill_null(0).to_numpy().astype(np.int64)
    number = np.cumsum(wanted) - 1
    place, doc = _labelled(ordered, topic, wanted, topics)
    old_list = ordered.row_list[ordered.row(place)]
    tie = wanted[ordered.tie_list]
    return Lists(
        keys=keys.filter(pl.col("topic").is_not_null()).select("system", "query"),
        topic=topic[wanted],
        size=ordered.size[wanted],
        row_list=number[old_list],
        rank=place - ordered.start[old_list] + 1,
        doc=doc,
        label=topics.label[doc],
        conditional=_conditional(ordered, place, ordered.start[old_list], topic[old_list], topics),
        topics=topics,
        profile=profile,
        tie_list=number[ordered.tie_list[tie]],
        tie_rank=ordered.tie_rank[tie],
        unjudged_queries=keys.filter(pl.col("topic").is_null())["query"].unique(maintain_order=True),
        unlabelled=_unlabelled(ordered, place, np.flatnonzero(wanted), keys),
    )


def _unlabelled(ordered: Ordered, labelled: Ints, lists: Ints, keys: pl.DataFrame) -> pl.DataFrame:
    """Documents without a label among the first of these lists, or of some of them where they are many."""
    some = lists[:: max(1, -(-len(lists) // NAMED_LISTS))]
    place = ordered.start[some][:, None] + np.arange(NAMED_DEPTH)
    there = (np.arange(NAMED_DEPTH) < ordered.size[some][:, None]) & ~np.isin(place, labelled)
    own = np.broadcast_to(some[:, None], place.shape)[there]
    docs = ordered.docs[pl.Series(ordered.row(place[there]), dtype=pl.Int64)]
    return keys[own].select("system", "query").with_columns(docs.alias("doc"))


def _joined(parts: list[Lists]) -> Lists:
    """The lists of all parts, numbered one part after the other."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part) for part in parts)])

    def numbered(name: str) -> Ints:
        return np.concatenate([getattr(part, name) + first for part, first in zip(parts, before, strict=False)])

    def all_of(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return replace(
        parts[0],
        keys=pl.concat([part.keys for part in parts]),
        row_list=numbered("row_list"),
        tie_list=numbered("tie_list"),
        **{name: all_of(name) for name in ("topic", "size", "rank", "doc", "label", "tie_rank")},
        conditional=None if parts[0].conditional is None else all_of("conditional"),
        unjudged_queries=pl.concat([part.unjudged_queries for part in parts]).unique(maintain_order=True),
        unlabelled=pl.concat([part.unlabelled for part in parts]),
        _cuts={},
    )


def _nothing_in_common(lists: Lists, systems: list[str]) -> BadInput:
    mine, judged = lists.unjudged_queries, lists.topics.queries["query"]
    cause = cause_of(judged, mine)[0]
    if not cause and only_numbers_meet(judged, mine):
        cause = "what stands around the number"
    return BadInput.at(
        f"the run of {', '.join(systems[:3])} and the labels",
        expected="queries in common",
        found=f"none (the run has {shown(mine) or 'no query'}, the labels {shown(judged) or 'none'})",
        remedy=f"they differ by {cause}: write them alike in both" if cause else "",
    )


def _labelled(ordered: Ordered, topic: Ints, wanted: Bools, topics: Topics) -> tuple[Ints, Ints]:
    """The places of the labelled documents in the ordered lists, and the documents' numbers."""
    # Rows are joined by one number for each pair, and the few that match compared by name.
    keys, docs = pair_keys(topic[ordered.row_list], ordered.doc_hashes), topics.docs_of(topic[wanted])
    rows = _perhaps_in(keys, docs["key"].to_numpy())
    found = pl.DataFrame({"key": keys[rows], "row": rows}).join(docs, on="key")
    row = found["row"].to_numpy().astype(np.int64)
    its_list = ordered.row_list[row]
    same = (found["doc"] == ordered.docs[found["row"]]).to_numpy()
    same = same & (found["topic"].to_numpy() == topic[its_list]) & wanted[its_list]
    place, doc = ordered.place(row[same]), found["number"].to_numpy().astype(np.int64)[same]
    best_first = np.argsort(place)
    return place[best_first], doc[best_first]


def _perhaps_in(keys: npt.NDArray[np.uint64], few: npt.NDArray[np.uint64]) -> Ints:
    """The rows of all keys that are among the few, and of others: most others fall away by their first bits."""
    if FEW * len(few) > len(keys):
        return np.arange(len(keys))
    bits = np.uint64(64 - int(FEW * len(few) + 1).bit_length())
    some = np.zeros(1 << 64 - int(bits), bool)
    some[few >> bits] = True
    return np.flatnonzero(some[keys >> bits])


def _conditional(ordered: Ordered, place: Ints, start: Ints, topic: Ints, topics: Topics) -> Floats | None:
    """The label of each document given the ones just above it, as many of them as a label knows of."""
    given = topics.conditional
    if given is None:
        return None
    found = np.full(len(place), np.nan)
    docs = ordered.docs[pl.Series(ordered.row(place))]
    # One above, then two, ...: the label that knows more of what was read stands.
    for read in sorted(given["read"].unique().to_list()):
        deep = np.flatnonzero(place - start >= read)
        above = [ordered.docs[pl.Series(ordered.row(place[deep] - back))] for back in range(read, 0, -1)]
        if not len(deep) or not above:
            continue
        rows = pl.DataFrame(
            {
                "topic": pl.Series(topic[deep], dtype=given.schema["topic"]),
                "doc": docs[pl.Series(deep)],
                "context": pl.select(pl.concat_str(above, separator=THEN)).to_series(),
            }
        )
        label = rows.join(
            given.filter(pl.col("read") == read), on=["topic", "doc", "context"], how="left", maintain_order="left"
        )["conditional"].to_numpy()
        found[deep] = np.where(np.isnan(label.astype(np.float64)), found[deep], label)
    return found


def _completed(lists: Lists, systems: list[str]) -> Lists:
    every = pl.DataFrame({"system": systems}).join(lists.topics.queries, how="cross")
    missing = every.join(lists.keys, on=["system", "query"], how="anti", maintain_order="left")
    return replace(
        lists,
        keys=pl.concat([lists.keys, missing.select("system", "query")]),
        topic=np.concatenate([lists.topic, missing["topic"].to_numpy().astype(np.int64)]),
        size=np.concatenate([lists.size, np.zeros(missing.height, np.int64)]),
        _cuts={},
    )
