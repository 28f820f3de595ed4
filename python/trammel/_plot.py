"""Charts of results by Altair, by the rules of the report.

A colour is a flow (or what `color` names) and a dash pattern an engine; the axis of a sweep is
divided as its values are; goodput, windows and queues start at zero; a title has its unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair

    from ._table import Table

_COLORS = ("#0072b2", "#d55e00", "#008f68", "#aa3377", "#a87700", "#3a9bdc", "#5b5b5b", "#7f4fc9")
"""Those of the report on light ground."""
_DASHES: Mapping[str, Sequence[int]] = {
    "simulate": [1, 0],
    "predict": [7, 4],
    "measure": [14, 3],
    "linux_vt": [10, 3, 2, 3],
}
_OTHER_DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [14, 3])
"""Of what is no engine."""
_UNITS = {
    "s": "s",
    "us": "µs",
    "ms": "ms",
    "bps": "bit/s",
    "mbps": "Mbit/s",
    "pkts": "packets",
    "bytes": "bytes",
    "cycles": "cycles",
    "fps": "frames/s",
    "pps": "packets/s",
    "percent": "%",
    "bdp": "BDP",
}
"""The ends of columns' names, and their units in print."""
_RESERVED = {"count": "number"}
_FROM_ZERO = ("goodput", "throughput", "cwnd", "queue", "share", "in_flight")
_MOST_ROWS = 5000
"""Rows that Altair puts into a page without being told to."""


def _altair() -> Any:
    try:
        import altair
    except ImportError:
        raise ImportError("charts need Altair: `pip install altair`") from None
    return altair


def title(column: str) -> str:
    """A column's name for people: `cwnd (packets)` of `cwnd_pkts`."""
    stem, _, end = column.rpartition("_")
    if stem and end in _UNITS:
        return f"{stem.replace('_', ' ')} ({_UNITS[end]})"
    return column.replace("_", " ")


def _numbers(values: Iterable[object]) -> list[float] | None:
    """The values as numbers; nothing where one is none."""
    given = [value for value in values if value is not None]
    if not given or any(isinstance(value, bool) for value in given):
        return None
    if not all(isinstance(value, (int, float)) for value in given):
        return None
    return [float(value) for value in given if isinstance(value, (int, float))]


def _scale(values: Iterable[object]) -> dict[str, Any]:
    """The scale of a swept axis: by factors where each value is at least 1.6 times the last."""
    numbers = sorted(set(_numbers(values) or ()))
    positive = [value for value in numbers if value > 0]
    if not positive or numbers[0] < 0:
        return {"zero": False}
    grows = all(b >= 1.6 * a for a, b in zip(positive, positive[1:]))
    if not (len(positive) > 2 and grows or positive[-1] / positive[0] > 11):
        return {"zero": False}
    if len(positive) < len(numbers):
        return {"type": "symlog", "constant": positive[0] / 2}
    return {"type": "log", "nice": False, "domain": [positive[0] / 1.15, positive[-1] * 1.15]}


def _axis(values: Iterable[object]) -> dict[str, Any]:
    """Marks at the values of a sweep, where they are few."""
    numbers = sorted(set(_numbers(values) or ()))
    return {"values": numbers, "format": "~g"} if 0 < len(numbers) <= 9 else {}


def _kind(values: Sequence[object]) -> str:
    return "quantitative" if _numbers(values) is not None else "nominal"


def _low(metric: str, values: Iterable[object]) -> dict[str, Any]:
    """From zero for goodput, windows and queues, and wherever values lie far apart.

    No other axis shows less than a tenth of its values: one per cent is no collapse.
    """
    numbers = _numbers(values) or [0.0]
    low, high = min(numbers), max(numbers)
    if any(word in metric for word in _FROM_ZERO) or 0 <= low < high / 2:
        return {"zero": True, "nice": True}
    room = max(0.0, 0.1 * max(abs(low), abs(high)) - (high - low)) / 2
    return {"zero": False, "nice": True, "domain": [low - room, high + room]}


def _base(altair: Any, rows: list[dict[str, Any]], width: int, height: int) -> Any:
    return altair.Chart(altair.Data(values=rows), width=width, height=height)


