"""What OpenAI's and Anthropic's servers say when they will not answer: behaviours for `hostile_server`.

The words are those that users of both reported in public, where we found some; statuses and types are those of the
vendors' own clients (openai 3.49, anthropic 2.8).
"""

from __future__ import annotations

from typing import Any

from hostile_server import Behaviour, Call, Reply
from vendor_replies import as_json, graded, of_openai


def error(
    status: int,
    message: str,
    *,
    kind: str,
    code: str | None = None,
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> Behaviour:
    """An error in the form of the dialect: `kind` is its type."""

    def behave(call: Call) -> Reply:
        request = f"req_{call.number}"
        if of_openai(call):
            content: Any = {"error": {"message": message, "type": kind, "param": param, "code": code}}
            return as_json(content, status=status, headers={"x-request-id": request} | (headers or {}))
        details = {"details": {"error_code": code}} if code else {}
        content = {"type": "error", "error": {"type": kind, "message": message} | details, "request_id": request}
        return as_json(content, status=status, headers={"request-id": request} | (headers or {}))

    return behave


def rate_limited(wait: str | None = None, **headers: str) -> Behaviour:
    """Too many requests; `wait` is the header Retry-After, seconds or a date, others are named with underscores."""
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    told |= {} if wait is None else {"retry-after": wait}
    openai = (
        "Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Used 29937, "
        "Requested 385. Please try again in 644ms. Visit https://platform.openai.com/account/rate-limits to learn more."
    )
    anthropic = (
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 1, model: "
        "claude-haiku-4-5). For details, refer to: https://docs.claude.com/en/api/rate-limits."
    )
    return _either(
        error(429, openai, kind="tokens", code="rate_limit_exceeded", headers=told),
        error(429, anthropic, kind="rate_limit_error", headers=told),
    )


def asks_too_much() -> Behaviour:
    """OpenAI's "too many requests" that no waiting helps: this one question is over the limit of a minute."""
    message = (
        "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 30601. The "
        "input or output tokens must be reduced in order to run successfully. Visit "
        "https://platform.openai.com/account/rate-limits to learn more."
    )
    return error(429, message, kind="tokens", code="rate_limit_exceeded")


def overloaded() -> Behaviour:
    """Everybody is asking: 503 at OpenAI, 529 at Anthropic."""
    openai = (
        "That model is currently overloaded with other requests. You can retry your request, or contact us through our "
        "help center at help.openai.com if the error persists."
    )
    return _either(
        error(503, openai, kind="server_error"),
        error(529, "Overloaded", kind="overloaded_error", headers={"x-should-retry": "true"}),
    )


def broken(status: int = 500) -> Behaviour:
    """The server's own fault."""
    return _either(
        error(status, "The server had an error while processing your request. Sorry about that!", kind="server_error"),
        error(status, "Internal server error", kind="api_error"),
    )


def wrong_key() -> Behaviour:
    """401. OpenAI's message repeats a part of the key."""

    def behave(call: Call) -> Reply:
        key = call.headers.get("authorization", "").removeprefix("Bearer ")
        message = (
            f"Incorrect API key provided: {key[:8]}{'*' * 8}{key[-4:]}. You can find your API key at "
            "https://platform.openai.com/account/api-keys."
        )
        return _either(
            error(401, message, kind="invalid_request_error", code="invalid_api_key"),
            error(401, "invalid x-api-key", kind="authentication_error"),
        )(call)

    return behave


def not_allowed() -> Behaviour:
    """403: the key is good, but not for this."""
    openai = "You have insufficient permissions for this operation. Missing scopes: model.request."
    return _either(
        error(403, openai, kind="invalid_request_error", code="missing_scope"),
        error(403, "Your API key does not have permission to use the specified resource.", kind="permission_error"),
    )


def out_of_money(status: int = 0) -> Behaviour:
    """No more credit: OpenAI calls it 429, Anthropic 400, in words only; both may be 402."""
    openai = (
        "You exceeded your current quota, please check your plan and billing details. For more information on this "
        "error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
    )
    anthropic = (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
        "purchase credits."
    )
    kind = "billing_error" if status == 402 else "invalid_request_error"
    return _either(
        error(status or 429, openai, kind="insufficient_quota", code="insufficient_quota"),
        error(status or 400, anthropic, kind=kind),
    )


def spent_for_the_month() -> Behaviour:
    """Anthropic's "too many requests" that lasts until the next month: no Retry-After, and a code."""
    message = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."
    return error(429, message, kind="rate_limit_error", code="enforced_spend_limit_reached")


def no_model() -> Behaviour:
    """404: nobody of that name."""

    def behave(call: Call) -> Reply:
        model = call.body["model"]
        message = f"The model `{model}` does not exist or you do not have access to it."
        return _either(
            error(404, message, kind="invalid_request_error", code="model_not_found"),
            error(404, f"model: {model}", kind="not_found_error"),
        )(call)

    return behave


def too_long() -> Behaviour:
    """400: more tokens than the model can read."""
    openai = (
        "This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens. Please "
        "reduce the length of the messages."
    )
    return _either(
        error(400, openai, kind="invalid_request_error", param="messages", code="context_length_exceeded"),
        error(400, "prompt is too long: 210883 tokens > 200000 maximum", kind="invalid_request_error"),
    )


def too_large() -> Behaviour:
    """413: more bytes than the gateway lets through. Anthropic's has no outer type."""
    body = {"error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}
    return lambda call: as_json(body, status=413)


UNSUPPORTED: dict[str, Behaviour] = {
    "max_tokens": error(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        kind="invalid_request_error",
        param="max_tokens",
        code="unsupported_parameter",
    ),
    "temperature": error(
        400,
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        kind="invalid_request_error",
        param="temperature",
        code="unsupported_value",
    ),
    # Neither names the parameter in its field, and one looks like a wrong key.
    "logprobs": error(403, "You are not allowed to request logprobs from this model", kind="invalid_request_error"),
    "response_format": error(
        400,
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more about "
        "supported models at the Structured Outputs guide: https://platform.openai.com/docs/guides/structured-outputs",
        kind="invalid_request_error",
    ),
}


def unsupported(*parameters: str, then: Behaviour | None = None) -> Behaviour:
    """Refuse the first of these parameters that is there; without them, answer.

    What OpenAI has no words for (`seed`) is refused in those of Mistral's server, whose message is an object.
    """

    def behave(call: Call) -> Reply:
        found = next((name for name in parameters if name in call.body), None)
        if found is None:
            return (then or graded())(call)
        if not of_openai(call):
            words = f"`{found}` is deprecated for this model."
            if found not in ("temperature", "top_p", "top_k"):
                words = f"{found}: Extra inputs are not permitted"
            return error(400, words, kind="invalid_request_error")(call)
        if found in UNSUPPORTED:
            return UNSUPPORTED[found](call)
        detail = [{"type": "extra_forbidden", "loc": ["body", found], "msg": "Extra inputs are not permitted"}]
        body = {"object": "error", "message": {"detail": detail}, "type": "invalid_request_error"}
        return as_json(body | {"param": None, "code": None}, status=422)

    return behave


def _either(openai: Behaviour, anthropic: Behaviour) -> Behaviour:
    return lambda call: (openai if of_openai(call) else anthropic)(call)
