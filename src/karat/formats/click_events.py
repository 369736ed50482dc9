"""Events into a log: impressions and clicks, one row each, become one row for each result that a search showed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from karat.errors import BadInput
from karat.records import Source, column_names
from karat.records.clicks import IMPRESSION, TEAM, ClickLog
from karat.records.schema import Column, Schema
from karat.records.table import count

#: What events are called that say a result was shown, and that it was clicked, in small letters.
SHOWN = ("impression", "impressions", "view", "shown", "display", "result_impression")
CLICKED = ("click", "clicked", "click_through", "clickthrough", "item_click", "result_click", "product_click")

EVENTS = Schema(
    "events",
    (
        Column("query", pl.String, "the query's id or text", True, ("user_query", "query_text", *column_names.QUERY)),
        Column("doc", pl.String, "the document's id", True, ("object_id", *column_names.DOC, "url"), False),
        Column("action", pl.String, "what happened", True, ("action_name", "event", "event_type", "event_name")),
        Column("rank", pl.Int64, "where the result stood, 1 the top", False, ("position", "ordinal"), least=1),
        Column("session", pl.String, "the user's session", aliases=("session_id",)),
        Column("user", pl.String, "who searched", aliases=("user_id", "client_id")),
        Column("impression", pl.String, "the one search that showed it", aliases=IMPRESSION),
        Column("time", pl.String, "when, as ISO 8601", aliases=("timestamp",)),
        Column("dwell", pl.Float64, "seconds until the user came back", aliases=("dwell_time",), least=0),
        Column("team", pl.String, "which system brought it", aliases=TEAM),
    ),
)
#: What one search is known by where it has no id of its own, as far as there is such.
ONE_SEARCH = ("session", "user", "query")


def is_events(columns: list[str]) -> bool:
    """Whether a table with these columns has a row for each event, and not for each result shown.

    >>> is_events(["query", "doc", "event_type"]), is_events(["query", "doc", "clicked"])
    (True, False)
    """
    headers = {name.strip().lower() for name in columns}
    action = EVENTS.columns[2]
    return bool({action.name, *action.aliases} & headers) and not {"clicked", "click", "clicks"} & headers


@dataclass(frozen=True)
class Told:
    """What was counted among events, to be said of them, or of all parts that they came in."""

    clicks: int = 0
    shown: int = 0
    other: int = 0
    nameless: int = 0
    unseen: int = 0
    unranked: int = 0
    #: What events are called that are neither impressions nor clicks.
    kinds: tuple[str, ...] = ()
    #: What events of one search have in common where no column names it.
    known_by: tuple[str, ...] = ()

    def __add__(self, more: Told) -> Told:
        numbers = ("clicks", "shown", "other", "nameless", "unseen", "unranked")
        sums = {name: getattr(self, name) + getattr(more, name) for name in numbers}
        return Told(**sums, kinds=(*dict.fromkeys(self.kinds + more.kinds),), known_by=more.known_by)

    def check(self, source: Source) -> None:
        """Refuse what is no log: without clicks, or with nothing else."""
        if not self.clicks:
            raise BadInput.at(
                source.name,
                expected=f"clicks among the events ({', '.join(CLICKED[:3])})",
                found=", ".join((*(["impression"] if self.shown else []), *self.kinds)[:5]) or "no event",
                remedy="give a table with a column clicked where clicks are called otherwise",
            )
        if not self.shown:
            raise BadInput.at(
                source.name,
                expected="impressions beside the clicks",
                found="clicks alone, so that nobody knows what was passed over",
                remedy="add the events of results shown, or the searches with what they returned (ubi_queries)",
            )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left aside, and what counts as what."""
        kinds, known = ", ".join(self.kinds[:4]), " and ".join(self.known_by)
        unseen = count(self.unseen, "result")
        said = {
            f"{count(self.other, 'event')} that are neither impressions nor clicks left aside ({kinds})": self.other,
            f"{count(self.nameless, 'event')} without a document left aside": self.nameless,
            f"events of one {known} count as of one search: no column names the search": bool(known),
            f"{unseen} clicked without an impression of their own, which count as shown": self.unseen,
            f"{count(self.unranked, 'result')} shown without a rank left aside": self.unranked,
        }
        return tuple(note for note, told in said.items() if told)


def log_of_events(frame: pl.DataFrame, source: Source) -> ClickLog:
    """A table of events as a log; what was left aside is noted."""
    log, told = log_of_part(frame, source)
    told.check(source)
    return ClickLog(log.frame, (*log.notes, *told.notes))


def log_of_part(frame: pl.DataFrame, source: Source) -> tuple[ClickLog, Told]:
    """All events of some sessions as a log, and what is to be said of them once the others are there, too."""
    notes: list[str] = []
    events = EVENTS.conform(frame, source, notes=notes)
    if "time" in events.columns:
        events = events.with_columns(pl.col("time").cast(pl.String))
    return _log(events, None, source, notes)


