"""A scenario's tables as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ._section import Section

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def _text(text: str) -> str:
    # What JSON escapes, TOML escapes alike, and the character 127 too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _entries(value: Any) -> list[tuple[str, Any]] | None:
    """The keys and values of a table; nothing where it is none."""
    if isinstance(value, Section):
        return value._items()
    if isinstance(value, Mapping):
        return [(str(key), one) for key, one in value.items() if one is not None]
    return None


def _rows(value: Any) -> list[list[tuple[str, Any]]] | None:
    """The rows of a list of tables; nothing where it is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence) or not value:
        return None
    rows = [_entries(row) for row in value]
    return [row for row in rows if row is not None] if all(row is not None for row in rows) else None


def _inline(value: Any) -> str:
    # Numbers and arrays of numpy, and columns of data frames. A number of numpy's is a `float` too,
    # and prints as none.
    if callable(convert := getattr(value, "tolist", None)):
        value = convert()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    entries = _entries(value)
    if entries is not None:
        inner = ", ".join(f"{_key(key)} = {_inline(one)}" for key, one in entries)
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(map(_inline, value))}]"
    raise TypeError(f"a scenario has texts, numbers, lists and tables, no {type(value).__name__}")


def write(scenario: Section) -> str:
    """The text of a scenario file; the order is that of the keys, lines first."""
    lines, tables = [], []
    for key, value in scenario._items():
        entries, rows = _entries(value), _rows(value)
        if entries is not None:
            tables.append((f"[{_key(key)}]", entries))
        elif rows is not None:
            tables.extend((f"[[{_key(key)}]]", row) for row in rows)
        else:
            lines.append(f"{_key(key)} = {_inline(value)}")
    blocks = ["\n".join(lines)] if lines else []
    for head, entries in tables:
        blocks.append("\n".join([head, *(f"{_key(key)} = {_inline(one)}" for key, one in entries)]))
    return "\n\n".join(blocks) + "\n"
