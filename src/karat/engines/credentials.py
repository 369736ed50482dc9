"""Keys and passwords: from the environment to the server, and nowhere else."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping

from karat.advice import advise
from karat.engines.templates import ENV, names_in
from karat.errors import BadInput

#: In a header, `env:NAME` is a variable of the environment, with or without braces.
_VARIABLE = re.compile(r"\{\{\s*env:(\w+)\s*\}\}|(?<!\S)env:(\w+)")
#: Headers whose values are nobody's business.
_SECRET = re.compile(r"authorization|cookie|token|secret|password|api[-_]?key|(^|[-_])key$", re.IGNORECASE)


def parse_headers(texts: Mapping[str, str]) -> dict[str, str]:
    """Headers with the places of their variables in braces; one that is a secret in plain words is refused.

    >>> parse_headers({"Authorization": "Bearer env:TOKEN", "X-Shop": "7"})
    {'Authorization': 'Bearer {{env:TOKEN}}', 'X-Shop': '7'}
    """
    made = {}
    for name, value in texts.items():
        if not re.fullmatch(r"[\w!#$%&'*+.^`|~-]+", name) or not isinstance(value, str) or not value.isprintable():
            raise BadInput.at(
                advise("--header", "headers="), expected="NAME: VALUE, as 'Accept: application/json'", found=ascii(name)
            )
        braced = _VARIABLE.sub(lambda found: f"{{{{{ENV}{found[1] or found[2]}}}}}", value.strip())
        if _SECRET.search(name) and not _VARIABLE.search(value):
            raise BadInput.at(
                f"the header {name}",
                expected="a secret from the environment",
                found="one in plain words",
                remedy=f"put it into a variable and write {name}: env:NAME",
            )
        made[name] = braced
    return made


def variables(texts: list[str]) -> dict[str, str]:
    """What stands in the environment for the places of these texts; `BadInput` names a variable that is not there."""
    found = {}
    for name in dict.fromkeys(name for text in texts for name in names_in(text)):
        if name.startswith(ENV):
            variable = name.removeprefix(ENV)
            value = os.environ.get(variable, "").strip()
            if not value or not value.isprintable():
                what = "letters that cannot be sent" if value else "nothing"
                raise BadInput.at(f"the variable {variable}", expected="a value in the environment", found=what)
            found[name] = value
    return found


def with_login(header: str, value: str) -> str:
    """A header's value as it is sent: NAME:PASSWORD after Basic is encoded, as servers want it.

    >>> with_login("Authorization", "Basic elastic:changeme"), with_login("Authorization", "Basic ZWxh")
    ('Basic ZWxhc3RpYzpjaGFuZ2VtZQ==', 'Basic ZWxh')
    """
    scheme, _, login = value.partition(" ")
    if header.lower() in ("authorization", "proxy-authorization") and scheme.lower() == "basic" and ":" in login:
        return f"{scheme} {base64.b64encode(login.strip().encode()).decode()}"
    return value


def without_secrets(text: str, secrets: Mapping[str, str]) -> str:
    """A text without what is secret, should a server repeat it.

    >>> without_secrets("the key abcd1234 is not known", {"env:KEY": "abcd1234"})
    'the key ... is not known'
    """
    for value in secrets.values():
        for form in (value, base64.b64encode(value.encode()).decode()):
            text = text.replace(form, "...")
    return text
