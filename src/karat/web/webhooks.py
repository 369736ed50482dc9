"""Webhooks: a server of the lead's choice is told what happens in the study, signed, and until it has heard it.

The format is that of Standard Webhooks (https://www.standardwebhooks.com): whoever receives them checks the signature
with a library of any language. They are sent by a thread of their own, which reads the log: no judge waits for them,
and what was not heard before a restart is told after it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import itertools
import json
import logging
import threading
import time
from typing import Any

from karat.engines.http_calls import call, new_client
from karat.engines.rate_limit import wait_for
from karat.errors import BadInput
from karat.records.study_design import StudyDesign, Webhook
from karat.records.table import count
from karat.study.progress import last_event
from karat.study.store import Store
from karat.study.webhook_events import counted, keep_told, news, note_done, note_flags
from karat.web.roster import flags

#: Where the secret is, which never stands in a file.
SECRET = "KARAT_WEBHOOK_SECRET"
#: The log is looked at every so many seconds; a receiver has so many to answer.
EVERY, PATIENCE = 2.0, 10.0
#: What speaks against judges is worked out anew not before so many times as long as it took.
REST = 10


class Webhooks:
    """Tells a server the news of a study until it is stopped."""

    def __init__(
        self, webhook: Webhook, study: StudyDesign, store: Store, secret: bytes, *, every: float = EVERY
    ) -> None:
        new_client(PATIENCE, 1, "webhooks")  # says at once what is not installed
        self.webhook, self.study, self.store, self._secret, self._every = webhook, study, store, secret, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self._seen, self._rests_until = -1, 0.0

    def start(self) -> None:
        """Begin; what happened before a webhook was ever asked for is not told."""
        keep_told(self.store)
        self._thread.start()

    def stop(self) -> None:
        """Stop; what was not heard is told at the next start."""
        self._stop.set()
        self._thread.join(3.0)

    def _run(self) -> None:
        """Look at the log, tell, and rest; a failing database or figure is said, and does not end it."""
        while not self._stop.wait(self._every):
            try:
                self._note()
                self._tell()
            except Exception as error:
                logging.getLogger("karat").error("webhooks: %s: %s", type(error).__name__, error)

    def _note(self) -> None:
        """Bring into the log what nobody says but the figures: who is to be looked at, and that all is there."""
        stamp = last_event(self.store)
        if stamp == self._seen:
            return
        if "done" in self.webhook.events:
            note_done(self.store)
        if "flagged" not in self.webhook.events:
            self._seen = stamp
        elif (start := time.monotonic()) >= self._rests_until:
            note_flags(self.store, flags(self.store))
            self._seen, self._rests_until = stamp, time.monotonic() + REST * (time.monotonic() - start)

    def _tell(self) -> None:
        """Send all that is new, in order; answers that follow each other go together."""
        while not self._stop.is_set() and (rows := news(self.store, self.webhook.events)):
            for _, part in itertools.groupby(rows, lambda row: row["kind"] == "answered" or row["event"]):
                told = list(part)
                if not self._deliver(told[0]["kind"], told):
                    return
                keep_told(self.store, told[-1]["event"])

    def _deliver(self, kind: str, rows: list[dict[str, Any]]) -> bool:
        """Send one message until it is heard; whether it was, before we were stopped."""
        body = json.dumps(message(kind, rows, self.study, counted(self.store)), ensure_ascii=False).encode()
        number = f"{self.study.id}-{rows[-1]['event']}"
        for attempt in itertools.count(1):
            status, why, headers = asyncio.run(self._post(body, number))
            if 200 <= status < 300:
                if attempt > 1:
                    logging.getLogger("karat").warning("webhook: %s was heard at attempt %d", kind, attempt)
                return True
            if attempt == 1:
                said = why or f"it answered {status}"
                logging.getLogger("karat").warning("webhook: %s was not heard (%s); trying again", kind, said)
            if self._stop.wait(wait_for(attempt, headers)):
                return False
        raise AssertionError("unreachable")

    async def _post(self, body: bytes, number: str) -> tuple[int, str, Any]:
        client = new_client(PATIENCE, 1, "webhooks")
        async with client:
            headers = signed(self._secret, number, int(time.time()), body)
            reply = await call(client, "POST", self.webhook.url, headers=headers, timeout=PATIENCE, content=body)
        return reply.status, reply.error, reply.headers


def message(kind: str, rows: list[dict[str, Any]], study: StudyDesign, counts: dict[str, int]) -> dict[str, Any]:
    """What is sent: the kind, when, a sentence for a channel, and the particulars; never what was answered."""
    happened = [{name: value for name, value in row.items() if name != "kind" and value is not None} for row in rows]
    far = f"{counts['answers']:,} of {counts['wanted']:,}"
    if kind == "answered":
        text = f"{count(len(rows), 'new answer')}: {far} are there"
    elif kind == "done":
        text = f"all {count(counts['wanted'], 'answer')} are there"
    else:
        row = happened[-1]
        state = {
            "flagged": "is to be looked at",
            "rejected": "was rejected",
            "excluded": "was excluded from side-by-side tasks",
            "paused": "was paused",
        }[row["state"]]
        text = f"{row['judge']} {state}" + (f": {row['why']}" if row["why"] else "")
    return {
        "type": kind,
        "timestamp": rows[-1]["time"],
        "text": f"{study.title}: {text}",
        "data": {"study": study.id, "title": study.title, **counts, "events": happened},
    }


def signed(secret: bytes, number: str, at: int, body: bytes) -> dict[str, str]:
    """The headers of a message: its number, the time, and the HMAC (SHA-256) of both and the body.

    The example of the specification's reference libraries:

    >>> secret = secret_of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    >>> signed(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')["webhook-signature"]
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    mac = hmac.new(secret, f"{number}.{at}.".encode() + body, hashlib.sha256)
    return {
        "content-type": "application/json",
        "webhook-id": number,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(mac.digest()).decode()}",
    }


def secret_of(text: str | None) -> bytes:
    """The secret in bytes; it is written as whsec_ and base64, as Standard Webhooks has it."""
    try:
        found = base64.b64decode((text or "").removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if not (text or "").startswith("whsec_") or len(found) < 24:
        raise BadInput.at(
            f"the webhook's secret (the environment's {SECRET})",
            expected="whsec_ and at least 24 bytes in base64",
            found="none" if not text else "something else, which is not repeated here",
            remedy=f'export {SECRET}="whsec_$(openssl rand -base64 24)", and give the same to the receiver',
        )
    return found
