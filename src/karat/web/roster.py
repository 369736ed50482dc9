"""Who judges, and how well: everybody with pace, agreement, gold, traps, leniency and drift."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import polars as pl

from karat.errors import KaratError
from karat.formats.write import content
from karat.records import Preferences, Records, Scale
from karat.records.result import rows_of
from karat.study.answer_tables import document_seconds, judgments, last_rejections
from karat.study.database import Database
from karat.study.exports import Table, exportable, exported, people_frame
from karat.study.kinds import JUDGE, PAIR
from karat.study.people import all_judges, excluded_kinds
from karat.study.progress import iso, judge_counts
from karat.study.store import PLATFORMS, Store
from karat.web.quality import apart, judges_now, panel_now
from karat.web.speed import NO_TIMES, speed

#: What is not known of a judge without labels.
UNKNOWN: tuple[str, ...] = (
    "seconds",
    "agreement",
    "accuracy",
    "accuracy_high",
    "leniency",
    "leniency_low",
    "leniency_high",
)
UNKNOWN += ("drift", "drift_p", "cant_tell", "likely_spammer", "one_grade")


#: Figures of rejected judges, by the study and the event of their rejection: the log only grows, so these never change.
_REJECTED: WeakKeyDictionary[Database, dict[tuple[int, int, str], dict[str, dict[str, Any]]]] = WeakKeyDictionary()


def roster(store: Store) -> dict[str, Any]:
    """Everybody who was invited or came, with what is known of them, and the finding in a sentence.

    A judge whose labels were all taken back by rejection has the figures of the moment before, whose time is `as_of`.
    """
    finding, known = _labels_known(store, judgments(store))
    paces = speed(document_seconds(store), store.rules)
    counts, excluded, rejections = judge_counts(store), excluded_kinds(store), last_rejections(store)
    rows = []
    for judge in all_judges(store):
        mine, as_of = known.get(judge["name"], {}), None
        pace = paces.get(judge["name"], NO_TIMES)
        if not mine.get("n") and (judge["id"], JUDGE.name) in rejections:
            event, at = rejections[judge["id"], JUDGE.name]
            mine, as_of = _labels_before(store, event).get(judge["name"], {}), iso(at)
            pace = _speed_before(store, event).get(judge["name"], NO_TIMES)
        row: dict[str, Any] = dict.fromkeys(UNKNOWN)
        row |= {"n": 0, "n_compared": 0, "n_gold": 0} | mine | pace | {"as_of": as_of}
        row |= {name: judge[name] for name in ("id", "name", "state", "why", "source")}
        row |= {"group": judge["grp"]} | {name: counted[judge["id"]] for name, counted in counts.items()}
        row |= {"excluded": excluded.get(judge["id"], [])}
        rows.append(row)
    return {"finding": finding if rows else "Nobody has been invited yet.", "rows": rows}


def _labels_known(store: Store, said: pl.DataFrame) -> tuple[str, dict[str, dict[str, Any]]]:
    """What labels tell of each judge, by name, and the finding in a sentence."""
    people, models = apart(said)
    # People are held against people; a model against all, for it may be the only one.
    finding, known = judges_now(panel_now(store, people, known=True))
    if models.height:
        told, every = judges_now(panel_now(store, said, known=True))
        finding, known = finding if people.height else told, every | known
    return finding, known


def _labels_before(store: Store, event: int) -> dict[str, dict[str, Any]]:
    """What labels told of each judge just before an event."""
    return _kept(store, event, JUDGE.name, lambda: _labels_known(store, judgments(store, before=event))[1])


def _speed_before(store: Store, event: int) -> dict[str, dict[str, Any]]:
    """How fast each judge was just before an event."""
    return _kept(store, event, "speed", lambda: speed(document_seconds(store, before=event), store.rules))


def _kept(
    store: Store, event: int, kind: str, work: Callable[[], dict[str, dict[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Figures of the moment before an event, worked out once."""
    mine = _REJECTED.setdefault(store.database, {})
    if (found := mine.get((store.study_id, event, kind))) is None:
        found = mine[store.study_id, event, kind] = work()
    return found


def pair_judges(store: Store) -> dict[str, Any]:
    """Everybody who chose between lists: sides, speed, traps, agreement with the others; and how far all agree.

    A judge whose choices were all taken back, as after a failed trap, has the figures of the moment before, whose time
    is `as_of`.
    """
    found = _pairs_known(store, exported(store, PAIR.table.name))
    rows = [row | {"as_of": None} for row in found["rows"]]
    there = {row["judge"] for row in rows}
    names = {judge["id"]: judge["name"] for judge in all_judges(store)}
    for (number, kind), (event, at) in last_rejections(store).items():
        if kind != PAIR.name or names[number] in there:
            continue
        before = _pairs_before(store, event).get(names[number])
        rows += [] if before is None else [before | {"as_of": iso(at)}]
    return found | {"rows": rows}


def _pairs_before(store: Store, event: int) -> dict[str, dict[str, Any]]:
    """What choices told of each judge just before an event."""

    def work() -> dict[str, dict[str, Any]]:
        rows = _pairs_known(store, exported(store, PAIR.table.name, before=event))["rows"]
        return {row["judge"]: row for row in rows}

    return _kept(store, event, PAIR.name, work)


