"""The hostile server does what it is told: claims of clients that rely on it are worth no more than these."""

from __future__ import annotations

import json
import math
import time
from concurrent.futures import ThreadPoolExecutor

import httpx2
import pytest

import vendor_errors as errors
import vendor_replies as replies
from hostile_server import apart, cut, drips, every_question, in_turn, running, slow, web_page

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}


def ask(server, dialect="openai", text="Is Paris in France?", **more):
    body = {"model": "m", "messages": [{"role": "user", "content": text}]} | more
    # verify=False: without TLS no certificates need to be loaded, which takes longer than all the rest
    return httpx2.post(server.url + PATHS[dialect], json=body, timeout=20, verify=False)


def said(answer, dialect="openai"):
    content = answer.json()
    return content["choices"][0]["message"]["content"] if dialect == "openai" else content["content"][0]["text"]


@pytest.mark.parametrize("dialect", PATHS)
def test_a_grade_decided_by_the_prompt(dialect):
    with running(replies.graded(lambda prompt: prompt.count("France"))) as server:
        assert json.loads(said(ask(server, dialect), dialect)) == {"grade": 1}
        assert json.loads(said(ask(server, dialect, "France, France"), dialect)) == {"grade": 2}
    assert [body["messages"][0]["content"] for body in server.bodies] == ["Is Paris in France?", "France, France"]
    assert [call.number for call in server.calls] == [0, 1]


def test_a_tool_that_must_be_used_is_used():
    tool = {"tools": [{"name": "grade"}], "tool_choice": {"type": "tool", "name": "grade"}}
    with running(replies.graded(3)) as server:
        answer = ask(server, "anthropic", **tool).json()
    assert answer["stop_reason"] == "tool_use"
    assert answer["content"][0]["input"] == {"grade": 3}


def test_odds_of_grades_stand_at_the_place_of_the_grade():
    with running(replies.graded(2, odds={2: 0.6, 1: 0.3, 7: 0.1})) as server:
        tokens = ask(server, logprobs=True, top_logprobs=5).json()["choices"][0]["logprobs"]["content"]
        assert ask(server).json()["choices"][0]["logprobs"] is None
    assert "".join(token["token"] for token in tokens) == '{"grade": 2}'
    place = next(token for token in tokens if token["token"] == "2")
    assert place["logprob"] == math.log(0.6)
    assert {one["token"]: round(math.exp(one["logprob"]), 9) for one in place["top_logprobs"]} == {
        "2": 0.6,
        "1": 0.3,
        "7": 0.1,
    }


@pytest.mark.parametrize(
    ("behaviour", "openai", "anthropic"),
    [
        (errors.rate_limited("7"), 429, 429),
        (errors.overloaded(), 503, 529),
        (errors.broken(), 500, 500),
        (errors.broken(502), 502, 502),
        (errors.wrong_key(), 401, 401),
        (errors.not_allowed(), 403, 403),
        (errors.out_of_money(), 429, 400),
        (errors.out_of_money(402), 402, 402),
        (errors.asks_too_much(), 429, 429),
        (errors.spent_for_the_month(), 429, 429),
        (errors.no_model(), 404, 404),
        (errors.too_long(), 400, 400),
        (errors.too_large(), 413, 413),
        (web_page(502), 502, 502),
        (errors.unsupported("temperature"), 400, 400),
        (errors.unsupported("seed"), 422, 400),
        (errors.unsupported("logprobs"), 403, 400),
        (errors.unsupported("max_tokens"), 400, 400),
        (errors.unsupported("response_format"), 400, 400),
    ],
)
def test_errors_have_the_status_and_the_form_of_their_vendor(behaviour, openai, anthropic):
    everything = {"temperature": 0, "seed": 1, "logprobs": True, "max_tokens": 9, "response_format": {}}
    with running(behaviour) as server:
        first, second = ask(server, **everything), ask(server, "anthropic", **everything)
    assert (first.status_code, second.status_code) == (openai, anthropic)
    if first.headers["content-type"] == "application/json":
        assert "message" in first.json().get("error", first.json())
        assert "message" in second.json()["error"]


