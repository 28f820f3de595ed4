"""A table of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from . import _plot, _trammel

if TYPE_CHECKING:
    import altair

_SHOWN = 20
"""Rows that a notebook shows."""


class Table:
    """A table of a run: columns with units in their names, and rows.

    polars, pandas, pyarrow and DuckDB read it as it is, by `__arrow_c_stream__`.
    """

    def __init__(self, table: _trammel.Table) -> None:
        self._table = table

    @property
    def name(self) -> str:
        """The name, as of the file that the command writes."""
        return self._table.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns; the end of a name is its unit."""
        return self._table.names

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> list[object]:
        """The values of a column; None where a cell is empty."""
        return self._table.column(column)

    def __contains__(self, column: object) -> bool:
        return column in self.columns

    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""
        return iter(self.columns)

    def rows(self) -> Iterator[dict[str, object]]:
        """The rows, each by the columns' names."""
        return self._first(None)

    def _first(self, most: int | None) -> Iterator[dict[str, object]]:
        names = self.columns
        columns = [self._table.column(name, most) for name in names]
        return (dict(zip(names, cells)) for cells in zip(*columns))

    def to_csv(self, path: str | PathLike[str] | None = None) -> str:
        """The table as CSV, byte for byte as the command writes it; with `path`, into that file."""
        text = self._table.to_csv()
        if path is not None:
            Path(path).write_bytes(text.encode())
        return text

    def to_parquet(
        self, path: str | PathLike[str], facts: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Writes the table as Parquet: texts as strings with a dictionary, numbers as `DOUBLE` and
        `INT64`. A build without Parquet raises a `RuntimeError` that says so.

        Args:
            path: the file.
            facts: names and values for the file's key-value metadata.
        """
        self._table.to_parquet(path, list(facts))

    def plot(
        self,
        y: str,
        *,
        x: str | None = None,
        color: str | None = None,
        dash: str | None = None,
        width: int = 480,
        height: int = 300,
    ) -> altair.Chart:
        """A column over another, by Altair (`pip install altair`); of long tables every n-th row.

        Args:
            y: the column.
            x: the column below; by default the time, or the first.
            color: the column whose names are colours.
            dash: the column whose names are dash patterns.
            width: pixels.
            height: pixels.
        """
        return _plot.of_table(self, y, x, color, dash, width, height)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as a stream of Arrow's, in the capsule of its PyCapsule interface.

        Texts are `utf8_view`, numbers `int64` (`uint64` where one needs it) and `double`. All
        streams of a table share one memory.
        """
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<table {self.name}: {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        def row(cells: Iterable[object], tag: str) -> str:
            texts = ("" if cell is None else escape(str(cell)) for cell in cells)
            return "<tr>" + "".join(f"<{tag}>{text}</{tag}>" for text in texts) + "</tr>"

        head = row(self.columns, "th")
        body = "".join(row(cells.values(), "td") for cells in self._first(_SHOWN))
        more = "" if len(self) <= _SHOWN else f"<p>{_SHOWN} of {len(self)} rows</p>"
        return f"<table><caption>{escape(self.name)}</caption>{head}{body}</table>{more}"
