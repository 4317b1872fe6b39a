"""Finds vllm-ascend names that a port newly brings to a module while no vllm-ascend is at hand.

Comes in: a ported text and a ``ModuleJob``. Goes out: the end of a reason. May touch: nothing.

The profile maps a GPU name to its NPU name in some releases; only a tree tells whether this release has it.
"""

from __future__ import annotations

import re

from runner_sync.texts.member_text import has_code_word
from runner_sync.upgrade.job import ModuleJob


def explain(text: str, job: ModuleJob) -> str:
    """Return the end of a reason: translated names, with their attributes, in ``text`` that no tree at hand
    confirms."""
    if job.upstream.new is not None:
        return ""
    package = job.module.anchor.path.partition("/")[0]
    words = {row.new_name for row in job.profile.names if row.new_module.partition(".")[0] == package}
    found = {used for word in words for used in _find_uses(text, word) - _find_uses(job.text, word)}
    named = sorted(name for name in found if not any(other.startswith(f"{name}.") for other in found))
    if not named:
        return ""
    title = job.upstream_title
    return f"; it uses {' and '.join(named)} of {title}, which could not be checked without a {title}"


def _find_uses(text: str, word: str) -> set[str]:
    """Return the uses of a name in ``text``, each with its attributes: ``Graph``, ``Graph.clear``."""
    found = re.findall(rf"(?<![\w.]){re.escape(word)}\b(?:\.\w+)*", text)
    return {used for used in found if has_code_word(text, used)}
