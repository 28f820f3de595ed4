"""The gallery on the site: a page of pictures, and a page for each scenario to play with."""

import json
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import program
import reference


def exhibits() -> list[dict[str, Any]]:
    """The scenarios of the program's gallery, with their texts."""
    names = [one["name"] for one in json.loads(program.say("gallery", "--json"))["gallery"]]
    listed = json.loads(program.say("gallery", *names, "--json"))["gallery"]
    return list(listed)


def run() -> Path:
    """The run folders of all, each called as its scenario; kept from build to build."""
    folder = program.kept(json.dumps(["gallery", "--run"]))
    done = folder / "done"
    if not done.exists():
        asked = [program.TRAMMEL, "gallery", "--run", "-o", str(folder)]
        said = subprocess.run(asked, capture_output=True, text=True, env=program.PLAIN)
        if said.returncode != 0:
            raise SystemExit(f"trammel gallery --run\n{said.stderr}")
        done.touch()
    return folder


def answer(text: str) -> str:
    """An answer as Markdown: the program's words are Markdown already but for `<`."""
    return text.replace("<", "&lt;")


class Gallery:
    """The pages by their path on the site, the pictures."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.pictures: dict[str, Path] = {}

    def make(self, folder: Path) -> None:
        """Makes all pages from the run folders."""
        whole = ["# Gallery", "",
                 "Questions about networks, each answered by a scenario of a few lines."
                 " `trammel gallery NAME` shows its file, `trammel new NAME` copies it.", ""]
        theme = ""
        for one in exhibits():
            if one["theme"] != theme:
                theme = one["theme"]
                whole += [f"## {theme[:1].upper()}{theme[1:]}", ""]
            own = f"gallery/{one['name']}.md"
            picture = folder / one["name"] / "figures" / f"{one['picture']}.svg"
            shown = ""
            if picture.exists():
                self.pictures[f"gallery/{one['name']}.svg"] = picture
                says = escape(f"{one['question']} {one['answer']}", quote=True)
                shown = f'<img class="exhibit" src="{{root}}gallery/{one["name"]}.svg" alt="{says}">'
            whole += [f"### [{one['question']}]({own})", "", shown.format(root=""), "",
                      answer(one["answer"]), ""]
            self.pages[own] = self.page(one, shown.format(root="../"))
        self.pages["gallery.md"] = "\n".join(whole)

    def page(self, one: dict[str, Any], shown: str) -> str:
        """The page of one scenario."""
        text = one["text"].strip()
        language = "toml"
        played = ""
        if not text.startswith("subject") and "\nsubject" not in text:
            played = f"\n## Play with it\n\n{reference.playground(text)}\n"
        return (
            f"# {one['question']}\n\n{answer(one['answer'])}\n\n{shown}\n\n"
            f"```{language}\n{text}\n```\n\n```console\n$ trammel gallery --run {one['name']} -o"
            f" out\n```\n{played}"
        )
