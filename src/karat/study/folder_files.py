"""The files of a study's folder, by what their names say they hold."""

from __future__ import annotations

from pathlib import Path

from karat.errors import BadInput

#: How files of a study's folder may end, and how they begin by what they hold.
TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".txt", ".qrels", ".xml", ".json", ".gz", ".zst")
NAMES = {
    "labels": ("judgments", "labels", "qrels"),
    "gold": ("gold",),
    "queries": ("queries", "topics"),
    "subtopics": ("subtopics",),
    "documents": ("documents", "docs"),
    "preferences": ("preferences",),
    "clicks": ("clicks",),
    "audit": ("llm-audit",),
}
#: How a file with the design is called, and one with the truth of a simulated study.
DESIGN, TRUTH = "study.toml", "truth.json"


def files_of(folder: Path | None, what: str) -> list[str]:
    """The files of a folder that hold these records, by name; those of runs are in its folder runs, or end so."""
    if folder is None:
        return []
    if what == "runs":
        inside = sorted((folder / "runs").iterdir()) if (folder / "runs").is_dir() else []
        return [str(path) for path in inside or sorted(folder.glob("*.run")) if path.is_file() and path.name[0] != "."]
    return [
        str(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.suffix in TABLES and path.name.lower().startswith(NAMES[what])
    ]


def only_file(folder: Path | None, what: str) -> str | None:
    """The one file of a folder that holds these records, if there is one; two are refused."""
    files = files_of(folder, what)
    if len(files) > 1:
        raise BadInput.at(str(folder), expected=f"one file of {what}", found=", ".join(Path(f).name for f in files))
    return files[0] if files else None


def not_read(folder: Path | None) -> str:
    """The tables of a folder whose names say nothing, in words."""
    known = tuple(name for names in NAMES.values() for name in names)
    files = [] if folder is None else sorted(path for path in folder.iterdir() if path.suffix in TABLES)
    names = [path.name for path in files if not path.name.lower().startswith((*known, "truth"))]
    return "" if not names else f"{', '.join(names[:5])} {'was' if len(names) == 1 else 'were'}"
