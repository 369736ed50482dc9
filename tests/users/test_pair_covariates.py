"""Covariates of a pair as splits: of the answers, of the lists, of the snippets; numbers are split at their mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import typed
from karat.errors import BadInput
from karat.formats import write
from karat.records import Documents, Judgments, Preferences, Runs
from karat.users import agreement

LABELS = Judgments.of({f"q{n}": {"good": 1, "bad": 0} for n in range(4)})
#: x has the relevant document first; y second, or in q2 and q3 not at all.
RUNS = Runs.of(
    {
        "x": {f"q{n}": {"good": 2.0, "bad": 1.0} for n in range(4)},
        "y": {f"q{n}": {"bad": 2.0} | ({"good": 1.0} if n < 2 else {}) for n in range(4)},
    }
)
DOCUMENTS = Documents.of([{"doc": "good", "snippet": "all you need"}, {"doc": "bad", "snippet": " "}])
#: Users prefer x in q0 and q2, y in q1 and q3.
SAID = Preferences.of(
    [
        {"query": f"q{n}", "left": "xy"[n % 2], "right": "yx"[n % 2], "choice": "left", "judge": judge}
        | {"device": "phone" if n < 2 else "desk", "left_words": 10 * n, "right_words": 2}
        for n in range(4)
        for judge in ("ann", "ben")
    ]
)


def parts(split: str, **more: object) -> dict[str, tuple[int, int, int]]:
    found = agreement(SAID, LABELS, RUNS, "RR", split=[split], draws=0, **more)  # type: ignore[arg-type]
    rows = found.frame.filter(found.frame["split"] != "all").select("split", "agree", "disagree", "n").rows()
    return {name: (agree, disagree, n) for name, agree, disagree, n in rows}


def test_lists_are_split_at_their_mean_length() -> None:
    # Two results against two in q0 and q1, two against one in q2 and q3.
    assert parts("list_length") == {"list_length 1.5": (1, 1, 2), "list_length 2": (1, 1, 2)}


def test_pairs_are_split_by_the_snippets_that_are_missing() -> None:
    # "bad" has none: one missing in every list.
    assert parts("missing_snippets", documents=DOCUMENTS) == {"missing_snippets 1": (2, 2, 4)}
    # Of x 12 characters; of y 12 with "good" and none without: 12 and 6.
    assert list(parts("snippet_length", documents=DOCUMENTS)) == ["snippet_length 12", "snippet_length 6"]


def test_a_column_of_the_answers_splits_and_that_of_either_side_is_averaged() -> None:
    assert parts("device") == {"device desk": (1, 1, 2), "device phone": (1, 1, 2)}
    # (0 + 2) / 2, 6, 11, 16: the mean is 8.5.
    assert parts("words") == {"words up to 8.5": (1, 1, 2), "words above 8.5": (1, 1, 2)}


def test_the_mean_difference_of_a_part_by_hand() -> None:
    """RR is 1 for x; for y it is 1/2 in q0 and q1, 0 in q2 and q3 (Sanderson et al., section 4.2)."""
    frame = agreement(SAID, LABELS, RUNS, "RR", split=["zero"], draws=0).frame
    found = dict(frame.select("split", "mean_difference").iter_rows())
    assert found == {"all": 0.75, "one scores 0": 1.0, "both score above 0": 0.5}


def test_what_cannot_be_told_is_refused() -> None:
    with pytest.raises(BadInput, match="documents with snippets"):
        parts("missing_snippets")
    with pytest.raises(BadInput, match="list_length"):
        parts("weather")


def test_a_split_by_snippets_from_the_command_line(tmp_path: Path) -> None:
    for name, records in (("said", SAID), ("labels", LABELS), ("runs", RUNS), ("documents", DOCUMENTS)):
        write(records, tmp_path / f"{name}.csv")
    command = "karat validate agreement said.csv labels.csv runs.csv -m RR --split snippet_length --documents"
    done = typed(f"{command} documents.csv", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "snippet_length 12" in done.stdout
    idle = typed("karat validate agreement said.csv labels.csv runs.csv -m RR --documents documents.csv", tmp_path)
    assert idle.returncode == 2
    assert "no --split is of their snippets" in idle.stderr
