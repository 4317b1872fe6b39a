"""The one exception that ends a run: bad input, said in one sentence.

Goes out: ``InputError``; ``cli`` prints its message on stderr and exits 2. Nothing has been written when it is raised.
"""


class InputError(Exception):
    """Input that cannot be used. The message is one sentence that names the thing and the remedy."""
