"""People: leads with passwords, judges with personal links, and their sessions; secrets are stored hashed."""

from __future__ import annotations

import hashlib
import json
import secrets
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from karat.errors import BadInput
from karat.store.log import lock_task, log, recount
from karat.store.store import LOTS, NotYours, Store, added, as_dict
from karat.store.tables import bundles, judges, leads, reservations, sessions

#: A session ends after so many seconds: two weeks.
SESSION = 14 * 24 * 3600.0


def hashed(token: str) -> str:
    """A random token as it is stored: whoever reads the database cannot sign in with it.

    >>> hashed("abc")[:8]
    'ba7816bf'
    """
    return hashlib.sha256(token.encode()).hexdigest()


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
    if group not in store.groups:
        raise BadInput.at("the judge's group", expected=" or ".join(store.groups), found=f'"{group}"')
    token = secrets.token_urlsafe(32)

    def work(connection: Connection) -> dict[str, Any]:
        if external is not None:
            mine = (judges.c.study_id == store.study_id, judges.c.source == source, judges.c.external == external)
            found = connection.execute(select(judges).where(*mine)).mappings().first()
            if found is not None:
                return dict(found)
        called = name or _next_name(connection, store)
        if connection.execute(
            select(judges.c.id).where(judges.c.study_id == store.study_id, judges.c.name == called)
        ).first():
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
        number = added(connection, insert(judges), row)
        log(connection, store, "joined", judge_id=number, more={"group": group, "source": source})
        return dict(connection.execute(select(judges).where(judges.c.id == number)).mappings().one())

    return store.database.write(work), token


def new_token(store: Store, judge_id: int) -> tuple[dict[str, Any], str]:
    """A new personal token for a judge who lost theirs, shown this once; the old one and its sessions end."""
    token = secrets.token_urlsafe(32)

    def work(connection: Connection) -> dict[str, Any]:
        mine = select(judges).where(judges.c.id == judge_id, judges.c.study_id == store.study_id)
        judge = connection.execute(mine.with_for_update()).mappings().first()
        if judge is None:
            raise NotYours("there is no such judge")
        connection.execute(update(judges).where(judges.c.id == judge_id).values(token=hashed(token)))
        connection.execute(delete(sessions).where(sessions.c.judge_id == judge_id))
        log(connection, store, "new_link", judge_id=judge_id)
        return dict(judge)

    return store.database.write(work), token


def judge_by_token(store: Store, token: str) -> dict[str, Any] | None:
    """The judge whose personal token this is."""
    with store.database.read() as connection:
        mine = (judges.c.study_id == store.study_id, judges.c.token == hashed(token))
        return as_dict(connection.execute(select(judges).where(*mine)).mappings().first())


def judge_by_id(store: Store, judge_id: int) -> dict[str, Any] | None:
    """The judge with this number, if of this study."""
    with store.database.read() as connection:
        mine = (judges.c.study_id == store.study_id, judges.c.id == judge_id)
        return as_dict(connection.execute(select(judges).where(*mine)).mappings().first())


def all_judges(store: Store) -> list[dict[str, Any]]:
    """Everybody, as they came."""
    with store.database.read() as connection:
        mine = select(judges).where(judges.c.study_id == store.study_id).order_by(judges.c.id)
        return [dict(row) for row in connection.execute(mine).mappings()]


def set_state(store: Store, judge_id: int, state: str, why: str = "") -> None:
    """Pause a judge or let them go on; what a paused judge held is free for others."""

    def work(connection: Connection) -> None:
        connection.execute(select(judges.c.id).where(judges.c.id == judge_id).with_for_update())
        change = update(judges).where(judges.c.id == judge_id, judges.c.study_id == store.study_id)
        connection.execute(change.values(state=state, why=why or None))
        log(connection, store, state, judge_id=judge_id, more={"why": why} if why else None)
        if state != "active":
            free_held(connection, store, judge_id)

    store.database.write(work)


