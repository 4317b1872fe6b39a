"""``python -S benchmarks/launch.py RESULT STDERR COMMAND…``: run one command and record its costs.

Comes in: a command line. Goes out: ``[wall s, CPU s, peak as ru_maxrss, exit code]`` as JSON in RESULT. May touch: the
two files, the command.

The program is standalone and small, because on Linux a child's peak memory starts at that of the process that forked
it. A large parent would hide a small child.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main(result: str, errors: str, command: list[str]) -> None:
    """Run ``command``, discarding its standard output and writing its standard error to ``errors``."""
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, errors, write, 0o600)]
    started = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=files)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - started
    figures = [seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status)]
    with open(result, "w") as out:  # noqa: PTH123  (pathlib would make this process larger)
        json.dump(figures, out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
