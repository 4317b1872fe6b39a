"""``rule``: the documentation of the rules.

Comes in: a code, a name, or nothing. Goes out: a ``Report`` of rule texts. May touch: nothing.
"""

from __future__ import annotations

from runner_sync.model import Report
from runner_sync.verify import registry


def rules(code: str | None = None) -> Report:
    """Every rule, the one called ``code`` (``RS203`` or ``override-skipped``), or those that begin so (``RS3``, as in
    ``--select``); none when there is no such rule."""
    if code is None:
        return Report("rule", rules=registry.rule_texts())
    found = registry.find_rule(code)
    if found is not None:
        return Report("rule", rules=(found,))
    prefix = code.upper()
    alike = [text for text in registry.rule_texts() if prefix.startswith("RS") and text.code.startswith(prefix)]
    return Report("rule", rules=tuple(alike))
