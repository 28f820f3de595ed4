"""The examples of the pages on Python and of the package's own words give what they show."""

from __future__ import annotations

import doctest
import os
import re
from pathlib import Path

import pytest
from conftest import ROOT

import trammel

PAGES = [ROOT / "docs" / name for name in ("python.md", "python-control.md", "gym.md")]
NEEDS = {"python.md": "polars", "gym.md": "gymnasium"}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[int, str]]:
    """The examples of the page, each with its line."""
    text = page.read_text()
    found = re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S)
    return [(text[: one.start(1)].count("\n"), marked(one[1])) for one in found]


def marked(block: str) -> str:
    """An example as doctest wants it: an empty line of an output has a word."""
    return re.sub("^$", "<BLANKLINE>", block.removesuffix("\n"), flags=re.M) + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_shows_what_comes_out(page: Path) -> None:
    if page.name in NEEDS:
        pytest.importorskip(NEEDS[page.name])
    parser = doctest.DocTestParser()
    if "UPDATE_DOCS" in os.environ:
        page.write_text(anew(page.read_text()))
    names: dict[str, object] = {}
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for line, text in blocks(page):
        test = parser.get_doctest(text, names, page.name, str(page), line)
        # The examples go on from block to block.
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    assert runner.tries > 5
    assert runner.failures == 0, "".join(said)


def anew(page: str) -> str:
    """The page with what comes out."""
    parser, names = doctest.DocTestParser(), {}  # type: ignore[var-annotated]

    class Writer(doctest.DocTestRunner):
        """Keeps what came out."""

        def __init__(self) -> None:
            super().__init__(verbose=False, optionflags=OPTIONS)
            self.shown: list[str] = []

        def report_success(
            self, out: object, test: object, example: doctest.Example, got: str
        ) -> None:
            # It may have an ellipsis.
            self.shown.append(re.sub("^<BLANKLINE>$", "", example.want, flags=re.M))

        def report_failure(self, out: object, test: object, example: object, got: str) -> None:
            self.shown.append(got)

    def write(block: re.Match[str]) -> str:
        test = parser.get_doctest(marked(block[1]), names, "", None, 0)
        writer = Writer()
        writer.run(test, clear_globs=False)
        names.update(test.globs)
        pieces = []
        for example, got in zip(test.examples, writer.shown):
            lines = example.source.splitlines()
            pieces += [f"{'>>>' if at == 0 else '...'} {line}".rstrip() for at, line in enumerate(lines)]
            pieces += got.splitlines()
        return "```python\n" + "\n".join(pieces) + "\n```"

    return re.sub(r"^```python\n(.*?)^```$", write, page, flags=re.M | re.S)


def test_the_package_s_own_example() -> None:
    result = doctest.testmod(trammel, optionflags=OPTIONS)
    assert result.attempted == 3 and result.failed == 0


def test_the_pages_are_in_the_repository() -> None:
    assert all(blocks(page) for page in PAGES)
