"""Name the profile's platform and followed project in texts that are worded for the NPU and vllm-ascend.

    "`torch.cuda` does not exist on the NPU"            ->  "`torch.cuda` does not exist on the XPU"
    "vllm-ascend's method has these lines, too"         ->  "vLLM's method has these lines, too"

Comes in: texts of a report, and the profile. Goes out: texts. May touch: nothing. Leaves alone what stands in backticks
and parts of longer names and paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from runner_sync.model import TITLES, ReviewItem
from runner_sync.profile import Profile

_CODE = re.compile(r"(`[^`]*`)")
_PLATFORM = re.compile(r"(?<![\w/.-])NPU(?![\w/])")
_FOLLOWED = re.compile(r"(?:vLLM (?:and|or) )?(?<![\w/.-])vllm-ascend(?![\w/-])")


def name_platform(text: str, profile: Profile) -> str:
    """Return ``text`` with the names of the profile's platform and followed project."""
    if profile.platform == "NPU" and profile.followed == "vllm-ascend":
        return text
    parts = _CODE.split(text)
    for index in range(0, len(parts), 2):
        named = _PLATFORM.sub(lambda _found: profile.platform, parts[index])
        parts[index] = named if profile.followed == "vllm-ascend" else _FOLLOWED.sub(TITLES[profile.followed], named)
    return "".join(parts)


def name_platform_in_questions(items: Iterable[ReviewItem], profile: Profile) -> tuple[ReviewItem, ...]:
    """Return the review items with reasons for the profile, before these become comments in a file."""
    return tuple(replace(item, reason=name_platform(item.reason, profile)) for item in items)
