"""The ``runner-sync`` command, which is also ``python -m runner_sync``.

Comes in: the command line of the process. Goes out: its exit code. May touch: what `cli` touches. Ctrl-C while Python
still imports that ends the process as it does later on.
"""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit code."""
    try:
        from runner_sync import cli
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
