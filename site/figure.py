"""Draws the charts of the site as SVG that takes its colours from the page.

One style for all: `site/theme/trammel.css` gives classes `s0` to `s5` the colours of series, in
light, in dark and on paper. A chart stands inside its page, since an image cannot follow a change
of theme.
"""

import math
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 720, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 34, 44
COLOURS = 6

Point = tuple[float, float]


class Series(NamedTuple):
    """A line of a chart, or its single points."""

    label: str
    points: list[Point]
    is_dotted: bool = False
    is_step: bool = False


class Axis(NamedTuple):
    """What an axis shows; `low` and `high` replace what the data say."""

    label: str
    is_log: bool = False
    low: float | None = None
    high: float | None = None


def number(value: float) -> str:
    """A number as a label: no more digits than tell it from its neighbours."""
    if value == 0:
        return "0"
    if abs(value) >= 1e5 or abs(value) < 1e-3:
        mantissa, exponent = f"{value:.0e}".split("e")
        power = f"10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
        return power if mantissa == "1" else f"{mantissa}·{power}"
    return f"{value:g}"


def ticks(axis: Axis, low: float, high: float) -> list[float]:
    """Round numbers along an axis."""
    if axis.is_log:
        powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        step = max(1, math.ceil(len(powers) / 8))
        return [10.0**power for power in powers if power % step == 0]
    rough = (high - low) / 5
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= rough)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def limits(axis: Axis, values: list[float]) -> tuple[float, float]:
    """The ends of an axis."""
    if axis.is_log:
        values = [value for value in values if value > 0]
    low = min(values, default=0.0) if axis.low is None else axis.low
    high = max(values, default=1.0) if axis.high is None else axis.high
    if high <= low:
        high = low * 10 if axis.is_log else low + 1
    return low, high


def thinned(points: list[Point], columns: int = 500) -> list[Point]:
    """Of many points, the lowest and the highest of each column of pixels, in their order."""
    if len(points) <= 2 * columns:
        return points
    begin, end = points[0][0], points[-1][0]
    out: list[Point] = []
    bucket: list[Point] = []
    at = 0
    for point in points:
        column = int((point[0] - begin) / ((end - begin) or 1) * columns)
        if column != at and bucket:
            ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
            out += sorted(ends)
            bucket, at = [], column
        bucket.append(point)
    return out + bucket[-1:]


def chart(title: str, series: list[Series], x: Axis, y: Axis, says: str = "") -> str:
    """A chart as HTML on one line. `says` is what it shows, for those who do not see it."""
    xs = [p[0] for one in series for p in one.points]
    ys = [p[1] for one in series for p in one.points]
    x_low, x_high = limits(x, xs)
    y_low, y_high = limits(y, ys)
    if not y.is_log and y.high is None:
        y_high += (y_high - y_low) * 0.06

    def scale(value: float, axis: Axis, low: float, high: float) -> float:
        if axis.is_log:
            value, low, high = (math.log10(max(v, low)) for v in (value, low, high))
        return min(1.0, max(0.0, (value - low) / (high - low)))

    def place(point: Point) -> tuple[float, float]:
        across = scale(point[0], x, x_low, x_high) * (WIDTH - LEFT - RIGHT)
        up = scale(point[1], y, y_low, y_high) * (HEIGHT - TOP - BOTTOM)
        return LEFT + across, HEIGHT - BOTTOM - up

    parts = [
        f'<svg class="fig" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{escape(says or title)}"><title>{escape(title)}</title>'
    ]
    for tick in ticks(y, y_low, y_high):
        at = place((x_low, tick))[1]
        parts.append(
            f'<path class="grid" d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}"/>'
            f'<text class="tick end" x="{LEFT - 6}" y="{at + 4:.1f}">{number(tick)}</text>'
        )
    for tick in ticks(x, x_low, x_high):
        at = place((tick, y_low))[0]
        parts.append(
            f'<path class="grid" d="M{at:.1f} {HEIGHT - BOTTOM}v5"/>'
            f'<text class="tick mid" x="{at:.1f}" y="{HEIGHT - BOTTOM + 19}">{number(tick)}</text>'
        )
    parts.append(
        f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
        f'<text class="name mid" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}">'
        f"{escape(x.label)}</text>"
        f'<text class="name mid" transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2})'
        f' rotate(-90)">{escape(y.label)}</text>'
    )
    across = LEFT
    for n, one in enumerate(series):
        colour = f"s{n % COLOURS}"
        if one.is_dotted:
            dots = (place(p) for p in one.points)
            path = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in dots)
            parts.append(f'<path class="dots {colour}" d="{path}"/>')
        elif one.points:
            places = [place(p) for p in thinned(one.points)]
            path = f"M{places[0][0]:.1f} {places[0][1]:.1f}" + "".join(
                (f"H{a:.1f}V{b:.1f}" if one.is_step else f"L{a:.1f} {b:.1f}")
                for a, b in places[1:]
            )
            parts.append(f'<path class="line {colour}" d="{path}"/>')
        if len(series) > 1 or one.label:
            parts.append(
                f'<path class="key {colour}" d="M{across} 17h18"/>'
                f'<text class="name" x="{across + 24}" y="21">{escape(one.label)}</text>'
            )
            across += 44 + 7 * len(one.label)
    parts.append("</svg>")
    caption = f"<figcaption>{escape(title)}</figcaption>"
    return f'<figure class="chart">{"".join(parts)}{caption}</figure>'


def strip(title: str, marks: list[bool], across: int = 100, says: str = "") -> str:
    """Rows of small squares, one for each packet; `True` is a packet that was lost."""
    size, gap = 6, 6.5
    rows = (len(marks) + across - 1) // across
    parts = [
        f'<svg class="fig" viewBox="0 0 {across * gap:.0f} {rows * gap:.0f}" role="img"'
        f' aria-label="{escape(says or title)}"><title>{escape(title)}</title>'
    ]
    for row in range(rows):
        wide = min(across, len(marks) - row * across) * gap
        parts.append(
            f'<path class="cell" d="M0 {row * gap + 0.5:.1f}h{wide:.1f}v{size - 1}h-{wide:.1f}z"/>'
        )
    path = "".join(
        f"M{n % across * gap:.1f} {n // across * gap:.1f}h{size}v{size}h-{size}z"
        for n, mark in enumerate(marks)
        if mark
    )
    parts.append(f'<path class="lost" d="{path}"/>')
    caption = f"<figcaption>{escape(title)}</figcaption>"
    return f'<figure class="chart">{"".join(parts)}</svg>{caption}</figure>'


def recoloured(svg: str) -> str:
    """A drawing of `trammel graph` in the colours of the page, on one line."""
    for old, new in (
        ('fill="white" stroke="black"', 'class="box"'),
        ('fill="#fdfdf6" stroke="black"', 'class="box"'),
        ('fill="#446"', 'class="solid"'),
        ('stroke="#446"', 'class="wire"'),
        ('fill="black" stroke="black"', 'class="solid"'),
        ('stroke="black"', 'class="edge"'),
        ('fill="white"', 'class="paper"'),
    ):
        svg = svg.replace(old, new)
    return " ".join(svg.split("\n"))
