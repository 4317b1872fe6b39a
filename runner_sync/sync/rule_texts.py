"""Return the documentation of the rules, for ``rule``.

Comes in: a code, a name, or nothing. Goes out: a ``Report`` of rule texts. May touch: nothing.
"""

from __future__ import annotations

from runner_sync.model import Report
from runner_sync.verify import registry


def rules(code: str | None = None) -> Report:
    """Return the rule with this code or name (``RS203``, ``override-skipped``), or rules by prefix (``RS3``).

    Returns all rules if ``code`` is ``None``, and none if no rule matches.
    """
    if code is None:
        return Report("rule", rules=registry.rule_texts())
    found = registry.find_rule(code)
    if found is not None:
        return Report("rule", rules=(found,))
    prefix = code.upper()
    alike = [text for text in registry.rule_texts() if prefix.startswith("RS") and text.code.startswith(prefix)]
    return Report("rule", rules=tuple(alike))
