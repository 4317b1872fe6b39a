"""Name the profile's platform and followed project in texts that are worded for the NPU and vllm-ascend.

    "`torch.cuda` does not exist on the NPU"            ->  "`torch.cuda` does not exist on the XPU"
    "it is false for a tensor on an NPU"                ->  "it is false for a tensor on a GPU"
    "vllm-ascend's method has these lines, too"         ->  "vLLM's method has these lines, too"

Comes in: texts of a report, and the profile. Goes out: texts. May touch: nothing. Leaves alone what stands in backticks
and parts of longer names and paths. A text that names the profile's platform already stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from runner_sync.model import TITLES
from runner_sync.profile import Profile

if TYPE_CHECKING:
    from runner_sync.model import ReviewItem

_CODE = re.compile(r"(`[^`]*`)")
_PLATFORM = r"(?:\b([Aa])n? )?(?<![\w/.-])(?:{}|NPU)(?![\w/])"
_SPELLED = 3
"""The most capitals that are said letter by letter: an XPU, but a MUSA."""

_FOLLOWED = re.compile(r"(?:vLLM (?:and|or) )?(?<![\w/.-])vllm-ascend(?![\w/-])")


def name_platform(text: str, profile: Profile) -> str:
    """Return ``text`` with the names of the profile's platform and followed project."""
    if profile.platform == "NPU" and profile.followed == "vllm-ascend":
        return text
    pattern = re.compile(_PLATFORM.format(re.escape(profile.platform)))
    parts = _CODE.split(text)
    for index in range(0, len(parts), 2):
        named = pattern.sub(lambda found: _add_article(found[1], profile.platform), parts[index])
        parts[index] = named if profile.followed == "vllm-ascend" else _FOLLOWED.sub(TITLES[profile.followed], named)
    return "".join(parts)


def _add_article(article: str | None, platform: str) -> str:
    """Return ``platform`` with ``a`` or ``an``, whose first letter is ``article``, as it is spoken."""
    if article is None:
        return platform
    word = platform.split()[0]
    vowels = "AEFHILMNORSX" if word.isupper() and len(word) <= _SPELLED else "AEIOUaeiou"
    return f"{article}{'n' if word[0] in vowels else ''} {platform}"


def name_platform_in_questions(items: Iterable[ReviewItem], profile: Profile) -> tuple[ReviewItem, ...]:
    """Return the review items with reasons for the profile, before these become comments in a file."""
    return tuple(replace(item, reason=name_platform(item.reason, profile)) for item in items)
