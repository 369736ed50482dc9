"""Do intervals of agreement hold for judges like these, and do tests of differences keep their 5 %?

    python benchmarks/judges_sample.py [--studies 1000] [--judges 5 10 20] [--first 0]

Studies of 40 queries with 5 documents each, 3 labels a document, by judges who differ by person, by query and by
document (tests/varied_judges.py); the truth is the mean of some huge studies of the same population. Intervals
should hold in .93 to .97 of studies; groups from one population, and kinds of documents that differ in nothing, should
be told apart in .03 to .07 of them. `fixed` are intervals over queries alone, for comparison.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from karat.judges import agreement, agreement_tests

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from varied_judges import varied_judges

FIGURES = ("alpha_ordinal", "fleiss")
#: Seeds from here on are for the truth.
HUGE = 10**6


def truth() -> npt.NDArray[np.float64]:
    """What the figures are in the population."""
    huge = [varied_judges(HUGE + seed, judges=400, queries=2000) for seed in range(6)]
    return np.mean([agreement(study, draws=0).frame.select(FIGURES).row(0) for study in huge], axis=0)


def holds(judges: int, seeds: range, whole: npt.NDArray[np.float64]) -> tuple[list[float], list[float]]:
    """In which share of studies intervals hold the truth: about judges like these, and about these judges."""
    held = np.zeros((2, len(FIGURES)))
    for seed in seeds:
        study = varied_judges(seed, judges=judges)
        for place, kind in enumerate(("sample", "fixed")):
            if kind == "fixed" and seed % 4:
                continue
            frame = agreement(study, judges=kind, draws=200).frame  # type: ignore[arg-type]
            low, high = (np.array(frame.select(f"{name}{end}" for name in FIGURES).row(0)) for end in ("_low", "_high"))
            held[place] += (low <= whole) & (whole <= high)
    return (held[0] / len(seeds)).round(3).tolist(), (held[1] / -(-len(seeds) // 4)).round(3).tolist()


def alarms(judges: int, seeds: range, by: str | None) -> list[float]:
    """In which share of studies two groups, or two kinds of documents, are told apart that do not differ."""
    found = np.zeros(len(FIGURES))
    for seed in seeds:
        study = varied_judges(seed, judges=judges, groups=1 if by else 2)
        found += agreement_tests(study, by=by, figures=FIGURES).frame["p"].to_numpy() <= 0.05
    return (found / len(seeds)).round(3).tolist()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--studies", type=int, default=1000)
    arguments.add_argument("--judges", type=int, nargs="+", default=[5, 10, 20])
    arguments.add_argument("--first", type=int, default=0, help="the seed of the first study")
    asked = arguments.parse_args()
    seeds = range(asked.first, asked.first + asked.studies)
    whole = truth()
    known = f"{', '.join(FIGURES)} are {whole.round(3).tolist()} in the population"
    print(f"{asked.studies} studies from seed {asked.first}; {known}")
    print(f"{'judges':>6}  {'interval holds':<18}{'fixed':<18}{'two groups':<18}two kinds of documents")
    for judges in asked.judges:
        sample, fixed = holds(judges, seeds, whole)
        groups, kinds = (alarms(judges, seeds, by) for by in (None, "split"))
        print(f"{judges:>6}  {sample!s:<18}{fixed!s:<18}{groups!s:<18}{kinds}", flush=True)


if __name__ == "__main__":
    main()
