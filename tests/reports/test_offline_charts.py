"""A chart in a notebook needs no network: Altair's own HTML loads Vega from a content delivery network."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import altair
import pytest

import karat as kt

LABELS = {f"q{n}": {"good": 1, "bad": 0} for n in range(20)}
ONE = {f"q{n}": {"good": 1.0, "bad": 2.0} if n % 4 else {"good": 2.0, "bad": 1.0} for n in range(20)}
TWO = {f"q{n}": {"good": 2.0, "bad": 1.0} for n in range(20)}
#: What makes a browser fetch something.
FETCHES = re.compile(
    r"""<(?:script|img|iframe|image)[^>]+(?:src|href)\s*=\s*["'](?:https?:)?//|<link|@import|import\("""
)


@pytest.fixture
def chart() -> Any:
    return kt.compare(LABELS, {"one": ONE, "two": TWO}, "P@1").plot()


def shown(chart: Any) -> dict[str, str]:
    """What IPython displays of an object."""
    bundle = chart._repr_mimebundle_(include=None, exclude=None)
    return bundle if isinstance(bundle, dict) else bundle[0]


def test_a_chart_in_a_notebook_is_svg_without_addresses(chart: Any) -> None:
    bundle = shown(chart)
    assert bundle.keys() == {"image/svg+xml", "text/plain"}
    svg = bundle["image/svg+xml"]
    assert "two is better" in re.sub(r"<[^>]+>", "", svg)
    assert {*re.findall(r"https?://[^\"' ]+", svg)} <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_a_chart_made_of_it_needs_no_network_either(chart: Any) -> None:
    assert "image/svg+xml" in shown(chart.properties(width=200))
    assert "image/svg+xml" in shown(copy.deepcopy(chart))
    assert shown(pickle.loads(pickle.dumps(chart))).keys() == shown(chart).keys()
    assert isinstance(chart, altair.TopLevelMixin)


def test_a_saved_page_has_vega_in_it(chart: Any, tmp_path: Path) -> None:
    chart.save(tmp_path / "chart.html")
    for page in ((tmp_path / "chart.html").read_text(encoding="utf-8"), chart.to_html()):
        head = page[: page.index("<script")] + "".join(re.findall(r"<(?:script|link)[^>]*>", page))
        assert not FETCHES.search(head)
        assert "cdn.jsdelivr.net" not in head
        assert len(page) > 300_000


def test_altairs_own_charts_and_the_users_renderer_stay(chart: Any) -> None:
    plain = altair.Chart.from_dict(chart.to_dict())
    assert "image/svg+xml" not in shown(plain)
    with altair.renderers.enable("json"):
        assert "application/json" in shown(chart)


@pytest.mark.parametrize("ending", ["svg", "png", "json"])
def test_other_files_are_saved_as_before(chart: Any, tmp_path: Path, ending: str) -> None:
    chart.save(tmp_path / f"chart.{ending}")
    assert (tmp_path / f"chart.{ending}").stat().st_size > 1000
