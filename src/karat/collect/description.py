"""The description of the interface (OpenAPI): besides what the routes say, who may ask what."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from karat.collect.app_state import AppState
from karat.collect.people import JUDGE, LEAD, UNSAFE, cookie_name

#: For a route that asks for nobody: `openapi_extra=OPEN`.
OPEN: dict[str, Any] = {"security": []}


def describe(app: FastAPI) -> None:
    """Let the app's description say that routes need a session or a token, unless they are `OPEN`."""

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schema.setdefault("components", {})["securitySchemes"] = _schemes(app.state.running)
            for methods in schema["paths"].values():
                for method, operation in methods.items():
                    role = "judge" if "judge" in operation["tags"] else "lead"
                    operation.setdefault("security", _ways(role, unsafe=method.upper() in UNSAFE))
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = description  # type: ignore[method-assign]


def _schemes(running: AppState) -> dict[str, Any]:
    bearers = {
        "judge_token": "A judge's personal token: what stands after /join/ in the personal link.",
        "lead_token": "A lead's token, from POST /api/sign-in.",
    }
    cookies = {"judge_cookie": (JUDGE, "a personal link"), "lead_cookie": (LEAD, "signing in")}
    return {
        **{name: {"type": "http", "scheme": "bearer", "description": about} for name, about in bearers.items()},
        **{
            name: {
                "type": "apiKey",
                "in": "cookie",
                "name": cookie_name(running, role),
                "description": f"A session, which {way} begins; changes need X-CSRF-Token besides.",
            }
            for name, (role, way) in cookies.items()
        },
        "csrf": {
            "type": "apiKey",
            "in": "header",
            "name": "X-CSRF-Token",
            "description": "The session's own token for changes: `csrf` of GET /api/me or POST /api/sign-in.",
        },
    }


def _ways(role: str, *, unsafe: bool) -> list[dict[str, list[str]]]:
    """Either the token, or the cookie, with the session's own token where something is changed."""
    cookie: dict[str, list[str]] = {f"{role}_cookie": []}
    return [{f"{role}_token": []}, cookie | ({"csrf": []} if unsafe else {})]
