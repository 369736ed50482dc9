"""Who to pay: everybody with what they did, what speaks against them, and the ids that a platform wants."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import polars as pl

from karat.collect.roster import pair_judges, roster
from karat.formats.write import content
from karat.records import Scale
from karat.store import Store
from karat.store.exported import Table, exportable, exported, people_frame
from karat.store.store import PLATFORMS


def flags(store: Store) -> dict[str, list[str]]:
    """What speaks against judges, by name: likely spammers, one grade to nearly everything, always left, too fast."""
    found: dict[str, list[str]] = {}
    for row in roster(store)["rows"]:
        said = [("likely_spammer", "likely a spammer"), ("one_grade", "one grade to nearly everything")]
        found[row["name"]] = [text for name, text in said if row[name]]
    for row in pair_judges(store)["rows"]:
        found.setdefault(row["judge"], []).extend([row["flag"]] if row["flag"] else [])
    return found


#: Figures of the table of judges in the file of people, by their names there.
FIGURES = {"seconds": "median_seconds", "agreement": "with_others", "n_compared": "n_compared"}
FIGURES |= {"accuracy": "with_gold", "n_gold": "n_gold", "as_of": "figures_as_of"}


def people_file(store: Store) -> Table:
    """The people of a study, with their figures and what speaks against them.

    Figures of judges who were rejected are those of the moment before, whose time is in `figures_as_of`.
    """
    said, frame = flags(store), people_frame(store)
    known = {row["name"]: row for row in roster(store)["rows"]}
    types = {"n_compared": pl.Int64, "n_gold": pl.Int64, "as_of": pl.String}
    figures = [
        pl.Series(new, [known.get(judge, {}).get(name) for judge in frame["judge"]], types.get(name, pl.Float64))
        for name, new in FIGURES.items()
    ]
    flagged = ["; ".join(said.get(name, [])) or None for name in frame["judge"]]
    return Table(frame.with_columns(*figures, flags=pl.Series(flagged, dtype=pl.String)))


def paid_ids(store: Store, enough: int) -> list[str]:
    """The platform's ids of people to be paid, as a list to approve.

    These are all who gave enough answers that stand, also where others of theirs were rejected, and all who were given
    the completion code after fewer, because nothing was left to ask, and were not rejected.
    """
    coded = pl.col("completion_code").is_not_null() & (pl.col("state") != "rejected")
    people = people_frame(store).filter(
        pl.col("source").is_in(PLATFORMS), pl.col("answers") >= 1, (pl.col("answers") >= enough) | coded
    )
    return people["platform_id"].drop_nulls().to_list()


def everything(store: Store, scale: Scale | None, enough: int) -> bytes:
    """All that was collected in one zip: a table each as CSV, the log as JSON lines, the ids to pay."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for what in exportable():
            records: Any = people_file(store) if what == "people" else exported(store, what, scale)
            form = "jsonl" if what == "log" else "csv"
            archive.writestr(f"{what}.{form}", content(records, form, what))
        archive.writestr("pay.txt", "".join(f"{name}\n" for name in paid_ids(store, enough)))
    return packed.getvalue()
