"""Tasks: what is to be asked, of which group, how often; loading the same file again adds nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import and_, bindparam, insert, not_, or_, select, text, update

from karat.errors import BadInput
from karat.labels.gold import GOLD
from karat.labels.selection import LLM
from karat.records import Scale, Source
from karat.records.schema import CHANCE, DRAWN_FOR, LEAST_CHANCE
from karat.study.database import Prepared
from karat.study.event_log import log, recount
from karat.study.kinds import KINDS
from karat.study.sampling_probabilities import Asked, Chances, Draw, keep_chances
from karat.study.store import LOTS, Store, transaction
from karat.study.tables import ENDLESS, bundles, events, tasks

TEXTS: tuple[str, ...] = ("query", "doc", "context", "subtopic", "left", "right", "left_query", "right_query")
TEXTS += ("group", "judge", "block")
#: The columns of tasks in files, and those of the database in which they are as they are.
TASKS = {
    "task": "id",
    **{name: name for name in ("kind", "query", "doc", "context", "subtopic")},
    "description": None,
    **{"left": "a", "right": "b", "left_query": "a_query", "right_query": "b_query"},
    **{"left_docs": "a_docs", "right_docs": "b_docs", "reason": None, "sentence": None, "nugget": None, "group": "grp"},
    **dict.fromkeys(("judge", "block", "place", "order"), None),
    **{
        name: name
        for name in (
            "session",
            "trap",
            "expected",
            "practice",
            "gold",
            "note",
            "probability",
            "round",
            "drawn_for",
            "repeat",
        )
    },
    **{"labels": None, "closed": None, "wanted": "wanted", "filled": "filled"},
}
#: What a row may say beside them; but for the first, these stand in plans and are not read.
MORE = ("surface", "label", "setting", "text")
#: As large as a whole number may be, which a database is to hold, and as many labels as may be asked for.
MOST_WHOLE, MOST_LABELS = 2**31 - 1, 1000
#: Nobody draws gold labels more often.
MOST_ROUNDS = 1000


def unknown_columns(frame: pl.DataFrame) -> list[str]:
    """The columns of a table of tasks that nobody will look at again.

    >>> unknown_columns(pl.DataFrame({"query": ["q"], "doc": ["d"], "weather": ["rain"]}))
    ['weather']
    """
    return [name for name in frame.columns if name not in (*TASKS, *MORE)]


def task_rows(
    frame: pl.DataFrame,
    scale: Scale | None,
    groups: Sequence[str],
    *,
    practice: bool = False,
    source: Source | None = None,
) -> list[dict[str, Any]]:
    """The rows of a table of tasks, checked; `source` is where they come from, for errors."""
    source = source or Source("the tasks")
    needed = [dict.fromkeys((*kind.needs, kind.told_by or "query")) for kind in KINDS.values()]
    if not any(names.keys() <= {*frame.columns} for names in needed):
        expected = ", or ".join(" and ".join(names) for names in needed)
        raise BadInput.at(source.name, expected=f"tasks with {expected}", found=", ".join(frame.columns))
    at = source.at
    rows = []
    for number, raw in enumerate(frame.iter_rows(named=True)):
        row = task_row(raw, at(number), scale, practice=practice)
        if row["group"] and row["group"] not in groups:
            raise BadInput.at(at(number), expected=f"a group of {', '.join(groups)}", found=f'"{row["group"]}"')
        rows.append(row)
    return rows


def task_row(raw: dict[str, Any], at: str, scale: Scale | None, *, practice: bool = False) -> dict[str, Any]:
    """A row with known names and plain values; `at` is its place, for errors.

    >>> row = task_row({"query": "q", "doc": "d", "gold": "2"}, "tasks.csv line 2", None)
    >>> row["kind"], row["gold"]
    ('judge', 2.0)
    """
    if isinstance(raw.get("context"), list):  # several documents read before, in order
        raw = raw | {"context": json.dumps([str(doc) for doc in raw["context"]], ensure_ascii=False)}
    row = dict(_NOTHING)
    for name, value in raw.items():
        if value is not None and value != "" and (read := _READ.get(name)) is not None:
            row[name] = read(value, name, at)
    told = (kind.name for kind in KINDS.values() if kind.told_by and raw.get(kind.told_by) not in (None, ""))
    called = raw.get("kind") or next(told, next(iter(KINDS)))
    if called not in KINDS:
        raise BadInput.at(at, expected=f"a kind of task: {', '.join(KINDS)}", found=f'"{called}"')
    kind = KINDS[called]
    for name in kind.needs:
        if row[name] is None:
            raise BadInput.at(at, expected=f"{name} for a task of kind {called}", found="nothing")
    row["kind"], row["text"], row["practice"] = called, raw.get(kind.text), practice or row["practice"]
    # People are asked about documents; only labels collected elsewhere may be of something else, such as a snippet.
    row["surface"] = raw.get("surface") if row["closed"] else None
    if row["labels"] is not None and not 1 <= row["labels"] <= MOST_LABELS:
        raise BadInput.at(at, expected=f"1 label or more, at most {MOST_LABELS:,}", found=str(row["labels"]))
    if row["repeat"] is not None and (
        row["repeat"] < 1 or row["trap"] or row["practice"] or row["judge"] or row["block"]
    ):
        raise BadInput.at(
            at,
            expected="a repeat from 1, of a task in no plan of judges or blocks, no trap and no practice",
            found="another",
        )
    if row["trap"] and row["expected"] not in ("left", "right"):
        raise BadInput.at(at, expected="left or right as the expected answer of a trap", found=str(row["expected"]))
    kind.check(row, at)
    if row["practice"] and kind.right is None:
        raise BadInput.at(at, expected="a task with a right answer, to practise on", found=f"one of kind {called}")
    if row["expected"] not in kind.choices and (row["expected"] or (row["practice"] and kind.right == "expected")):
        raise BadInput.at(at, expected=f"{', '.join(kind.choices)} in the column expected", found=str(row["expected"]))
    if row["probability"] is not None and not LEAST_CHANCE <= row["probability"] <= 1:
        raise BadInput.at(at, expected=CHANCE, found=f"{row['probability']:g}")
    if scale is not None and row["gold"] is not None and row["gold"] not in scale.grades:
        raise BadInput.at(at, expected=f"a grade of the scale {scale} as gold", found=f"{row['gold']:g}")
    return row


def round_of(value: Any, at: str) -> int | None:
    """The number of a round of gold labels, none where nothing stands; `at` is its place, for errors."""
    number = whole(value, "round", at)
    if number is not None and not 1 <= number <= MOST_ROUNDS:
        raise BadInput.at(at, expected=f"a round from 1 to {MOST_ROUNDS}", found=f'"{value}"')
    return number


def drawn_for(value: Any, at: str) -> str | None:
    """What a draw of gold labels can speak for, none where nothing stands; `at` is its place, for errors."""
    if value not in (None, "", *DRAWN_FOR):
        raise BadInput.at(at, expected=" or ".join(DRAWN_FOR), found=f'"{value}"', remedy="see karat plan gold")
    return value or None


def whole(value: Any, name: str, at: str) -> int | None:
    """A whole number, none where nothing stands; `name` and `at` are for errors."""
    number = _number(value, name, at)
    if number is not None and abs(number) > MOST_WHOLE:
        raise BadInput.at(at, expected=f"a whole number up to {MOST_WHOLE:,} as {name}", found=f'"{value}"')
    if number is not None and number != int(number):
        raise BadInput.at(at, expected=f"a whole number as {name}", found=f'"{value}"')
    return None if number is None else int(number)


def _number(value: Any, name: str, at: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise BadInput.at(at, expected=f"a number as {name}", found=f'"{value}"') from None
    if not np.isfinite(number):
        raise BadInput.at(at, expected=f"a number as {name}", found=f'"{value}"')
    return number


def _truth(value: Any, name: str, at: str) -> bool:
    said = str(value).strip().lower().removesuffix(".0")
    if said not in ("true", "1", "yes", "false", "0", "no"):
        raise BadInput.at(at, expected=f"true or false as {name}", found=f'"{value}"')
    return said in ("true", "1", "yes")


def _docs(value: Any) -> str | None:
    """A planned list of documents: a list, JSON, or names with spaces between."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            found = json.loads(value)
        except ValueError:
            found = value.split()
        value = found if isinstance(found, list) else [value]
    return json.dumps([str(doc) for doc in value])


#: How each column of a task file is read where something stands in it, and a row in which nothing stands.
_READ: dict[str, Callable[[Any, str, str], Any]] = {
    **dict.fromkeys(TEXTS, lambda value, name, at: str(value)),
    **dict.fromkeys(("session", "order", "place", "labels", "repeat"), whole),
    **dict.fromkeys(("closed", "trap", "practice"), _truth),
    **dict.fromkeys(("expected", "note"), lambda value, name, at: value or None),
    **dict.fromkeys(("gold", "probability"), _number),
    "round": lambda value, name, at: round_of(value, at),
    "drawn_for": lambda value, name, at: drawn_for(value, at),
    **dict.fromkeys(("left_docs", "right_docs"), lambda value, name, at: _docs(value)),
}
_NOTHING: dict[str, Any] = dict.fromkeys(_READ) | {"closed": False, "trap": False, "practice": False}
#: What goes from a row into the table of tasks as it is.
AS_THEY_ARE = [(name, column) for name, column in TASKS.items() if column and name in (*_NOTHING, "kind", "surface")]


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
