"""People: leads with passwords, judges with personal links, and their sessions; secrets are stored hashed."""

from __future__ import annotations

import hashlib
import json
import secrets
from functools import cache
from typing import Any

from sqlalchemy import BindParameter, Table, and_, bindparam, delete, exists, insert, literal, not_, or_, select, update

from karat.errors import BadInput
from karat.labels.selection import LLM
from karat.study.database import Prepared
from karat.study.event_log import lock_task, log, recount
from karat.study.queue_queries import JUDGE_LOCKED
from karat.study.store import LOTS, NotYours, Store, transaction
from karat.study.tables import bundles, exclusions, judges, leads, reservations, sessions, studies, tasks

#: A session ends after so many seconds: two weeks.
SESSION = 14 * 24 * 3600.0

_STUDY: BindParameter[int] = bindparam("study")
_JUDGE: BindParameter[int] = bindparam("judge")
_NEW = Prepared.new_row(judges)
_ONE_COMES = Prepared(select(studies.c.id).where(studies.c.id == _STUDY).with_for_update())
_NAMES = Prepared(select(judges.c.name).where(judges.c.study_id == _STUDY))
_EVERYBODY = Prepared(select(judges).where(judges.c.study_id == _STUDY).order_by(judges.c.id))
_STATE = Prepared(update(judges).where(judges.c.id == _JUDGE, judges.c.study_id == _STUDY).values(state=None, why=None))
_HELD = Prepared(
    select(reservations.c.id, reservations.c.task_id, tasks.c.kind)
    .join(tasks, tasks.c.id == reservations.c.task_id)
    .where(reservations.c.judge_id == _JUDGE, reservations.c.state == "held")
    .order_by(reservations.c.task_id)
)
_FREE = Prepared(update(reservations).where(reservations.c.id == bindparam("number")).values(state=None, changed=None))
#: The bundles that a judge began, or a plan has for them.
_CALLED = select(literal("judge:").concat(judges.c.grp).concat(":").concat(judges.c.name)).where(judges.c.id == _JUDGE)
_THEIRS = or_(bundles.c.owner_id == _JUDGE, and_(bundles.c.owner_id.is_(None), bundles.c.name.in_(_CALLED)))
_FREE_BUNDLES = Prepared(update(bundles).where(bundles.c.study_id == _STUDY, _THEIRS).values(owner_id=None, until=None))
_OF_KIND, _OF_ANOTHER = (
    exists().where(tasks.c.bundle_id == bundles.c.id, kind)
    for kind in (tasks.c.kind == bindparam("which"), tasks.c.kind != bindparam("which"))
)
_OF_STUDY = update(bundles).where(bundles.c.study_id == _STUDY, _OF_KIND)
#: Bundles with tasks of one kind only are for whoever comes first.
_FREE_OF_KIND = Prepared(_OF_STUDY.where(_THEIRS, not_(_OF_ANOTHER)).values(owner_id=None, until=None))
#: Those with others as well stay the judge's, who is taken to have begun what is planned for them: what the owner of a
#: bundle cannot do is given to others.
_PLANNED = (bundles.c.owner_id.is_(None), bundles.c.until.is_(None), bundles.c.name.in_(_CALLED))
_BEGIN = Prepared(_OF_STUDY.where(*_PLANNED).values(owner_id=None, until=None))


def hashed(token: str) -> str:
    """A random token as it is stored: whoever reads the database cannot sign in with it.

    >>> hashed("abc")[:8]
    'ba7816bf'
    """
    return hashlib.sha256(token.encode()).hexdigest()


@transaction
def add_judge(
    store: Store,
    *,
    group: str | None = None,
    name: str | None = None,
    source: str = "invite",
    external: str | None = None,
    details: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], str]:
    """A new judge with a personal token, which is shown this once; a platform's person comes back as the same judge."""
    group = group or store.groups[0]
    if group not in store.groups and not (group == LLM and source == "import"):
        raise BadInput.at("the judge's group", expected=" or ".join(store.groups), found=f'"{group}"')
    # One after the other: people who come at once would be given the same name.
    store.first(_ONE_COMES, study=store.study_id)
    known = None if external is None else judge_from(store, source, external)
    token = secrets.token_urlsafe(32)
    if known is not None:
        return known, token
    called = name or _next_name(store)
    if judge_named(store, called) is not None:
        remedy = "choose another, or give this judge a new link"
        raise BadInput.at("the judge's name", expected="one that is free", found=f'"{called}"', remedy=remedy)
    row = {
        "study_id": store.study_id,
        "name": called,
        "grp": group,
        "source": source,
        "external": external,
        "token": hashed(token),
        "state": "active",
        "lot": 1 + secrets.randbelow(LOTS - 1),
        "details": json.dumps(details) if details else None,
        "made": store.clock(),
    }
    number = store.add(_NEW, row)
    log(store, "joined", judge_id=number, more={"group": group, "source": source})
    return {"id": number, "completion": None, "why": None} | row, token