def log_of_searches(events: pl.DataFrame, searches: pl.DataFrame, source: Source) -> ClickLog:
    """Events, beside the lists that searches returned (impression, rank, doc, and what is known of each search)."""
    notes: list[str] = []
    events = EVENTS.conform(events, source, notes=notes)
    log, told = _log(events, searches, source, notes)
    told.check(source)
    return ClickLog(log.frame, (*log.notes, *told.notes))


def _log(
    events: pl.DataFrame, searches: pl.DataFrame | None, source: Source, notes: list[str]
) -> tuple[ClickLog, Told]:
    action = pl.col("action").str.strip_chars().str.to_lowercase()
    events = events.with_columns(is_shown=action.is_in(SHOWN), is_click=action.is_in(CLICKED))
    clicks = int(events["is_click"].sum())
    events = _with_dwell(events)
    other = events.filter(~pl.col("is_shown") & ~pl.col("is_click"))
    kinds = tuple(other["action"].unique(maintain_order=True).head(5).to_list())
    counted = events.filter(pl.col("is_shown") | pl.col("is_click"))
    events = counted.filter(pl.col("doc").is_not_null())
    known_by: tuple[str, ...] = ()
    if "impression" not in events.columns:
        known_by = tuple(name for name in ONE_SEARCH if name in events.columns)
        events = events.with_columns(impression=pl.concat_str(known_by, separator="\x1f", ignore_nulls=True))
    seen = events if searches is None else _returned(events, searches, notes)
    first = [pl.col(name).drop_nulls().first() for name in seen.columns if name in _KEPT]
    rows = seen.group_by("impression", "doc", maintain_order=True).agg(
        *first, clicked=pl.col("is_click").any(), was_shown=pl.col("is_shown").any(), dwell=pl.col("dwell").max()
    )
    unseen = int((rows["clicked"] & ~rows["was_shown"]).sum())
    # What some event of a search says of it holds for all that it showed; a search is at least a session of its own.
    of_search = [name for name in ("session", "user") if name in rows.columns]
    rows = rows.drop("was_shown").with_columns(pl.col(of_search).drop_nulls().first().over("impression"))
    rows = rows.with_columns(session=pl.coalesce(*of_search, "impression"))
    rows = rows.drop([name for name in rows.columns if rows.height and rows[name].null_count() == rows.height])
    unranked = rows["rank"].null_count() if "rank" in rows.columns else 0
    rows = rows.drop_nulls("rank") if unranked else rows
    told = Told(
        clicks=clicks,
        shown=int(seen["is_shown"].sum()),
        other=other.height,
        nameless=counted.height - events.height,
        unseen=unseen,
        unranked=unranked,
        kinds=kinds,
        known_by=known_by,
    )
    made = ClickLog.check(rows, source=Source(source.name))
    return ClickLog(made.frame, (*made.notes, *notes)), told


_KEPT = ("query", "rank", "session", "user", "time", "team")


def _returned(events: pl.DataFrame, searches: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Events, and what searches returned where there are no impressions of them."""
    logged = events.filter(pl.col("is_shown"))["impression"].unique()
    silent = searches.filter(~pl.col("impression").is_in(logged.implode()))
    if silent.height:
        number = count(silent["impression"].n_unique(), "search", "searches")
        notes.append(f"{number} without impressions: all that was returned counts as shown")
    silent = silent.with_columns(is_shown=pl.lit(True), is_click=pl.lit(False))
    # What is known of the search, such as the query's text, stands above what an event says; a rank does not.
    of_search = searches.select("impression", query_of="query").unique("impression")
    events = events.join(of_search, on="impression", how="left", maintain_order="left")
    lost = events.filter(pl.col("query_of").is_null())["impression"].n_unique()
    if lost:
        notes.append(f"{count(lost, 'search', 'searches')} that only events know: their ids stand for their queries")
    events = events.with_columns(query=pl.coalesce("query_of", "query")).drop("query_of")
    return pl.concat([events, silent], how="diagonal_relaxed")


def _with_dwell(events: pl.DataFrame) -> pl.DataFrame:
    """The stay after a click: as logged, or until the session's next event about something else."""
    if "dwell" in events.columns and events["dwell"].is_not_null().any():
        return events
    whose = next((name for name in ("session", "user") if name in events.columns), None)
    if whose is None or "time" not in events.columns:
        return events.with_columns(dwell=pl.lit(None, dtype=pl.Float64))
    when = events["time"].str.to_datetime(time_zone="UTC", strict=False) if events["time"].dtype == pl.String else None
    if when is None or when.null_count() == len(when):
        return events.with_columns(dwell=pl.lit(None, dtype=pl.Float64))
    ordered = events.with_columns(when=when).with_row_index("place").sort(whose, "when", maintain_order=True)
    following = pl.col("when").shift(-1).over(whose) - pl.col("when")
    stay = pl.when(pl.col("is_click")).then(following.dt.total_milliseconds() / 1000.0)
    return ordered.with_columns(dwell=stay).sort("place").drop("place", "when")
