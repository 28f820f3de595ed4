"""What all results have: tables, and a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from . import _plot
from ._table import Table

if TYPE_CHECKING:
    import altair


class Results:
    """Tables by name, and the page that shows them."""

    _all: Mapping[str, Table]

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables that have rows, by name, in the order in which the command writes them."""
        return dict(self._all)

    def __getitem__(self, name: str) -> Table:
        """The table `name`; a `LookupError` says which there are."""
        if name not in self._all:
            known = ", ".join(f"`{one}`" for one in self._all) or "none"
            raise LookupError(f"there are no rows in a table `{name}`; there is {known}")
        return self._all[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        """The names of the tables."""
        return iter(self._all)

    def _page(self) -> str:
        raise NotImplementedError

    def report(self, path: str | PathLike[str] | None = None) -> str:
        """The report, one page of HTML that needs no network; with `path`, into that file."""
        page = self._page()
        if path is not None:
            Path(path).write_bytes(page.encode())
        return page

    def to_csv(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes every table into `folder`, as the command does; gives the files."""
        into = Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        files = []
        for name, table in self._all.items():
            files.append(into / f"{name}.csv")
            table.to_csv(files[-1])
        return files

    def to_parquet(self, folder: str | PathLike[str]) -> list[Path]:
        """Writes every table into `folder` as Parquet, as the command does with `--parquet`; gives
        the files. Their metadata has the scenario, the seeds and the version."""
        into = Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        files = []
        for name, table in self._all.items():
            files.append(into / f"{name}.parquet")
            table.to_parquet(files[-1], self._parquet_facts())
        return files

    def _parquet_facts(self) -> list[tuple[str, str]]:
        """Names and values for the metadata of Parquet files."""
        return []

    def plot(
        self,
        metric: str,
        *,
        table: str = "summary",
        entity: str | None = None,
        x: str | None = None,
        color: str | None = None,
        dash: str | None = "engine",
        ci: bool = True,
        width: int = 480,
        height: int = 300,
    ) -> altair.Chart:
        """A chart of a metric, by Altair (`pip install altair`), drawn by the report's rules.

        Of the table `summary`, means over the repeats with their intervals; of another table,
        a column as it is.

        Args:
            metric: a metric such as `goodput` or `goodput_mbps`; a column of another table.
            table: the table.
            entity: of the table `summary`, only this flow, link or stream; all by default.
            x: the column below; by default the first that is swept with numbers.
            color: the column whose names are colours; by default the variant, or the flow.
            dash: the column whose names are dash patterns; nothing for none.
            ci: whether intervals are drawn.
            width: pixels.
            height: pixels.
        """
        chosen = self[table]
        if "mean" in chosen.columns and "metric" in chosen.columns:
            return _plot.of_summary(chosen, metric, entity, x, color, dash, ci, width, height)
        dash = dash if dash in chosen.columns else None
        return _plot.of_table(chosen, metric, x, color, dash, width, height)

    def _repr_html_(self) -> str:
        # The page has a style and a script of its own.
        page = escape(self.report(), quote=True)
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:0"></iframe>'
