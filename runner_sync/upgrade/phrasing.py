"""What a merge says of omni and upstream, where these are the NPU and the GPU runner.

Comes in: the reason of a decision and the texts that it is about. Goes out: the reason in words of a port.
May touch: nothing.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterable

from runner_sync.statements import tokens

_SIDES = {"omni": "the NPU runner", "upstream": "the GPU runner"}
_QUOTED = r"""(?<!\w)'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""


def in_words_of_a_port(reason: str, texts: Iterable[str]) -> str:
    """The reason with other words for the sides; code in quotes and names that the texts have stay."""
    names = {name for text in texts for name in _names(text)}
    said = {word: new for word, new in _SIDES.items() if word not in names}
    if len(said) == len(_SIDES):
        reason = reason.replace("omni and upstream", "the NPU and the GPU runner")
    pattern = rf"{_QUOTED}|(?<![\w.])(?:{'|'.join(_SIDES)})\b(?!\.\w)"
    return re.sub(pattern, lambda found: said.get(found[0], found[0]), reason)


def _names(text: str) -> set[str]:
    """Names in code, attributes not counted; every word where it is no Python."""
    found, last = set(), ""
    try:
        for token in tokens(text):
            if token.type == tokenize.NAME and last != ".":
                found.add(token.string)
            last = token.string
    except (SyntaxError, tokenize.TokenError):
        return set(re.findall(r"\w+", text))
    return found
