"""Some hundred spoilt files, as `make fuzz` makes them by the ten thousand: an answer or an error in words, soon."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import fuzz
from simulated import THOROUGH

#: So many seconds of the processor are spent at most; on a slow machine fewer files are spoilt.
ENOUGH = 12.0 if THOROUGH else 3.0


@pytest.mark.evidence
@pytest.mark.filterwarnings("ignore")  # numbers that overflow warn, as they do for users, whose screen shows it
@pytest.mark.parametrize("commands", [0.0, 1.0], ids=["readers", "commands"])
def test_spoilt_files_are_read_or_refused(tmp_path: Path, commands: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_MAX_BYTES", str(fuzz.UNPACKED))
    fuzz.prepare(tmp_path)
    end = time.process_time() + ENOUGH / 2
    for number in range(400):
        if time.process_time() > end:
            break
        begun = time.process_time()
        told = fuzz.run_case(1, number, tmp_path, commands=commands)
        assert time.process_time() - begun < fuzz.LONGEST, told
    assert number
