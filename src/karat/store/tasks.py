"""Tasks: what is to be asked, of which group, how often; loading the same file again adds nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import and_, bindparam, insert, not_, or_, select, text, update

from karat.labels.gold import GOLD
from karat.labels.selection import LLM
from karat.records import Source
from karat.store.kinds import KINDS
from karat.store.log import log, recount
from karat.store.prepared import Prepared
from karat.store.probabilities import Asked, Chances, Draw, keep_chances
from karat.store.store import LOTS, Store, transaction
from karat.store.tables import ENDLESS, bundles, events, tasks
from karat.store.task_rows import AS_THEY_ARE, MOST_WHOLE, task_rows

#: The columns that say which lists stand on the two sides of a task.
SIDES = tuple(f"{side}{part}" for side in "ab" for part in ("", "_query", "_docs"))
#: Places of tasks of one block or query stand this far apart from the next one's, as far as a database's integer goes.
STRIDE = 10_000
#: The place of a task that was made for labels collected elsewhere, until a plan asks for it.
ELSEWHERE = -1
#: What the tasks of a query show. The index begins with the columns before the query, so they are named, too.
_OF_QUERY = Prepared(
    select(*(tasks.c[name] for name in ("query", "doc", "context", *SIDES)))
    .where(
        tasks.c.study_id == bindparam("study"),
        tasks.c.grp.in_(bindparam("groups", expanding=True)),
        tasks.c.stage.in_(("task", "trap", "practice")),
        tasks.c.open.in_((True, False)),
        tasks.c.query == bindparam("query"),
        or_(tasks.c.open, tasks.c.place != ELSEWHERE),
    )
    .distinct()
)
_DISPLAYS = Prepared(
    select(
        *(tasks.c[name] for name in ("query", "doc", "context", *SIDES)),
        or_(
            tasks.c.trap, tasks.c.probability.is_not(None), and_(tasks.c.gold.is_not(None), not_(tasks.c.practice))
        ).label("secret"),
    )
    .where(
        tasks.c.study_id == bindparam("study"),
        tasks.c.grp.in_(bindparam("groups", expanding=True)),
        or_(tasks.c.open, tasks.c.place != ELSEWHERE),
    )
    .distinct()
)
#: What is known of a row on its way into the table, and not kept there as it is.
NOT_STORED = ("bundle", "by_query", "row", "says_labels", *Draw._fields)


@dataclass(frozen=True)
class Added:
    """How many tasks are new; for the others the numbers of their rows from 0, one for each task; and their chances."""

    new: int
    #: New ones that are traps, which come between the others.
    traps: int = 0
    #: There already.
    known: tuple[int, ...] = ()
    #: There already, and their probability was set now.
    probabilities: tuple[int, ...] = ()
    #: With another probability, such as that of a later round, which stands.
    other_probability: tuple[int, ...] = ()
    #: There already with another number of labels asked for, which stands.
    other_labels: tuple[int, ...] = ()
    chances: Chances = field(default_factory=Chances)


def add_tasks(
    store: Store,
    frame: pl.DataFrame,
    *,
    practice: bool = False,
    drawn: bool = False,
    pooled: bool = False,
    seed: int = 0,
    source: Source | None = None,
) -> Added:
    """Add tasks from a table such as `karat plan` writes.

    A task that was only there for labels collected elsewhere counts as new: from now on it is asked as planned, and
    these labels count. One that is there already stays as it is, but a probability that it did not have is set.

    Known columns: query, doc, context, subtopic, description (of the subtopic), left, right, left_query, right_query,
    left_docs, right_docs, reason, kind, group, judge, session, order, block, place, trap, expected, probability, round,
    drawn_for, gold, note, labels, repeat. A row without group is asked of every group. `source` is where the rows come
    from, for errors. Documents with a probability, or `drawn` though their probabilities come later, are asked for in
    random order. That tasks are `pooled`, the top of the runs, is noted in the log.
    """
    rng = np.random.default_rng(seed)
    rows = task_rows(frame, store.scale, (*store.groups, LLM), practice=practice, source=source)
    places = places_of([row["query"] for row in rows], rng)
    lots = rng.integers(1, LOTS, size=max(len(rows), 1))
    ready: list[dict[str, Any]] = []
    anywhere = rng.permutation(len(rows))
    # In a file with other documents, drawn ones are ordered like them, or judges would see which they are.
    alone = [row for row in rows if row["doc"] is not None and row["context"] is None and row["subtopic"] is None]
    all_drawn = drawn or all(row["probability"] is not None for row in alone)
    for number, row in enumerate(rows):
        by_itself = row["context"] is None and row["subtopic"] is None
        for group in [row["group"]] if row["group"] else store.groups:
            # So that at any time those with a label are a random part of the draw.
            at_random = by_itself and (drawn or (row["probability"] is not None and (all_drawn or group == GOLD)))
            place = int(anywhere[number]) if at_random else places[number]
            made = _of_group(store, row, group, place, int(lots[number]))
            for task in made:
                task["row"], task["says_labels"] = number, row["labels"] is not None
            ready += made
    seen: dict[Asked, int] = {}
    for row in ready:
        asked = _asked(row)
        row["occurrence"] = seen.get(asked, 0)
        seen[asked] = row["occurrence"] + 1
        if row["by_query"]:
            row["bundle"] = f"query:{row['grp']}:{row['query']}:{row['occurrence']}"
    return _add(store, ready, pooled)


@transaction
def _add(store: Store, ready: list[dict[str, Any]], pooled: bool) -> Added:
    names = ("id", "grp", "item", "occurrence", "place", "base")
    found = store.rows(select(*(tasks.c[name] for name in names)).where(tasks.c.study_id == store.study_id))
    known = {(*_asked(row), row["occurrence"]): row for row in found}
    new, again, there = [], [], []
    for row in ready:
        before = known.get((*_asked(row), row["occurrence"]))
        if before is None:
            new.append(row)
        elif before["place"] == ELSEWHERE != row["place"]:
            again.append((before["id"], row))
        else:
            there.append(row)
    asked = [*new, *(row for _, row in again)]
    numbers = _bundles(store, {row["bundle"] for row in asked if row["bundle"]})
    for task_id, row in again:
        _plan(store, task_id, row, numbers.get(row["bundle"]))
    if new:
        unknown = Draw()._asdict()  # until `keep_chances` decides
        store.add_all(tasks, [row | unknown | {"bundle_id": numbers.get(row["bundle"])} for row in new])
        if store.database.dialect == "postgresql":
            store.change(text("ANALYZE tasks"))  # without it, plans for an empty table are kept for a while
    drawn = {_asked(row): Draw.of(row) for row in ready if row["probability"] is not None}
    chances = keep_chances(store, drawn)
    if (store.by is not None or pooled) and asked:
        log(store, "pooled" if pooled else "tasks_added", more={"new": len(asked)})
    return Added(
        len(asked),
        sum(row["stage"] == "trap" for row in asked),
        tuple(row["row"] for row in there),
        tuple(row["row"] for row in there if _asked(row) in chances.set),
        tuple(row["row"] for row in ready if _asked(row) in chances.later | chances.other),
        _other_labels(there, new, found),
        chances,
    )


def tasks_of_query(store: Store, query: str) -> list[dict[str, Any]]:
    """What the tasks of a query show, traps and practice included; not those that only hold labels from elsewhere."""
    return store.rows(_OF_QUERY, study=store.study_id, groups=[*store.groups], query=query)


def all_displays(store: Store) -> list[dict[str, Any]]:
    """What all tasks show, and whether judges may not know that they are traps or gold documents (`secret`)."""
    return store.rows(_DISPLAYS, study=store.study_id, groups=[*store.groups])


def not_pooled(store: Store, pool: pl.DataFrame) -> int:
    """How many documents of the runs' top are not asked about, because a study's tasks came from elsewhere.

    0 where there are no tasks yet, or the runs' top was taken before.
    """
    mine = (tasks.c.study_id == store.study_id, tasks.c.grp != LLM, ~tasks.c.practice, tasks.c.place != ELSEWHERE)
    taken = select(events.c.id).where(events.c.study_id == store.study_id, events.c.kind == "pooled").limit(1)
    there = store.rows(select(tasks.c.query, tasks.c.doc).where(*mine).distinct())
    if not there or store.first(taken) is not None:
        return 0
    known = pl.DataFrame(there, schema={"query": pl.String, "doc": pl.String})
    return pool.join(known, on=["query", "doc"], how="anti").height


def _asked(row: dict[str, Any]) -> Asked:
    return row["grp"], row["item"]


def _other_labels(
    there: list[dict[str, Any]], new: list[dict[str, Any]], known: list[dict[str, Any]]
) -> tuple[int, ...]:
    """The rows that ask for another number of labels than their question has now; where each has a task, of all."""
    plain = {
        _asked(row): row["row"]
        for row in reversed(there)
        if row["says_labels"] and row["base"] != ENDLESS and row["place"] != ELSEWHERE
    }
    if not plain:
        return ()
    asked, stands = Counter[Asked](), Counter[Asked]()
    for counts, rows in ((stands, [*known, *new]), (asked, [*there, *new])):
        for row in rows:
            counts[_asked(row)] += row["base"]
    return tuple(sorted(number for key, number in plain.items() if asked[key] != stands[key]))


def _plan(store: Store, task_id: int, row: dict[str, Any], bundle_id: int | None) -> None:
    """Ask a task as planned that was made for labels collected elsewhere; what the plan leaves open stays."""
    gone = (*NOT_STORED, "filled", "held", "open", "wanted", "study_id", "grp", "item", "occurrence")
    values = {name: value for name, value in row.items() if name not in gone and value is not None}
    store.change(update(tasks).where(tasks.c.id == task_id).values(**values, bundle_id=bundle_id))
    recount(store, task_id)


def _of_group(store: Store, row: dict[str, Any], group: str, place: int, lot: int) -> list[dict[str, Any]]:
    """The rows of the table `tasks` for one group."""
    rules = store.rules
    kind, bundle, apart, copies = KINDS[row["kind"]], None, None, 1
    base = row["labels"] or kind.wanted(rules)
    if row["practice"]:
        base = ENDLESS
    elif row["closed"]:
        pass  # made for labels that were collected elsewhere: nothing more is asked
    elif row["judge"]:
        # A plan that names judges has a row for each of them.
        base, bundle = 1, f"judge:{group}:{row['judge']}"
    elif row["block"]:
        base, bundle = 1, f"block:{group}:{row['block']}"
    elif row["trap"]:
        base = ENDLESS
    elif row["repeat"]:
        pass  # each judge who answered is asked again, whatever the others say
    elif kind.grades and rules.one_judge_per_query:
        base, copies = 1, base
    elif kind.grades and rules.apart > 0:
        apart = rules.apart
    if row["order"] is not None or row["block"]:
        # Planned orders are kept; others are drawn for each judge.
        within = row["order"] if row["order"] is not None else row["place"] or 0
        place, lot = min(place_of_block(row["block"]) + within, MOST_WHOLE), 0
    if row["closed"]:
        place = ELSEWHERE
    planned = row["judge"] or row["block"] or row["practice"] or row["closed"] or row["repeat"]
    by_query = kind.grades and rules.one_judge_per_query and not planned
    return [
        {
            **{column: row[name] for name, column in AS_THEY_ARE},
            "study_id": store.study_id,
            "item": kind.item(row),
            "first_item": kind.item({**row, "repeat": None}) if row["repeat"] else None,
            "grp": group,
            "text": row["text"],
            "bundle": bundle,
            "by_query": by_query,  # bundles of a query are told apart by the occurrence, which is not known here
            **{"place": place, "lot": lot, "base": base, "apart": apart},
            **{"wanted": base, "filled": 0, "held": 0, "open": True},
            "stage": "practice" if row["practice"] else "trap" if row["trap"] and bundle is None else "task",
        }
        for _ in range(copies)
    ]


def places_of(queries: list[str], rng: np.random.Generator) -> list[int]:
    """A place for each row: queries in random order, the rows of one query together, all within a database's integer.

    >>> places_of(["b", "a", "b"], np.random.default_rng(0))
    [10000, 1, 10002]
    """
    names, which = np.unique(np.array(queries, dtype=object), return_inverse=True)
    stride = min(STRIDE, MOST_WHOLE // (len(names) + 1))
    found: list[int] = (rng.permutation(len(names))[which] * stride + np.arange(len(queries)) % stride).tolist()
    return found


def place_of_block(block: str | None) -> int:
    """Where the places of a block begin: blocks with numbers come in their order.

    >>> place_of_block("2"), place_of_block("b"), place_of_block(None)
    (20000, 0, 0)
    """
    return int(block) % (MOST_WHOLE // STRIDE) * STRIDE if block and block.isdecimal() else 0


def _bundles(store: Store, names: set[str]) -> dict[str, int]:
    """The numbers of the study's bundles by their names, those made that are not there."""
    mine = select(bundles.c.name, bundles.c.id).where(bundles.c.study_id == store.study_id)
    known = {row["name"]: row["id"] for row in store.rows(mine)}
    new = sorted(names - known.keys())
    if new:
        store.change(insert(bundles), [{"study_id": store.study_id, "name": name} for name in new])
        known = {row["name"]: row["id"] for row in store.rows(mine)}
    return known
