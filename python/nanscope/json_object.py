"""Dataclasses that are objects in JSON: read and written by the types of their fields."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T", bound="JsonObject")


class JsonObject:
    """Base of dataclasses that are made from JSON and turned into it.

    Numbers that are not finite and complex ones are text in JSON; bytes are hexadecimal digits.
    """

    @classmethod
    def from_json(cls: type[T], data: dict[str, Any]) -> T:
        """Reads the fields of the class; keys of a newer schema are left aside."""
        types = get_type_hints(cls)
        known = {f.name for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
        values = {name: _read(types[name], data[name]) for name in known if name in data}
        return cls(**values)

    def __getitem__(self, key: str) -> Any:
        """Reads a field as one reads the JSON: `finding["origin"]["site"]["line"]`."""
        if key not in {f.name for f in dataclasses.fields(self)}:  # type: ignore[arg-type]
            raise KeyError(key)
        return getattr(self, key)

    def to_json(self) -> dict[str, Any]:
        return {
            f.name: _write(getattr(self, f.name))
            for f in dataclasses.fields(self)  # type: ignore[arg-type]
        }


def _read(wanted: Any, value: Any) -> Any:
    """Turns a value of the JSON into what its type says."""
    parts = get_args(wanted)
    options = parts if parts and get_origin(wanted) not in (list, dict) else (wanted,)
    if isinstance(value, dict):
        return _read_object(options, value)
    if isinstance(value, list):
        lists = [option for option in options if get_origin(option) is list]
        return [_read(get_args(lists[0])[0], item) for item in value] if lists else value
    if isinstance(value, str) and str not in options:
        if bytes in options:
            return bytes.fromhex(value)
        if float in options or complex in options:
            return _number(value)
    return value


def _read_object(options: tuple, value: dict[str, Any]) -> Any:
    for option in options:
        if isinstance(option, type) and issubclass(option, JsonObject):
            return option.from_json(value)
        if get_origin(option) is dict:
            of_key, of_value = get_args(option)
            return {of_key(key): _read(of_value, item) for key, item in value.items()}
    return value


def _number(text: str) -> float | complex:
    if text == "nan":
        return math.nan  # one object for all, so that lists and findings that hold it are equal
    return complex(text) if text.endswith("j") else float(text)


def _write(value: Any) -> Any:
    if isinstance(value, JsonObject):
        return value.to_json()
    if isinstance(value, list):
        return [_write(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _write(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if isinstance(value, complex):
        return str(value).strip("()")
    return value
