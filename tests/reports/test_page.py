"""The page is complete in itself, escapes what a study holds, and carries its numbers."""

from __future__ import annotations

import base64
import csv
import io
import json
import re

import polars as pl
import pytest

import karat as kt
from karat.reports import Figure, charts
from karat.reports.page import page
from karat.reports.section import Section, Table
from karat.study import Study

HOSTILE = '</script><img src="https://example.org/x" onerror="alert(1)">'


def test_the_verdict_comes_first(report):
    html = report.html()
    body = html[html.index("<body>") :]
    assert re.search(r'<p class="verdict">([^<]+)</p>', body)[1] == report.verdict
    assert body.index('class="verdict"') < body.index("<section")
    assert "<strong>Simulated:</strong> judges and clicks" in body


def test_nothing_is_loaded_from_elsewhere(report):
    html = re.sub(r"<script>.*?</script>", "", report.html(), flags=re.S)  # the libraries name tags in their texts
    assert "default-src 'none'" in html
    assert not re.search(r"<(script|img|iframe|source)[^>]+src\s*=", html)
    assert re.findall(r'<link[^>]+href="([^"]*)"', html) == ["data:,"]
    assert all(href.startswith(("#", "data:")) for href in re.findall(r'<a [^>]*href="([^"]*)"', html))


def test_every_chart_has_its_numbers_as_csv(report):
    html = report.html()
    links = dict(re.findall(r'download="([^"]+)\.csv" href="data:text/csv;base64,([^"]+)"', html))
    assert links.keys() == {figure.name for figure in report.figures}
    for figure in report.figures:
        rows = list(csv.DictReader(io.StringIO(base64.b64decode(links[figure.name]).decode())))
        assert len(rows) == figure.data.height > 0
        assert list(rows[0]) == figure.data.columns


def test_titles_and_how_it_was_made_stand_with_every_chart(report):
    for figure in report.figures:
        assert len(figure.title) > 10
        assert len(figure.subtitle) > 10
        assert figure.spec["width"] == "container"


def test_intervals_are_always_drawn(report):
    known = [figure for figure in report.figures if {"low", "high"} <= {*figure.data.columns}]
    assert len(known) > 5
    for figure in known:
        if figure.name != "labels-and-clicks":
            drawn = json.dumps(figure.spec)
            assert '"low"' in drawn, figure.name
            assert '"high"' in drawn, figure.name


def test_every_chart_fits_the_schema_of_vega_lite(report, users):
    import altair as alt

    charts = [*report.figures, *kt.report(users, draws=100).figures]
    assert {"layer"} <= {key for figure in charts for key in figure.spec}
    for figure in charts:
        alt.LayerChart.validate(figure.spec)
    with pytest.raises(Exception, match="nonsense"):
        alt.LayerChart.validate({**charts[0].spec, "nonsense": 1})


def test_names_that_are_markup_stay_text():
    run = {HOSTILE: {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(9)}, "b": {f"q{i}": {"b": 1.0} for i in range(9)}}
    labels = {f"q{i}": {"a": i % 2, "b": 1} for i in range(9)}
    html = kt.report(Study(HOSTILE, labels=kt.Judgments.of(labels), runs=(kt.Runs.of(run),)), draws=100).html()
    assert "<img" not in re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert html.count(HOSTILE) == 0
    specs = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, re.S)[1]
    assert HOSTILE in json.dumps(json.loads(specs), ensure_ascii=False).replace('\\"', '"')


def test_tables_set_intervals_beside_figures_and_words_apart():
    frame = pl.DataFrame(
        {"system": ["a", "b"], "score": [0.51, float("nan")], "low": [0.41, None], "high": [0.61, None]}
    )
    html = page("T", "v", "", "", "", (Section(("found",), (), (Table("Scores", frame),), name="s", title="S"),))
    assert '<td class="word">a</td><td>0.51 <span class="interval">[0.41, 0.61]</span></td>' in html
    assert '<td class="word">b</td><td>-</td>' in html


@pytest.fixture
def small():
    data = pl.DataFrame({"row": ["a", "b"], "value": [0.5, 0.7], "low": [0.4, float("nan")], "high": [0.6, None]})
    return Figure("two-rows", "b is higher", "by hand", charts.dots(data, row="row", value="value", x_title="x"), data)


def test_a_figure_is_written_as_svg_png_and_csv(small, tmp_path):
    paths = small.write(tmp_path / "new")
    assert [path.name for path in paths] == ["two-rows.svg", "two-rows.png", "two-rows.csv"]
    svg = paths[0].read_text()
    assert svg.startswith("<svg")
    assert "b is higher" in svg
    assert paths[1].read_bytes()[:4] == b"\x89PNG"
    assert paths[2].read_text().splitlines()[0] == "row,value,low,high"


def test_what_is_undefined_is_null_in_a_chart_not_nan(small):
    assert "NaN" not in json.dumps(small.spec)


def test_importing_karat_does_not_load_the_drawing():
    import subprocess
    import sys

    code = "import sys, karat as kt; kt.score; import karat.reports; print({'altair', 'vl_convert'} & {*sys.modules})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "set()"


def test_texts_have_room_and_short_words_are_not_broken():
    frame = pl.DataFrame({"doc": ["q43-d16"], "text": ["a document of many words, none of which matters"]})
    html = page("T", "v", "", "", "", (Section(("found",), (), (Table("Mistakes", frame),), name="s", title="S"),))
    assert '<td class="word">q43-d16</td><td class="word text">a document' in html


def test_no_line_of_a_command_ends_within_an_option():
    section = Section(("Said.",), commands=("karat plan gold a-b.csv -m nDCG@10",), name="next", title="Next")
    html = page("T", "v", "", "", "", (section,))
    assert '<code>karat plan gold a-b.csv <span class="whole">-m</span> nDCG@10</code>' in html
