"""Drives the playground of the built site in Chromium, as its readers do.

    python3 site/drive.py            exit code 1 where something is wrong
    python3 site/drive.py sweep      these checks alone

Each preset, each slider, typed text and its faults, links that carry a scenario, downloads, the
lecture, the keyboard, reading without a network, and the page for Click configurations.
"""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator

import serve
from chromium import Browser, program

BUSY = "document.querySelector('.tp').dataset.state = 'asked'"
DONE = "document.querySelector('.tp')?.dataset.state === 'done'"
PRESETS = "[...document.querySelector('.tp-bar select').options].map((o) => o.value).filter(Boolean)"
TEXT = "document.querySelector('.tp-text textarea').value"
# What a slider's picture may take, and a run of a minute, in ms: their median is printed and
# compared with these times a factor for machines that do other things meanwhile.
PICTURE, MINUTE, FACTOR = 150, 500, 4
MINUTE_TEXT = """duration = "60 s"
[path]
rate = "50 Mbit/s"
rtt = "40 ms"
[[flow]]
variant = "cubic"
[[flow]]
variant = "reno"
"""


class Fault(Exception):
    """What is wrong with the page."""


def expect(is_so: object, text: str) -> None:
    """Says what is wrong where it is not so."""
    if not is_so:
        raise Fault(text)


