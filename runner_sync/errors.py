"""The one exception that ends a run: bad input, said in one sentence.

Goes out: ``InputError``; ``cli`` prints its message on stderr and exits 2. Nothing has been written when it is raised.
``UnresolvedConflict`` is the kind of it that ``check`` reports as a finding instead.
"""


class InputError(Exception):
    """Input that cannot be used. The message is one sentence that names the thing and the remedy."""


class UnresolvedConflict(InputError):
    """The text at ``path`` holds conflict markers, the first one in ``line``."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__(f"{path or 'the text'}:{line}: holds an unresolved merge conflict; resolve it and run again.")
        self.path = path
        self.line = line
