"""Where the programs of the package are: in the folder for scripts of the installation."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path


def find(name: str) -> Path | None:
    """The program `name` of this package; nothing where it is missing."""
    user = f"{os.name}_user"
    schemes = [None, user] if user in sysconfig.get_scheme_names() else [None]
    folders = [
        sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        for scheme in schemes
    ]
    # `pip install --target` has the scripts beside the package.
    folders += [os.path.join(Path(__file__).parent.parent, "bin"), os.path.dirname(sys.executable)]
    for folder in folders:
        program = Path(folder) / name
        if program.is_file():
            return program
    return None
