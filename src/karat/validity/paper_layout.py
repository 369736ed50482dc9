"""Tables of agreement as Sanderson et al. print them: counts and percent, a column for each measure or part."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from karat.records import Result

#: The rows of a table of agreement, by the columns that are counted; ties where they are counted in.
ROWS = {"agree": "Agree", "equal": "Rank equal", "disagree": "Disagree", "ties": "Ties"}
#: The figures of Table 3, and what the paper calls them.
CORRELATIONS = {"tau": "Kendall's tau", "tau_ap": "AP-correl."}


def as_printed(table: Result) -> Result:
    """The same table in the paper's layout; what is none of its tables stays as it is.

    >>> frame = pl.DataFrame({"measure": ["nDCG@10"] * 2, "split": ["all", "small difference"], "agree": [160, 96],
    ...                       "equal": [21, 16], "disagree": [66, 43], "ties": [0, 0], "n": [247, 155]})
    >>> for row in as_printed(Result(frame, "")).frame.iter_rows(): print(row)
    ('Agree', '160 (65 %)', '96 (62 %)')
    ('Rank equal', '21 (9 %)', '16 (10 %)')
    ('Disagree', '66 (27 %)', '43 (28 %)')
    ('', '247', '155')

    Tables 1, 2 and 4 to 9 have users' answers as rows; Table 3 the upper half of both correlations; Table 10 class,
    example and number. The mean difference of each part, of which Section 4.2 tells, goes into a note.
    """
    frame = table.frame
    if {"measure", *ROWS} - {"ties"} <= {*frame.columns}:
        return _agreement(table)
    if {"first", "second", *CORRELATIONS} <= {*frame.columns}:
        return replace(_plain(table), frame=pl.concat([_half(frame, *one) for one in CORRELATIONS.items()]))
    if {"class", "example", "n"} <= {*frame.columns}:
        return replace(_plain(table), frame=frame.select("class", "example", "n").filter(pl.col("n") > 0))
    return table


def _agreement(table: Result) -> Result:
    frame = table.frame
    parts = frame["split"].n_unique() > 1
    # Ties are a row where they are of the pairs counted, as in Table 8.
    ties_in = bool((frame["n"] == frame.select(pl.sum_horizontal(*ROWS)).to_series()).all()) and frame["ties"].sum() > 0
    rows = {name: said for name, said in ROWS.items() if name != "ties" or ties_in}
    columns: dict[str, list[str]] = {"users": [*rows.values(), ""]}
    for row in frame.iter_rows(named=True):
        name = row["measure"].replace("_", "-") if not parts or row["split"] == "all" else row["split"]
        base = max(row["n"], 1)
        columns[name] = [f"{row[part]:,} ({100 * row[part] / base:.0f} %)" for part in rows] + [f"{row['n']:,}"]
    notes = list(table.notes)
    if "mean_difference" in frame.columns:
        means = [
            (row["split"], row["mean_difference"]) for row in frame.iter_rows(named=True) if row["mean_difference"]
        ]
        said = ", ".join(f"{split} {mean:.3f}" for split, mean in means[: 3 if parts else 1])
        notes.append(f"mean difference in {frame['measure'][0]}: {said}")
    return replace(_plain(table), frame=pl.DataFrame(columns), notes=tuple(notes))


def _half(frame: pl.DataFrame, figure: str, said: str) -> pl.DataFrame:
    """The upper half of a square of correlations, its name in the first column's head row."""
    frame = frame.with_columns(pl.col("first", "second").str.replace_all("_", "-"))
    names = pl.concat([frame["first"], frame["second"]]).unique(maintain_order=True).to_list()
    known = {(row["first"], row["second"]): row[figure] for row in frame.iter_rows(named=True)}
    rows = []
    for first in names[:-1]:
        cells = [known.get((first, second)) for second in names[1:]]
        rows.append([said, first, *("" if value is None else f"{value:.4f}" for value in cells)])
    return pl.DataFrame(rows, schema=["correlation", "measure", *names[1:]], orient="row")


def _plain(table: Result) -> Result:
    """The finding and the notes alone: what stands beside a table in karat is no part of the paper's."""
    return Result(table.frame, table.finding, table.notes)
