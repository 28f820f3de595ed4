"""Writes the pages of reference: one for each name that scenario files and commands may use.

The text of a page is what `trammel doc KIND NAME` says. Added are a picture, a place for the
playground, links to the other names that the text uses, and what the example's check says.
"""

import json
import re
import tomllib
from collections.abc import Callable
from html import escape
from typing import NamedTuple

import figure
import pages
import pictures
import program

APPS = pages.ROOT / "crates/netsim/src/apps"
ELEMENTS = pages.ROOT / "crates/router/src/elements"


class Family(NamedTuple):
    """A kind of names: its words in `trammel list` and `trammel doc`, and what its page says."""

    listed: str
    kind: str
    folder: str
    title: str
    about: str


FAMILIES = [
    Family("variants", "variant", "variants", "Congestion controls",
           "A flow of a transport scenario names its congestion control: `variant = \"cubic\"`."
           " Parameters follow as `params = { … }`."),
    Family("disciplines", "discipline", "disciplines", "Queue disciplines",
           "The queue of a path or link: `queue = { discipline = \"codel\", target = \"5 ms\" }`."
           " The parameters stand in the same table."),
    Family("losses", "loss", "losses", "Loss models",
           "Losses that no queue causes: `loss = { model = \"bernoulli\", probability = 0.001 }`."),
    Family("distributions", "distribution", "distributions", "Distributions",
           "Gaps, sizes, delays and times can follow a law:"
           " `gap = { distribution = \"exponential\", mean = \"2 ms\" }`, or on the command line"
           " `--gap exponential:mean=0.002`."),
    Family("apps", "application", "apps", "Applications of users",
           "Both ends of a user's program, of which a transport scenario reports what its user"
           " gets: see [applications](../../applications.md)."),
    Family("applications", "application", "applications", "Applications as traffic",
           "Packets as an application sends them: `app = \"voip\"` of a stream, or"
           " `trammel send --app voip`."),
    Family("presets", "preset", "presets", "Named paths",
           "`preset = \"5g\"` of a path: rate, round trip, queue and course over time. Keys that"
           " are given beside it take precedence. [All of them compared](../../presets.md)."),
    Family("models", "model", "models", "Analytic models",
           "Formulas of engine `predict`. Without `[predict] models`, those that hold for the"
           " scenario are used."),
    Family("elements", "element", "elements", "Elements of the router",
           "Classes of Click's language, for `trammel router`, `estimate`, `graph` and `bench`."),
    Family("operations", "operation", "operations", "Elementary operations",
           "What the cost of an element is made of: the class declares operations, the machine"
           " says what each costs."),
    Family("machines", "machine", "machines", "Machines",
           "Where a function is estimated: `--machine epyc-7532:data-sheet`. A machine of your"
           " own is a file; `trammel calibrate` writes that of this one."),
    Family("tests", "test", "tests", "Tests of devices",
           "Procedures of `trammel bench --tests NAME`."),
    Family("devices", "device", "devices", "Modelled devices",
           "Devices of `trammel bench --model NAME`."),
    Family("designs", "design", "designs", "NetFPGA designs",
           "Designs of `trammel netfpga run --design NAME`, with their registers."),
    Family("papers", "paper", "papers", "Papers",
           "Published tables that `trammel paper NAME` computes anew, beside the originals."),
    Family("formats", "format", "formats", "Formats of other programs",
           "What [`trammel import`](../../import.md) reads and [`trammel export`](../../export.md)"
           " writes."),
]

# Pages of keys: what `trammel doc` is asked, the page, its title.
KEYS = [
    ("forwarding", "reference/forwarding.md", "Keys of forwarding scenarios"),
    ("routing", "reference/routing.md", "Keys of networks of routers"),
    ("traffic", "reference/traffic.md", "Keys of traffic scenarios"),
    ("placement", "reference/placement.md", "Keys of placements"),
]

PICTURES: dict[str, Callable[[str, str], str]] = {
    "variants": pictures.variant,
    "disciplines": pictures.discipline,
    "losses": pictures.loss,
    "distributions": pictures.distribution,
    "models": lambda name, _: pictures.model(name),
}

