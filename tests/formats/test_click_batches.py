"""A click log that is read in batches gives the figures of one that is read at once, and the same errors."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
import zstandard

import karat as kt
from karat.errors import BadInput
from karat.formats import click_batches
from karat.formats import partitions as whole_lines
from karat.formats import run_batches as batches
from karat.simulate.click_log import position_log
from karat.users import click_counts as buckets
from karat.users.click_models import ClickLabels, click_labels_of_parts


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of some hundred rows, so that a small log has many."""
    monkeypatch.setattr(click_batches, "FEW", 0)
    monkeypatch.setattr(whole_lines, "BYTES", 5000)
    monkeypatch.setattr(click_batches, "ROWS", 300)
    monkeypatch.setattr(buckets, "ROWS", 500)


LOG = position_log(queries=12, pages=160, unlike=0.5, seed=5).frame.with_columns(
    doc=pl.when(pl.col("doc") == "d3-0").then(pl.lit('a "name"\nin two lines, quoted')).otherwise("doc"),
    dwell=pl.when("clicked").then(pl.int_range(pl.len()).cast(pl.Float64) % 50),
)


def written(folder: Path, name: str, frame: pl.DataFrame = LOG) -> Path:
    path = folder / name
    plain = name.removesuffix(".gz").removesuffix(".zst")
    if plain.endswith(".parquet"):
        frame.write_parquet(path)
        return path
    if plain.endswith(".jsonl"):
        text = frame.write_ndjson()
    else:
        text = frame.write_csv(separator="\t" if plain.endswith(".tsv") else ",")
    data = text.encode()
    if name.endswith(".gz"):
        data = gzip.compress(data)
    if name.endswith(".zst"):
        data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def in_batches(*paths: Path, **asked: float) -> ClickLabels:
    log = click_batches.click_batches(*paths)
    assert isinstance(log, click_batches.LogParts)
    return click_labels_of_parts(log, log.rows, **asked)


def assert_same(found: ClickLabels, wanted: ClickLabels) -> None:
    one, other = found.frame.sort("query", "doc"), wanted.frame.sort("query", "doc")
    assert one.select("query", "doc").equals(other.select("query", "doc"))
    for name in one.columns[2:]:
        assert one[name].to_list() == pytest.approx(other[name].to_list(), abs=1e-9, nan_ok=True), name
    for name in found.ranks.columns:
        assert found.ranks[name].to_list() == pytest.approx(wanted.ranks[name].to_list(), abs=1e-9, nan_ok=True)
    assert (found.finding, found.notes) == (wanted.finding, wanted.notes)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.csv.zst", "a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_batches_give_the_figures_of_the_whole(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name)
    log = click_batches.click_batches(path)
    assert isinstance(log, click_batches.LogParts)
    assert len([*log]) > 5
    assert_same(in_batches(path), kt.click_labels_by_rank(LOG))
    assert_same(in_batches(path, satisfied_after=20.0), kt.click_labels_by_rank(LOG, satisfied_after=20.0))


def test_sessions_may_go_on_in_another_file_and_ranks_may_be_missing_from_a_bucket(tmp_path: Path) -> None:
    again = pl.concat([LOG, LOG]).sort("doc")  # a session's rows are far apart
    again = pl.concat([again, LOG.head(3).with_columns(doc=pl.lit("rare"), rank=pl.lit(977, pl.Int64))])
    half = again.height // 2
    paths = [written(tmp_path, "a.csv", again[:half]), written(tmp_path, "b.parquet", again[half:])]
    found = in_batches(*paths)
    assert_same(found, kt.click_labels_by_rank(again))
    assert any("hang together" in note for note in found.notes)


