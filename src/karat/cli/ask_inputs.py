"""What `karat ask` is about: a study's tasks or the top of runs, the judges to be, and where their answers are kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import polars as pl

from karat.cli import options
from karat.cli.output_formats import keep_inputs
from karat.cli.terminal import tell_notes
from karat.errors import BadInput
from karat.formats import read_documents, read_judgments, read_queries, read_runs
from karat.formats.write import format_of
from karat.llm.answer_rows import Judge
from karat.llm.asking import Asker, Task
from karat.llm.costs import price_of
from karat.llm.dialects import DIALECTS
from karat.llm.requests import Model
from karat.llm.study_tasks import audit_tasks
from karat.records import Judgments, Scale
from karat.records.runs import ranked
from karat.records.study_design import StudyDesign
from karat.records.table import count
from karat.study.task_material import Material

if TYPE_CHECKING:
    from karat.cli.open_study import Opened

#: The file of answers in a study's folder.
ANSWERS = "llm-answers.db"
#: The scale where nobody names one.
SCALE = "0=not relevant, 1=relevant"


@dataclass(frozen=True)
class Asked:
    """A study's questions, or those of runs: what is shown, the tasks, and where answers and labels go."""

    design: StudyDesign
    material: Material
    tasks: Sequence[Task]
    answers: Path
    prices: Mapping[str, Mapping[str, Any]]
    gold: Judgments | None = None
    opened: Opened | None = None
    #: What stands beside the labels: queries, documents and runs, for the sheet of an audit.
    beside: Mapping[str, Any] = field(default_factory=dict)

    def judges(self, typed: dict[str, Any]) -> list[Judge]:
        """The judges to be: every model with every prompt."""
        for model in typed["models"] or [""]:
            if not model.strip() or not model.isprintable():
                found = ascii(model) if model else "none"
                raise BadInput.at("--model", expected="the name of a model", found=found)
        for name in typed["allowed"]:
            if not name.strip() or not name.isprintable():
                raise BadInput.at("--allow-model", expected="the name of a model", found=ascii(name))
        pairs = list(product(typed["models"], typed["prompts"] or (None,)))
        names = typed["names"] or [_name(model, prompt) for model, prompt in pairs]
        if len(names) != len(pairs) or len({*names}) < len(names):
            raise BadInput.at("--as", expected=f"{len(pairs)} different names", found=", ".join(names))
        if not all(name.strip() and name.isprintable() for name in names):
            raise BadInput.at("--as", expected="names of judges", found=", ".join(map(ascii, names)))
        if self.opened is not None:
            from karat.llm.study_tasks import refuse_people

            refuse_people(self.opened.store, names)
        # An audit is about documents as they are, and so are its gold labels.
        design = replace(self.design, snippet=None) if typed["audit"] else self.design
        made = []
        for name, (model_name, prompt) in zip(names, pairs, strict=True):
            how = {
                name: typed[name]
                for name in ("dialect", "url", "temperature", "max_tokens", "seed", "logprobs", "allowed")
            }
            how["logprobs"] |= typed["expected"]
            asker = Asker(
                design, self.material, Model(model_name, **how), prompt, typed["reasons"], typed["most_shown"]
            )
            tasks = self.tasks
            if typed["audit"]:
                if self.gold is None:
                    remedy = "name a file of them by --gold: query, doc and label of somebody you trust"
                    raise BadInput.at("--audit", expected="gold labels", found="none", remedy=remedy)
                tasks = audit_tasks(asker, self.gold, self.tasks, seed=typed["seed"])
            price = price_of(model_name, typed["price"], self.prices, vendor=not typed["url"])
            made.append(Judge(name, asker, tasks, price, plain="" if typed["names"] else model_name))
        if self.opened is not None and not typed["audit"] and not typed["show_prompt"]:
            from karat.llm.study_tasks import refuse_changed_prompts

            tell_notes(refuse_changed_prompts(self.opened.store, made))
        return made


def asked_for(stack: ExitStack, paths: Sequence[str], typed: dict[str, Any]) -> Asked:
    """What the words and options of the command are about."""
    _check(paths, typed)
    folders = [path for path in paths if Path(path).is_dir()]
    runs = [path for path in (*paths, *typed["runs"]) if path not in folders]
    if len(folders) > 1 or (folders and paths[0] != folders[0]):
        raise BadInput.at("STUDY", expected="one folder, before the runs", found=", ".join(paths))
    asked = _of_study(stack, folders[0], runs, typed) if folders else _of_files(runs, typed)
    queries = dict.fromkeys(task["query"] for task in asked.tasks)
    bare = [query for query in queries if not asked.material.knows_text(query)]
    if bare:
        notes = f"{count(len(bare), 'query', 'queries')} of {len(queries):,} without a text, asked by their ids alone"
        tell_notes([f"{notes}: the first, {bare[0]}"])
    return asked


def _check(paths: Sequence[str], typed: dict[str, Any]) -> None:
    """Refuse what could only fail once answers are paid for, or would be kept with them."""
    for name in ("temperature", "timeout", "rpm", "tpm", "budget"):
        if typed[name] is not None and math.isnan(typed[name]):
            raise BadInput.at(f"--{name}", expected="a number", found="nan")
    if typed["replay"]:
        options.refuse("retry", "batch", "estimate", "show_prompt", why="--replay makes labels of stored answers alone")
    if typed["url"]:
        check_url(typed["url"])
    if not DIALECTS[typed["dialect"]].logprobs:
        options.refuse("logprobs", "expected", why=f"the dialect {typed['dialect']} tells no log-probabilities")
    if not typed["audit"]:
        options.refuse("gold", why="it goes with --audit; karat compare --gold corrects labels")
    if typed["out"] is None:
        options.refuse("expected", why="it is for the labels that --out writes; a study keeps grades of its scale")
    if typed["out"] == "-":
        raise BadInput.at("--out", expected="a file, beside which answers are kept", found="standard output")
    if typed["out"] is not None:
        format_of(typed["out"])
        read = [typed[name] for name in ("queries", "documents", "gold", "guidelines")]
        keep_inputs("--out", typed["out"], [*read, *paths, *typed["runs"]])


