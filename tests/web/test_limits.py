"""Guessing passwords is slow, and whoever guesses does not keep the lead out."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from karat.web.app_state import Limiter, place_of

PASSWORD = "correct horse"


def try_from(served: Any, address: str, password: str = "guess", name: str = "lead") -> int:
    client = TestClient(served.app, client=(address, 5000), follow_redirects=False)
    return client.post("/api/sign-in", json={"name": name, "password": password}).status_code


def test_who_guesses_at_one_place_has_to_wait_and_the_lead_at_another_has_not(served: Any) -> None:
    assert [try_from(served, "192.0.2.1") for _ in range(7)] == [401] * 5 + [429] * 2
    assert try_from(served, "192.0.2.1", PASSWORD) == 429
    assert try_from(served, "192.0.2.2", PASSWORD) == 200
    page = TestClient(served.app, client=("192.0.2.2", 5000), follow_redirects=False)
    assert page.post("/signin", data={"name": "lead", "password": PASSWORD}).headers["location"] == "/lead"


def test_other_names_do_not_give_more_tries(served: Any) -> None:
    assert [try_from(served, "192.0.2.1", name=f"lead {n}") for n in range(6)] == [401] * 5 + [429]


def test_a_house_with_many_addresses_is_one_place(served: Any) -> None:
    assert [try_from(served, f"2001:db8:0:1::{n}") for n in range(1, 7)] == [401] * 5 + [429]
    assert try_from(served, "2001:db8:0:2::1", PASSWORD) == 200


def test_many_places_together_are_slowed_down_for_one_name(served: Any) -> None:
    running = served.app.state.running
    object.__setattr__(running, "wrong_names", Limiter(tries=8))
    assert [try_from(served, f"192.0.2.{n}") for n in range(10)] == [401] * 8 + [429] * 2
    assert try_from(served, "192.0.2.99", "guess", "other") == 401


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1:a:b:c:d", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_the_place_of_an_address(address: str, place: str) -> None:
    assert place_of(address) == place


def test_names_without_end_are_not_kept() -> None:
    limiter = Limiter(tries=1, clock=lambda: 0.0)
    limiter.failed("a" * 900_000)
    assert limiter.wait("a" * 900_000) == 60.0
    assert max(len(name) for name in limiter._failed) == 200
