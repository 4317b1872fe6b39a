"""Whether a name says what the code runs on: the one answer for the rules of both kinds.

Comes in: names, and the words of devices. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection


def says_device(name: str, devices: Collection[str]) -> bool:
    """Whether a name has the word of a platform or of one of the ``devices`` in it; ``cudagraph_mode`` has neither.

    A text of several words (``"cuda graphs are off"``) is a message, and no name.
    """
    text = name.lower()
    if re.search(r"\s", text):
        return False
    return "platform" in text or not {*devices}.isdisjoint(re.split(r"[\W_]+", text))
