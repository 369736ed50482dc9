"""Scores by labels that are larger than memory: labels and runs are dealt out by query, and scored bucket by bucket."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from karat.cli.progress import waiting
from karat.formats.batches import follows_scores, parts_of
from karat.formats.label_batches import BUCKET, LARGE, deal_labels, size_of_labels
from karat.formats.merge import new_names
from karat.formats.open_files import File
from karat.formats.piles import MOST, Piles
from karat.formats.read import read_runs
from karat.labels.facts import Facts
from karat.measures import Measure, Profile
from karat.records import Scale
from karat.records.list_order import FOLLOWS_SCORE, with_given_scores
from karat.scoring import Scores
from karat.scoring.bucket import NOT_TOLD, Buckets, nothing_in_common
from karat.scoring.scorer import OF_A_SAMPLE


def are_large(labels: str) -> bool:
    """Whether labels should not be read at once, and need not."""
    return size_of_labels(labels) > LARGE


def score_in_buckets(
    labels: str,
    files: Sequence[str],
    measures: list[Measure],
    *,
    scale: Scale | None,
    profile: Profile,
    complete: bool,
    **chance: Any,
) -> Scores:
    """The scores of the runs in these files; the order of a query's rows is that of the files."""
    in_context = any(getattr(measure, "context", 0) for measure in measures)
    apart = ("context", "subtopic") if in_context else ("subtopic",)
    number = min(size_of_labels(labels) // BUCKET + 1, MOST)
    with TemporaryDirectory(prefix="karat-") as name, waiting("Dealing", 1 + len(files)) as one_done:
        folder = Path(name)
        dealt = deal_labels(labels, folder / "labels", number, scale, apart)
        one_done()
        runs = []
        for place, path in enumerate(files):
            runs.append(_deal_runs(path, folder / f"run{place}", number))
            one_done()
        facts = Facts.made(dealt.columns, dealt.counted, None if scale is None else scale.top.grade, apart)
        renamed = new_names([systems for _, systems in runs], list(files))
        named = [[new.get(one, one) for one in old] for (_, old), new in zip(runs, renamed, strict=True)]
        buckets = Buckets(facts, measures, scale, profile, complete, dealt.one_each)
        found = []
        for bucket in range(number):
            lists = [piles.taken(bucket)[0] for piles, _ in runs]
            lists = [one.with_columns(pl.col("system").replace(new)) for one, new in zip(lists, renamed, strict=True)]
            found.append(buckets.score(*dealt.taken(bucket), list(zip(lists, named, strict=True))))
    queries = pl.concat(found).sort("system", "query")
    for system in (system for systems in named for system in systems):
        if not (queries["system"] == system).any():
            raise nothing_in_common(f"the run of {system}")
    return Scores.of_queries(
        queries,
        [str(measure) for measure in measures],
        systems=[system for systems in named for system in systems],
        profile=profile.name,
        notes=[*([OF_A_SAMPLE] if facts.of_a_sample else []), f"labels larger than memory: {NOT_TOLD}"],
        **chance,
    )


def _deal_runs(path: str, folder: Path, buckets: int) -> tuple[Piles, list[str]]:
    """The runs of a file in buckets, and its systems."""
    systems: dict[str, None] = {}
    with Piles(folder, buckets) as piles:
        file = File(path)
        follows = pl.lit(follows_scores(file)).alias(FOLLOWS_SCORE)
        for runs in parts_of(file, True) or iter([read_runs(path)]):
            systems |= dict.fromkeys(runs.systems)
            piles.add(with_given_scores(runs.frame).with_columns(follows))
    return piles, list(systems)
