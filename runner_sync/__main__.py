"""The ``runner-sync`` command, also run by ``python -m runner_sync``.

Comes in: the command line of the process. Goes out: its exit code. May touch: what `cli` touches.

Ctrl-C while `cli` is being imported ends the process as it does later.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and exit with its code."""
    # What modules and syntax trees consist of is millions of small objects that live to the end and form no cycles.
    # Collecting them takes a tenth of the time of an upgrade, also of the imports, and frees nothing.
    gc.disable()
    try:
        from runner_sync import cli
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
