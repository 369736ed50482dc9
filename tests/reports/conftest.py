"""Studies made for the tests of the report, as folders."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import karat as kt
from karat.reports import Report
from karat.simulate import judging_study, preference_study, two_systems
from karat.study import Study, Truth


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study's folder with three systems, three groups of judges, gold labels and clicks."""
    path = tmp_path_factory.mktemp("study")
    study = judging_study(seed=1, queries=30, docs=12, llm=True, gold=0.4, spammers=1)
    (path / "runs").mkdir()
    for name in study.runs.systems:
        study.runs.frame.filter(pl.col("system") == name).write_csv(path / "runs" / f"{name}.csv")
    people = study.judgments.frame.filter(pl.col("group") != "gold")
    people.select("query", "doc", "label", "judge", "group").write_csv(path / "judgments.csv")
    study.gold.frame.select("query", "doc", "label", "probability").write_csv(path / "gold.csv")
    study.queries.frame.write_csv(path / "queries.csv")
    study.documents.frame.write_ndjson(path / "documents.jsonl")
    study.clicks.frame.write_csv(path / "clicks.csv")
    (path / "study.toml").write_text('title = "Wikipedia first?"\n')
    (path / "truth.json").write_text(
        json.dumps({"simulated": "judges and clicks", "measure": "P@10", "scores": {"bm25": 0.9, "wikipedia": 0.91}})
    )
    return path


@pytest.fixture(scope="session")
def report(folder: Path) -> Report:
    """The report of that study."""
    return kt.report(Study.load(str(folder)), measure="P@10", draws=200)


@pytest.fixture(scope="session")
def by_llm(folder: Path) -> Report:
    """The same where the labels of one group decide."""
    return kt.report(Study.load(str(folder)), measure="P@10", group="llm", draws=100)


@pytest.fixture(scope="session")
def favoured() -> Study:
    """Two systems that are equally good, and a judge who favours B, with gold labels of some documents."""
    study = two_systems(150, difference=0.0, judge="lenient", leniency=0.2, seed=3)
    drawn = study.draw_gold(500, seed=4)
    return Study(
        "Favoured",
        labels=study.judgments(),
        gold=study.gold(drawn, 500 / len(study.truth)),
        runs=tuple(study.runs()),
        truth=Truth("all of it", "P@10", {"A": 0.4, "B": 0.4}),
    )


@pytest.fixture(scope="session")
def users() -> Study:
    """Four systems and what users prefer, whose utility is nDCG@10."""
    study = preference_study("nDCG@10", queries=40, systems=4, noise=0.5, seed=3)
    return Study("Users", labels=study.judgments, runs=(study.runs,), preferences=study.preferences)