class Reader:
    """Who reads the page."""

    def __init__(self, browser: Browser, base: str) -> None:
        self.browser, self.base = browser, base
        self.value, self.until = browser.value, browser.until

    def open(self, path: str = "playground/index.html") -> None:
        """Opens a page anew and waits for its first run."""
        self.browser.open("about:blank")
        self.browser.open(self.base + path)
        self.until("document.querySelector('.tp')?.dataset.state?.match(/done|fault/)")

    def choose(self, selector: str, value: str) -> None:
        """Chooses from a menu and waits for the run."""
        self.value(
            f"{BUSY}; (() => {{ const it = document.querySelector({json.dumps(selector)});"
            f" it.value = {json.dumps(value)}; it.dispatchEvent(new Event('change')); }})()"
        )
        self.until(DONE)

    def slide(self, key: str, by: int) -> float:
        """Moves a slider and waits for the run; gives how long the picture took, in ms."""
        self.value(
            f"{BUSY}; (() => {{ const it = document.querySelector('input[data-key=\"{key}\"]');"
            f" it.value = Number(it.value) + {by}; it.dispatchEvent(new Event('input')); }})()"
        )
        self.until(DONE)
        return float(self.value("Number(document.querySelector('.tp').dataset.ms)"))

    def type(self, text: str, state: str = "done") -> None:
        """Types a scenario and waits for what comes of it."""
        self.value(
            f"{BUSY}; (() => {{ const it = document.querySelector('.tp-text textarea');"
            f" it.value = {json.dumps(text)}; it.dispatchEvent(new Event('input')); }})()"
        )
        self.until(f"document.querySelector('.tp').dataset.state === '{state}'")

    def press(self, name: str) -> None:
        """Presses the button with this text."""
        self.value(
            f"[...document.querySelectorAll('.tp button')].find((it) => it.textContent === {json.dumps(name)}).click()"
        )

    def hidden(self, selector: str) -> bool:
        """Whether an element is not shown."""
        return bool(self.value(f"document.querySelector({json.dumps(selector)}).offsetParent === null"))

    def said(self, selector: str) -> str:
        """The text of an element."""
        return str(self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''"))


def presets(reader: Reader) -> str:
    """Each preset draws its plots, has an answer and says what happened."""
    reader.open()
    names = reader.value(PRESETS)
    expect(len(names) >= 9, f"{len(names)} presets")
    for name in names:
        reader.choose(".tp-bar select", name)
        plots = reader.value("document.querySelectorAll('.tp-plot canvas').length")
        expect(plots >= 2, f"{name}: {plots} plots")
        expect(reader.said(".tp-answer"), f"{name}: no answer")
        expect(len(reader.said(".tp-tell")) > 20, f"{name}: nothing is told")
        expect(reader.said(".tp-fault") == "", f"{name}: {reader.said('.tp-fault')}")
        label = reader.value("document.querySelector('.tp-plot canvas').getAttribute('aria-label')")
        expect("mean" in label, f"{name}: the plot is called {label}")
        painted = reader.value(
            "(() => { const c = document.querySelector('.tp-plot canvas');"
            " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
            " return new Set(Array.from({ length: d.length / 4 }, (_, i) => d.slice(4 * i, 4 * i + 4).join())).size; })()"
        )
        expect(painted > 8, f"{name}: the plot is empty")
    return f"{len(names)} presets"


def sliders(reader: Reader) -> str:
    """Each slider of each preset changes the text and the run, and the text the slider."""
    reader.open()
    times = []
    for name in reader.value(PRESETS):
        reader.choose(".tp-bar select", name)
        shown = "[...document.querySelectorAll('.tp-row:not([hidden]) input[type=range]')].map((i) => i.dataset.key)"
        for key in reader.value(shown):
            before = reader.value(TEXT)
            times.append(reader.slide(key, 3))
            expect(reader.value(TEXT) != before, f"{name}: `{key}` changes nothing")
            expect(reader.said(".tp-fault") == "", f"{name}, {key}: {reader.said('.tp-fault')}")
            times.append(reader.slide(key, -3))
    reader.type(MINUTE_TEXT)
    rtt = reader.value("document.querySelector('input[data-key=\"path.rtt\"]').getAttribute('aria-valuetext')")
    expect(rtt == "40 ms", f"the text says 40 ms, the slider {rtt}")
    reader.choose(".tp-row select", "codel")
    expect("codel" in reader.value(TEXT), "the queue is not in the text")
    reader.press("Add a flow")
    reader.until("document.querySelectorAll('.tp-flows li').length === 3")
    reader.until(DONE)
    times.sort()
    median, most = times[len(times) // 2], times[-1]
    expect(median <= FACTOR * PICTURE, f"a picture takes {median} ms")
    return f"{len(times)} moves; picture after {median:.0f} ms (median), {most:.0f} ms at most"


def minute(reader: Reader) -> str:
    """A minute of 50 Mbit/s with two flows."""
    reader.open()
    reader.type(MINUTE_TEXT)
    times = []
    for _ in range(5):
        reader.value(BUSY)
        reader.press("Run")
        reader.until(DONE)
        times.append(float(reader.value("Number(document.querySelector('.tp').dataset.ms)")))
    times.sort()
    expect(times[2] <= FACTOR * MINUTE, f"it takes {times} ms")
    return f"60 s of 50 Mbit/s, two flows: {', '.join(f'{ms:.0f}' for ms in times)} ms"


def faults(reader: Reader) -> str:
    """A fault of the text is shown with its line, and goes away with it."""
    reader.open()
    reader.type("duration = \"2 s\"\nspeed = 1\n", "fault")
    expect("scenario.toml:2:1" in reader.said(".tp-fault"), "no place of the fault")
    expect(reader.hidden(".tp-answer") and reader.hidden(".tp-plots"), "another run's answer stands below")
    reader.type('title = "Mine"\nquestion = "Whose is it?"\n' + MINUTE_TEXT)
    expect(reader.said(".tp-question") == "Whose is it?", reader.said(".tp-question"))
    expect(not reader.hidden(".tp-answer"), "the answer stays away")
    reader.type(MINUTE_TEXT.replace("60 s", "2 s") + '[[app]]\nkind = "call"\n')
    expect("Applications" in reader.said(".tp-tables"), "nothing of the application")
    reader.type('duration = "1 ns"\n[path]\nrate = "1 Mbit/s"\nrtt = "1 ms"\n[[flow]]\nvariant = "reno"\n')
    expect("Nothing was delivered" in reader.said(".tp-answer"), reader.said(".tp-answer"))
    reader.type(MINUTE_TEXT)
    expect(reader.said(".tp-fault") == "", "the fault stays")
    reader.open("playground/index.html#toml=AAAA")
    expect("cannot be read" in reader.said(".tp-fault"), "a broken link is taken")
    return "faults with their places"


def links(reader: Reader) -> str:
    """A link carries the scenario."""
    reader.open()
    reader.type(MINUTE_TEXT)
    reader.press("Copy link")
    reader.until("location.hash.startsWith('#toml=')")
    link = reader.value("location.hash")
    reader.open("playground/index.html" + link)
    expect(reader.value(TEXT) == MINUTE_TEXT, "another text comes out of the link")
    return f"a link of {len(link)} characters"


def sweep(reader: Reader) -> str:
    """A sweep is run whole, and can be left at any time."""
    reader.open()
    text = MINUTE_TEXT.replace("60 s", "5 s") + '[sweep]\n"path.rtt" = ["10 ms", "20 ms", "80 ms"]\n'
    reader.type("repeat = 3\n" + text)
    rows = reader.value("document.querySelectorAll('.tp-main > .tp-tables tbody tr').length")
    expect(rows == 2, f"{rows} rows")
    cells = reader.value("[...document.querySelectorAll('.tp-sweep tbody tr')].map((row) => [...row.cells].map((it) => it.textContent))")
    expect([row[0] for row in cells] == ["0.01", "0.02", "0.08"], f"the points of the sweep: {cells}")
    expect(all(float(cell) > 0 for row in cells for cell in row[1:]) and len(cells[0]) == 3, f"their goodputs: {cells}")
    label = reader.value("document.querySelector('.tp-sweep canvas')?.getAttribute('aria-label') ?? ''")
    expect("over the sweep" in label, f"the plot over the sweep: {label}")
    expect(reader.value("document.querySelector('input[data-key=\"path.rtt\"]').disabled"), "a slider for what the sweep sets")
    reader.type(text.replace('variant = "reno"', 'variant = "reno"\nname = "a, \\"b\\" <i>"'))
    cells = reader.value("[...document.querySelectorAll('.tp-main > .tp-tables tbody tr:last-child > *')].map((it) => it.textContent)")
    expect(cells[:2] == ['a, "b" <i>', "reno"], f"a flow with commas in its name: {cells}")
    reader.value(f"{BUSY}; (() => {{ const it = document.querySelector('.tp-text textarea'); it.value = 'repeat = 900\\n' + {json.dumps(text)}; it.dispatchEvent(new Event('input')); }})()")
    reader.until("/of 2700 runs/.test(document.querySelector('.tp-progress').textContent)")
    reader.press("Stop")
    reader.until("document.querySelector('.tp').dataset.state === 'stopped'")
    expect("runs" in reader.said(".tp-progress"), reader.said(".tp-progress"))
    rows = reader.value("document.querySelectorAll('.tp-sweep tbody tr').length")
    expect("were not made" in reader.said(".tp-answer"), reader.said(".tp-answer"))
    expect(rows >= 1 and not reader.said(".tp-fault"), f"{rows} points of what was stopped, {reader.said('.tp-fault')}")
    reader.value(f"{BUSY}; (() => {{ const it = document.querySelector('.tp-text textarea'); it.value = 'repeat = 900\\n' + {json.dumps(text)}; it.dispatchEvent(new Event('input')); }})()")
    reader.until("/of 2700 runs/.test(document.querySelector('.tp-progress').textContent)")
    reader.choose(".tp-bar select", "sawtooth")
    expect(not reader.said(".tp-sweep"), "the sweep stays below a scenario without one")
    expect("sawtooth" in reader.said(".tp-question").lower() or reader.said(".tp-answer"), "it hangs")
    # A sweep whose runs take seconds each is left within one, and the points that are made stay.
    long = text.replace("50 Mbit/s", "2 Gbit/s")
    reader.value(f"{BUSY}; (() => {{ const it = document.querySelector('.tp-text textarea'); it.value = {json.dumps(long)}; it.dispatchEvent(new Event('input')); }})()")
    reader.until("/^1 of 3 runs/.test(document.querySelector('.tp-progress').textContent)")
    for _ in range(2):
        reader.press("Stop")
        reader.until("document.querySelector('.tp').dataset.state === 'stopped'")
        rows = reader.value("document.querySelectorAll('.tp-sweep tbody tr').length")
        expect(rows >= 1, f"{rows} points of a sweep that was stopped within a run")
        reader.press("Run")
        reader.until("/^1 of 3 runs/.test(document.querySelector('.tp-progress').textContent)")
    # A slider that goes on while a run does that takes long.
    slow = 'duration = "200000 s"\n[path]\nrate = "1 Mbit/s"\nrtt = "100 ms"\n[[flow]]\nvariant = "reno"\n'
    reader.value(f"{BUSY}; (() => {{ const it = document.querySelector('.tp-text textarea'); it.value = {json.dumps(slow)}; it.dispatchEvent(new Event('input')); }})()")
    reader.until("/of 200000 s/.test(document.querySelector('.tp-progress').textContent)")
    for by in range(40):
        reader.value(f"(() => {{ const it = document.querySelector('input[data-key=\"path.rtt\"]'); it.value = Number(it.value) + {1 - 2 * (by % 2)}; it.dispatchEvent(new Event('input')); }})()")
    reader.type(text)
    expect(reader.said(".tp-fault") == "", reader.said(".tp-fault"))
    return "nine runs, and 2,700 that are left at once; a slider moved 40 times during a long run"


SLOW = 'duration = "200000 s"\n[path]\nrate = "100 Mbit/s"\nrtt = "50 ms"\n[[flow]]\nvariant = "reno"\n'
DRAWN = (
    "window.drawn = []; (() => { const draw = Curves.draw;"
    " Curves.draw = (...all) => { const made = draw(...all); drawn.push(made); return made; }; })()"
)


def stop(reader: Reader) -> str:
    """A run that takes long says so and what is left, and is stopped with what there is."""
    reader.open()
    reader.value(f"{BUSY}; (() => {{ const it = document.querySelector('.tp-text textarea'); it.value = {json.dumps(SLOW)}; it.dispatchEvent(new Event('input')); }})()")
    reader.until("/of 200000 s, about .* left/.test(document.querySelector('.tp-progress').textContent)")
    told = reader.said(".tp-progress")
    expect("1.7 billion packets" in reader.said(".tp-cost") and not reader.hidden(".tp-cost"), reader.said(".tp-cost"))
    reader.press("Stop")
    reader.until("document.querySelector('.tp').dataset.state === 'stopped'")
    expect(reader.said(".tp-progress").startswith("stopped at"), reader.said(".tp-progress"))
    expect(reader.said(".tp-answer") == "" and reader.hidden(".tp-cost"), "an answer of what was stopped")
    expect(reader.value("document.querySelectorAll('.tp-plot canvas').length") >= 2, "the plots are gone")
    expect(reader.value("document.querySelector('.tp-pause').disabled"), "what is stopped can go on")
    reader.type(MINUTE_TEXT)
    expect(reader.hidden(".tp-cost") and reader.said(".tp-answer"), "the next run")
    return f"“{told}”"


def zoom(reader: Reader) -> str:
    """A zoom is of all plots, and stays while the run goes on and while the theme changes."""
    reader.open()
    reader.value(DRAWN)
    reader.choose(".tp-bar select", "sawtooth")
    reader.value("(() => { const it = document.querySelectorAll('.tp-bar select')[1]; it.value = '10'; it.dispatchEvent(new Event('change')); })()")
    reader.until("Number.parseFloat(document.querySelector('.tp-progress').textContent) > 2")
    reader.value("document.querySelector('.tp-plot .u-over').focus()")
    reader.browser.press("ArrowUp", 38)
    views = "JSON.stringify(drawn.slice(-3).map((it) => it.view()))"
    reader.until(f"{views} !== '[null,null,null]'")
    zoomed = reader.value(views)
    at = float(reader.said(".tp-progress").split()[0])
    reader.until(f"Number.parseFloat(document.querySelector('.tp-progress').textContent) > {at + 4}")
    expect(reader.value(views) == zoomed and len(set(json.loads(zoomed)[0])) == 2, f"{zoomed} becomes {reader.value(views)}")
    expect(len({str(one) for one in json.loads(zoomed)}) == 1, f"the plots differ: {zoomed}")
    reader.browser.press("ArrowDown", 40)
    reader.until(f"{views} === '[null,null,null]'")
    return f"{json.loads(zoomed)[0]} kept for four simulated seconds, in three plots"


# How light the lightest is that the first plot has painted, from 0 to 255: its grid by day, its words
# by night.
LIGHT = (
    "(() => { const c = document.querySelector('.tp-plot canvas');"
    " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let most = -1;"
    " for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) most = Math.max(most, (d[i] + d[i + 1] + d[i + 2]) / 3);"
    " return most; })()"
)
PAPER = "getComputedStyle(document.querySelector('.tp')).backgroundColor"


def themes(reader: Reader) -> str:
    """The plots follow the reader's theme and that of the book while they stand."""
    reader.open()
    light = reader.value(LIGHT)
    papers = [reader.value(PAPER)]
    reader.browser.dark(True)
    try:
        reader.until(f"{LIGHT} < {light - 15}")
        dark = reader.value(LIGHT)
        papers.append(reader.value(PAPER))
    finally:
        reader.browser.dark(False)
    reader.until(f"Math.abs({LIGHT} - {light}) < 1")
    expect(papers[0] != papers[1], f"the paper stays {papers[0]}")
    reader.open("index.html")
    book = []
    for name in ("navy", "light"):
        reader.value(f"document.getElementById('mdbook-theme-{name}').click()")
        reader.value("new Promise((done) => setTimeout(done, 200))")
        book.append((reader.value(PAPER), reader.value(LIGHT)))
    expect(book[0][0] != book[1][0] and book[0][1] < book[1][1] - 15, f"the book's themes: {book}")
    return f"the lightest that is painted goes from {light:.0f} to {dark:.0f} of 255 and back, and with the book"


def history(reader: Reader) -> str:
    """Back and forward go between links that carry scenarios."""
    reader.open()
    fragments = []
    for rate in (3, 7):
        reader.type(MINUTE_TEXT.replace("50", str(rate)))
        reader.press("Copy link")
        reader.until(f"location.hash !== {json.dumps(fragments[-1] if fragments else '')} && location.hash.startsWith('#toml=')")
        fragments.append(reader.value("location.hash"))
    reader.open("playground/index.html" + fragments[0])
    reader.value(f"location.hash = {json.dumps(fragments[1])}")
    for move, rate in [("0", 7), ("history.back()", 3), ("history.forward()", 7)]:
        reader.value(f"void {move}")
        reader.until(f"{TEXT}.includes('\"{rate} Mbit/s\"') && {DONE}")
        said = reader.value("document.querySelector('input[data-key=\"path.rate\"]').getAttribute('aria-valuetext')")
        expect(said == f"{rate} Mbit/s", f"after {move}: {said}")
    reader.value(f"{BUSY}; void (location.hash = '')")
    reader.until(f"!{TEXT}.includes('\"7 Mbit/s\"') && {DONE}")
    return "there, back and there again"


def pages(reader: Reader) -> str:
    """Pages of the reference and of the gallery begin with their own scenarios."""
    for page, word in [("reference/variants/vegas", "vegas"), ("reference/disciplines/codel", "codel"), ("gallery/video-call", "call")]:
        reader.browser.open(f"{reader.base}{page}.html")
        reader.until("Boolean(document.querySelector('.trammel-playground button'))")
        own = reader.value("document.querySelector('.trammel-playground').dataset.scenario")
        expect(word in own, f"{page} has another scenario")
        reader.press("Run it here")
        reader.until(DONE)
        expect(reader.value(TEXT) == own and reader.said(".tp-answer"), f"{page} runs another scenario: {reader.value(TEXT)}")
    return "of a variant, a discipline, a question"


def printed(reader: Reader) -> str:
    """On paper all is dark on white, whatever the theme."""
    reader.open()
    light = reader.value(LIGHT)
    reader.browser.dark(True)
    try:
        reader.until(f"{LIGHT} < {light - 15}")
        reader.value(
            "window.onPaper = null; addEventListener('beforeprint', () => {"
            f" onPaper = [{PAPER}, {LIGHT}]; }})"
        )
        size = len(reader.browser.call("Page.printToPDF", printBackground=True)["data"]) * 3 // 4
        paper, ink = reader.value("onPaper")
        expect(paper == "rgb(255, 255, 255)", f"the paper is {paper}")
        expect(abs(ink - light) < 5, f"the ink is {ink}, on the screen {light}")
        reader.until(f"{LIGHT} < {light - 15}")
        night = {"name": "prefers-color-scheme", "value": "dark"}
        reader.browser.call("Emulation.setEmulatedMedia", media="print", features=[night])
        pale = reader.value(
            "[...document.querySelectorAll('body, h1, a, .tp-main *')].filter((it) => it.offsetParent &&"
            " getComputedStyle(it).color.match(/\\d+/g).slice(0, 3).every((part) => part > 140)).map((it) => it.outerHTML.slice(0, 80))"
        )
        expect(not pale, f"pale on paper: {pale[:3]}")
    finally:
        reader.browser.call("Emulation.setEmulatedMedia", media="", features=[])
    return f"a PDF of {size:,} B, black on white"


def several(reader: Reader) -> str:
    """Two playgrounds on a page do not disturb each other."""
    reader.browser.open("about:blank")
    reader.browser.open(reader.base + "two.html")
    states = "[...document.querySelectorAll('.tp')].map((it) => it.dataset.state).join()"
    reader.until(f"{states} === 'done,done'")
    texts = "[...document.querySelectorAll('.tp-text textarea')].map((it) => it.value)"
    before = reader.value(texts)
    expect("reno" in before[0] and "codel" in before[1], f"{before}")
    reader.slide("path.rate", 5)
    after = reader.value(texts)
    expect(after[0] != before[0] and after[1] == before[1], "a slider changes the other's text")
    reader.value("document.querySelector('.tp-plot .u-over').focus()")
    for _ in range(3):
        reader.browser.press("ArrowRight", 39)
    tips = reader.value("[...document.querySelectorAll('.tp')].map((it) => it.querySelectorAll('.tip:not([hidden])').length)")
    expect(tips[0] > 1 and tips[1] == 0, f"cursors of {tips} plots")
    return f"a slider and a cursor ({tips[0]} plots) of the first alone"


def hints(reader: Reader) -> str:
    """What faults say of commands is a link of the site."""
    reader.open()
    found = []
    for text in [
        MINUTE_TEXT.replace('"reno"', '"submarine"'), MINUTE_TEXT + '[[app]]\nkind = "zzzzzz"\n', "",
    ]:
        reader.type(text, "fault")
        links = reader.value("[...document.querySelectorAll('.tp-fault a')].map((it) => it.href)")
        expect(links and "`trammel" not in reader.said(".tp-fault"), reader.said(".tp-fault"))
        found += links
    for link in found:
        expect(reader.value(f"fetch({json.dumps(link)}).then((it) => it.ok)"), f"{link} leads nowhere")
    reader.type('engines = ["measure"]\n' + MINUTE_TEXT)
    expect("simulated" in reader.said(".tp-notes"), f"engine `measure`: {reader.said('.tp-notes')}")
    return ", ".join(link.removeprefix(reader.base) for link in found)


def lecture(reader: Reader) -> str:
    """What will happen is asked first; step, pause and the keyboard."""
    reader.open()
    reader.press("Lecture")
    reader.until("!document.querySelector('.tp-reveal').hidden")
    expect(reader.value("document.querySelectorAll('.tp-plot').length") == 0, "the plot is there before")
    expect(reader.said(".tp-question").endswith("?"), "nothing is asked")
    reader.browser.size(400, 800)
    cut = reader.value(
        "[...document.querySelectorAll('.tp-bar button, .tp-bar select, .tp-bar summary')]"
        ".filter((it) => it.getBoundingClientRect().right > innerWidth).map((it) => it.textContent)"
    )
    asked = reader.value("document.querySelector('.tp-question').getBoundingClientRect().top")
    reader.browser.size(1280, 1000)
    expect(asked < 200, f"on a screen of 400 pixels the question stands at {asked}")
    expect(not cut, f"a screen of 400 pixels cuts {cut}")
    reader.press("Step")
    reader.press("Show what happens")
    reader.until("document.querySelectorAll('.tp-plot').length > 0")
    reader.until(DONE)
    reader.browser.press("Escape", 27)
    reader.until("!document.querySelector('.tp').classList.contains('lecture')")
    # The space bar shows it too; at the end there is nothing to pause.
    reader.press("Lecture")
    reader.until("!document.querySelector('.tp-reveal').hidden")
    for _ in range(4):
        reader.browser.press(" ", 32)
        reader.until("document.querySelectorAll('.tp-plot').length > 0")
        reader.until(DONE)
    expect(reader.said(".tp-fault") == "" and reader.said(".tp-answer"), f"after the end: {reader.said('.tp-fault')}")
    reader.press("Lecture")
    # Slowly, paused, a step further.
    reader.value("(() => { const it = document.querySelectorAll('.tp-bar select')[1]; it.value = '0.1'; it.dispatchEvent(new Event('change')); })()")
    reader.until("Number.parseFloat(document.querySelector('.tp-progress').textContent) > 0.02")
    reader.press("Pause")
    reader.until("document.querySelector('.tp-pause').textContent === 'Go on'")
    at = float(reader.said(".tp-progress").split()[0])
    reader.press("Step")
    reader.until(f"Number.parseFloat(document.querySelector('.tp-progress').textContent) > {at}")
    after = float(reader.said(".tp-progress").split()[0])
    expect(0.05 < after - at < 0.2, f"a step of a round trip of 0.1 s goes from {at} to {after}")
    return "asked, shown, paused, stepped"


def keyboard(reader: Reader) -> str:
    """Everything is reached by Tab, has a name, and answers to keys."""
    reader.open()
    reader.browser.call("Page.bringToFront")
    reader.value("document.activeElement.blur()")
    seen: list[str] = []
    for _ in range(60):
        reader.browser.press("Tab", 9)
        name = reader.value(
            "(() => { const it = document.activeElement; if (it === document.body) return '';"
            " const label = it.getAttribute('aria-label') || it.labels?.[0]?.textContent || it.textContent || it.title;"
            " return it.tagName + ' ' + label.trim().slice(0, 40); })()"
        )
        if not name:
            break
        expect(len(name.split(" ", 1)[-1]) > 0, f"an element {name} has no name")
        seen.append(name)
    for wanted in ("SELECT Question", "BUTTON Run", "BUTTON Lecture", "INPUT Rate", "TEXTAREA", "DIV Plot"):
        expect(any(name.startswith(wanted) for name in seen), f"Tab does not reach {wanted}: {seen}")
    reader.value("document.querySelector('input[data-key=\"path.rate\"]').focus()")
    before = reader.value(TEXT)
    reader.value(BUSY)
    reader.browser.press("ArrowRight", 39)
    reader.until(DONE)
    expect(reader.value(TEXT) != before, "an arrow does not move the slider")
    reader.value("document.querySelector('.tp-plot .u-over').focus()")
    for _ in range(3):
        reader.browser.press("ArrowRight", 39)
    spoken = reader.said(".tip")
    live = reader.value("document.querySelector('.tip').getAttribute('aria-live')")
    expect("\u00a0s" in spoken and live == "polite", f"the cursor of a plot says “{spoken}” ({live})")
    return f"{len(seen)} elements by Tab; a plot says “{spoken[:50]}”"


def downloads(reader: Reader) -> str:
    """Texts, tables, pictures and the report come out."""
    reader.open()
    reader.value(
        "window.saved = []; URL.createObjectURL = (blob) => { saved.push(blob); return 'blob:none'; };"
        " HTMLAnchorElement.prototype.click = function () { saved[saved.length - 1].called = this.download; }"
    )
    found = {}
    for name, file, start in [
        ("Scenario (TOML)", "scenario.toml", "title"),
        ("Samples (CSV)", "samples.csv", "time_s,"),
        ("Flows (CSV)", "flows.csv", "engine,point"),
        ("Plots (SVG)", "plots.svg", "<svg"),
        ("Whole report (HTML)", "report.html", "<!doctype html>"),
    ]:
        reader.press(name)
        reader.until(f"saved.some((blob) => blob.called === '{file}')")
        text = reader.value(f"saved.find((blob) => blob.called === '{file}').text()")
        expect(text.startswith(start), f"{file} begins with {text[:40]}")
        found[file] = len(text)
        if file == "plots.svg":
            # Recoveries of the window, losses of the queue, and what is acknowledged.
            missing = [mark for mark in ("fill-opacity", "#a8281c", 'stroke-width="2" stroke-dasharray') if mark not in text]
            expect(not missing, f"{file} lacks {missing}")
    return ", ".join(f"{name} {size:,} B" for name, size in found.items())


def configuration(reader: Reader) -> str:
    """A Click configuration is drawn, estimated and gone through."""
    reader.open("playground/click.html")
    expect(reader.said(".tp-fault") == "", reader.said(".tp-fault"))
    expect(reader.value("document.querySelectorAll('.tp-drawing svg').length") == 1, "no drawing")
    tables = reader.value("document.querySelectorAll('.tp-tables tbody').length")
    expect(tables == 2, f"{tables} tables")
    expect("DecIPTTL" in reader.said(".tp-main"), "no way of the packet")
    reader.value(f"{BUSY}; (() => {{ const it = document.querySelector('.tp-side > textarea'); it.value = 'FromDevice(a) -> Nonesuch -> Discard;'; it.dispatchEvent(new Event('input')); }})()")
    reader.until("document.querySelector('.tp').dataset.state === 'fault'")
    expect("Nonesuch" in reader.said(".tp-fault"), "the fault is not told")
    # Packets that go round are told, and are in nobody's way.
    for text, shown in [
        ("InfiniteSource -> a :: Null -> b :: Null -> a;", "come back to it without end"),
        ("FromDevice(eth0) -> Strip(14) -> Discard;", "Strip"),
    ]:
        reader.value(f"(() => {{ const it = document.querySelector('.tp-side > textarea'); it.value = {json.dumps(text)}; it.dispatchEvent(new Event('input')); }})()")
        reader.until(f"document.querySelector('.tp-main').textContent.includes({json.dumps(shown)})")
    reader.until(DONE)
    expect("without end" not in reader.said(".tp-main"), "the configuration before is shown")
    return "drawn, estimated, gone through"


def offline(reader: Reader) -> str:
    """Once loaded, the playground does without a network; and it asks nobody else, ever."""
    reader.open()
    reader.until("navigator.serviceWorker.ready.then((it) => it.active.state === 'activated')")
    reader.until("caches.open('trammel').then((c) => c.match('/playground/trammel.wasm')).then(Boolean)")
    reader.open()
    reader.browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    try:
        reader.open()
        expect(reader.said(".tp-answer"), "no answer without a network")
    finally:
        reader.browser.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
    others = {url for url in reader.browser.requests if not url.startswith((reader.base, "about:", "blob:", "data:"))}
    expect(not others, f"the page asks {others}")
    return f"{len(reader.browser.requests)} requests, all to its own server"


CHECKS: list[Callable[[Reader], str]] = [
    presets, sliders, minute, faults, hints, links, history, pages, sweep, stop, zoom, themes, printed, several, lecture, keyboard,
    downloads, configuration, offline,
]


TWO = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Two</title>
<link rel="stylesheet" href="playground/curves.css"><link rel="stylesheet" href="playground/style.css">
<script src="playground/curves.js" defer></script><script type="module" src="playground/play.js"></script>
<div class="trammel-playground" data-preset="sawtooth"></div>
<div class="trammel-playground" data-preset="bufferbloat" data-discipline="codel"></div>"""


class Pages(serve.Quiet):
    """The site, and a page of somebody else's with two playgrounds."""

    def do_GET(self) -> None:
        """Answers a request."""
        if self.path != "/two.html":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(TWO.encode())


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The site on this machine."""
    serving = serve.in_background(Pages)
    try:
        yield f"http://127.0.0.1:{serving.server_address[1]}/"
    finally:
        serving.shutdown()


def main() -> None:
    chromium = program()
    if chromium is None:
        print("skipped: the playground: no Chromium on the PATH")
        return
    wrong = 0
    with served() as base, Browser(chromium) as browser:
        browser.size(1280, 1000)
        reader = Reader(browser, base)
        for check in [one for one in CHECKS if one.__name__ in (sys.argv[1:] or [one.__name__])]:
            begin = time.monotonic()
            try:
                told = check(reader)
                said = reader.value("window.faults.join('; ')")
                expect(not said, f"the page throws: {said}")
            except (Fault, TimeoutError, RuntimeError) as fault:
                wrong += 1
                told = f"FAILED: {fault}"
            print(f"{check.__name__}: {told} ({time.monotonic() - begin:.1f} s)", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
