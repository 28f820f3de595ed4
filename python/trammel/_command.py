"""Commands of the program, whose results come back as tables.

```text
arguments ─> trammel COMMAND … -o FOLDER ─> run.json, tables, page ─> Result
```
The tables are those of the run folder, so they are the command's to the byte.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from . import _program
from ._faults import CommandError, Unsupported
from ._result import Interrupted, Result

_DONE, _USAGE, _LACKS, _INTERRUPTED = 0, 2, 3, 130
"""Exit codes of the program."""


class Given(NamedTuple):
    """A scenario as a command reads it: from its file, or from standard input in its folder."""

    text: str
    folder: Path
    path: Path | None
    """The file that it was read from."""

    def is_file(self) -> bool:
        """Whether its file has this text still."""
        try:
            return self.path is not None and self.path.read_text("utf-8") == self.text
        except (OSError, UnicodeDecodeError):
            return False


class Scenario(Protocol):
    """What can be given in place of a scenario file."""

    def _given_to(self) -> Given: ...


def program() -> Path:
    """The program of this package."""
    found = _program.find("trammel")
    if found is None:
        raise Unsupported(
            "the program `trammel` is missing from this installation; install the package again"
        )
    return found


def _words(name: str, value: Any) -> list[str]:
    """The option `name` of `value`; a word for each where it is a list."""
    if value is None or value is False:
        return []
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    if value is True:
        return [flag]
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    # With `=`, a value may begin with a dash.
    return [f"{flag}={fspath(one) if isinstance(one, PathLike) else one}" for one in values]


def call(
    command: str,
    arguments: Sequence[str | PathLike[str] | Scenario],
    options: Mapping[str, Any],
    out: str | PathLike[str] | None = None,
    force: bool = False,
) -> Result:
    """Runs `command`; its result is read from its folder.

    Raises `CommandError` where the program refuses what it was given, `Unsupported` where this
    machine lacks something, `Interrupted` after an interrupt.
    """
    words, text, here = [command], None, Path.cwd()
    for argument in arguments:
        if isinstance(argument, (str, PathLike)):
            words.append(fspath(argument))
        else:
            given = argument._given_to()
            if given.path is not None and given.is_file():
                words.append(fspath(given.path))
            else:
                text, here = given.text, given.folder
                words.append("-")
    for name, value in options.items():
        words.extend(_words(name, value))
    room = None if out is not None else tempfile.TemporaryDirectory(prefix="trammel-")
    folder = Path(out).absolute() if out is not None else Path(room.name if room else "") / "out"
    words.extend([f"--out={folder}", *_words("force", force)])
    process = subprocess.Popen(
        [program(), *words],
        cwd=here,
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    is_interrupted = False
    while True:
        try:
            shown, said = process.communicate(text)
            break
        except KeyboardInterrupt:
            # The terminal told the program too, which keeps what is done and ends.
            if is_interrupted:
                process.kill()
            is_interrupted, text = True, None
    code = process.returncode
    has_result = (folder / "run.json").is_file() and code != _USAGE
    if not has_result:
        if is_interrupted or code == _INTERRUPTED:
            raise KeyboardInterrupt
        kind = Unsupported if code == _LACKS else CommandError
        raise kind(said.strip() or f"`trammel {command}` ended with exit code {code}")
    lines = said.splitlines()
    if room is not None:
        # Where the page of a folder lies that goes with the result.
        lines = [line for line in lines if line != str(folder / "report.html")]
    result = Result(folder, shown, lines, code, room)
    if is_interrupted or code == _INTERRUPTED:
        raise Interrupted(result)
    return result


def text_of(arguments: Sequence[str | PathLike[str]], *, cwd: Path | None = None) -> str:
    """What the program writes to standard output, for commands that write no folder."""
    words = [fspath(word) for word in arguments]
    done = subprocess.run(
        [program(), *words], cwd=cwd, capture_output=True, encoding="utf-8", errors="replace"
    )
    if done.returncode == _DONE:
        return done.stdout
    kind = Unsupported if done.returncode == _LACKS else CommandError
    raise kind(done.stderr.strip() or f"`trammel {words[0]}` ended with {done.returncode}")
