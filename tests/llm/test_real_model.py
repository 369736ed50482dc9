"""What a real server of language models answers, byte by byte: what karat's questions and readings rely on."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

GRADES = [0, 1, 2, 3]
SCHEMA = {
    "type": "object",
    "properties": {"grade": {"type": "integer", "enum": GRADES}},
    "required": ["grade"],
    "additionalProperties": False,
}
SYSTEM = "You grade how relevant a passage is to a query, 0 to 3."
QUESTION = 'Query: capital of France\nPassage: Paris is the capital of France.\nAnswer with JSON {"grade": 0-3}.'
OPENAI = {
    "messages": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}],
    "temperature": 0,
    "max_tokens": 30,
    "response_format": {"type": "json_schema", "json_schema": {"name": "grade", "strict": True, "schema": SCHEMA}},
}
ANTHROPIC = {
    "system": SYSTEM,
    "messages": [{"role": "user", "content": QUESTION}],
    "temperature": 0,
    "max_tokens": 12,
}
Asked = Callable[..., httpx2.Response]


@pytest.fixture(scope="module")
def chat(language_model) -> Asked:
    """Ask as OpenAI's clients do."""

    def ask(**changes: Any) -> httpx2.Response:
        body = {"model": language_model.model} | OPENAI | changes
        return httpx2.post(f"{language_model.url}/v1/chat/completions", json=body, timeout=60, verify=False)

    return ask


@pytest.fixture(scope="module")
def messages(language_model) -> Asked:
    """Ask as Anthropic's clients do."""

    def ask(**changes: Any) -> httpx2.Response:
        body = {"model": language_model.model} | ANTHROPIC | changes
        headers = {"x-api-key": "none", "anthropic-version": "2023-06-01"}
        return httpx2.post(f"{language_model.url}/v1/messages", json=body, headers=headers, timeout=60, verify=False)

    return ask


def test_a_schema_binds_the_answer_to_a_grade(chat):
    answer = chat().json()
    (choice,) = answer["choices"]
    assert choice["finish_reason"] == "stop"
    assert json.loads(choice["message"]["content"])["grade"] in GRADES
    assert answer["model"] == "smollm2"
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]
    assert answer["usage"]["prompt_tokens"] > len((SYSTEM + QUESTION).split())


def test_log_probabilities_are_those_before_the_schema_was_enforced(chat):
    (choice,) = chat(logprobs=True, top_logprobs=20).json()["choices"]
    tokens = choice["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens).startswith(choice["message"]["content"])
    grade = str(json.loads(choice["message"]["content"])["grade"])
    said = next(token for token in tokens if token["token"].strip() == grade)
    likely = [(other["token"], math.exp(other["logprob"])) for other in said["top_logprobs"]]
    assert len(likely) == 20
    # The schema allows four tokens here, and others hold a part of the probability all the same.
    allowed = sum(share for token, share in likely if token in {"0", "1", "2", "3"})
    assert allowed < sum(share for _, share in likely) < 1


def test_several_tokens_may_be_written_alike(chat):
    """Parts of a letter, and the end of the answer, have an empty text: probabilities are added, never replaced."""
    (choice,) = chat(logprobs=True, top_logprobs=20).json()["choices"]
    lists = [[other["token"] for other in token["top_logprobs"]] for token in choice["logprobs"]["content"]]
    assert any(len({*tokens}) < len(tokens) for tokens in lists)


def test_too_few_tokens_cut_the_answer_even_with_a_schema(chat):
    (choice,) = chat(max_tokens=3).json()["choices"]
    assert choice["finish_reason"] == "length"
    with pytest.raises(json.JSONDecodeError):
        json.loads(choice["message"]["content"])


def test_the_new_name_of_the_limit_is_taken_too(chat):
    assert chat(max_tokens=None, max_completion_tokens=3).json()["usage"]["completion_tokens"] == 3


def test_whatever_model_is_asked_for_the_one_that_is_there_answers(chat):
    answer = chat(model="gpt-9")
    assert answer.status_code == 200
    assert answer.json()["model"] == "smollm2"


@pytest.mark.parametrize("dialect", ["chat", "messages"])
def test_a_question_longer_than_the_context_is_a_bad_request_that_says_so(dialect, request):
    answer = request.getfixturevalue(dialect)(messages=[{"role": "user", "content": "word " * 5000}])
    error = answer.json()["error"]
    assert answer.status_code == 400
    assert error["type"] == "exceed_context_size_error"
    assert error["n_prompt_tokens"] > error["n_ctx"] == 2048
    assert "exceeds the available context size" in error["message"]


def test_the_other_dialect_answers_in_blocks_and_counts_cached_tokens_apart(messages):
    answer = messages().json()
    (block,) = answer["content"]
    assert block["type"] == "text"
    assert block["text"]
    assert answer["stop_reason"] in ("end_turn", "max_tokens")
    usage = answer["usage"]
    assert usage["input_tokens"] + usage["cache_read_input_tokens"] > len((SYSTEM + QUESTION).split())
    assert messages(max_tokens=2).json()["stop_reason"] == "max_tokens"


@pytest.mark.parametrize(
    "binding",
    [
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        {
            "tools": [{"name": "grade", "description": "Record the grade.", "input_schema": SCHEMA}],
            "tool_choice": {"type": "tool", "name": "grade"},
        },
    ],
    ids=["output_config", "tool"],
)
def test_the_other_dialect_takes_a_schema_without_complaint_and_does_not_keep_to_it(messages, binding):
    """A server that accepts a parameter has not promised to obey: answers are always checked."""
    answer = messages(**binding).json()
    (block,) = answer["content"]
    assert block["type"] == "text"
    with pytest.raises(json.JSONDecodeError):
        json.loads(block["text"])
