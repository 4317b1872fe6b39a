"""The exceptions that end a run because of bad input.

Goes out: ``InputError``; ``cli`` prints its message on stderr and exits 2. When it is raised, nothing has been written.
Subclasses: ``check`` reports ``UnresolvedConflict`` as a finding. ``UnreadableRelease`` means that the user can give a
tree on disk instead. ``UnknownFormat`` means that another runner-sync version wrote the file. ``UndecodableText``
lets a reader of a known file name another remedy. `attempt` keeps any other exception, a mistake of this program, from
ending a run.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""The Python version that parses every source. It rejects valid code with newer syntax."""


REPORT_MISTAKE = "run again with --traceback, and report what it prints"
"""What a user can do about a mistake of this program."""


class InputError(Exception):
    """Unusable input. The message is one sentence that names the input and the remedy."""


class UnresolvedConflict(InputError):
    """The text at ``path`` contains conflict markers; ``line`` is the first of them."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(f"{path or 'the text'}:{line}: holds an unresolved merge conflict; resolve it and run again.")
        self.path = path
        self.line = line


class UndecodableText(InputError):
    """The file ``name`` is not UTF-8; ``line`` is the first such line, ``data`` is the content."""

    def __init__(self, name: str, line: int, data: bytes) -> None:
        super().__init__(f"{name}:{line} is not UTF-8 text: convert the file to UTF-8 and run again.")
        self.line = line
        self.data = data


class UnreadableRelease(InputError):
    """A release that cannot be read.

    ``message`` states the reason and the remedy, ``option`` names the option that takes a tree instead.
    ``without_option`` is the sentence for a command without that option.
    """

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(f"{message} or give the tree with {option}.")
        self.without_option = f"{message}."


class UnknownFormat(InputError):
    """A file of runner-sync in a format unknown to this version; its content is intact."""


def attempt(work: Callable[[], Made], otherwise: Callable[[str], Made], *, isolates: bool) -> Made:
    """Return ``work()``; if it fails by a mistake of this program, ``otherwise`` of a text that names the mistake.

    Bad input, a failing disk, too little memory, and sources that are nested too deeply are no such mistakes: these are
    raised. So is every exception unless the run ``isolates`` mistakes.
    """
    try:
        return work()
    except (InputError, OSError, MemoryError, RecursionError):
        raise
    except Exception as error:
        if not isolates:
            raise
        return otherwise(describe_mistake(error))


def describe_mistake(error: Exception) -> str:
    """Return an unexpected exception with the innermost line of this package in its traceback.

    For example ``KeyError: 'a' at runner_sync/mro.py:42``.
    """
    import traceback

    package = Path(__file__).parent
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if package in Path(frame.filename).parents]
    place = f" at {Path(own[-1].filename).relative_to(package.parent).as_posix()}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__}: {error}{place}"


def unparsable(place: str, why: str) -> InputError:
    """Return the error for a text at ``place`` that does not parse."""
    remedy = "fix it, or run with the Python that it is written for"
    return InputError(f"{place}: does not parse with {PYTHON} ({why}); {remedy}.")
