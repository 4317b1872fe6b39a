"""The command line of a benchmark that makes one section of the results.

Comes in: the section's name and the function that makes its text. Goes out: the text, printed or written into the
results file. May touch: that file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import tables
from runner_sync.errors import InputError


def run(name: str, report: Callable[[], str], what: str, argv: Sequence[str] | None) -> int:
    """Make the section ``name``, described by ``what`` in one line; return 2 if an input cannot be read."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=what)
    parser.add_argument("--out", type=Path, metavar="FILE", help="results file")
    options = parser.parse_args(argv)
    try:
        text = report()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.out is None:
        print(text)
    else:
        tables.write_section(options.out, name, text)
    return 0
