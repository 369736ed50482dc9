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

#: A table of judges, with a row for each.
Rows = list[dict[str, Any]]


def flags(store: Store) -> dict[str, list[str]]:
    """What speaks against judges, by name: likely spammers, one grade to nearly everything, always left, too fast."""
    return _flags(roster(store)["rows"], pair_judges(store)["rows"])


def _flags(rows: Rows, pairs: Rows, *, standing: bool = False) -> dict[str, list[str]]:
    """What speaks against judges by two tables of them; with `standing`, only against answers that stand."""
    found: dict[str, list[str]] = {}
    for row in rows:
        said = [("likely_spammer", "likely a spammer"), ("one_grade", "one grade to nearly everything")]
        mine = [text for name, text in said if row[name]] + ([row["too_fast"]] if row["too_fast"] else [])
        found[row["name"]] = [] if standing and row["as_of"] else mine
    for row in pairs:
        if not (standing and row["as_of"]):
            found.setdefault(row["judge"], []).extend([row["flag"]] if row["flag"] else [])
    return found


#: Figures of the table of judges in the file of people, by their names there.
FIGURES = {"seconds": "median_seconds", "agreement": "with_others", "n_compared": "n_compared"}
FIGURES |= {"accuracy": "with_gold", "n_gold": "n_gold", "as_of": "figures_as_of"}


def people_file(store: Store, enough: int) -> Table:
    """The people of a study, with their figures, what speaks against them, and whether to pay them.

    Figures of judges who were rejected are those of the moment before, whose time is in `figures_as_of`. `pay` is
    approve or review for those of a platform who did enough.
    """
    rows, pairs, frame = roster(store)["rows"], pair_judges(store)["rows"], people_frame(store)
    said, known = _flags(rows, pairs), {row["name"]: row for row in rows}
    types = {"n_compared": pl.Int64, "n_gold": pl.Int64, "as_of": pl.String}
    figures = [
        pl.Series(new, [known.get(judge, {}).get(name) for judge in frame["judge"]], types.get(name, pl.Float64))
        for name, new in FIGURES.items()
    ]
    flagged = ["; ".join(said.get(name, [])) or None for name in frame["judge"]]
    earned = _earned(frame, enough)
    held = _held(earned, _flags(rows, pairs, standing=True))
    state = {who: "review" if who in held else "approve" for who in earned["platform_id"]}
    pay = [state.get(who) for who in frame["platform_id"]]
    columns = {"flags": pl.Series(flagged, dtype=pl.String), "pay": pl.Series(pay, dtype=pl.String)}
    return Table(frame.with_columns(*figures, **columns))


def paid_ids(store: Store, enough: int) -> list[str]:
    """The platform's ids of people to be paid, as a list to approve.

    These are all who gave enough answers that stand, also where others of theirs were rejected, and all who were given
    the completion code after fewer, because nothing was left to ask, and were not rejected. Whose answers are flagged
    is not among them, but in `held_ids`.
    """
    held = held_ids(store, enough)
    return [who for who in _earned(people_frame(store), enough)["platform_id"] if who not in held]


def held_ids(store: Store, enough: int) -> dict[str, list[str]]:
    """The platform's ids of people who did enough to be paid but are flagged, with the flags: to be looked at first."""
    found = _flags(roster(store)["rows"], pair_judges(store)["rows"], standing=True)
    return _held(_earned(people_frame(store), enough), found)


def _held(earned: pl.DataFrame, found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {who: found[judge] for who, judge in earned.select("platform_id", "judge").rows() if found.get(judge)}


def held_file(store: Store, enough: int) -> Table:
    """People to look at before they are paid, with what speaks against them."""
    rows = [{"platform_id": who, "flags": "; ".join(said)} for who, said in held_ids(store, enough).items()]
    return Table(pl.DataFrame(rows, schema={"platform_id": pl.String, "flags": pl.String}))


def _earned(people: pl.DataFrame, enough: int) -> pl.DataFrame:
    """Those of platforms who did enough to be paid."""
    coded = pl.col("completion_code").is_not_null() & (pl.col("state") != "rejected")
    did = (pl.col("answers") >= 1) & ((pl.col("answers") >= enough) | coded)
    return people.filter(pl.col("source").is_in(PLATFORMS), pl.col("platform_id").is_not_null(), did)


def everything(store: Store, scale: Scale | None, enough: int) -> bytes:
    """All that was collected in one zip: a table each as CSV, the log as JSON lines, the ids to pay and to review."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for what in exportable():
            records: Any = people_file(store, enough) if what == "people" else exported(store, what, scale)
            form = "jsonl" if what == "log" else "csv"
            archive.writestr(f"{what}.{form}", content(records, form, what))
        archive.writestr("pay-review.csv", content(held_file(store, enough), "csv", "people"))
        archive.writestr("pay.txt", "".join(f"{name}\n" for name in paid_ids(store, enough)))
    return packed.getvalue()