# Devices whose every frame is simulated: a whole test takes minutes.
FRAME_BY_FRAME = ("click-pc-2009",)
# Families with an example that the playground can run.
PLAYED = ("variants", "disciplines", "losses")


def file_of(name: str) -> str:
    """The file's name of an entry's page."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name) + ".md"


def groups() -> dict[str, str]:
    """The group of each element class, by the folder that its source is in."""
    found = {}
    for source in sorted(ELEMENTS.glob("*/*.rs")):
        text = source.read_text(encoding="utf-8")
        for name in re.findall(r"Entry::[a-z_]+\(\s*\"(\w+)\"", text):
            found[name] = source.parent.name
    return found


TOPICS = {
    "analysis": "Analysis", "base": "Basics", "bytes": "Bytes", "classify": "Classifying",
    "control": "Control", "ethernet": "Ethernet", "io": "Devices and files", "ip": "IPv4",
    "ip6": "IPv6", "mpls_gre": "MPLS and GRE", "queueing": "Queues", "shaping": "Shaping",
    "threads": "Threads", "trace": "Traces", "transport": "TCP, UDP, ICMP", "wifi": "Wi-Fi",
}


def said(family: Family, name: str) -> str:
    """The text of an entry: what `trammel doc` says, or the head of its source without it."""
    if family.listed != "apps":
        return program.say("doc", family.kind, name)
    source = (APPS / f"{name}.rs").read_text(encoding="utf-8")
    head = [line[3:].removeprefix(" ") for line in source.split("\n") if line.startswith("//!")]
    text = re.sub(r"^# ", "## ", "\n".join(head), flags=re.M)
    text = re.sub(r"\[(`\w+`)\]\([\w:]+::\w+\)", r"\1", text)
    return f"# {name}\n\n{text}\n"


def example(text: str, language: str) -> str:
    """The first block of `text` in a language; empty where there is none."""
    found = re.search(rf"^```{language}\n(.*?)^```$", text, re.S | re.M)
    return found[1] if found else ""


def playground(scenario: str) -> str:
    """The place of the playground, with a scenario to begin with."""
    kept = escape(scenario, quote=True).replace("\n", "&#10;")
    return (
        f'<div class="trammel-playground" data-later data-scenario="{kept}">'
        "<noscript>The playground needs JavaScript."
        " The same scenario runs with <code>trammel run FILE</code>.</noscript></div>"
    )


class Reference:
    """The pages, by their path on the site, and the part of the table of contents."""

    def __init__(self, rewriter: pages.Rewriter) -> None:
        self.rewriter = rewriter
        self.pages: dict[str, str] = {}
        self.contents: list[str] = []
        self.examples = 0
        self.element_names = {entry["name"] for entry in program.names("elements")}

    def linked(self, text: str, own: str) -> str:
        """`text` with the first use of each other element's name as a link."""
        seen = {own}

        def replace(match: re.Match[str]) -> str:
            name = match[1]
            if name in seen or name not in self.element_names:
                return match[0]
            seen.add(name)
            return f"[`{name}`]({file_of(name)})"

        blocks = re.split(r"(^```.*?^```$|^#.*?$)", text, flags=re.S | re.M)
        for at in range(0, len(blocks), 2):
            blocks[at] = re.sub(r"(?<!\[)`(\w+)`", replace, blocks[at])
        return "".join(blocks)

    def page(self, family: Family, name: str) -> str:
        """The page of an entry."""
        text = said(family, name)
        if family.listed == "papers":
            head, _, readme = text.partition("\n---\n")
            source = f"papers/{name}/README.md"
            page = f"reference/papers/{file_of(name)}"
            readme = self.rewriter.text(source, page, readme)
            return head + re.sub(r"^# ", "## ", readme, count=1, flags=re.M)
        toml, click = example(text, "toml"), example(text, "click")
        if toml and family.listed not in ("machines", "presets"):
            tomllib.loads(toml)
            self.examples += 1
            added = f"Checked when this page was made: {program.check(toml)}."
            text = text.replace(f"```toml\n{toml}```", f"```toml\n{toml}```\n\n{added}", 1)
        picture = ""
        if family.listed in PICTURES:
            picture = PICTURES[family.listed](name, toml)
        elif click:
            drawn = program.say("graph", "-", entered=click, may_fail=True)
            if drawn:
                self.examples += 1
                title = "The example as a graph of elements, drawn by trammel graph"
                label = f"Drawing of the example of {name}"
                drawn = figure.recoloured(drawn).replace(
                    "<svg ", f'<svg class="graph" role="img" aria-label="{label}" ', 1
                )
                picture = (
                    f'<figure class="chart">{drawn}<figcaption>{title}'
                    "</figcaption></figure>"
                )
                shown = f"```click\n{click}```"
                text = text.replace(shown, f"{shown}\n\n{picture}", 1)
                picture = ""
        elif family.listed == "machines":
            text += self.estimates(name)
        elif family.listed == "operations":
            text += self.constants(name)
        elif family.listed == "presets":
            text += self.courses(name) + self.taken(name)
        elif family.listed in ("tests", "devices"):
            text += self.tested(family, name)
        elif family.listed == "applications" and toml:
            text += self.offered(toml)
        if picture:
            # Behind the summary, which is the first paragraph.
            head, _, rest = text.partition("\n\n")
            summary, _, rest = rest.partition("\n\n")
            text = f"{head}\n\n{summary}\n\n{picture}\n\n{rest}"
        if family.listed in PLAYED and toml:
            text += f"\n## Play with it\n\n{playground(toml)}\n"
        if family.listed == "elements":
            text = self.linked(text, name)
        return text

    def estimates(self, machine: str) -> str:
        """What a router forwards on a machine."""
        says = program.say(
            "estimate", "examples/forwarding/ip-router.click", "--machine", machine,
            "--frame-sizes", "64,512,1518", may_fail=True,
        )
        if not says:
            return ""
        command = f"trammel estimate examples/forwarding/ip-router.click --machine {machine}"
        return (
            "\n## An IPv4 router on it\n\n```console\n"
            f"$ {command} --frame-sizes 64,512,1518\n{says.strip()}\n```\n"
        )

    def taken(self, preset: str) -> str:
        """A scenario on a preset's path, and the round trip that its flow sees."""
        scenario = pictures.on_preset(preset)
        self.examples += 1
        said = program.check(scenario)
        return (
            f"\n## Example\n\n```toml\n{scenario}```\n\nChecked when this page was made: {said}.\n\n"
            f"{pictures.preset(preset, scenario)}\n"
        )

    def tested(self, family: Family, name: str) -> str:
        """A test, or a test of a device: the command and what it says."""
        model, test = (name, "throughput") if family.listed == "devices" else ("reference-1g", name)
        hurry = ["--quick"] if model in FRAME_BY_FRAME else []
        command = ["bench", "--model", model, *hurry, "--tests", test, "--frame-sizes", "512"]
        said = program.say(*command, may_fail=True).rstrip()
        if not said:
            return ""
        self.examples += 1
        about = "Run when this page was made, in virtual time."
        if hurry:
            about += " `--quick` shortens trials: such results do not comply."
        return (
            f"\n## Example\n\n{about}\n\n```console\n$ trammel {' '.join(command)}\n{said}\n```\n"
        )

    @staticmethod
    def offered(scenario: str) -> str:
        """What the example of an application sends, and what theory says of it."""
        rows = program.run(scenario).table("offered.csv")
        out = ["| quantity | unit | predicted | how | in this run |", "| --- | --- | ---: | --- | ---: |"]
        for row in rows:
            cells = (row["quantity"], row["unit"], row["predicted"], row["form"], row["sample"])
            out.append("| " + " | ".join(cells).replace("_", " ") + " |")
        table = "\n".join(out)
        return f"\n## What the example sends\n\nTwenty seconds, seed 1.\n\n{table}\n"

    def constants(self, operation: str) -> str:
        """What an operation costs on each machine that has it."""
        rows = []
        for machine in program.names("machines"):
            text = program.say("doc", "machine", machine["name"])
            for block in re.findall(r"^```toml\n(.*?)^```", text, re.S | re.M):
                for profile, values in tomllib.loads(block).get("profile", {}).items():
                    costs = values.get("eo", {}).get(operation)
                    if isinstance(costs, dict):
                        said = ", ".join(f"{key} {value:g}" for key, value in costs.items())
                        page = file_of(machine["name"])
                        where = f"[{machine['name']}](../machines/{page})"
                        rows.append(f"| {where} | {profile} | {said} |")
        if not rows:
            return ""
        head = "\n## Its constants\n\nCycles of the processor.\n\n"
        return head + "| machine | profile | constants |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n"

    def courses(self, preset: str) -> str:
        """The rate and the round trip of a preset over time, where they are drawn."""
        out = ""
        for what, words in (("rate", "The rate"), ("rtt", "The round trip")):
            name = f"docs/presets/{preset}-{what}.svg"
            if (pages.ROOT / name).exists():
                self.rewriter.images[name] = name.removeprefix("docs/")
                image = f"../../presets/{preset}-{what}.svg"
                out += f"\n![{words} of the preset {preset} over time]({image})\n"
        return f"\n## Over time\n{out}" if out else ""

    def family(self, family: Family) -> None:
        """The pages of a family, and its table."""
        entries = program.names(family.listed)
        home = f"reference/{family.folder}"
        self.contents.append(f"- [{family.title}]({home}/index.md)")
        group = groups() if family.listed == "elements" else {}
        by_group: dict[str, list[dict[str, str]]] = {}
        for entry in entries:
            by_group.setdefault(group.get(entry["name"], "") if group else "", []).append(entry)
        text = f"# {family.title}\n\n{family.about}\n\n`trammel list {family.listed}` shows them in"
        text += f" a terminal, `trammel doc {family.kind} NAME` shows the page of one.\n"
        for topic in sorted(by_group, key=lambda one: TOPICS.get(one, one)):
            indent = "  "
            if topic:
                title = TOPICS.get(topic, topic)
                text += f"\n## {title}\n"
                where = f"{home}/group-{topic}.md"
                self.pages[where] = f"# Elements: {title}\n\n" + self.table(by_group[topic])
                self.contents.append(f"  - [{title}]({where})")
                indent = "    "
            text += "\n" + self.table(by_group[topic])
            for entry in by_group[topic]:
                where = f"{home}/{file_of(entry['name'])}"
                self.pages[where] = self.page(family, entry["name"])
                self.contents.append(f"{indent}- [{entry['name']}]({where})")
        self.pages[f"{home}/index.md"] = text

    @staticmethod
    def table(entries: list[dict[str, str]]) -> str:
        """Names with their summaries."""
        rows = ["| name | what it is |", "| --- | --- |"]
        for entry in entries:
            summary = entry["summary"].replace("|", "\\|")
            also = ", ".join(f"`{one}`" for one in entry.get("aliases", []))
            also = f" (also {also})" if also else ""
            rows.append(f"| [`{entry['name']}`]({file_of(entry['name'])}) | {summary}{also} |")
        return "\n".join(rows) + "\n"

    def commands(self) -> None:
        """A page for each command, of what it says of itself."""
        said = program.say("--help")
        listed = said.partition("Commands:\n")[2].partition("\n\n")[0]
        names = re.findall(r"^  ([a-z][a-z0-9-]*)(?: |$)", listed, re.M)
        rows = ["| command | what it does |", "| --- | --- |"]
        self.contents.append("- [Commands](reference/commands/index.md)")
        for name in names:
            if name == "help":
                continue
            text = program.say(name, "--help")
            summary = text.partition("\n")[0]
            page = f"reference/commands/{file_of(name)}"
            self.pages[page] = f"# trammel {name}\n\n{summary}.\n\n```text\n{text.strip()}\n```\n"
            rows.append(f"| [`{name}`]({file_of(name)}) | {summary} |")
            self.contents.append(f"  - [{name}]({page})")
        about = "Each command says this by `--help`; `trammel man DIR` writes manual pages.\n\n"
        codes = said.partition("Exit codes:\n")[2].strip()
        self.pages["reference/commands/index.md"] = (
            f"# Commands\n\n{about}" + "\n".join(rows)
            + f"\n\n## Exit codes\n\n```text\n{codes}\n```\n"
        )

    def handlers(self) -> None:
        """Every handler, and which elements have it."""
        found: dict[tuple[str, str], list[str]] = {}
        for name in sorted(self.element_names):
            about = json.loads(program.say("doc", "element", name, "--json"))["element"]
            for handler in about["handlers"]:
                flags = handler["flags"]
                use = [word for flag, word in (("r", "read"), ("w", "write")) if flag in flags]
                key = (handler["name"], ", ".join(use))
                found.setdefault(key, []).append(f"[{name}](elements/{file_of(name)})")
        rows = ["| handler | use | elements |", "| --- | --- | --- |"]
        rows += [f"| `{key[0]}` | {key[1]} | {', '.join(found[key])} |" for key in sorted(found)]
        self.pages["reference/handlers.md"] = (
            "# Handlers\n\nWhat can be read and written of elements while a router runs:"
            " `trammel router -h ELEMENT.HANDLER`, `ControlSocket`, `Script`. The page of an element"
            " says what each means there.\n\n" + "\n".join(rows) + "\n"
        )
        self.contents.append("- [Handlers](reference/handlers.md)")

    def columns(self) -> None:
        """Every column of every table, by the schemas of their subjects."""
        text = [
            "# Tables and columns",
            "",
            "The tables of run folders and of `--json`. Columns of a sweep are named for what is"
            " swept; columns without a value for any row are left out of a table. [Metrics]"
            "(../metrics.md) defines the numbers. `trammel doc tables SUBJECT` has the same as a"
            " JSON Schema, and `trammel explain COLUMN` one of them.",
        ]
        for file in sorted((pages.ROOT / "share/schema").glob("tables-*.json")):
            schema = json.loads(file.read_text(encoding="utf-8"))
            subject = file.stem.removeprefix("tables-")
            title = schema["title"].removeprefix("Trammel `--json`: ")
            text += ["", f"## {subject}: {title}"]
            for name, table in schema["properties"]["tables"]["properties"].items():
                text += ["", f"### {subject}: {name}", "", table["description"], ""]
                text += ["| column | type | unit | what it is |", "| --- | --- | --- | --- |"]
                for column, about in table["items"]["properties"].items():
                    kind, unit = about["type"][0], about.get("x-unit", "")
                    text.append(f"| `{column}` | {kind} | {unit} | {about['description']} |")
        self.pages["reference/columns.md"] = "\n".join(text) + "\n"
        self.contents.append("- [Tables and columns](reference/columns.md)")

    def write(self) -> None:
        """All pages of reference."""
        for family in FAMILIES:
            self.family(family)
            if family.listed == "elements":
                self.handlers()
        self.columns()
        self.commands()


def warm() -> None:
    """Runs what the pages need beforehand, on all processors."""
    from concurrent.futures import ThreadPoolExecutor

    def one(family: Family, name: str) -> None:
        text = said(family, name)
        draw = PICTURES.get(family.listed)
        if draw:
            draw(name, example(text, "toml"))

    def long(name: str) -> None:
        pictures.preset(name, pictures.on_preset(name))

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(long, entry["name"]) for entry in program.names("presets")]
        jobs += [
            pool.submit(one, family, entry["name"])
            for family in FAMILIES
            for entry in program.names(family.listed)
        ]
        for job in jobs:
            job.result()


def key_pages() -> dict[str, str]:
    """The pages of keys that are in no document."""
    return {page: program.say("doc", subject) for subject, page, _ in KEYS}