def test_without_sessions_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    bare = LOG.drop("session", "dwell")
    found = in_batches(written(tmp_path, "a.csv", bare.sample(fraction=1, shuffle=True, seed=1)))
    assert_same(found, kt.click_labels_by_rank(bare))
    some = LOG.with_columns(session=pl.when(pl.col("session") != "s7").then("session"))
    assert_same(in_batches(written(tmp_path, "b.parquet", some)), kt.click_labels_by_rank(some))


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    lines = LOG.drop("dwell").filter(~pl.col("doc").str.contains("\n")).write_csv().splitlines()
    lines[1500] = lines[1500].replace("true", "maybe").replace("false", "maybe")
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines))
    with pytest.raises(BadInput, match=r"bad\.csv line 1501: expected true or false as clicked"):
        in_batches(path)
    bad = LOG.with_columns(rank=pl.when(pl.int_range(pl.len()) == 1000).then(0).otherwise("rank"))
    with pytest.raises(BadInput, match=r"bad\.parquet row 1001: expected a whole number from 1 as rank"):
        in_batches(written(tmp_path, "bad.parquet", bad))
    nowhere = LOG.with_columns(rank=pl.when(pl.int_range(pl.len()) != 1000).then("rank"))
    with pytest.raises(BadInput, match="a rank for every result shown"):
        in_batches(written(tmp_path, "none.parquet", nowhere))
    with pytest.raises(BadInput, match="the column rank for telling what a rank does"):
        in_batches(written(tmp_path, "no.csv", LOG.drop("rank")))
    with pytest.raises(BadInput, match="the column dwell for telling how long"):
        in_batches(written(tmp_path, "no.csv", LOG.drop("dwell")), satisfied_after=3.0)
    with pytest.raises(kt.Undefined, match="no result shown"):
        click_labels_of_parts([kt.ClickLog.check(LOG[:0])], 0)
    assert batches.BYTES > 5000  # runs are cut as before


def events(frame: pl.DataFrame = LOG) -> pl.DataFrame:
    """The same log with a row for each event, in no order."""
    shown = frame.drop("clicked", "dwell").with_columns(action=pl.lit("impression"))
    clicked = frame.filter("clicked").drop("clicked", "dwell").with_columns(action=pl.lit("click"))
    other = shown.head(40).with_columns(action=pl.lit("hover"))
    return pl.concat([shown, clicked, other]).sample(fraction=1, shuffle=True, seed=1)


@pytest.mark.parametrize("searches", [False, True])
def test_events_in_parquet_come_some_sessions_at_a_time(tmp_path: Path, searches: bool) -> None:
    table = events()
    table = table.with_columns(search_id=pl.col("session") + "/" + pl.col("query")) if searches else table
    path = written(tmp_path, "events.parquet", table)
    found = in_batches(path)
    assert len([*click_batches.click_batches(path)]) > 2
    assert_same(found, kt.click_labels_by_rank(kt.read_clicks(path)))
    assert "40 events that are neither impressions nor clicks left aside (hover)" in found.notes
    assert any("count as of one search" in note for note in found.notes) != searches


def test_what_is_wrong_with_events_is_said_of_the_whole_file(tmp_path: Path) -> None:
    table = events()
    bad = table.with_columns(rank=pl.when(pl.int_range(pl.len()) == 1000).then(0).otherwise("rank"))
    with pytest.raises(BadInput, match=r"bad\.parquet row 1001: expected a whole number from 1 as rank"):
        in_batches(written(tmp_path, "bad.parquet", bad))
    with pytest.raises(BadInput, match=r"no\.parquet: expected clicks among the events .*found impression, hover"):
        in_batches(written(tmp_path, "no.parquet", table.filter(pl.col("action") != "click")))
    path = written(tmp_path, "cut.parquet", table)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadInput, match=r"cut\.parquet: expected a Parquet file"):
        in_batches(path)
    with pytest.raises(BadInput, match="found clicks alone"):
        in_batches(written(tmp_path, "alone.parquet", table.filter(pl.col("action") == "click")))


@pytest.mark.parametrize(
    "change",
    [
        {"session": pl.when(pl.int_range(pl.len()) != 7).then("session")},  # whose event is it?
        {"search_id": pl.lit("one search of all sessions")},
        {"time": pl.lit("2024-01-01T00:00:00"), "dwell": pl.lit(None, pl.Float64)},
        {"rank": pl.when(pl.int_range(pl.len()) != 7).then("rank")},
    ],
)
def test_events_that_sessions_do_not_part_are_read_at_once(tmp_path: Path, change: dict[str, pl.Expr]) -> None:
    path = written(tmp_path, "events.parquet", events().with_columns(**change))
    assert isinstance(click_batches.click_batches(path), kt.ClickLog)


def test_events_and_counts_are_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("query,doc,rank,action\nq,d,1,impression\nq,d,1,click\n")
    (tmp_path / "counts.csv").write_text("query,doc,clicks\nq,d,3\n")
    assert isinstance(click_batches.click_batches(tmp_path / "events.csv"), kt.ClickLog)
    assert isinstance(click_batches.click_batches(tmp_path / "counts.csv"), kt.Clicks)
