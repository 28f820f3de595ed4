"""Checks the built site: links, headings, alternatives of images, names, contrasts, widths.

    python3 site/check.py [--all]     exit code 1 where something is wrong

What the files say is checked of every page. What only a browser knows (computed colours, what is
cut off at a width) is checked in Chromium where there is one, of every written page and of one of
each kind of reference; `--all` takes all. Links to other sites are counted, not followed.
"""

import json
import queue
import subprocess
import sys
import tempfile
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

import chromium
import serve
from serve import BOOK

# How long a browser may take, in s.
PATIENCE = 560
# Pages of each folder of reference that are looked at in a browser.
SOME = 1

# A page with one of each fault, and words of what must be said of it: a check that finds nothing
# because it looks at nothing would be found by this.
FAULTY = """<!doctype html><html lang="en"><title>Faulty</title><main class="content"><h1>A</h1>
<h3>B</h3><p style="color:#aaa">pale</p><button></button><img src="x.svg">
<table><tr><td>1</td></tr></table><div style="width:3000px">wide</div></main></html>"""
SAID_BY_FILE = ("no alternative", "level 3 follows", "no header")
SAID_BY_BROWSER = ("contrast 2.32", "no name: <button>", "wide: <div")


class Page(HTMLParser):
    """What the checks need of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.faults: list[str] = []
        self.headings: list[int] = []
        self.title = ""
        self.is_in_title = False
        self.headers: list[bool] = []
        self.main = 0
        self.feed(text)
        if not self.title.strip():
            self.faults.append("no title")
        if self.headings.count(1) != 1:
            self.faults.append(f"{self.headings.count(1)} headings of the first level")
        for above, below in zip(self.headings, self.headings[1:]):
            if below > above + 1:
                self.faults.append(f"a heading of level {below} follows one of level {above}")
        if self.main != 1:
            self.faults.append(f"{self.main} elements `main`")
        for one in {one for one in self.ids if self.ids.count(one) > 1}:
            self.faults.append(f"the id `{one}` is there {self.ids.count(one)} times")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes what an element says."""
        words = dict(attrs)
        if words.get("id"):
            self.ids.append(str(words["id"]))
        if tag == "html" and not words.get("lang"):
            self.faults.append("no language")
        if tag == "main":
            self.main += 1
        self.is_in_title = tag == "title" and not self.title
        if tag == "img" and words.get("alt") is None:
            self.faults.append(f"no alternative of the image {words.get('src')}")
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6") and self.main:
            self.headings.append(int(tag[1]))
        if tag == "table":
            self.headers.append(False)
        if tag == "th" and self.headers:
            self.headers[-1] = True
        for key in ("href", "src"):
            if words.get(key):
                self.links.append(str(words[key]))

    def handle_endtag(self, tag: str) -> None:
        """Notes the end of a table."""
        if tag == "table" and self.headers and not self.headers.pop():
            self.faults.append("a table has no header")

    def handle_data(self, data: str) -> None:
        """Notes the title."""
        if self.is_in_title:
            self.title += data
            self.is_in_title = False


def links(pages: dict[Path, Page]) -> tuple[list[str], set[str]]:
    """Links that lead nowhere, and those to other sites."""
    faults, outside = [], set()
    for file, page in pages.items():
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme in ("http", "https", "mailto"):
                outside.add(link)
                continue
            if parts.scheme == "data":
                continue
            if parts.scheme:
                faults.append(f"{file.relative_to(BOOK)}: `{link}` has no scheme of a link")
                continue
            path = urllib.parse.unquote(parts.path)
            target = (file.parent / path).resolve() if path else file
            anchor = urllib.parse.unquote(parts.fragment)
            name = file.relative_to(BOOK)
            if not target.exists():
                faults.append(f"{name}: `{link}` leads nowhere")
            elif anchor and target in pages and anchor not in pages[target].ids:
                faults.append(f"{name}: `{link}` has no such place")
    return faults, outside


