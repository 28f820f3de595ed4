"""Which files of the repository are pages of the site, and what their links become.

A page keeps its links to other pages. A link to any other file of the repository leads to the
repository on the web; an image is copied beside the pages.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/trammel/trammel"

# A file of the repository, and its page. All of `docs` are pages at the same place.
OUTSIDE_DOCS = {
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md",
    "THIRD-PARTY.md": "project/third-party.md",
    "examples/gym/README.md": "project/gym-example.md",
    "examples/netfpga-ring/README.md": "project/netfpga-ring.md",
    "fuzz/README.md": "project/fuzzing.md",
}

# A page that is generated has no file that a reader of the repository could open. Documents written
# for the site link to its source instead, and here that link leads to the page.
SOURCES = {
    "crates/tcp/src/cc": "variants",
    "crates/tcp/src/models": "models",
    "crates/queues/src/aqm": "disciplines",
    "crates/queues/src/loss": "losses",
    "crates/stats/src/dist": "distributions",
    "crates/netsim/src/apps": "apps",
    "crates/traffic/src/apps": "applications",
    "crates/router/src/elements": "elements",
    "crates/cost/src/eo": "operations",
    "crates/cost/src/machines": "machines",
    "crates/bench/src/procedures": "tests",
    "crates/netfpga/src/designs": "designs",
    "crates/scenario/src/preset": "presets",
}
WRITTEN_FOR_THE_SITE = ("docs/index.md", "docs/tutorials/", "docs/guides/", "docs/explain/",
                        "docs/compare/")

# A link or an image: what comes before its target, the target, the end.
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^\s*(```|~~~)")


def repository_address(path: str) -> str:
    """Where the repository on the web has `path`."""
    kind = "tree" if (ROOT / path).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{path}"


def known() -> dict[str, str]:
    """All pages that are files: path in the repository to path on the site."""
    docs = {
        str(file.relative_to(ROOT)): str(file.relative_to(ROOT / "docs"))
        for file in sorted((ROOT / "docs").rglob("*.md"))
    }
    outside = {path: page for path, page in OUTSIDE_DOCS.items() if (ROOT / path).exists()}
    papers = {
        str(file.relative_to(ROOT)): f"reference/papers/{file.parent.name}.md"
        for file in sorted((ROOT / "papers").glob("*/README.md"))
    }
    folders = {name.removesuffix("/README.md"): page for name, page in papers.items()}
    others = {"papers": "reference/papers/index.md", "README.md": "index.md"}
    return docs | outside | papers | folders | others


def relative(page: str, other: str) -> str:
    """The link from one page to another."""
    return "../" * page.count("/") + other


def page_of_source(name: str, generated: set[str]) -> str | None:
    """The generated page of a source or of its folder, where there is one."""
    if not (ROOT / name).exists():
        return None
    if name in SOURCES:
        return f"reference/{SOURCES[name]}/index.md"
    folder, _, file = name.rpartition("/")
    stem = file.partition(".")[0]
    for spelt in (stem, stem.replace("_", "-")):
        page = f"reference/{SOURCES.get(folder)}/{spelt}.md"
        if page in generated:
            return page
    return None


class Rewriter:
    """Rewrites the links of pages; remembers faults, and the images that the pages need."""

    def __init__(self) -> None:
        self.generated: set[str] = set()
        self.pages = known()
        self.faults: list[str] = []
        self.images: dict[str, str] = {}

    def link(self, source: str, page: str, target: str, is_image: bool) -> str:
        """What the link `target` of the file `source`, shown as `page`, becomes."""
        if "://" in target or target.startswith(("#", "mailto:")):
            return target
        path, _, anchor = target.partition("#")
        anchor = f"#{anchor}" if anchor else ""
        try:
            found = (ROOT / source).parent.joinpath(path).resolve().relative_to(ROOT)
        except ValueError:
            self.faults.append(f"{source}: `{target}` is outside of the repository")
            return target
        name = str(found)
        if is_image:
            place = name.removeprefix("docs/")
            if not (ROOT / name).is_file():
                self.faults.append(f"{source}: there is no image `{target}`")
            self.images[name] = place
            return relative(page, place)
        if name == "README.md" and anchor == "#how-true-how-fast":
            return relative(page, "how-true.md")
        if source.startswith(WRITTEN_FOR_THE_SITE):
            own = page_of_source(name, self.generated)
            if own:
                return relative(page, own) + anchor
        if name in self.pages:
            return relative(page, self.pages[name]) + anchor
        if not (ROOT / name).exists():
            self.faults.append(f"{source}: `{target}` leads nowhere")
        # Pages that are no documents.
        if name.startswith("site/playground/") and name.endswith(".html"):
            return relative(page, name.removeprefix("site/"))
        return repository_address(name) + anchor

    def text(self, source: str, page: str, text: str) -> str:
        """The text of `source` with the links that `page` must have."""

        def replace(match: re.Match[str]) -> str:
            head, target, end = match.groups()
            return head + self.link(source, page, target, head.startswith("!")) + end

        out, fence = [], ""
        for line in text.split("\n"):
            mark = FENCE.match(line)
            if mark and not fence:
                fence = mark[1]
            elif mark and mark[1] == fence:
                fence = ""
            elif not fence:
                line = LINK.sub(replace, line)
            out.append(line)
        return "\n".join(out)
