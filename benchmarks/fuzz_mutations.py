"""The ways in which the fuzz job spoils small files."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable

import zstandard

from fuzz_samples import SAMPLES

Mutation = Callable[[bytes, random.Random], bytes]

#: Words that programs stumble over.
WORDS: tuple[bytes, ...] = (
    *(b"", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"\xc3\xa9",),
    *(b"\xf0\x9f\x98\x80", b'"', b"'", b"\\", b"\\ud800", b"\\u0000", b",", b";", b":", b"{", b"}", b"[", b"]",),
    *(b"<", b">", b"&", b"/", b"#", b"=", b"nan", b"NaN", b"inf", b"-inf", b"1e23", b"1e308", b"1e999", b"-1",),
    *(b"0", b"-0", b"0.5", b"1_000", b"0x10", b"1e-300", b"9" * 20, b"9" * 400, b"-9223372036854775809",),
    *(b"2147483648", b"4294967296", b"null", b"None", b"true", b"True", b"[" * 80, b'{"a":' * 80, b"[" * 3000,),
    *(b"a" * 5000, b"=1+1", b"N/A", b"can't tell", b"gold", b"overall", b"left", b"2024-02-30",),
    *(b"2024-01-01T25:00:00Z", b"99999-01-01", b"yesterday", b"1e18", b"query", b"doc", b"label", b"score",),
    *(b"\xe2\x80\xae", b"\xcc\x88" * 50, b"a\nb", b"a,b", b'a"b', b"../../x", b"http://[::1", b"%00", b"%s", b"{}",),
    *(b"Q0",),
)  # fmt: skip


def spoilt(data: bytes, rng: random.Random) -> bytes:
    """A sample with one to four things wrong with it."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(MUTATIONS)(data, rng)
    return data[:200_000]


def _flip(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        if found:
            found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def _insert(data: bytes, rng: random.Random) -> bytes:
    place = rng.randint(0, len(data))
    return data[:place] + rng.choice(WORDS) + data[place:]


def _cut(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + (data[rng.randint(start, len(data)) :] if rng.random() < 0.7 else b"")


def _again(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    end = min(len(data), start + rng.choice((1, 10, 200)))
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def _line(data: bytes, rng: random.Random) -> bytes:
    """Lines left out, doubled, exchanged, emptied, or cells more or less in one of them."""
    lines = data.split(b"\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            del lines[one]
        case 1:
            lines.insert(two, lines[one])
        case 2:
            lines[one], lines[two] = lines[two], lines[one]
        case 3:
            lines[one] = rng.choice(WORDS)
        case 4:
            lines = lines[:1]
        case _:
            lines[one] += rng.choice((b",", b" ", b"\t", b";")) + rng.choice(WORDS)
    return b"\n".join(lines)


def _cell(data: bytes, rng: random.Random) -> bytes:
    """A cell, or a whole column below the first line, with another word; or a column less, or twice."""
    lines = data.split(b"\n")
    separator = max((b",", b"\t", b" "), key=lines[0].count)
    rows = [line.split(separator) for line in lines]
    column, word, how = rng.randrange(len(rows[0])), rng.choice(WORDS), rng.randrange(5)
    chosen = [rng.randrange(len(rows))] if how < 3 else range(how % 2, len(rows))
    for place in chosen:
        if column < len(rows[place]):
            row = rows[place]
            rows[place] = row[:column] + ([word] if how != 4 else []) + row[column + (how != 2) :]
    return b"\n".join(separator.join(row) for row in rows)


def _node(data: bytes, rng: random.Random) -> bytes:
    """A value somewhere in JSON replaced, left out, wrapped or doubled; other files have a word replaced."""
    lines = data.split(b"\n")
    whole = data[:1] in (b"{", b"[") and (len(lines) < 3 or lines[0].strip() in (b"[", b"{"))
    place = rng.randrange(len(lines))
    try:
        document = json.loads(data if whole else lines[place])
    except (ValueError, RecursionError):
        return _cell(data, rng)
    odd = rng.choice((None, True, [], {}, "", 1e300, -1, [[1]], {"a": {"b": []}}, "x" * 300, 10**25, [None], "\ud800"))
    document = _changed(document, odd, rng)
    made = json.dumps(document).encode()
    if whole:
        return made
    lines[place] = made
    return b"\n".join(lines)


def _changed(node: object, odd: object, rng: random.Random) -> object:
    if rng.random() < 0.25 or not isinstance(node, dict | list) or not node:
        return rng.choice((odd, odd, [node], {"a": node}))
    if isinstance(node, list):
        place = rng.randrange(len(node))
        return [*node[:place], *([] if rng.random() < 0.2 else [_changed(node[place], odd, rng)]), *node[place + 1 :]]
    name = rng.choice(list(node))
    left = {key: value for key, value in node.items() if key != name or rng.random() > 0.2}
    return left | {rng.choice((name, name, "", "query", "doc", "label")): _changed(node[name], odd, rng)}


def _packed(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data, 1) if rng.random() < 0.5 else zstandard.ZstdCompressor().compress(data)
    return packed if rng.random() < 0.3 else _flip(packed, rng)


def _bomb(data: bytes, rng: random.Random) -> bytes:
    large = data + rng.choice((b"\0", b"a", b"q1 0 d1 1\n", b"[", data[-40:])) * (rng.choice((1, 4)) << 20)
    return (
        gzip.compress(large[: 30 << 20], 1)
        if rng.random() < 0.5
        else zstandard.ZstdCompressor().compress(large[: 30 << 20])
    )


def _spliced(data: bytes, rng: random.Random) -> bytes:
    other = SAMPLES[rng.choice(list(SAMPLES))]
    return data[: rng.randint(0, len(data))] + other[rng.randint(0, len(other)) :]


MUTATIONS: tuple[Mutation, ...] = (
    *(
        _flip,
        _insert,
        _insert,
        _cut,
        _again,
        _line,
        _line,
        _cell,
        _cell,
        _cell,
        _node,
        _node,
        _node,
        _spliced,
    ),
    *(
        _packed,
        lambda data, rng: _bomb(data, rng) if rng.random() < 0.03 else _insert(data, rng),
    ),
)
