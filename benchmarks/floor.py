"""``python benchmarks/floor.py libcst|ast|none FILE…``: the least that any tool could do with these files.

Comes in: files. Goes out: nothing. May touch: the files.

The program is standalone, so that its process imports nothing else. ``libcst`` parses and prints each text once,
``ast`` parses each once, ``none`` only starts Python.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(mode: str, files: list[str]) -> None:
    """Do the named work on every file."""
    texts = [Path(name).read_text("utf-8") for name in files]
    if mode == "libcst":
        import libcst

        for text in texts:
            assert libcst.parse_module(text).code == text
    elif mode == "ast":
        import ast

        for text in texts:
            ast.parse(text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
