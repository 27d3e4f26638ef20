"""Captures as a stranger could make them: the records of a real one, changed and written anew.

Frames and checksums are right (docs/capture-format.md): what is changed reaches the readers.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

HEADER = 16
TYPES = {"program": 1, "finding": 2, "coverage": 3, "end": 4, "proposal": 5, "repair": 6}


class Bytes(bytes):
    """Text on the wire that need not be UTF-8."""


def _head(major: int, value: int) -> bytes:
    for size, code in ((1, 24), (2, 25), (4, 26), (8, 27)):
        if value < 24:
            return bytes([major << 5 | value])
        if value < 1 << 8 * size:
            return bytes([major << 5 | code]) + value.to_bytes(size, "big")
    raise ValueError(value)


def encode(item: object) -> bytes:
    match item:
        case None | True | False:
            return bytes([{False: 0xF4, True: 0xF5, None: 0xF6}[item]])
        case int():
            return _head(0, item) if item >= 0 else _head(1, -1 - item)
        case float():
            return b"\xfb" + struct.pack(">d", item)
        case Bytes():
            return _head(3, len(item)) + bytes(item)
        case bytes():
            return _head(2, len(item)) + item
        case str():
            return encode(Bytes(item.encode("utf-8", "surrogatepass")))
        case list():
            return _head(4, len(item)) + b"".join(encode(part) for part in item)
        case dict():
            parts = (encode(key) + encode(value) for key, value in item.items())
            return _head(5, len(item)) + b"".join(parts)
    raise TypeError(type(item))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def item(self) -> object:
        first = self.take(1)[0]
        major, short = first >> 5, first & 31
        if major == 7:
            if short in (20, 21, 22):
                return {20: False, 21: True, 22: None}[short]
            kind, size = {25: (">e", 2), 26: (">f", 4), 27: (">d", 8)}[short]
            return struct.unpack(kind, self.take(size))[0]
        value = short if short < 24 else int.from_bytes(self.take(1 << short - 24), "big")
        if major in (2, 3):
            return self.take(value) if major == 2 else self.take(value).decode()
        if major == 4:
            return [self.item() for _ in range(value)]
        if major == 5:
            return {self.item(): self.item() for _ in range(value)}
        return value if major == 0 else -1 - value


def records_of(capture: Path) -> list[tuple[int, dict]]:
    data, at = capture.read_bytes(), HEADER
    records = []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        records.append((kind, _Reader(data[at + 16 : at + 16 + length]).item()))
        at += 16 + length
    return records


def write(capture: Path, records: list[tuple[int, object]], real: Path) -> None:
    out = real.read_bytes()[:HEADER]
    for kind, record in records:
        payload = encode(record)
        head = struct.pack("<III", kind, len(payload), zlib.crc32(payload))
        out += head + struct.pack("<I", zlib.crc32(head)) + payload
    capture.write_bytes(out)


def every_text(item: object, change) -> object:
    """The same with every text but keys changed."""
    if isinstance(item, str):
        return change(item)
    if isinstance(item, list):
        return [every_text(part, change) for part in item]
    if isinstance(item, dict):
        return {key: every_text(value, change) for key, value in item.items()}
    return item


def every_number(item: object, change) -> object:
    if isinstance(item, (int, float)) and not isinstance(item, bool):
        return change(item)
    if isinstance(item, list):
        return [every_number(part, change) for part in item]
    if isinstance(item, dict):
        return {key: every_number(value, change) for key, value in item.items()}
    return item
