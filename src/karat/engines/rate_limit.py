"""How fast a server is asked: so many calls and tokens a minute, and a pause for all when it says so."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Seconds before the second attempt; each further one waits twice as long, up to a minute.
FIRST_WAIT = 1.0
LONGEST_WAIT = 60.0
#: A server that asks for more patience than this is taken at its word only so far.
MOST_PATIENCE = 600.0
#: Busy, overloaded or broken for a moment.
PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
#: Of these, those that say so of the server, not of the call.
BUSY = {429, 503, 529}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass
class Pace:
    """Turns for calls. A call takes its turn when the pause is over and the minute's calls and tokens allow it."""

    calls_a_minute: float | None = None
    tokens_a_minute: float | None = None
    _next: float = field(default=0.0, init=False)
    _pause: float = field(default=0.0, init=False)

    async def turn(self, tokens: float = 0.0) -> None:
        """Wait for a turn to send so many tokens."""
        if self.calls_a_minute or self.tokens_a_minute:
            share = 60 / self.calls_a_minute if self.calls_a_minute else 0.0
            if self.tokens_a_minute:
                share = max(share, 60 * tokens / self.tokens_a_minute)
            start = max(self._next, time.monotonic())
            self._next = start + share
            await _until(start)
        while time.monotonic() < self._pause:
            # A jitter, so that not all start together when the pause is over.
            await _until(self._pause + random.uniform(0, 0.2))

    def pause(self, seconds: float) -> None:
        """Let nobody take a turn for a while."""
        self._pause = max(self._pause, time.monotonic() + min(seconds, MOST_PATIENCE))

    async def again(self, status: int, attempt: int, attempts: int, headers: Mapping[str, str]) -> bool:
        """Whether a call is to be sent again, after the wait for it; where the server is busy, all wait."""
        if status not in PASSING and status != 0:
            return False
        wait = wait_for(attempt, headers)
        if status in BUSY:
            self.pause(wait)
        elif attempt < attempts:
            await asyncio.sleep(wait)
        return attempt < attempts


def wait_for(attempt: int, headers: Mapping[str, str]) -> float:
    """Seconds to wait before the next attempt: as the server says, or twice as long each time, with a jitter.

    >>> wait_for(1, {"retry-after": "7"})
    7.0
    >>> 0.5 <= wait_for(1, {}) <= 1.5 and 2.0 <= wait_for(3, {}) <= 6.0
    True
    """
    said = asked_wait(headers)
    if said is not None:
        return min(said, MOST_PATIENCE)
    return float(min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT) * random.uniform(0.5, 1.5))


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait; None where it says nothing of it.

    >>> asked_wait({"retry-after-ms": "250"}), asked_wait({"x-ratelimit-reset-tokens": "1m30s",
    ...     "x-ratelimit-remaining-tokens": "0"}), asked_wait({"retry-after": "soon"})
    (0.25, 90.0, None)
    """
    if (span := _seconds(headers.get("retry-after-ms", ""))) is not None:
        return span / 1000
    if (said := headers.get("retry-after")) is not None and (span := _moment(said)) is not None:
        return span
    waits = []
    for name, remaining in headers.items():
        found = re.fullmatch(r"(x-ratelimit|anthropic-ratelimit)-(?:remaining-(\w+)|([\w-]+)-remaining)", name)
        if found and remaining.strip() == "0":
            what = found.group(2) or found.group(3)
            reset = headers.get(f"x-ratelimit-reset-{what}") or headers.get(f"anthropic-ratelimit-{what}-reset") or ""
            if (span := _moment(reset)) is not None:
                waits.append(span)
    return max(waits, default=None)


def _moment(text: str) -> float | None:
    """Seconds from now: a number, spans such as 6m0s, or a date."""
    if (number := _seconds(text)) is not None:
        return number
    spans = _SPAN.findall(text)
    if spans and "".join(number + unit for number, unit in spans) == text.strip():
        return float(sum(float(number) * _UNIT[unit] for number, unit in spans))
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            then = read(text)
        except (TypeError, ValueError):
            continue
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max((then - datetime.now(UTC)).total_seconds(), 0.0)
    return None


def _seconds(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


async def _until(moment: float) -> None:
    await asyncio.sleep(max(moment - time.monotonic(), 0.0))