@transaction
def new_token(store: Store, judge_id: int) -> tuple[dict[str, Any], str]:
    """A new personal token for a judge who lost theirs, shown this once; the old one and its sessions end."""
    token = secrets.token_urlsafe(32)
    judge = lock_any(store, judge_id)
    store.change(update(judges).where(judges.c.id == judge_id).values(token=hashed(token)))
    store.change(delete(sessions).where(sessions.c.judge_id == judge_id))
    log(store, "new_link", judge_id=judge_id)
    return judge, token


def lock_any(store: Store, judge_id: int) -> dict[str, Any]:
    """A judge's row, whatever their state, held until the transaction ends."""
    found = store.first(JUDGE_LOCKED, judge=judge_id, study=store.study_id)
    if found is None:
        raise NotYours("there is no such judge")
    return found


def judge_by_token(store: Store, token: str) -> dict[str, Any] | None:
    """The judge whose personal token this is."""
    return _find(store, judges, token=hashed(token))


def judge_by_id(store: Store, judge_id: int) -> dict[str, Any] | None:
    """The judge with this number, if of this study."""
    return _find(store, judges, id=judge_id)


def judge_named(store: Store, name: str) -> dict[str, Any] | None:
    """The judge of this name."""
    return _find(store, judges, name=name)


def judge_from(store: Store, source: str, external: str) -> dict[str, Any] | None:
    """The judge whom a platform knows by this id."""
    return _find(store, judges, source=source, external=external)


def all_judges(store: Store) -> list[dict[str, Any]]:
    """Everybody, as they came."""
    return store.rows(_EVERYBODY, study=store.study_id)


@transaction
def set_state(store: Store, judge_id: int, state: str, why: str = "") -> None:
    """Pause a judge or let them go on; what a paused judge held is free for others."""
    mine = {"judge": judge_id, "study": store.study_id}
    store.first(JUDGE_LOCKED, **mine)
    store.change(_STATE, mine | {"state": state, "why": why or None})
    log(store, state, judge_id=judge_id, more={"why": why} if why else None)
    if state != "active":
        free_held(store, judge_id)


@transaction
def keep_details(store: Store, judge_id: int, details: dict[str, str]) -> None:
    """Keep with a judge what the platform sent along."""
    store.change(update(judges).where(judges.c.id == judge_id).values(details=json.dumps(details)))


@transaction
def keep_completion(store: Store, judge_id: int, code: str, *, again: bool) -> str:
    """Keep the completion code that a judge is given; one given before stays, unless `again`; returns what stands."""
    mine = judges.c.id == judge_id
    change = update(judges).where(mine) if again else update(judges).where(mine, judges.c.completion.is_(None))
    store.change(change.values(completion=code))
    return str(store.value(select(judges.c.completion).where(mine)))


@transaction
def readmit(store: Store, judge_id: int) -> None:
    """Give a judge tasks of every kind again; answers that were taken back stay taken back."""
    lock_any(store, judge_id)
    mine = exclusions.c.judge_id == judge_id
    for row in store.rows(select(exclusions.c.kind).where(mine).order_by(exclusions.c.kind)):
        log(store, "readmitted", judge_id=judge_id, more={"kind": row["kind"]})
    store.change(delete(exclusions).where(mine))


def excluded_kinds(store: Store) -> dict[int, list[str]]:
    """The kinds of tasks that judges are given no more, by the judges' numbers."""
    mine = exclusions.c.study_id == store.study_id
    found: dict[int, list[str]] = {}
    for row in store.rows(select(exclusions.c.judge_id, exclusions.c.kind).where(mine).order_by(exclusions.c.kind)):
        found.setdefault(row["judge_id"], []).append(row["kind"])
    return found


