"""Builds the wheel of Trammel: what `pip install .` calls (PEP 517), with no other tool than cargo.

One run of cargo makes the extension module and the two programs, so that what they share is built
once. The wheel (PEP 427) is an archive of them and of `python/trammel`:

    trammel/…                        the package, with `_trammel.abi3.so` for CPython 3.10 and newer
    trammel-VERSION.data/scripts/    `trammel`, and `trammel-guest` that runs in guests
    trammel-VERSION.dist-info/       what the package is, and the digest of every file

`TRAMMEL_WHEEL_PROFILE` is the profile of cargo, `quick` by default as for `./run`; `release` gives
the fastest program. `TRAMMEL_WHEEL_BUILT` is a folder with all three built already, for tests.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("trammel", "trammel-guest")
TAG = "cp310-abi3"
FEATURES = ("parquet",)
"""What every wheel has beside a plain build of the program."""
OF_RELEASES = ("object-store",)
"""What wheels for release have too: it takes minutes to build."""


def _version() -> str:
    found = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)
    assert found, "Cargo.toml has the version of the workspace"
    return found[1]


def _platform(files: list[bytes]) -> str:
    """The platform of PEP 600, by the newest version of the C library that the files ask for.

    Nothing else of the system is needed but what PEP 600 allows, so that an index takes the wheel;
    an older distribution to build on makes one for older systems.
    """
    plain = re.sub("[^a-zA-Z0-9]", "_", sysconfig.get_platform())
    versions = [found for data in files for found in re.findall(rb"\0GLIBC_2\.(\d+)\0", data)]
    if not plain.startswith("linux") or not versions:
        return plain
    return plain.replace("linux", f"manylinux_2_{max(map(int, versions))}", 1)


def _build() -> Path:
    """The folder with the module and the programs."""
    if built := os.environ.get("TRAMMEL_WHEEL_BUILT"):
        return Path(built)
    profile = os.environ.get("TRAMMEL_WHEEL_PROFILE", "quick")
    command = ["cargo", "build", "--locked", "--profile", profile, "--lib", "--bins"]
    packages = ["--package", "trammel", "--package", "trammel-python"]
    for feature in FEATURES + (OF_RELEASES if profile == "release" else ()):
        packages += ["--features", f"trammel/{feature},trammel-python/{feature}"]
    try:
        subprocess.run([*command, *packages], cwd=ROOT, check=True)
    except FileNotFoundError:
        raise SystemExit("cargo is missing: install Rust, or run `./run` once, which does") from None
    folder = "debug" if profile in ("dev", "test") else profile
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / folder


def _stripped(path: Path, into: Path) -> Path:
    """A copy without what only a debugger reads; the program as it is where nothing strips it."""
    copy = into / path.name
    strip = shutil.which("strip")
    done = strip and subprocess.run([strip, "-o", copy, path], capture_output=True).returncode == 0
    return copy if done else path


def _metadata() -> str:
    project = (ROOT / "pyproject.toml").read_text()

    def of(key: str) -> str:
        found = re.search(rf'^{key} = "(.*)"$', project, re.M)
        assert found, f"pyproject.toml has `{key}`"
        return found[1]

    classifiers = re.findall(r'^    "(.* :: .*)",$', project, re.M)
    extras = project.split("[project.optional-dependencies]\n")[1].split("\n\n")[0]
    further = []
    for name, packages in re.findall(r"^(\w+) = \[(.*)\]$", extras, re.M):
        further.append(f"Provides-Extra: {name}")
        for package in re.findall(r'"(.*?)"', packages):
            further.append(f"Requires-Dist: {package}; extra == '{name}'")
    lines = [
        "Metadata-Version: 2.4",
        "Name: trammel",
        f"Version: {_version()}",
        f"Summary: {of('description')}",
        f"License-Expression: {of('license')}",
        "License-File: LICENSE-APACHE",
        "License-File: LICENSE-MIT",
        f"Requires-Python: {of('requires-python')}",
        f"Project-URL: Repository, {of('Repository')}",
        *(f"Classifier: {one}" for one in classifiers),
        *further,
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (ROOT / "README.md").read_text()


class _Wheel:
    """An archive whose files have digests; the same files give the same bytes."""

    def __init__(self, path: Path) -> None:
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record: list[str] = []

    def add(self, name: str, data: bytes, is_program: bool = False) -> None:
        about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        about.external_attr = (0o100755 if is_program else 0o100644) << 16
        about.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(about, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, info: str) -> None:
        record = "\n".join([*self.record, f"{info}/RECORD,,"]) + "\n"
        self.archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", (1980, 1, 1, 0, 0, 0)), record)
        self.archive.close()


def _write(folder: Path, built: Path, is_editable: bool) -> str:
    stem = f"trammel-{_version()}"
    info = f"{stem}.dist-info"
    source = ROOT / "python" / "trammel"
    with tempfile.TemporaryDirectory() as room:
        # Cargo leaves the module of a test beside the test alone.
        places = [built / "lib_trammel.so", built / "deps" / "lib_trammel.so"]
        found = [place for place in places if place.is_file()]
        if not found:
            raise SystemExit(f"`{built}` has no `lib_trammel.so`; build the package trammel-python")
        module = _stripped(max(found, key=lambda place: place.stat().st_mtime), Path(room))
        programs = {name: _stripped(built / name, Path(room)).read_bytes() for name in PROGRAMS}
        platform = _platform([module.read_bytes(), *programs.values()])
        name = f"{stem}-{TAG}-{platform}.whl"
        wheel = _Wheel(folder / name)
        if is_editable:
            shutil.copyfile(module, source / "_trammel.abi3.so")
            wheel.add("trammel.pth", f"{source.parent}\n".encode())
        else:
            for path in sorted(source.rglob("*.py*")):
                if path.is_file() and path.suffix in (".py", ".pyi"):
                    wheel.add(f"trammel/{path.relative_to(source)}", path.read_bytes())
            wheel.add("trammel/py.typed", b"")
            wheel.add("trammel/_trammel.abi3.so", module.read_bytes(), is_program=True)
        for program, data in programs.items():
            wheel.add(f"{stem}.data/scripts/{program}", data, is_program=True)
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        wheel.add(f"{info}/licenses/{licence}", (ROOT / licence).read_bytes())
    wheel.add(f"{info}/METADATA", _metadata().encode())
    tag = f"Wheel-Version: 1.0\nGenerator: trammel\nRoot-Is-Purelib: false\nTag: {TAG}-{platform}\n"
    wheel.add(f"{info}/WHEEL", tag.encode())
    wheel.close(info)
    return name


def build_wheel(
    wheel_directory: str,
    config_settings: object = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds the wheel into a folder; gives its name."""
    return _write(Path(wheel_directory), _build(), is_editable=False)


def build_editable(
    wheel_directory: str,
    config_settings: object = None,
    metadata_directory: str | None = None,
) -> str:
    """A wheel that points to this clone, where the module is put, for `pip install -e .`."""
    return _write(Path(wheel_directory), _build(), is_editable=True)


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """An archive of the sources that git knows."""
    name = f"trammel-{_version()}"
    path = Path(sdist_directory) / f"{name}.tar.gz"
    prefix = f"--prefix={name}/"
    about = Path(tempfile.mkdtemp()) / "PKG-INFO"
    about.write_text(_metadata())
    with_about = [prefix, f"--add-file={about}"]
    subprocess.run(["git", "archive", "-o", path, *with_about, "HEAD"], cwd=ROOT, check=True)
    return path.name