def _safe(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row under names that Vega has no meaning of its own for."""
    return {_RESERVED.get(name, name): value for name, value in row.items()}


def _named(rows: list[dict[str, Any]], *columns: str | None) -> None:
    """Has numbers that stand for colours and dash patterns as names."""
    for row in rows:
        for column in columns:
            if column is not None and isinstance(row[column], float):
                row[column] = f"{row[column]:g}"


def _channels(altair: Any, rows: list[dict[str, Any]], color: str | None, dash: str | None) -> Any:
    def different(column: str) -> list[Any]:
        return list(dict.fromkeys(row[column] for row in rows if row[column] is not None))

    channels: dict[str, Any] = {}
    if color is not None:
        names = different(color)
        colors = [_COLORS[at % len(_COLORS)] for at in range(len(names))]
        scale = altair.Scale(domain=names, range=colors)
        channels["color"] = altair.Color(color, type="nominal", title=title(color), scale=scale)
    if dash is not None:
        names = different(dash)
        others = [_OTHER_DASHES[at % len(_OTHER_DASHES)] for at in range(len(names))]
        dashes = [_DASHES.get(str(name), other) for name, other in zip(names, others)]
        scale = altair.Scale(domain=names, range=dashes)
        if len(names) > 1:
            channels["strokeDash"] = altair.StrokeDash(
                dash, type="nominal", title=title(dash), scale=scale
            )
    return channels


def of_summary(
    summary: Table,
    metric: str,
    entity: str | None,
    x: str | None,
    color: str | None,
    dash: str | None,
    ci: bool,
    width: int,
    height: int,
) -> altair.Chart:
    """Means and intervals of a metric over what is swept."""
    altair = _altair()
    rows = [_safe(row) for row in summary.rows()]
    known = sorted({str(row["metric"]) for row in rows})
    stem, _, end = metric.rpartition("_")
    wanted = metric if metric in known or end not in _UNITS else stem
    rows = [row for row in rows if row["metric"] == wanted]
    if not rows:
        raise LookupError(f"there is no metric `{metric}`; there is {', '.join(known)}")
    entities = list(dict.fromkeys(str(row["entity"]) for row in rows))
    if entity is not None and entity not in entities:
        raise LookupError(f"`{metric}` is known of {', '.join(entities)}, not of `{entity}`")
    # A sum beside its parts says less than they do.
    parts = [one for one in entities if one != "all flows"] or entities
    rows = [row for row in rows if row["entity"] in ([entity] if entity else parts)]
    columns = [_RESERVED.get(name, name) for name in summary.columns]
    x, color, dash = (_RESERVED.get(name or "", name) for name in (x, color, dash))
    own = ("engine", "point", "model", "entity", "metric", "unit", "mean", "n", "ci_method")
    swept = [name for name in columns if name not in own and not name.startswith("ci_")]
    if x is None:
        by_number = [name for name in swept if _kind([row[name] for row in rows]) != "nominal"]
        x = (by_number or swept or ["entity"])[0]
    if color is None:
        by_name = [name for name in swept if name != x and name.endswith("variant")]
        color = (by_name or ["entity"])[0]
    for name in (x, color, dash):
        if name is not None and name not in columns:
            raise LookupError(f"there is no column `{name}`; there is {', '.join(summary.columns)}")
    _named(rows, color, dash)
    unit = {"us": "µs", "1": ""}.get(str(rows[0]["unit"]), str(rows[0]["unit"]))
    named = wanted.replace("_", " ") + (f" ({unit})" if unit else "")
    xs = [row[x] for row in rows]
    ci = ci and "ci_low" in columns
    ends = ("mean", "ci_low", "ci_high") if ci else ("mean",)
    numbers = [row[end] for row in rows for end in ends]
    scale = altair.Scale(**_low(wanted, [value for value in numbers if value is not None]))
    is_number = _kind(xs) == "quantitative"
    where = altair.X(
        x,
        type=_kind(xs),
        title=title(x),
        scale=altair.Scale(**_scale(xs)) if is_number else altair.Undefined,
        axis=altair.Axis(**_axis(xs)) if is_number else altair.Undefined,
    )
    channels = _channels(altair, rows, color, dash)
    # What is neither on an axis nor a colour makes lines of its own.
    detail = [name for name in (*swept, "entity", "engine", "model") if name not in (x, color)]
    details = [altair.Detail(name, type="nominal") for name in detail]
    base = _base(altair, rows, width, height).encode(x=where, detail=details, **channels)
    y = altair.Y("mean", type="quantitative", title=named, scale=scale)
    mark: dict[str, Any] = {"point": True} if is_number else {}
    line = base.mark_line(**mark) if is_number else base.mark_point(filled=True, size=60)
    shown = (*swept, "entity", "engine", *ends, "n")
    tips = [altair.Tooltip(name, type=_kind([row[name] for row in rows])) for name in shown]
    line = line.encode(y=y, tooltip=tips)
    if not ci:
        return line  # type: ignore[no-any-return]
    interval = {"y": altair.Y("ci_low", type="quantitative", title=named, scale=scale), "y2": "ci_high"}
    return base.mark_rule(opacity=0.5).encode(**interval) + line  # type: ignore[no-any-return]


def of_table(
    table: Table,
    y: str,
    x: str | None,
    color: str | None,
    dash: str | None,
    width: int,
    height: int,
) -> altair.Chart:
    """A column over another, a mark or a line's corner a row."""
    altair = _altair()
    names = table.columns
    x = x or ("time_s" if "time_s" in names else names[0])
    wanted = [name for name in dict.fromkeys((x, y, color, dash)) if name is not None]
    for name in wanted:
        if name not in names:
            raise LookupError(f"there is no column `{name}`; there is {', '.join(names)}")
    columns = [table[name] for name in wanted]
    step = max(1, math.ceil(len(table) / _MOST_ROWS))
    rows = [dict(zip(wanted, cells)) for cells in list(zip(*columns))[::step]]
    xs, ys = [row[x] for row in rows], [row[y] for row in rows]
    _named(rows, color, dash)
    known = [value for value in ys if value is not None]
    scale = altair.Scale(**_low(y, known)) if _kind(ys) == "quantitative" else altair.Undefined
    is_time = x == "time_s"
    where = altair.X(
        x,
        type=_kind(xs),
        title=title(x),
        scale=altair.Undefined if is_time else altair.Scale(**_scale(xs)),
        axis=altair.Undefined if is_time else altair.Axis(**_axis(xs)),
    )
    what = altair.Y(y, type=_kind(ys), title=title(y), scale=scale)
    channels = _channels(altair, rows, color, dash)
    base = _base(altair, rows, width, height).encode(x=where, y=what)
    if not is_time:
        marked = base.mark_point(filled=True, size=60).encode(**channels)
    elif color is None:
        marked = base.mark_line(interpolate="step-after", color=_COLORS[0]).encode(**channels)
    else:
        # What changes with time is one curve, and its states are colours on it.
        line = base.mark_line(interpolate="step-after", color="#bbbbbb", strokeWidth=1)
        marked = line + base.mark_circle(size=14, opacity=1).encode(**channels)
    return marked  # type: ignore[no-any-return]
