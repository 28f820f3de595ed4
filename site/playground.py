"""The playground on the site: its files, its modules, and the pages that have it."""

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "target/wasm/wasm32-unknown-unknown/playground"
MODULES = {"trammel_wasm.wasm": "trammel.wasm", "trammel_wasm_click.wasm": "click.wasm"}
PLACE = 'class="trammel-playground"'


def linked(text: str, page: Path) -> str:
    """A page with what its playground needs; one without a playground stays as it is."""
    root = "../" * len(page.parent.parts)
    own = f'<script type="module" src="{root}playground/offline.js"></script>'
    if PLACE in text:
        own += (
            f'<link rel="stylesheet" href="{root}playground/uPlot.min.css">'
            f'<link rel="stylesheet" href="{root}playground/style.css">'
            f'<script src="{root}playground/uPlot.iife.min.js" defer></script>'
            f'<script type="module" src="{root}playground/play.js"></script>'
        )
    return text.replace("</head>", f"{own}</head>", 1)


def copy(book: Path) -> None:
    """Copies the playground into the site; says what of it was not built."""
    folder = book / "playground"
    shutil.copytree(ROOT / "site/playground", folder, dirs_exist_ok=True)
    shutil.copyfile(ROOT / "site/sw.js", book / "sw.js")
    for file in (ROOT / "crates/report/assets/uplot").glob("uPlot*"):
        shutil.copyfile(file, folder / file.name)
    for built, name in MODULES.items():
        if (BUILT / built).exists():
            shutil.copyfile(BUILT / built, folder / name)
        else:
            print(f"skipped: the playground: {built} is not built")
