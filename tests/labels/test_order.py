"""In which order labels were given, and which were asked of every document alike."""

import numpy as np
import polars as pl
import pytest

from karat.errors import BadInput
from karat.labels import Panel
from karat.records import Judgments
from karat.records.study_design import Rules
from karat.records.times import moments


@pytest.mark.parametrize(
    "times",
    [
        ["2024-02-01T09:00:00Z", "2024-02-01T10:00:00Z", "2024-10-01T09:00:00Z"],
        ["2024-02-01 09:00", "2024-02-01 11:30+02:00", "2024-02-02"],
        ["9", "10", "100"],
        ["1714555800", "1714555801.5", "1814555800"],
        ["1714555800000", "1714555801500", "1714555801501"],
    ],
)
def test_times_come_in_their_order_however_they_are_written(times: list[str]) -> None:
    assert moments(pl.Series(times)).arg_sort().to_list() == [0, 1, 2]
    # As text the last of them would often come first.
    rows = [{"query": "q", "doc": "d", "judge": "ann", "label": n, "time": time} for n, time in enumerate(times)]
    assert Panel.of(rows[::-1]).value.tolist() == [0.0]


def test_a_time_that_cannot_be_read_is_refused_with_its_row_and_the_remedy() -> None:
    rows = [{"query": "q", "doc": "d", "label": 1, "time": time} for time in ("2024-02-01", "2/13/2024 10:00")]
    with pytest.raises(BadInput, match=r'row 2: expected a time as ISO 8601 .* found "2/13/2024 10:00".*time_format='):
        Judgments.of(rows)


def test_an_american_time_is_read_where_its_format_is_named() -> None:
    frame = pl.DataFrame({"query": "q", "doc": ["a", "b"], "label": 1, "time": ["2/13/2024 10:00", "12/1/2023 09:00"]})
    found = Judgments.check(frame, time_format="%m/%d/%Y %H:%M")
    assert found.frame["time"].to_list() == ["2024-02-13T10:00:00.000000", "2023-12-01T09:00:00.000000"]


def test_dates_of_a_frame_are_times() -> None:
    frame = pl.DataFrame({"query": ["q"], "doc": ["d"], "label": [1], "time": ["2024-02-01T10:00:00"]})
    frame = frame.with_columns(pl.col("time").str.to_datetime())
    assert moments(Judgments.of(frame).frame["time"]).to_list() == [1706781600.0]


def crowd(apart: float, cant_tell: float, seed: int, grades: int = 4) -> list[dict[str, object]]:
    """Two labels a document, a third where they are apart; some answers are none and another judge is asked."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, object]] = []
    for doc in range(400):
        given: list[int] = []
        wanted, asked = 2, 0
        while len(given) < wanted and asked < 5:
            asked += 1
            silent = rng.random() < cant_tell
            label = None if silent else int(rng.integers(grades))
            rows.append({"query": f"q{doc % 20}", "doc": str(doc), "label": label, "judge": f"j{rng.integers(10**9)}"})
            if label is not None:
                given.append(label)
                wanted = 3 if len(given) >= 2 and abs(given[0] - given[1]) >= apart else 2
        rows[-1]["lost"] = rng.random() < cant_tell
    return rows


@pytest.mark.parametrize("apart", [1.0, 2.0])
@pytest.mark.parametrize("cant_tell", [0.0, 0.005, 0.03])
def test_a_third_label_where_two_are_apart_is_seen_though_some_cannot_tell(apart: float, cant_tell: float) -> None:
    # Some third labels never came, so that a contested document has two.
    rows = [row for row in crowd(apart, cant_tell, seed=1) if not row.pop("lost", False)]
    panel = Panel.of(rows)
    assert [rule.apart for rule in panel.third_rules] == [apart]
    two = panel.asked_of_all()
    assert two.labels == "first two"
    first = pl.DataFrame(rows).drop_nulls("label").filter(pl.int_range(pl.len()).over("query", "doc") < 2)
    assert sorted(two.frame.select("query", "doc", "label").rows()) == sorted(
        first.select("query", "doc", pl.col("label").cast(pl.Float64)).rows()
    )


def test_three_labels_of_everything_show_no_rule() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"query": "q", "doc": str(doc), "label": int(rng.integers(3)), "judge": f"j{judge}"}
        for doc in range(200)
        for judge in range(3)
    ]
    panel = Panel.of(rows)
    assert panel.third_rules == []
    assert panel.asked_of_all() is panel


def test_the_rule_of_a_study_stands_whatever_the_labels_look_like() -> None:
    rows = [
        {"query": "q", "doc": str(doc), "label": label, "judge": f"{doc} {judge}", "time": str(10 * doc + judge)}
        for doc in range(3)
        for judge, label in enumerate([1, 1, 0])
    ]
    asked = Judgments.of(rows)
    asked = Judgments(asked.frame, rules=Rules(labels=2, apart=1.0))
    two = Panel.of(asked).asked_of_all()
    assert two.value.tolist() == [1.0] * 6
    assert "as the study says" in two.notes[-1]
    assert Panel.of(Judgments(asked.frame, rules=Rules(labels=2, apart=0.0))).asked_of_all().labels == "all"


def test_a_label_given_again_takes_no_place_among_the_first_two() -> None:
    # Everybody gives every label twice, one after the other: the first two labels are of one judge.
    rows = [row for row in crowd(1.0, 0.0, seed=1) if row["label"] is not None]
    twice = Panel.of([row for row in rows for _ in range(2)], repeats="all")
    once = Panel.of(rows).asked_of_all()
    assert [rule.apart for rule in twice.third_rules] == [1.0]
    assert twice.asked_of_all().counts().tolist() == (2 * once.counts()).tolist()


def test_tables_with_times_of_different_kinds_may_be_put_together() -> None:
    times = ["1714555800", "2024-05-01T09:31:00Z", "1714555920000", "2024-05-01T11:33:00+02:00"]
    assert moments(pl.Series(times)).to_list() == [1714555800.0, 1714555860.0, 1714555920.0, 1714555980.0]
    # Gold with times of its own takes no order from the judges.
    rows = [
        {"query": "q", "doc": "d", "judge": "ann", "label": n, "time": str(1_700_000_000 + 60 * n)} for n in (0, 1, 2)
    ]
    gold = [{"query": "q", "doc": "d", "label": 1, "time": "2024-01-01T00:00:00Z"}]
    assert Panel.of(rows[::-1], gold, repeats="all").of_judges().value.tolist() == [0, 1, 2]


def test_places_in_a_sequence_beside_times_have_no_order() -> None:
    rows = [{"query": "q", "doc": str(n), "label": 1, "time": time} for n, time in enumerate(["7", "2024-05-01"])]
    with pytest.raises(BadInput, match="row 1: expected a time"):
        Judgments.of(rows)


def test_labels_of_one_day_have_lost_their_order_and_the_rule_still_holds() -> None:
    rows = [{name: row[name] for name in ("query", "doc", "label", "judge")} for row in crowd(1.0, 0.0, seed=2)]
    rng = np.random.default_rng(5)
    shuffled = [rows[n] for n in rng.permutation(len(rows))]
    untimed = Panel.of(shuffled).asked_of_all()
    dated = Panel.of([row | {"time": "2024-05-01"} for row in shuffled]).asked_of_all()
    assert sorted(untimed.frame.select("doc", "label").rows()) == sorted(dated.frame.select("doc", "label").rows())
    assert "by the order of the rows" in untimed.notes[-1]