def free_held(store: Store, judge_id: int, *, kind: str | None = None) -> None:
    """Give back what a judge holds (of one kind): reservations, and bundles, which somebody else may go on with."""
    for row in store.rows(_HELD, judge=judge_id):
        if kind is not None and row["kind"] != kind:
            continue
        lock_task(store, row["task_id"])
        store.change(_FREE, {"number": row["id"], "state": "released", "changed": store.clock()})
        recount(store, row["task_id"])
    if kind is None:
        free_bundles(store, judge_id)
    else:
        mine = {"study": store.study_id, "judge": judge_id, "which": kind}
        store.change(_FREE_OF_KIND, mine | {"owner_id": None, "until": 0.0})
        store.change(_BEGIN, mine | {"owner_id": judge_id, "until": None})


def free_bundles(store: Store, judge_id: int) -> None:
    """Give back the bundles that a judge began, or a plan has for them: they are for whoever comes first."""
    store.change(_FREE_BUNDLES, {"study": store.study_id, "judge": judge_id, "owner_id": None, "until": 0.0})


@transaction
def add_lead(store: Store, name: str, password_hash: str) -> None:
    """A lead, or a lead's new password, which ends the lead's sessions."""
    found = lead_named(store, name)
    if found is None:
        store.change(insert(leads).values(study_id=store.study_id, name=name, password=password_hash))
    else:
        store.change(update(leads).where(leads.c.id == found["id"]).values(password=password_hash))
        store.change(delete(sessions).where(sessions.c.lead_id == found["id"]))
    log(store, "lead_added" if found is None else "new_password", more={"lead": name})


@transaction
def remove_lead(store: Store, name: str) -> None:
    """Let a lead sign in no more; sessions end, and what the lead did stays in the log under the name."""
    found = lead_named(store, name)
    if found is None:
        there = ", ".join(all_leads(store)) or "none"
        raise BadInput.at("the lead's name", expected=f"one of the study's leads ({there})", found=f'"{name}"')
    store.change(delete(sessions).where(sessions.c.lead_id == found["id"]))
    store.change(delete(leads).where(leads.c.id == found["id"]))
    log(store, "lead_removed", more={"lead": name})


def all_leads(store: Store) -> list[str]:
    """The names of those who may sign in as leads, as they came."""
    mine = select(leads.c.name).where(leads.c.study_id == store.study_id).order_by(leads.c.id)
    return [row["name"] for row in store.rows(mine)]


def lead_named(store: Store, name: str) -> dict[str, Any] | None:
    """The lead of this name."""
    return _find(store, leads, name=name)


def lead_by_id(store: Store, lead_id: int) -> dict[str, Any] | None:
    """The lead with this number, if of this study."""
    return _find(store, leads, id=lead_id)


@transaction
def start_session(store: Store, *, judge_id: int | None = None, lead_id: int | None = None) -> str:
    """A new session; returns its token."""
    token, now = secrets.token_urlsafe(32), store.clock()
    row = {"study_id": store.study_id, "token": hashed(token), "until": now + SESSION}
    store.change(delete(sessions).where(sessions.c.until < now))
    store.change(insert(sessions), row | {"judge_id": judge_id, "lead_id": lead_id})
    return token


def session_of(store: Store, token: str) -> dict[str, Any] | None:
    """The session with this token, if it has not ended."""
    found = _find(store, sessions, token=hashed(token))
    return found if found is not None and found["until"] > store.clock() else None


@transaction
def end_session(store: Store, token: str) -> None:
    """Sign out."""
    store.change(delete(sessions).where(sessions.c.token == hashed(token), sessions.c.study_id == store.study_id))


def _find(store: Store, table: Table, **values: Any) -> dict[str, Any] | None:
    """The row of the study that has these values."""
    return store.first(_with(table, *values), study=store.study_id, **values)


@cache
def _with(table: Table, *names: str) -> Prepared:
    mine = (table.c[name] == bindparam(name) for name in names)
    return Prepared(select(table).where(table.c.study_id == bindparam("study"), *mine))


def _next_name(store: Store) -> str:
    taken = {row["name"] for row in store.rows(_NAMES, study=store.study_id)}
    many = len(taken)
    while f"judge {many + 1}" in taken:
        many += 1
    return f"judge {many + 1}"
