"""The crates that a program is made of, as cargo resolves them.

`cargo tree` says which they are, since the graph of `cargo metadata` has features that only tests
turn on; `cargo metadata` says what each is, and `Cargo.lock` the digest of its archive.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = ("trammel", "trammel-python")
"""What a release has: the programs and the module for Python."""

Key = tuple[str, str]
"""Name and version."""


@dataclass
class Crate:
    """One crate; `folder` has its files."""

    name: str
    version: str
    licence: str
    folder: Path
    sha256: str | None
    """Of the archive in the registry; our own crates have none."""
    is_linked: bool = False
    """In the program, rather than what builds it: a macro, or what a build script uses."""
    uses: set[Key] = field(default_factory=set)

    @property
    def is_ours(self) -> bool:
        return self.sha256 is None


def _cargo(source: Path, *arguments: str) -> str:
    command = ["cargo", *arguments]
    done = subprocess.run(command, check=False, cwd=source, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"`{' '.join(command)}` failed in `{source}`; its messages are above")
    return done.stdout


def _edges(source: Path, target: str, features: str, kinds: str) -> dict[Key, set[Key]]:
    """Whom each crate uses."""
    which = [f"--package={package}" for package in PACKAGES]
    which += [f"--features={features}", f"--target={target}", f"--edges={kinds}"]
    text = _cargo(source, "tree", "--locked", *which, "--prefix=depth", "--format= {p}")
    edges: dict[Key, set[Key]] = {}
    above: list[Key] = []
    for line in text.splitlines():
        found = re.match(r"(\d+) (\S+) v(\S+)", line)
        if not found:
            continue
        depth, key = int(found[1]), (found[2], found[3])
        edges.setdefault(key, set())
        if depth > 0:
            edges[above[depth - 1]].add(key)
        above[depth:] = [key]
    return edges


def _digests(source: Path) -> dict[Key, str]:
    lock = (source / "Cargo.lock").read_text()
    pattern = r'name = "(.*)"\nversion = "(.*)"\nsource = .*\nchecksum = "(.*)"'
    return {(name, version): digest for name, version, digest in re.findall(pattern, lock)}


def read(source: Path, target: str, features: str) -> list[Crate]:
    """All crates of the programs and the module, sorted by name."""
    whole = _edges(source, target, features, "normal,build")
    linked = _edges(source, target, features, "normal,no-proc-macro")
    which = [f"--features={features}", f"--filter-platform={target}", "--format-version=1"]
    known = json.loads(_cargo(source, "metadata", "--locked", *which))
    digests = _digests(source)
    crates = []
    for package in known["packages"]:
        key = (package["name"], package["version"])
        if key not in whole:
            continue
        # Before SPDX expressions a stroke meant a choice.
        licence = re.sub(r"\s*/\s*", " OR ", package["license"] or "NOASSERTION")
        licence = re.sub(r" +", " ", licence)
        folder = Path(package["manifest_path"]).parent
        crates.append(Crate(*key, licence, folder, digests.get(key), key in linked, whole[key]))
    missing = set(whole) - {(crate.name, crate.version) for crate in crates}
    assert not missing, f"`cargo metadata` knows all of the tree, but {missing}"
    return sorted(crates, key=lambda crate: (crate.name, crate.version))
