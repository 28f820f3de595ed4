"""Commands of the program, whose results come back as tables.

```text
arguments ─> trammel COMMAND … -o FOLDER ─> run.json, tables, page ─> Result
```
The tables are those of the run folder, so they are the command's to the byte.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from . import _program
from ._faults import CommandError, Unsupported
from ._result import Interrupted, Result, Room

_USAGE, _LACKS, _INTERRUPTED = 2, 3, 130
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
            path = self.path
            # The path may mean another file where the process went elsewhere.
            is_here = path is not None and path.absolute().parent == self.folder
            return path is not None and is_here and path.read_text("utf-8") == self.text
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
    if isinstance(value, Mapping):
        value = [f"{key}={one}" for key, one in value.items()]
    is_one = isinstance(value, (str, PathLike)) or not isinstance(value, Iterable)
    # With `=`, a value may begin with a dash.
    return [f"{flag}={_plain(one)}" for one in ([value] if is_one else value)]


def _plain(word: Any) -> str:
    """A word of the command line; a file's path from where this process is."""
    if isinstance(word, PathLike):
        return str(Path(word).absolute())
    return str(word)


def _place(argument: Any) -> str | Given:
    """An argument without a name: a path, or what stands for a file."""
    if isinstance(argument, Result):
        return str(argument.folder)
    if isinstance(argument, str):
        return argument
    if isinstance(argument, PathLike):
        return str(argument)
    if hasattr(argument, "_given_to"):
        given: Given = argument._given_to()
        return str(given.path) if given.is_file() else given
    raise TypeError(f"a path is wanted, or a scenario, not a {type(argument).__name__}")


def call(
    command: str,
    arguments: Sequence[str | PathLike[str] | Scenario | Result],
    options: Mapping[str, Any],
    out: str | PathLike[str] | None = None,
    force: bool = False,
) -> Result:
    """Runs `command`; its result is read from its folder.

    Raises `CommandError` where the program refuses what it was given, `Unsupported` where this
    machine lacks something, `Interrupted` after an interrupt.
    """
    words, places, here, given = _line(command, arguments, options)
    room = None
    if out is None:
        room = Room()
        folder = Path(room.path) / "out"
    else:
        folder = Path(out).absolute()
    words.extend([f"--out={folder}", *_words("force", force), "--", *places])
    code, shown, said, is_interrupted = _carried_out(words, here, given)
    has_result = (folder / "run.json").is_file() and code != _USAGE
    if not has_result:
        if is_interrupted or code == _INTERRUPTED:
            raise KeyboardInterrupt
        kind = Unsupported if code == _LACKS else CommandError
        raise kind(said.strip() or f"`trammel {command}` ended with exit code {code}")
    lines = said.splitlines()
    if room is not None:
        # Where the files of a folder lie that goes with the result.
        files = [str(folder / name) for name in ("report.html", "scenario.toml")]
        lines = [line for line in lines if line not in files]
    result = Result(folder, shown, lines, code, room)
    if is_interrupted or code == _INTERRUPTED:
        raise Interrupted(result)
    return result


def text(
    command: str,
    arguments: Sequence[str | PathLike[str] | Scenario | Result],
    options: Mapping[str, Any],
) -> str:
    """Runs `command`; its result is what it writes to standard output.

    Raises as `call` does.
    """
    words, places, here, given = _line(command, arguments, options)
    code, shown, said, is_interrupted = _carried_out([*words, "--", *places], here, given)
    if is_interrupted or code == _INTERRUPTED:
        raise KeyboardInterrupt
    if code != 0:
        kind = Unsupported if code == _LACKS else CommandError
        raise kind(said.strip() or f"`trammel {command}` ended with exit code {code}")
    return shown


def _line(
    command: str,
    arguments: Sequence[str | PathLike[str] | Scenario | Result],
    options: Mapping[str, Any],
) -> tuple[list[str], list[str], Path, str | None]:
    """Command and options, the arguments without a name, the folder to be in, and standard input."""
    places = [_place(argument) for argument in arguments]
    texts = [place for place in places if isinstance(place, Given)]
    if len(texts) > 1:
        raise ValueError(f"`{command}` reads one text at a time; write the others into files")
    words = [command]
    for name, value in options.items():
        words.extend(_words(name, value))
    here = texts[0].folder if texts else Path.cwd()
    plain = []
    for place in places:
        if isinstance(place, Given):
            plain.append("-")
        else:
            # Where the text's files are, paths from here mean others.
            is_file = texts and os.path.exists(place)
            plain.append(os.path.abspath(place) if is_file else place)
    return words, plain, here, texts[0].text if texts else None


def _carried_out(words: list[str], here: Path, text: str | None) -> tuple[int, str, str, bool]:
    """Exit code, both outputs, and whether it was interrupted.

    The program has a session of its own, and an interrupt is passed on: it keeps what is done and
    ends. A second one ends it at once, as any other exception does.
    """
    process = subprocess.Popen(
        [program(), *words],
        cwd=here,
        stdin=subprocess.DEVNULL if text is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    is_interrupted = False
    try:
        while True:
            try:
                shown, said = process.communicate(text)
                return process.returncode, shown, said, is_interrupted
            except KeyboardInterrupt:
                if is_interrupted:
                    raise
                process.send_signal(signal.SIGINT)
                is_interrupted, text = True, None
    except BaseException:
        process.kill()
        process.communicate()
        raise
