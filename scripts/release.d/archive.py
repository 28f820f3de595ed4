#!/usr/bin/env python3
"""Archives whose bytes follow from names, modes and contents alone: sorted, of root, at one time."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
from pathlib import Path
from typing import BinaryIO


def add(archive: tarfile.TarFile, name: str, data: bytes, mode: int, epoch: int) -> None:
    """Adds a file with the text `data`; `epoch` is its time in seconds."""
    about = tarfile.TarInfo(name)
    about.size, about.mode, about.mtime = len(data), mode, epoch
    archive.addfile(about, io.BytesIO(data))


def add_folder(archive: tarfile.TarFile, name: str, mode: int, epoch: int) -> None:
    """Adds an empty folder."""
    about = tarfile.TarInfo(name)
    about.type, about.mode, about.mtime = tarfile.DIRTYPE, mode, epoch
    archive.addfile(about)


def add_tree(archive: tarfile.TarFile, root: Path, prefix: str, epoch: int) -> None:
    """Adds all below `root` under `prefix`. Of modes, only whether a file is a program counts."""
    for path in sorted(root.rglob("*")):
        name = f"{prefix}{path.relative_to(root).as_posix()}"
        if path.is_symlink():
            raise SystemExit(f"`{path}` is a link; a release has files and folders only")
        if path.is_dir():
            add_folder(archive, name, 0o755, epoch)
        else:
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            add(archive, name, path.read_bytes(), mode, epoch)


def tar(into: BinaryIO) -> tarfile.TarFile:
    """An archive in the format that every tar reads."""
    return tarfile.open(fileobj=into, mode="w", format=tarfile.GNU_FORMAT)


def compressed(data: bytes, level: int) -> bytes:
    """`data` by gzip, without a name and a time. `level` is 1, the fastest, to 9, the smallest."""
    return gzip.compress(data, level, mtime=0)


def main() -> None:
    """`archive.py ROOT PREFIX OUT EPOCH LEVEL` writes the compressed archive of a folder."""
    root, prefix, out, epoch, level = sys.argv[1:]
    data = io.BytesIO()
    with tar(data) as archive:
        add_folder(archive, prefix, 0o755, int(epoch))
        add_tree(archive, Path(root), prefix, int(epoch))
    Path(out).write_bytes(compressed(data.getvalue(), int(level)))


if __name__ == "__main__":
    main()