def check_url(url: str) -> None:
    """Refuse what is no address of a server, or has a key in it: addresses are kept with the answers.

    >>> check_url("http://localhost:8080/v1")
    """
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        fine &= url.isprintable() and " " not in url
        secret = parts.username is not None or parts.password is not None or bool(parts.query)
    except ValueError:
        fine, secret = False, False
    if secret:
        raise BadInput.at(
            "--url",
            expected="an address alone, which is kept with the answers",
            found="one with a name, a password or a query in it",
            remedy="put the key into a variable and name that by --key-env",
        )
    if not fine:
        raise BadInput.at("--url", expected="an address such as http://localhost:8080/v1", found=ascii(url))


def _of_study(stack: ExitStack, folder: str, runs: Sequence[str], typed: dict[str, Any]) -> Asked:
    from karat.cli.open_study import opened_study
    from karat.llm.study_tasks import tasks_of_study
    from karat.study import Study

    if runs:
        raise BadInput.at("RUN", expected="none beside a study, which has its tasks", found=", ".join(runs))
    options.refuse("scale", "guidelines", "queries", "documents", "depth", why="the study has its own")
    opened = stack.enter_context(opened_study(folder, typed["database"]))
    planned = opened.folder.tasks()
    tasks = tasks_of_study(opened.store, opened.folder.pooled() if planned is None else planned)
    if not tasks:
        raise BadInput.at(folder, expected="tasks, or runs to make them of", found="none")
    design = opened.folder.study
    gold = read_judgments(typed["gold"], scale=design.scale) if typed["gold"] else None
    if gold is None and typed["audit"]:
        gold = Study.load(folder, database=typed["database"], only=("runs",)).gold
    answers = Path(typed["answers"] or opened.folder.path / ANSWERS)
    folder_of = opened.folder
    beside = {"queries": folder_of.queries, "documents": folder_of.documents, "runs": folder_of.runs or None}
    return Asked(design, opened.material(), tasks, answers, folder_of.prices, gold, opened, beside)


def _of_files(runs: Sequence[str], typed: dict[str, Any]) -> Asked:
    options.refuse("database", why="there is no study")
    for what in ("queries", "documents"):
        if typed[what] is None:
            raise BadInput.at(
                f"--{what}",
                expected=f"a file of {what}, or a study's folder",
                found="neither",
                remedy="see karat ask -h",
            )
    if not runs and not typed["audit"]:
        raise BadInput.at("RUN", expected="a run, or a study's folder", found="neither")
    if typed["out"] is None and not typed["estimate"] and not typed["show_prompt"]:
        raise BadInput.at("--out", expected="the file for the labels", found="none")
    lists = [read_runs(path) for path in runs]
    gold = read_judgments(typed["gold"], scale=typed["scale"]) if typed["gold"] else None
    guidelines = _text_of(typed["guidelines"]) if typed["guidelines"] else ""
    scale = Scale.parse(typed["scale"] or SCALE)
    design = StudyDesign("ask", "Labels of language models", scale, guidelines=guidelines, depth=typed["depth"])
    queries, documents = read_queries(typed["queries"]), read_documents(typed["documents"])
    material = Material(queries=queries, documents=documents, runs=lists, depth=typed["depth"])
    tasks = Tops([ranked(run, typed["depth"]) for run in lists])
    out = typed["out"] or "llm.csv"
    answers = Path(typed["answers"] or Path(out).with_suffix(".answers.db"))
    beside = {"queries": queries, "documents": documents, "runs": lists or None}
    return Asked(design, material, tasks, answers, {}, gold, beside=beside)


class Tops(Sequence[Task]):
    """The documents that runs have at the top, each once for a query, as tasks that are made when they are asked for.

    >>> from karat.records import Runs
    >>> [*Tops([ranked(Runs.of({"q": {"a": 2.0, "b": 1.0}}), 1)])]
    [{'kind': 'judge', 'query': 'q', 'doc': 'a'}]
    """

    def __init__(self, tops: Sequence[pl.DataFrame]) -> None:
        none = pl.DataFrame(schema={"query": pl.String, "doc": pl.String})
        rows = pl.concat([none, *(top.select("query", "doc") for top in tops)])
        self._rows = rows.unique(maintain_order=True).rechunk()

    def __len__(self) -> int:
        return self._rows.height

    def __iter__(self) -> Iterator[Task]:
        for query, doc in self._rows.iter_rows():
            yield {"kind": "judge", "query": query, "doc": doc}

    def __getitem__(self, place: Any) -> Any:
        found = self._rows[place]
        return [*Tops([found])] if isinstance(place, slice) else next(iter(Tops([found])))


def _text_of(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        found = "other bytes" if isinstance(error, UnicodeDecodeError) else str(error.strerror)
        raise BadInput.at(file, expected="a text in UTF-8", found=found) from None


def _name(model: str, prompt: str | None) -> str:
    """The name of a judge that nobody named: the model's, and the prompt's where one is named."""
    return model if prompt is None else f"{model} {Path(prompt).stem}"
