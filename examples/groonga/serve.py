"""A real search engine to fetch from: Groonga, with the topics of Python's own `help()` in it, until it is stopped.

    apt-get install groonga-bin
    python examples/groonga/serve.py                   # at http://localhost:10041; Ctrl-C ends it

Then, in another terminal, `karat fetch examples/groonga/engines.toml ...` as the how-to about fetching has it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pydoc_data.topics import topics
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

PORT = 10041
#: A table of documents, and the words of titles and texts, cut and made alike as words of European languages are.
SCHEMA = (
    ("table_create", {"name": "Docs", "flags": "TABLE_HASH_KEY", "key_type": "ShortText"}),
    ("column_create", {"table": "Docs", "name": "title", "type": "ShortText"}),
    ("column_create", {"table": "Docs", "name": "text", "type": "Text"}),
    (
        "table_create",
        {
            "name": "Words",
            "flags": "TABLE_PAT_KEY",
            "key_type": "ShortText",
            "default_tokenizer": "TokenBigram",
            "normalizer": "NormalizerAuto",
        },
    ),
    (
        "column_create",
        {
            "table": "Words",
            "name": "docs",
            "flags": "COLUMN_INDEX|WITH_POSITION|WITH_SECTION",
            "type": "Docs",
            "source": "title,text",
        },
    ),
)


@contextmanager
def running(documents: Iterable[dict[str, str]], port: int = PORT) -> Iterator[tuple[str, Path]]:
    """Groonga with these documents (`_key`, `title`, `text`): its address, and its database, until the block ends."""
    if shutil.which("groonga") is None:
        raise RuntimeError("no Groonga here: apt-get install groonga-bin")
    with tempfile.TemporaryDirectory(prefix="karat-groonga-") as folder:
        database = Path(folder) / "docs.db"
        address = ["--bind-address", "127.0.0.1", "--port", str(port)]
        log = ["--log-path", f"{folder}/log"]
        process = subprocess.Popen(["groonga", "-n", "-s", "--protocol", "http", *address, *log, str(database)])
        url = f"http://127.0.0.1:{port}"
        try:
            _wait_for(url, process)
            for command, words in SCHEMA:
                _ask(f"{url}/d/{command}?{urlencode(words)}")
            _ask(f"{url}/d/load?table=Docs", json.dumps(list(documents)).encode())
            yield url, database
        finally:
            process.terminate()
            process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and process.poll() is None:
        try:
            _ask(f"{url}/d/status")
            return
        except (URLError, ConnectionError):
            time.sleep(0.02)
    raise RuntimeError(f"Groonga does not answer at {url}")


def _ask(url: str, body: bytes | None = None) -> None:
    with urlopen(Request(url, body, {"Content-Type": "application/json"})) as reply:
        said = json.load(reply)
    if said[0][0] != 0:
        raise RuntimeError(f"Groonga: {said[0]}")


def help_topics() -> list[dict[str, str]]:
    """The topics of `help()`, named as there."""
    first = {name: text.strip().partition("\n")[0] for name, text in topics.items()}
    return [{"_key": name, "title": first[name], "text": text} for name, text in topics.items()]


def main() -> None:
    with running(help_topics()) as (url, _):
        print(f"Groonga answers at {url}, with {len(topics)} topics. Ctrl-C ends it.")
        try:
            time.sleep(1e9)
        except KeyboardInterrupt:
            print("Ended.")


if __name__ == "__main__":
    main()
