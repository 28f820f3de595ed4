"""Builds the site: writes its pages below `target/site/book-source`, runs mdBook, mends its pages.

    python3 site/build.py MDBOOK       `scripts/site` does it, with the tools that it needs
"""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import fills
import gallery
import pages
import playground
import reference

SITE = pages.ROOT / "site"
WORK = pages.ROOT / "target/site/book-source"
BOOK = pages.ROOT / "target/site/book"


def title_of(text: str) -> str:
    """The first heading."""
    found = re.search(r"^# (.+)$", text, re.M)
    return re.sub(r"[`\[\]]", "", found[1]) if found else "?"


def contents(listed: str, written: dict[str, str], made: reference.Reference) -> str:
    """The table of contents: `site/contents.txt` with the pages of folders and of reference."""
    out = ["# Contents", ""]
    placed = set()
    for line in listed.split("\n"):
        words = line.strip()
        indent = line[: len(line) - len(line.lstrip())]
        if words == "@reference":
            out += made.contents
            placed |= set(made.pages)
        elif words.endswith("*.md"):
            # A folder's pages, or, without a folder, the pages that no line before or below has.
            folder = words.rpartition("/")[0] or "."
            named = {one.split(" ")[-1] for one in listed.split("\n")}
            for page in sorted(p for p in written if str(Path(p).parent) == folder):
                if page not in placed and page not in named:
                    out.append(f"{indent}- [{title_of(written[page])}]({page})")
                    placed.add(page)
        elif words.endswith(".md"):
            title, _, page = words.rpartition(" ")
            if page not in written:
                continue
            mark = "" if page == "index.md" else "- "
            out.append(f"{indent}{mark}[{title or title_of(written[page])}]({page})")
            placed.add(page)
        else:
            out.append(f"\n# {words[2:]}\n" if words.startswith("# ") else "")
    left = sorted(set(written) - placed)
    if left:
        raise SystemExit(f"pages that site/contents.txt does not have: {', '.join(left)}")
    return "\n".join(out) + "\n"


def mend(file: Path) -> None:
    """What a page of mdBook lacks for those who use it by keyboard or by ear."""
    text = file.read_text(encoding="utf-8")
    # The page has its own first heading; this is the book's name in the bar.
    text = re.sub(r'<h1 class="menu-title">(.*?)</h1>', r'<div class="menu-title">\1</div>', text)
    # A wide table scrolls in its box, which the keyboard must reach.
    text = text.replace(
        '<div class="table-wrapper">',
        '<div class="table-wrapper" tabindex="0" role="region" aria-label="Table">',
    )
    text = text.replace("<pre><code", '<pre tabindex="0"><code')
    text = playground.linked(text, file.relative_to(BOOK))
    # Two themes of mdBook's five: `light`, and `navy` with the colours of the dark one.
    text = re.sub(r'<li role="none"><button [^>]*mdbook-theme-(rust|coal|ayu)".*?</li>', "", text)
    text = text.replace('id="mdbook-theme-navy">Navy<', 'id="mdbook-theme-navy">Dark<')
    text = text.replace(
        'aria-describedby="searchresults-header"',
        'aria-label="Search this book" aria-describedby="mdbook-searchresults-header"',
    )
    file.write_text(text, encoding="utf-8")


def make_book(mdbook: str) -> None:
    """Runs mdBook; what it warns of is a fault of a page."""
    shutil.rmtree(BOOK, ignore_errors=True)
    done = subprocess.run([mdbook, "build", str(WORK)], stderr=subprocess.PIPE, text=True)
    warned = [line[:200] for line in done.stderr.split("\n") if re.match(r"\s*(WARN|ERROR)", line)]
    if done.returncode != 0 or warned:
        raise SystemExit("\n".join(warned) or done.stderr)


def main() -> None:
    begin = time.monotonic()
    rewriter = pages.Rewriter()
    shutil.rmtree(WORK, ignore_errors=True)
    source = WORK / "src"
    reference.warm()
    made = reference.Reference(rewriter)
    made.write()
    rewriter.generated = set(made.pages)
    written = dict(made.pages)
    written |= reference.key_pages()
    for name, page in rewriter.pages.items():
        if page in written or not name.endswith(".md") or name == "README.md":
            continue
        text = (pages.ROOT / name).read_text(encoding="utf-8")
        written[page] = rewriter.text(name, page, fills.filled(text))
    readme = (pages.ROOT / "README.md").read_text(encoding="utf-8")
    written["how-true.md"] = rewriter.text("README.md", "how-true.md", fills.how_true(readme))
    shown = gallery.Gallery()
    shown.make(gallery.run())
    written |= shown.pages
    if rewriter.faults:
        raise SystemExit("\n".join(rewriter.faults))
    listed = (SITE / "contents.txt").read_text(encoding="utf-8")
    for page, text in written.items():
        file = source / page
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (source / "SUMMARY.md").write_text(contents(listed, written, made), encoding="utf-8")
    for name, place in rewriter.images.items():
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(pages.ROOT / name, source / place)
    for place, picture in shown.pictures.items():
        shutil.copyfile(picture, source / place)
    shutil.copyfile(SITE / "book.toml", WORK / "book.toml")
    shutil.copyfile(SITE / "theme/trammel.css", WORK / "trammel.css")
    shutil.copytree(SITE / "theme/handlebars", WORK / "theme")
    wrote = time.monotonic()
    make_book(sys.argv[1])
    for file in BOOK.rglob("*.html"):
        mend(file)
    playground.copy(BOOK)
    done = time.monotonic()
    print(
        f"{len(written)} pages in {done - begin:.0f} s: {wrote - begin:.0f} s to write them with"
        f" {made.examples} examples checked, {done - wrote:.0f} s to make the book"
    )


if __name__ == "__main__":
    main()
