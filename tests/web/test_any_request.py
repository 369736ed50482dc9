"""Whatever is sent, the answer is never a fault of the server: requests made up from the OpenAPI description."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.web.sign_in import JUDGE, LEAD, cookie_name
from simulated import studies

#: For each operation; more find more.
EXAMPLES = len(studies(4, 25))
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.evidence
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.thorough)], indirect=True)
def test_no_request_that_can_be_made_up_is_answered_with_a_fault(served_anywhere: Any) -> None:
    import schemathesis  # here, because every process reads this file and one runs the test

    served = served_anywhere
    lead = served.lead()
    judge = served.judge()
    held = judge.get("/api/task/next").json()["task"]["id"]
    other = lead.post("/api/invites", json={}).json()["judge"]
    schema = schemathesis.openapi.from_asgi("/openapi.json", served.app)
    seen: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path == "/api/sign-in":
            continue  # the limit on tries would hide the rest; it has its own test
        who = lead if {"lead", "data"} & {*operation.definition.raw["tags"]} else judge
        token = {"Authorization": who.headers["Authorization"]}

        @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy(), ours=st.booleans(), operation=st.just(operation), token=st.just(token))
        def check(case: Any, ours: bool, operation: Any, token: dict[str, str]) -> None:
            if ours and "task_id" in case.path_parameters:
                case.path_parameters["task_id"] = held
            if ours and "judge_id" in case.path_parameters:
                case.path_parameters["judge_id"] = other
            reply = case.call(headers=token)
            assert reply.status_code < 500, (operation.label, reply.status_code)
            seen.setdefault(operation.label, set()).add(reply.status_code)

        check()
    assert len(seen) >= 18
    answered = {name for name, codes in seen.items() if 200 in codes}
    assert {"GET /api/task/next", "GET /api/me", "GET /api/progress", "POST /api/invites"} <= answered


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "x" * 5000, "%", "' OR 1=1 --"])
def test_odd_texts_in_forms_links_and_addresses_are_no_fault(served_anywhere: Any, text: str) -> None:
    client = served_anywhere.client()
    odd = quote(text.encode("utf-8", errors="surrogatepass"))
    plain = {"Content-Type": "application/x-www-form-urlencoded"}
    assert client.post("/signin", content=f"name={odd}&password={odd}", headers=plain).status_code < 500
    judge = served_anywhere.judge()
    task = judge.get("/api/task/next").json()["task"]["id"]
    for path in (f"/join/{odd}", f"/enter?PROLIFIC_PID={odd}", f"/document/{task}?doc={odd}", f"/message?about={odd}"):
        assert judge.get(path).status_code < 500, path
    running = served_anywhere.app.state.running
    cookie = {"Cookie": "; ".join(f"{cookie_name(running, role)}={odd}" for role in (JUDGE, LEAD))}
    assert client.get("/welcome", headers=cookie).status_code < 500
    assert client.get("/api/progress", headers={"Authorization": f"Bearer {odd}"}).status_code == 401
