"""Tells whether a name asks what the code runs on; shared by the rules of ``trees`` and of ``runners``.

Comes in: names, and the words of devices. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection


def is_device_name(name: str, devices: Collection[str]) -> bool:
    """Whether a name contains ``platform``, or one of ``devices`` as a whole word; ``cudagraph_mode`` has neither.

    A text of several words (``"cuda graphs are off"``) is a message, not a name.
    """
    text = name.lower()
    if re.search(r"\s", text):
        return False
    return "platform" in text or not {*devices}.isdisjoint(re.split(r"[\W_]+", text))
