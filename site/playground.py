"""The playground on the site: its files, its modules, and the pages that have it."""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "target/wasm/wasm32-unknown-unknown/playground"
MODULES = {"trammel_wasm.wasm": "trammel.wasm", "trammel_wasm_click.wasm": "click.wasm"}
PLACE = 'class="trammel-playground"'
# What draws plots, as the program's reports have it (`crates/report/src/html.rs`).
ASSETS = ROOT / "crates/report/assets"
SCRIPTS = ["uplot/uPlot.iife.min", "dom", "numbers", "axes", "marks", "colours", "readout", "legend", "curves"]
STYLES = ["uplot/uPlot.min", "colours", "curves"]


def linked(text: str, page: Path) -> str:
    """A page with what its playground needs; one without a playground stays as it is."""
    root = "../" * len(page.parent.parts)
    own = f'<script type="module" src="{root}playground/offline.js"></script>'
    if PLACE in text:
        own += (
            f'<link rel="stylesheet" href="{root}playground/curves.css">'
            f'<link rel="stylesheet" href="{root}playground/style.css">'
            f'<script src="{root}playground/curves.js" defer></script>'
            f'<script type="module" src="{root}playground/play.js"></script>'
        )
    return text.replace("</head>", f"{own}</head>", 1)


def joined(names: list[str], kind: str) -> str:
    """Assets of the reports, one after the other."""
    return "\n".join((ASSETS / f"{name}.{kind}").read_text(encoding="utf-8") for name in names)


def copy(book: Path) -> None:
    """Copies the playground into the site; says what of it was not built."""
    folder = book / "playground"
    shutil.copytree(ROOT / "site/playground", folder, dirs_exist_ok=True)
    shutil.copyfile(ROOT / "site/sw.js", book / "sw.js")
    (folder / "curves.js").write_text(joined(SCRIPTS, "js"), encoding="utf-8")
    # The colours are the playground's own: a page around it has others.
    styles = re.sub(r":root\b", ".tp", joined(STYLES, "css"))
    (folder / "curves.css").write_text(styles, encoding="utf-8")
    for built, name in MODULES.items():
        if (BUILT / built).exists():
            shutil.copyfile(BUILT / built, folder / name)
        else:
            print(f"skipped: the playground: {built} is not built")
