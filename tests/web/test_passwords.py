"""How a lead's password is kept."""

from __future__ import annotations

from typing import Any

import pytest
from argon2 import _password_hasher, extract_parameters
from argon2.profiles import RFC_9106_LOW_MEMORY

from karat.study.people import lead_named
from karat.web.sign_in import set_password


def test_a_password_is_kept_as_a_hash_that_is_dear_to_guess(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 9106, section 4: argon2id, three passes over 64 MB; without the cheap hashes of the other tests."""
    monkeypatch.setattr("argon2.PasswordHasher", _password_hasher.PasswordHasher)
    set_password(served.store, "zoe", "a real password")
    lead = lead_named(served.store, "zoe")
    assert lead is not None
    assert extract_parameters(lead["password"]) == RFC_9106_LOW_MEMORY
    for password, code in (("a real password", 200), ("a real passwort", 401)):
        reply = served.client().post("/api/sign-in", json={"name": "zoe", "password": password})
        assert reply.status_code == code
