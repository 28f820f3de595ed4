"""`python -m trammel`: the program `trammel` of this package."""

import os
import sys

from ._program import find


def main() -> None:
    """Becomes the program, so that its exit code and its signals are those of this process."""
    program = find("trammel")
    if program is None:
        sys.exit("the program `trammel` is missing from this installation; install the package again")
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