def test_how_long_to_wait_is_told_in_every_way():
    date = "Mon, 16 Nov 2026 19:00:00 GMT"
    ways = [
        errors.rate_limited(),
        errors.rate_limited("2"),
        errors.rate_limited(date),
        errors.rate_limited(retry_after_ms="250", x_ratelimit_reset_requests="6m0s"),
    ]
    with running(in_turn(*ways)) as server:
        headers = [ask(server).headers for _ in ways]
    assert [found.get("retry-after") for found in headers] == [None, "2", date, None]
    assert headers[3]["retry-after-ms"] == "250"
    assert headers[3]["x-ratelimit-reset-requests"] == "6m0s"


def test_a_parameter_left_out_is_not_complained_of():
    with running(errors.unsupported("max_tokens", "temperature")) as server:
        assert ask(server, max_tokens=5, temperature=0).json()["error"]["param"] == "max_tokens"
        assert ask(server, temperature=0).json()["error"]["param"] == "temperature"
        assert ask(server, max_completion_tokens=5).status_code == 200


@pytest.mark.parametrize("where", ["before headers", "after headers", "half body"])
def test_a_connection_that_breaks(where):
    with running(in_turn(cut(where, replies.graded()), replies.graded())) as server:
        with pytest.raises(httpx2.TransportError):
            ask(server)
        assert ask(server).status_code == 200


@pytest.mark.parametrize("dialect", PATHS)
def test_answers_that_are_none(dialect):
    ways = [replies.refuses(), replies.filtered(), replies.cut_off(), replies.nothing(), replies.graded(9, model="x")]
    with running(in_turn(*ways)) as server:
        refused, filtered, short, nothing, wrong = [ask(server, dialect).json() for _ in ways]
    if dialect == "openai":
        assert refused["choices"][0]["message"]["refusal"]
        assert [a["choices"][0]["finish_reason"] for a in (filtered, short)] == ["content_filter", "length"]
        assert nothing["choices"] == []
    else:
        assert [a["stop_reason"] for a in (refused, short)] == ["refusal", "max_tokens"]
        assert nothing["content"] == []
    assert wrong["model"] == "x"


@pytest.mark.parametrize("way", [replies.huge(3), replies.huge(3, announced=False), replies.packed(3)])
def test_an_answer_far_too_large(way):
    with running(way) as server:
        assert len(said(ask(server))) == 3 * 2**20


def test_half_an_object_is_not_json():
    with running(replies.half_json()) as server, pytest.raises(json.JSONDecodeError):
        ask(server).json()


def test_slow_answers_and_how_many_wait_at_once():
    with running(slow(0.2, replies.graded())) as server:
        begin = time.monotonic()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: ask(server, text=str(number)), range(4)))
        assert time.monotonic() - begin >= 0.2
        assert 1 < server.open_most <= 4
    with running(drips(0.2, replies.graded())) as server:
        begin = time.monotonic()
        assert said(ask(server)) == '{"grade": 1}'
        assert time.monotonic() - begin >= 0.2


def test_each_question_fails_once():
    with running(every_question(errors.overloaded(), replies.graded())) as server:
        assert [ask(server, text=text).status_code for text in "abab"] == [503, 503, 200, 200]


def test_a_mistake_in_a_behaviour_is_not_kept_quiet():
    with pytest.raises(ZeroDivisionError), running(lambda call: 1 // 0) as server, pytest.raises(httpx2.TransportError):
        ask(server)


def test_a_server_in_a_process_of_its_own():
    body = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    with apart() as server:
        answer = httpx2.post(server.url + PATHS["openai"], json=body, verify=False)
        assert server.busy() > 0
    assert said(answer) == '{"grade": 1}'
