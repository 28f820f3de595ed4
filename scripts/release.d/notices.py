#!/usr/bin/env python3
"""The licences of the crates within the programs, as whoever passes the programs on must give them.

    notices.py SOURCE TARGET FEATURES > NOTICES

A text that several crates share stands once.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import crates

NAMES = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)
HEAD = """\
Trammel's programs contain the crates below, Rust's standard library (MIT OR Apache-2.0, the Rust
Project's developers) and, where they are linked statically, the C library musl (MIT):

    Copyright (c) 2005-2020 Rich Felker, et al.

They also carry, as texts, patches to Linux under GPL-2.0-only, whose source is
crates/kernel/gpl in the source archive that comes with each release.
"""


def texts(folder: Path) -> list[str]:
    """The licences in a crate's folder."""
    paths = [path for path in sorted(folder.iterdir()) if NAMES.match(path.name)]
    return [
        path.read_text(errors="replace").replace("\r\n", "\n").strip()
        for path in paths
        if path.is_file() and path.suffix not in (".html", ".rs")
    ]


def main() -> None:
    source, target, features = sys.argv[1:]
    found = crates.read(Path(source), target, features)
    others = [crate for crate in found if crate.is_linked and not crate.is_ours]
    print(HEAD)
    users: dict[str, list[str]] = {}
    for crate in others:
        name = f"{crate.name} {crate.version}"
        print(f"  {name}: {crate.licence}")
        for text in texts(crate.folder):
            users.setdefault(text, []).append(name)
    plot = (Path(source) / "crates/report/assets/uplot/LICENSE").read_text().strip()
    users.setdefault(plot, []).append("uPlot, which draws the plots of reports")
    for text, names in users.items():
        print(f"\n{'-' * 98}\n{', '.join(names)}\n\n{text}")


if __name__ == "__main__":
    main()