def keep_details(store: Store, judge_id: int, details: dict[str, str]) -> None:
    """Keep with a judge what the platform sent along."""
    change = update(judges).where(judges.c.id == judge_id).values(details=json.dumps(details))
    store.database.write(lambda connection: connection.execute(change))


def keep_completion(store: Store, judge_id: int, code: str, *, again: bool) -> str:
    """Keep the completion code that a judge is given; one given before stays, unless `again`; returns what stands."""

    def work(connection: Connection) -> str:
        mine = judges.c.id == judge_id
        change = update(judges).where(mine) if again else update(judges).where(mine, judges.c.completion.is_(None))
        connection.execute(change.values(completion=code))
        return str(connection.execute(select(judges.c.completion).where(mine)).scalar_one())

    return store.database.write(work)


def free_held(connection: Connection, store: Store, judge_id: int) -> None:
    """Give back what a judge holds: reservations, and bundles, which somebody else may go on with."""
    mine = select(reservations.c.id, reservations.c.task_id).where(
        reservations.c.judge_id == judge_id, reservations.c.state == "held"
    )
    for row in connection.execute(mine.order_by(reservations.c.task_id)).all():
        lock_task(connection, row.task_id)
        connection.execute(
            update(reservations).where(reservations.c.id == row.id).values(state="released", changed=store.clock())
        )
        recount(connection, row.task_id)
    owned = update(bundles).where(bundles.c.owner_id == judge_id, bundles.c.study_id == store.study_id)
    connection.execute(owned.values(owner_id=None, until=None))


def add_lead(store: Store, name: str, password_hash: str) -> None:
    """A lead, or a lead's new password, which ends the lead's sessions."""

    def work(connection: Connection) -> None:
        mine = (leads.c.study_id == store.study_id, leads.c.name == name)
        found = connection.execute(select(leads.c.id).where(*mine)).scalar()
        if found is None:
            connection.execute(insert(leads).values(study_id=store.study_id, name=name, password=password_hash))
        else:
            connection.execute(update(leads).where(leads.c.id == found).values(password=password_hash))
            connection.execute(delete(sessions).where(sessions.c.lead_id == found))

    store.database.write(work)


def lead_named(store: Store, name: str) -> dict[str, Any] | None:
    """The lead of this name."""
    with store.database.read() as connection:
        mine = (leads.c.study_id == store.study_id, leads.c.name == name)
        return as_dict(connection.execute(select(leads).where(*mine)).mappings().first())


def start_session(store: Store, *, judge_id: int | None = None, lead_id: int | None = None) -> str:
    """A new session; returns its token."""
    token = secrets.token_urlsafe(32)
    now = store.clock()
    row = {
        "study_id": store.study_id,
        "token": hashed(token),
        "judge_id": judge_id,
        "lead_id": lead_id,
        "until": now + SESSION,
    }

    def work(connection: Connection) -> None:
        connection.execute(delete(sessions).where(sessions.c.until < now))
        connection.execute(insert(sessions).values(row))

    store.database.write(work)
    return token


def session_of(store: Store, token: str) -> dict[str, Any] | None:
    """The session with this token, if it has not ended."""
    with store.database.read() as connection:
        mine = (
            sessions.c.study_id == store.study_id,
            sessions.c.token == hashed(token),
            sessions.c.until > store.clock(),
        )
        return as_dict(connection.execute(select(sessions).where(*mine)).mappings().first())


def end_session(store: Store, token: str) -> None:
    """Sign out."""
    gone = delete(sessions).where(sessions.c.token == hashed(token), sessions.c.study_id == store.study_id)
    store.database.write(lambda connection: connection.execute(gone))


def _next_name(connection: Connection, store: Store) -> str:
    many = connection.execute(
        select(func.count()).select_from(judges).where(judges.c.study_id == store.study_id)
    ).scalar_one()
    taken = {row.name for row in connection.execute(select(judges.c.name).where(judges.c.study_id == store.study_id))}
    while f"judge {many + 1}" in taken:
        many += 1
    return f"judge {many + 1}"