def looked_at(all_of_them: bool) -> list[str]:
    """The pages that a browser is shown."""
    names = sorted(str(file.relative_to(BOOK)) for file in BOOK.rglob("*.html"))
    names = [name for name in names if name not in ("toc.html", "404.html")]
    if all_of_them:
        return names
    seen: dict[str, int] = {}
    chosen = []
    for name in names:
        folder = str(Path(name).parent)
        seen[folder] = seen.get(folder, 0) + 1
        if not folder.startswith("reference/") or seen[folder] <= SOME:
            chosen.append(name)
    return chosen


def in_browser(program: str, shown: list[str]) -> list[str]:
    """The faults that a browser sees."""
    answers: queue.Queue[list[str]] = queue.Queue()
    script = (Path(__file__).parent / "look.js").read_bytes()

    class Handler(serve.Quiet):
        """The site, the list of pages, and the script that looks at them."""

        # A connection for many files, which stay in the browser's cache from page to page.
        protocol_version = "HTTP/1.1"

        def end_headers(self) -> None:
            """Says that a file may be kept."""
            self.send_header("Cache-Control", "max-age=3600")
            super().end_headers()

        def do_GET(self) -> None:
            """Files of the site, and what the script needs."""
            own = {
                "/look": (b"<!doctype html><body><script src='/look.js'></script>", "text/html"),
                "/look.js": (script, "text/javascript"),
                "/pages": (json.dumps(["/" + one for one in shown]).encode(), "application/json"),
                "/faulty.html": (FAULTY.encode(), "text/html"),
                # What serves the site without a network would read every file here too;
                # `site/drive.py` looks at it.
                "/sw.js": (b"", "text/javascript"),
            }
            if self.path not in own:
                super().do_GET()
                return
            body, kind = own[self.path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            """The faults."""
            length = int(self.headers["Content-Length"])
            answers.put(json.loads(self.rfile.read(length)))
            self.send_response(204)
            self.send_header("Content-Length", "0")
            self.end_headers()

    serving = serve.in_background(Handler)
    with tempfile.TemporaryDirectory() as profile:
        child = subprocess.Popen(
            [
                program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                f"--user-data-dir={profile}", "--window-size=2000,2200",
                "--remote-debugging-port=0",
                f"http://127.0.0.1:{serving.server_address[1]}/look",
            ],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            return answers.get(timeout=PATIENCE)
        except queue.Empty:
            return [f"{program} did not end within {PATIENCE} s"]
        finally:
            child.kill()
            child.wait()
            serving.shutdown()


def missed(words: tuple[str, ...], said: list[str]) -> list[str]:
    """What the checks do not say of the faulty page."""
    return [
        f"the check does not find `{word}`" for word in words if not any(word in one for one in said)
    ]


def main() -> None:
    files = [file for file in BOOK.rglob("*.html") if file.name not in ("toc.html", "404.html")]
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in sorted(files)}
    faults = [
        f"{file.relative_to(BOOK)}: {fault}"
        for file, page in pages.items()
        for fault in page.faults
    ]
    broken, outside = links(pages)
    faults += broken
    faults += missed(SAID_BY_FILE, Page(FAULTY).faults)
    shown: list[str] = []
    program = chromium.program()
    if program is None:
        print("skipped: colours and widths: no Chromium on the PATH")
    else:
        shown = looked_at("--all" in sys.argv)
        seen = in_browser(program, [*shown, "faulty.html"])
        faults += [one for one in seen if not one.startswith("/faulty.html")]
        faults += missed(SAID_BY_BROWSER, [one for one in seen if one.startswith("/faulty.html")])
    print("\n".join(faults[:200]), end="\n" if faults else "")
    print(
        f"{len(pages)} pages with {sum(len(p.links) for p in pages.values())} links, of them"
        f" {len(outside)} addresses elsewhere, not followed; {len(shown)} pages in a browser;"
        f" {len(faults)} faults"
    )
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
