"""The one exception that ends a run: bad input, said in one sentence.

Goes out: ``InputError``; ``cli`` prints its message on stderr and exits 2. Nothing has been written when it is raised.
``check`` reports its subclass ``UnresolvedConflict`` as a finding instead. ``UnreadableRelease`` is for a release in
place of which the user can give a tree on disk, ``UnknownFormat`` for a file that another runner-sync wrote.
"""

import sys

PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"
"""The Python that parses every source. It cannot parse valid code that uses the syntax of a newer one."""


class InputError(Exception):
    """Input that cannot be used. The message is one sentence that names the thing and the remedy."""


class UnresolvedConflict(InputError):
    """The text at ``path`` holds conflict markers, the first one in ``line``."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(f"{path or 'the text'}:{line}: holds an unresolved merge conflict; resolve it and run again.")
        self.path = path
        self.line = line


class UnreadableRelease(InputError):
    """A release that cannot be read. ``message`` is the reason and the remedy, ``option`` gives a tree in its place;
    ``without_option`` is the sentence for a command that has no such option."""

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(f"{message} or give the tree with {option}.")
        self.without_option = f"{message}."


class UnknownFormat(InputError):
    """A file of runner-sync's own in a format that this version does not know: what it holds is sound, and not lost."""


def unparsable(place: str, why: str) -> InputError:
    """The error for a text at ``place`` that does not parse."""
    remedy = "fix it, or run with the Python that it is written for"
    return InputError(f"{place}: does not parse with {PYTHON} ({why}); {remedy}.")
