"""What a command reads: labels from files or from a study's folder, and all that the folder has beside them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from karat.cli.terminal import progress, tell_notes
from karat.errors import BadInput
from karat.formats import read_judgments, read_runs
from karat.formats.open_files import File
from karat.formats.read import unique_system_names
from karat.labels.aspects import of_aspect
from karat.measures import parse_measure
from karat.measures.parsing import split_names
from karat.records import Judgments, Queries, Runs, Scale
from karat.study import Study
from karat.study.folders import files_of


@dataclass(frozen=True)
class Reading:
    """How labels are read: what the options --scale, --gold-scale, --drop-bad-labels and so on say."""

    scale: Scale | str | None = None
    drop_bad_labels: bool = False
    time_format: str | None = None
    database: str | None = None
    from_format: str | None = None
    #: The aspect whose labels count in place of overall ones, or several with weights.
    aspect: str | None = None
    #: The scale of the gold labels, where it is another one.
    gold_scale: Scale | str | None = None

    @property
    def looks_at_all(self) -> bool:
        """Whether all labels have to be there at once for what is asked."""
        return any((self.drop_bad_labels, self.time_format, self.database, self.from_format, self.aspect))

    def judgments(self, path: str) -> Judgments:
        """The judgments in a file."""
        how = {name: getattr(self, name) for name in ("scale", "drop_bad_labels", "time_format")}
        return self._of_aspect(read_judgments(path, format=self.from_format, **how))

    def study(
        self,
        labels: str | Sequence[str],
        *,
        only: Collection[str] = (),
        more_labels: Sequence[str] = (),
        runs: Sequence[str] = (),
        **named: Any,
    ) -> Study:
        """The study that a command is about: the folder where LABELS is one, else the files named.

        Of what may stand beside labels and gold labels, only these kinds are read; those that are `named`, as gold or
        queries, stand for the folder's own. What is to be said of the folder goes to standard error. Most commands
        take runs by `run_files`.
        """
        paths = [labels] if isinstance(labels, str) else list(labels)
        folder = paths[0] if len(paths) == 1 and Path(paths[0]).is_dir() else None
        files = [*([] if folder is not None else paths), *more_labels]
        how = {name: value for name, value in vars(self).items() if name != "aspect"}
        study = Study.load(folder, labels=files, runs=runs, only=only, **how, **named)
        if self.aspect is not None:
            labels_of, gold_of = (None if one is None else self._of_aspect(one) for one in (study.labels, study.gold))
            study = replace(study, labels=labels_of, gold=gold_of)
        tell_notes(study.notes)
        if folder is None and study.gold is None:
            _ = study.judged  # files without a label are to be mended, whatever the command
        return study

    def _of_aspect(self, labels: Judgments) -> Judgments:
        return labels if self.aspect is None else of_aspect(labels, self.aspect)


def runs_in(labels: str) -> list[str]:
    """The files of runs of a study's folder, none where LABELS is a file."""
    return files_of(Path(labels), "runs") if Path(labels).is_dir() else []


def run_files(labels: str, named: Sequence[str]) -> list[str]:
    """The files of runs that are named, or else those of the study's folder where LABELS is one."""
    files = list(named) or runs_in(labels)
    for path in files:
        if path != "-" and files.count(path) > 1:
            raise BadInput.at("the runs", expected="each file once", found=f"{path} {files.count(path)} times")
    if not files and labels != "-" and not Path(labels).exists():
        raise BadInput(f"{labels}: no such file or folder")
    if not files:
        raise BadInput("no run to score; the labels come first, then the runs, which a folder has in runs or as *.run")
    return files


def with_kinds(judgments: Judgments, queries: Queries | None) -> Judgments:
    """The judgments with what is known of their queries, such as the kind."""
    if queries is None:
        return judgments
    known = queries.frame
    extra = [name for name in known.columns if name not in judgments.frame.columns]
    frame = judgments.frame.join(known.select("query", *extra), on="query", how="left", maintain_order="left")
    return replace(judgments, frame=frame)


def read_several(paths: Sequence[str]) -> list[Runs]:
    """The runs in these files; a system's name that several files use is replaced by the file's name."""
    if list(paths).count("-") > 1:
        raise BadInput("standard input (-) can be read once only")
    for path in paths:  # a name mistyped at the end should not cost the work on the others
        File(path).check()
    read = [read_runs(path) for path in progress(list(paths), "Reading")]
    return unique_system_names(read, paths)


def measures_named(given: Sequence[str]) -> list[str]:
    """The measures in what was given with -m.

    >>> measures_named(["nDCG@10,AP", "P.5,10"])
    ['nDCG@10', 'AP', 'P.5', 'P.10']
    """
    return [name for text in given for name in split_names(text, ", ") if name.strip(", ")]


def measures_among(runs: tuple[str, ...], given: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Runs and measures apart: `-m nDCG@10 AP` leaves AP among the runs, though no such file exists."""
    names = measures_named(given)
    files = []
    for word in runs:
        if word != "-" and given and not Path(word).exists():
            try:
                parse_measure(word)
            except BadInput:
                pass
            else:
                names.append(word)
                continue
        files.append(word)
    return files, names
