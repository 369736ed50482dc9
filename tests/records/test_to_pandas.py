"""Every result and every table of records is a pandas frame on request."""

from __future__ import annotations

import sys
from unittest.mock import patch

import pytest

import karat as kt

LABELS = {"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "b": 2}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}


def test_a_result_has_the_same_figures_in_pandas() -> None:
    scores = kt.score(LABELS, RUN, "P@1, AP", draws=0)
    frame = scores.to_pandas()
    assert type(frame).__module__.startswith("pandas")
    assert list(frame.columns) == scores.to_frame().columns
    assert frame["value"].tolist() == scores.to_frame()["value"].to_list()
    assert len(kt.compare(LABELS, {"a": RUN, "b": RUN}, "P@1").to_pandas())
    assert kt.Judgments.of(LABELS).to_pandas()["label"].tolist() == [2, 0, 1, 2]


def test_without_pandas_the_error_says_what_to_install() -> None:
    scores = kt.score(LABELS, RUN, "P@1", draws=0)
    with patch.dict(sys.modules, pandas=None), pytest.raises(kt.MissingExtra, match="pip install pandas"):
        scores.to_pandas()