def _pairs_known(store: Store, said: Records) -> dict[str, Any]:
    """What choices tell of each judge, how far all agree, and the finding in a sentence."""
    from karat.users import preference_judges

    try:
        if not isinstance(said, Preferences) or not len(said):
            return {"finding": "", "agreement": "", "rows": []}
        people, models = (replace(said, frame=frame) for frame in apart(said.frame))
        found = preference_judges(people if len(people) else said)
        rows = found.frame
        if len(people) and len(models):  # as for grades: people against people, models against all
            every = preference_judges(said).frame
            rows = pl.concat([rows, every.filter(~pl.col("judge").is_in(rows["judge"].implode()))])
    except KaratError as reason:
        return {"finding": str(reason), "agreement": "", "rows": []}
    told = found.frame.filter(pl.col("compared") > 0)
    same, number = float((told["agreement"] * told["compared"]).sum()), int(told["compared"].sum())
    agreement = (
        f"{100 * same / number:.0f} % of {number:,} answers for a side go with the majority of the others who saw the "
        "same two lists; one half is chance."
        if number
        else "No two lists have two answers yet."
    )
    return {"finding": found.finding, "agreement": agreement, "rows": rows_of(rows)}


#: A table of judges, with a row for each.
Rows = list[dict[str, Any]]


def flags(store: Store) -> dict[str, list[str]]:
    """What speaks against judges, by name: likely spammers, one grade to nearly everything, always left, too fast."""
    return _flags(roster(store)["rows"], pair_judges(store)["rows"])


def _flags(rows: Rows, pairs: Rows, *, standing: bool = False) -> dict[str, list[str]]:
    """What speaks against judges by two tables of them; with `standing`, only against answers that stand."""
    found: dict[str, list[str]] = {}
    for row in rows:
        said = [("likely_spammer", "likely a spammer"), ("one_grade", "one grade to nearly everything")]
        mine = [text for name, text in said if row[name]] + ([row["too_fast"]] if row["too_fast"] else [])
        found[row["name"]] = [] if standing and row["as_of"] else mine
    for row in pairs:
        if not (standing and row["as_of"]):
            found.setdefault(row["judge"], []).extend([row["flag"]] if row["flag"] else [])
    return found


#: Figures of the table of judges in the file of people, by their names there.
FIGURES = {"seconds": "median_seconds", "agreement": "with_others", "n_compared": "n_compared"}
FIGURES |= {"accuracy": "with_gold", "n_gold": "n_gold", "as_of": "figures_as_of"}


def people_file(store: Store, enough: int) -> Table:
    """The people of a study, with their figures, what speaks against them, and whether to pay them.

    Figures of judges who were rejected are those of the moment before, whose time is in `figures_as_of`. `pay` is
    approve or review for those of a platform who did enough.
    """
    rows, pairs, frame = roster(store)["rows"], pair_judges(store)["rows"], people_frame(store)
    said, known = _flags(rows, pairs), {row["name"]: row for row in rows}
    types = {"n_compared": pl.Int64, "n_gold": pl.Int64, "as_of": pl.String}
    figures = [
        pl.Series(new, [known.get(judge, {}).get(name) for judge in frame["judge"]], types.get(name, pl.Float64))
        for name, new in FIGURES.items()
    ]
    flagged = ["; ".join(said.get(name, [])) or None for name in frame["judge"]]
    earned = _earned(frame, enough)
    held = _held(earned, _flags(rows, pairs, standing=True))
    state = {who: "review" if who in held else "approve" for who in earned["platform_id"]}
    pay = [state.get(who) for who in frame["platform_id"]]
    columns = {"flags": pl.Series(flagged, dtype=pl.String), "pay": pl.Series(pay, dtype=pl.String)}
    return Table(frame.with_columns(*figures, **columns))


def paid_ids(store: Store, enough: int) -> list[str]:
    """The platform's ids of people to be paid, as a list to approve.

    These are all who gave enough answers that stand, also where others of theirs were rejected, and all who were given
    the completion code after fewer, because nothing was left to ask, and were not rejected. Whose answers are flagged
    is not among them, but in `held_ids`.
    """
    held = held_ids(store, enough)
    return [who for who in _earned(people_frame(store), enough)["platform_id"] if who not in held]


def held_ids(store: Store, enough: int) -> dict[str, list[str]]:
    """The platform's ids of people who did enough to be paid but are flagged, with the flags: to be looked at first."""
    found = _flags(roster(store)["rows"], pair_judges(store)["rows"], standing=True)
    return _held(_earned(people_frame(store), enough), found)


def _held(earned: pl.DataFrame, found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {who: found[judge] for who, judge in earned.select("platform_id", "judge").rows() if found.get(judge)}


def held_file(store: Store, enough: int) -> Table:
    """People to look at before they are paid, with what speaks against them."""
    rows = [{"platform_id": who, "flags": "; ".join(said)} for who, said in held_ids(store, enough).items()]
    return Table(pl.DataFrame(rows, schema={"platform_id": pl.String, "flags": pl.String}))


def _earned(people: pl.DataFrame, enough: int) -> pl.DataFrame:
    """Those of platforms who did enough to be paid."""
    coded = pl.col("completion_code").is_not_null() & (pl.col("state") != "rejected")
    did = (pl.col("answers") >= 1) & ((pl.col("answers") >= enough) | coded)
    return people.filter(pl.col("source").is_in(PLATFORMS), pl.col("platform_id").is_not_null(), did)


def everything(store: Store, scale: Scale | None, enough: int) -> bytes:
    """All that was collected in one zip: a table each as CSV, the log as JSON lines, the ids to pay and to review."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for what in exportable():
            records: Any = people_file(store, enough) if what == "people" else exported(store, what, scale)
            form = "jsonl" if what == "log" else "csv"
            archive.writestr(f"{what}.{form}", content(records, form, what))
        archive.writestr("pay-review.csv", content(held_file(store, enough), "csv", "people"))
        archive.writestr("pay.txt", "".join(f"{name}\n" for name in paid_ids(store, enough)))
    return packed.getvalue()
