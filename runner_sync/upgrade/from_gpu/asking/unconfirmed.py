"""Names of vllm-ascend's that a port brings to a module which has not used them, with no vllm-ascend at hand.

Comes in: a ported text and a ``ModuleJob``. Goes out: the end of a reason. May touch: nothing.

The profile says what a GPU name is called on NPU in some releases; only a tree says whether this one has it.
"""

from __future__ import annotations

import re

from runner_sync.compose.member_text import uses_word
from runner_sync.model import TITLES
from runner_sync.upgrade.job import ModuleJob


def why(text: str, job: ModuleJob) -> str:
    """The end of a reason: the translated names in ``text``, and attributes of them, that nothing at hand confirms."""
    if job.upstream.new is not None:
        return ""
    upstream = job.module.upstreams[0]
    package = upstream.path.partition("/")[0]
    words = {row.new_name for row in job.profile.names if row.new_module.partition(".")[0] == package}
    found = {used for word in words for used in _uses(text, word) - _uses(job.text, word)}
    named = sorted(name for name in found if not any(other.startswith(f"{name}.") for other in found))
    if not named:
        return ""
    title = TITLES[upstream.project]
    return f"; it uses {' and '.join(named)} of {title}, which no {title} at hand confirms"


def _uses(text: str, word: str) -> set[str]:
    """The places where ``text`` uses a name, each with the attributes that it takes: ``Graph``, ``Graph.clear``."""
    found = re.findall(rf"(?<![\w.]){re.escape(word)}\b(?:\.\w+)*", text)
    return {used for used in found if uses_word(text, used)}
