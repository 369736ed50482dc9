"""A request that names another host is refused: no link and no redirect can be forged by it."""

from __future__ import annotations

import socket

import pytest
from fastapi.testclient import TestClient

from karat.web.addresses import own_hosts
from karat.web.app import create_app
from served import Served


@pytest.fixture
def named(served: Served) -> TestClient:
    hosts = own_hosts("0.0.0.0", "https://judge.example.org")
    app = create_app(served.app.state.running.study, served.store, hosts=hosts)
    return TestClient(app, base_url="http://192.0.2.7:8000", follow_redirects=False)


@pytest.mark.parametrize(
    "host",
    ["judge.example.org", "JUDGE.example.org:443", "localhost:8000", "127.0.0.1", "[::1]:8000", "192.0.2.7:8000"],
)
def test_own_names_and_the_address_that_was_called_are_answered(named: TestClient, host: str) -> None:
    assert named.get("/welcome", headers={"Host": host}).status_code == 200


def test_this_machines_name_is_answered(named: TestClient) -> None:
    assert named.get("/welcome", headers={"Host": f"{socket.gethostname()}:8000"}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "judge.example.org.evil.example", "localhost@evil.example", "192.0.2.8", "", "a b", "[::2]"],
)
def test_a_forged_host_is_refused_with_the_remedy_and_comes_back_in_nothing(named: TestClient, host: str) -> None:
    for path in ("/welcome", "/lead", "/api/task/"):
        said = named.get(path, headers={"Host": host})
        assert (said.status_code, "--public-url" in said.text) == (421, True)
        assert "evil" not in said.text + repr(said.headers)
