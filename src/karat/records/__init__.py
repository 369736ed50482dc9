"""Typed tables with checked schemas, scales and results."""

from karat.records.clicks import ClickLog, Clicks
from karat.records.documents import Documents
from karat.records.inputs import FrameLike, LabelsLike, PathLike, RunsLike
from karat.records.judgments import Judgments
from karat.records.preferences import Preferences
from karat.records.queries import Queries
from karat.records.result import Result
from karat.records.runs import Runs
from karat.records.scale import Level, Scale
from karat.records.schema import Column, Schema
from karat.records.sessions import Ratings, SessionLists
from karat.records.source import Source
from karat.records.study_design import Aspect, Platform, Rules, StudyDesign
from karat.records.table import Records

__all__ = [
    "Aspect",
    "ClickLog",
    "Clicks",
    "Column",
    "Documents",
    "FrameLike",
    "Judgments",
    "LabelsLike",
    "Level",
    "PathLike",
    "Platform",
    "Preferences",
    "Queries",
    "Ratings",
    "Records",
    "Result",
    "Rules",
    "Runs",
    "RunsLike",
    "Scale",
    "Schema",
    "SessionLists",
    "Source",
    "StudyDesign",
]
