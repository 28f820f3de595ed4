"""Parts of pages that the build makes: pictures of scenarios, the table of the README.

A document asks for a picture by a comment, which shows nothing where comments are hidden:

    <!-- picture: window docs/tutorials/02-sawtooth.toml "What it shows" -->

The kinds are those of `KINDS`; a point of a sweep follows as `point=NAME`. A configuration is
drawn by

    <!-- graph: examples/forwarding/ip-router.click "What it shows" -->

and the place of the playground names the file of its scenario, which is then written into it.
"""

import re
from html import escape
from pathlib import Path

import pages
import program
from figure import Axis, Series, chart, recoloured

ASKED = re.compile(r'^<!-- picture: (\w+) (\S+)(?: point=(\S+))? "([^"]+)" -->$', re.M)

GRAPH = re.compile(r'^<!-- graph: (\S+) "([^"]+)" -->$', re.M)
SCENARIO = re.compile(r'data-scenario="([^"&\s]+\.toml)"')

# What a picture shows: pattern of the traces, columns, the axis.
KINDS = {
    "window": ("cwnd_pkts", 1.0, "window, packets"),
    "rtt": ("srtt_us", 1e-3, "round trip, ms"),
    "queue": ("queue_pkts", 1.0, "queue, packets"),
    "acked": ("acked_bytes", 8e-6, "acknowledged, Mbit"),
}


def drawn(kind: str, file: str, point: str, says: str) -> str:
    """The picture of a scenario's run."""
    column, factor, label = KINDS[kind]
    text = (pages.ROOT / file).read_text(encoding="utf-8")
    traces = program.run(text, "--engine", "simulate", beside=pages.ROOT / Path(file).parent).folder
    series = []
    for trace in sorted((traces / "traces").glob(f"{point or 'base'}.*.csv")):
        table = program.Run(trace.parent).table(trace.name)
        if not table or column not in table[0]:
            continue
        name = trace.stem.partition(".")[2]
        points = [(float(r["time_s"]), float(r[column]) * factor) for r in table if r[column]]
        series.append(Series(name, points))
    if not series:
        raise SystemExit(f"{file}: no trace has `{column}`")
    return chart(says, series, Axis("time, s", low=0), Axis(label, low=0))


def configuration(file: str, says: str) -> str:
    """The drawing of a configuration."""
    svg = recoloured(program.say("graph", file))
    label = f'class="graph" role="img" aria-label="{escape(says)}"'
    svg = svg.replace("<svg ", f"<svg {label} ", 1)
    return f'<figure class="chart">{svg}<figcaption>{escape(says)}</figcaption></figure>'


def scenario(file: str) -> str:
    """The text of a scenario as the playground takes it."""
    text = (pages.ROOT / file).read_text(encoding="utf-8")
    return 'data-scenario="' + escape(text, quote=True).replace("\n", "&#10;") + '"'


def filled(text: str) -> str:
    """`text` with the pictures that it asks for."""
    text = ASKED.sub(lambda m: drawn(m[1], m[2], m[3] or "", m[4]), text)
    text = GRAPH.sub(lambda m: configuration(m[1], m[2]), text)
    # What differs each time is marked for the tests; a reader needs no mark of its own kind.
    text = text.replace("[..]", "…")
    return SCENARIO.sub(lambda m: scenario(m[1]), text)


def how_true(readme: str) -> str:
    """The section of the README with the accuracy and the speed, as a page."""
    section = re.search(r"^## How true, how fast\n(.*?)^## ", readme, re.S | re.M)
    if section is None:
        raise SystemExit("the README has no section `How true, how fast`")
    return f"# How true, how fast\n{section[1]}"
