"""The key to a server: from the environment alone, and kept out of all that is stored or shown."""

from __future__ import annotations

import os
import re

from karat.errors import BadInput
from karat.llm.answer_form import clean
from karat.llm.dialects import DIALECTS
from karat.llm.requests import Model

#: What is shorter is no secret, such as the "none" that servers of one's own are given, and may stand in an answer.
SHORTEST = 8


def key_of(model: Model, variable: str | None = None) -> str | None:
    """The key from the environment, which is its only place; None for a server of one's own that needs none.

    The vendor's key is for the vendor: another address gets a key only if its variable is named.
    """
    if variable is None and model.url:
        return None
    named = variable or DIALECTS[model.dialect].key_variable
    key = os.environ.get(named, "").strip()
    if not key or not key.isascii() or not key.isprintable():
        found = "something that is none" if key else "nothing"
        remedy = "" if variable else "or name a server of your own with --url"
        raise BadInput.at(f"the variable {named}", expected="a key in the environment", found=found, remedy=remedy)
    return key


def without_key(text: str, key: str | None) -> str:
    """A reply without the key: some servers send back what they were sent, and replies are kept.

    >>> without_key("You sent: Bearer sk-4sJHr2abcw8ZP", "sk-4sJHr2abcw8ZP")
    'You sent: Bearer ...'
    """
    return text.replace(key, "...") if key and len(key) >= SHORTEST else text


def complaint_in(text: str, key: str | None) -> str:
    """What a server says, in a line; servers repeat parts of a key that they do not know, and those are left out.

    >>> complaint_in("Incorrect API key provided: sk-4sJH*****w8ZP. Look it up.", "sk-4sJHr2abcw8ZP")
    'Incorrect API key provided: ... Look it up.'
    """
    said = clean(" ".join(text.split()))
    if key:
        said = re.sub(rf"{re.escape(key[:4])}\S*", "...", said)
    return said[:300]
