"""Traps: pairs whose better side is known, one in every block of pairs, at a place drawn for each judge.

Nothing that a judge sees, counts, times or does may tell a trap from a pair: it can be put off and comes back, one may
be unable to tell, and the counter of what is to come falls by one with each of them.
"""

from __future__ import annotations

import hashlib
from typing import Any

from karat.store import questions as ask
from karat.store.candidates import candidates, loose_pairs, traps_left
from karat.store.store import Store


def trap_due(store: Store, names: dict[str, Any], *, last: bool = False) -> dict[str, Any] | None:
    """A trap, when one is due. With `last`, there are no pairs left, and the block that ends here must not go without.

    What was put off comes back at the end.
    """
    met, traps = store.rows(ask.PAIRS_MET, **names)[0].values()
    due = _due(store, names, met, traps or 0, last=last)
    found = store.first(candidates("trap", hold=due), **names)  # also when none is due: the time it takes tells nothing
    trap = found if due else None
    return trap or (store.first(candidates("put off"), **names) if last else None)


def traps_to_come(store: Store, names: dict[str, Any]) -> int:
    """How many traps a judge will meet, if all pairs that may come to them do."""
    free, put_off = (int(store.value(traps_left(put_off), **names)) for put_off in (False, True))
    if not free + put_off:
        return 0
    pairs = int(store.value(loose_pairs(), **names))
    met, traps = (int(number or 0) for number in store.rows(ask.PAIRS_MET, **names)[0].values())
    come = 0
    while pairs:
        due = free > 0 and _due(store, names, met, traps)
        free, traps, come, pairs, met = free - due, traps + due, come + due, pairs - (not due), met + 1
    return come + (free > 0 and _due(store, names, met, traps, last=True)) + put_off


def _due(store: Store, names: dict[str, Any], met: int, traps: int, *, last: bool = False) -> bool:
    """Whether a trap comes next after so many pairs, so many of them traps."""
    number, within = divmod(met, store.rules.block)
    drawn = hashlib.sha256(f"{names['lot']} {names['judge']} {number}".encode()).digest()
    place = int.from_bytes(drawn[:4]) % store.rules.block
    return traps <= number and (0 < within <= place if last else within == place)
