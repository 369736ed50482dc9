"""Times as people and programs write them, as numbers that grow with time: never sorted as text."""

from __future__ import annotations

import polars as pl

from karat.advice import advise
from karat.errors import BadInput
from karat.records.source import Source
from karat.records.table import count

#: A date, maybe an hour, minutes, seconds, and an offset from UTC: ISO 8601, with T or a space between.
ISO = (
    r"^(\d{4}-\d{2}-\d{2})(?:[T ]([01]\d|2[0-4]):([0-5]\d)(?::((?:[0-5]\d|60)(?:[.,]\d+)?))?)?"
    r" ?(?:Z|UTC|([+-])([01]\d|2[0-3]):?([0-5]\d))?$"
)
DAY = 86_400.0
#: Numbers from the second on are times, not places in a sequence; from the others on, in thousandths of the one before.
FIRST_SECOND = 1e8
THOUSANDTHS = (1e17, 1e14, 1e11)


def moments(times: pl.Series) -> pl.Series:
    """Each time as a number, null where there is none or none that can be read.

    >>> moments(pl.Series(["2024-05-01T09:30:00Z", "2024-05-01T11:00+02:00", None])).to_list()
    [1714555800.0, 1714554000.0, None]
    >>> moments(pl.Series(["9", "10"])).to_list()
    [9.0, 10.0]

    Large numbers are seconds since 1970, or thousandths or millionths of them, and small ones places in a sequence.
    Everything else is ISO 8601; a time without an offset is taken for UTC. Each is read by itself, so that tables with
    times of different kinds may be put together.
    """
    texts = times.cast(pl.String).str.strip_chars()
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count() < len(numbers):
        for least in THOUSANDTHS:
            numbers = numbers.zip_with((numbers < least).fill_null(True), numbers / 1000)
        # What is no number, and what lies thousands of years away, is no time.
        far = ~(numbers.abs() <= THOUSANDTHS[-1]).fill_null(True)
        numbers = numbers.set(far | numbers.is_nan().fill_null(False), None)
    if numbers.null_count() == times.null_count():
        return numbers.alias(times.name)
    part = {name: pl.col("text").str.extract(ISO, place) for place, name in enumerate(_PARTS, 1)}
    day = part["day"].str.to_date("%Y-%m-%d", strict=False).cast(pl.Int64).cast(pl.Float64) * DAY
    clock = sum((_number(part[name]) * size for name, size in _CLOCK.items()), start=pl.lit(0.0))
    ahead = (_number(part["ahead"]) * 3600 + _number(part["minutes ahead"]) * 60) * pl.when(part["sign"] == "-").then(
        -1.0
    ).otherwise(1.0)
    read = pl.DataFrame({"text": texts}).select(day + clock - ahead).to_series()
    return numbers.zip_with(numbers.is_not_null(), read).alias(times.name)


_PARTS = ("day", "hour", "minute", "second", "sign", "ahead", "minutes ahead")
_CLOCK = {"hour": 3600.0, "minute": 60.0, "second": 1.0}


def _number(text: pl.Expr) -> pl.Expr:
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).fill_null(0.0)


def read_times(times: pl.Series, source: Source, time_format: str | None = None) -> pl.Series:
    """The times as texts that `moments` reads; `BadInput` names the first that it cannot.

    `time_format` says how dates that are not ISO 8601 are written, as in `%m/%d/%Y %H:%M`.
    """
    if times.dtype.is_temporal():
        zone = getattr(times.dtype, "time_zone", None)
        plain = times.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else times
        return plain.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%dT%H:%M:%S%.6f")
    texts = times.cast(pl.String)
    texts = texts.set(texts.str.strip_chars() == "", None)
    if time_format is not None:
        try:
            read = texts.str.strptime(pl.Datetime("us"), time_format, strict=False)
        except pl.exceptions.PolarsError:
            raise BadInput.at(
                "the format of times", expected="a pattern such as %m/%d/%Y %H:%M", found=f'"{time_format}"'
            ) from None
        number = read.cast(pl.Int64)
        texts = pl.select(pl.when(read.is_not_null()).then(read.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f"))).to_series()
        lost = number.is_null() & times.is_not_null()
    else:
        read_so = moments(texts)
        lost = read_so.is_null() & texts.is_not_null()
        sequence = (read_so.abs() < FIRST_SECOND) & texts.str.strip_chars().cast(pl.Float64, strict=False).is_not_null()
        if sequence.any() and not sequence.fill_null(True).all():
            lost = sequence.fill_null(False)  # places in a sequence beside times: no order for both
    more = int(lost.sum()) - 1
    source.refuse(
        lost,
        expected="a time as ISO 8601 (2024-05-31T16:20:00Z), seconds since 1970 or a place in the sequence"
        if time_format is None
        else f"a time as {time_format}",
        found=lambda row: f'"{times[row]}"' + (f" ({count(more, 'more row')} like it)" if more else ""),
        remedy="say how times are written with "
        + advise("--time-format '%m/%d/%Y %H:%M'", 'time_format="%m/%d/%Y %H:%M"'),
    )
    return texts.alias(times.name)
