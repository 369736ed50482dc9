"""An example study: small, complete, to be changed by hand; its files are in the folder `example_study`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from karat.errors import BadInput
from karat.formats.put_in_place import put_in_place
from karat.formats.study_folder import new_id

FILES = ("study.toml", "queries.csv", "documents.jsonl", "tasks.csv", "runs/plain.run", "runs/better.run")


def write_example(
    folder: str, *, title: str = "An example study", empty: bool = False, depth: int | None = None
) -> list[str]:
    """Write the files of a study into a folder; returns their names. What is there is never overwritten."""
    place, example = Path(folder), files("karat.formats") / "example_study"
    names = list(FILES[:1] if empty else FILES)
    there = [name for name in names if (place / name).exists()]
    if there:
        raise BadInput.at(folder, expected="a new folder", found=", ".join(there), remedy="choose another one")
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    try:
        for name in names:
            content = (example / name).read_text(encoding="utf-8")
            if name == "study.toml":
                content = content.replace("{id}", new_id()).replace("{title}", quoted)
                content = content if depth is None else content.replace("# depth = 10", f"depth = {depth}")
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            put_in_place(place / name, content.encode())
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({error.strerror})") from None
    return names
