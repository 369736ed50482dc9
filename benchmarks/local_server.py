"""What people run in front of a model of their own, without the model: FastAPI and uvicorn, as vLLM's server and many.

It takes apart and checks what it is asked, and answers at once. A line on its standard input is answered by the seconds
of the processor that it has taken. What uvicorn finds installed (uvloop, httptools) it uses; nothing is logged.
"""

import socket
import sys
import threading
import time
from typing import Any

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Message(BaseModel):
    """What one side says."""

    role: str
    content: str


class Asked(BaseModel):
    """A question, in the fields that karat sends."""

    model: str
    messages: list[Message]
    max_tokens: int | None = None
    temperature: float = 1.0
    seed: int | None = None
    response_format: dict[str, Any] | None = None


class Choice(BaseModel):
    """One of the answers to a question."""

    index: int = 0
    message: Message
    finish_reason: str = "stop"


class Usage(BaseModel):
    """The tokens of both."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Completion(BaseModel):
    """An answer."""

    id: str
    object: str = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


app = FastAPI()


@app.post("/chat/completions")
async def completed(asked: Asked) -> Completion:
    """The same grade for every document."""
    said = Message(role="assistant", content='{"grade": 1}')
    tokens = sum(len(message.content) for message in asked.messages) // 4
    usage = Usage(prompt_tokens=tokens, completion_tokens=7, total_tokens=tokens + 7)
    return Completion(
        id="chatcmpl-1", created=int(time.time()), model=asked.model, choices=[Choice(message=said)], usage=usage
    )


def _tell_time() -> None:
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    threading.Thread(target=_tell_time, daemon=True).start()
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([listening])
