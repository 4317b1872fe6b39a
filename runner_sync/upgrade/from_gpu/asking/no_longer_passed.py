"""Finds arguments that a call no longer passes after a port, although NPU's callee may still take them.

Comes in: a passage before and after a port, and the whole text after it. Goes out: the end of a reason. May touch:
nothing.

The argument is a keyword of a call, or a key of a dict that a call unpacks::

    before  talker_kwargs["seed"] = seed        after   talker_kwargs["generator"] = generator
            self.talker(rows, **talker_kwargs)          self.talker(rows, **talker_kwargs)

timid: reports only if the passage still makes the same call, or fills the same dict, and neither passes the value by
position nor newly unpacks another dict.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from runner_sync.listing import at_most
from runner_sync.statements import is_python, tree_of
from runner_sync.syntax import walk
from runner_sync.thresholds import NAMED


@dataclass(frozen=True, slots=True)
class _Passed:
    """Arguments that a text passes: ``{callee: {keyword: value}}``, ``{callee: positional values and dicts}``, and
    ``{local dict: keys set in it}``."""

    keywords: dict[str, dict[str, str]] = field(default_factory=dict)
    others: dict[str, set[str]] = field(default_factory=dict)
    keys: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> _Passed:
        found = cls()
        for node in walk(tree_of(text)):
            match node:
                case ast.Call(func=func, args=args, keywords=keywords):
                    callee = ast.unparse(func)
                    named = {key.arg: ast.unparse(key.value) for key in keywords if key.arg is not None}
                    dicts = [f"**{ast.unparse(key.value)}" for key in keywords if key.arg is None]
                    found.keywords.setdefault(callee, {}).update(named)
                    found.others.setdefault(callee, set()).update([*map(ast.unparse, args), *dicts])
                case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key)), ctx=ast.Store()):
                    found.keys.setdefault(name, set()).add(key)
        return found

    def unpacks(self, name: str) -> bool:
        """Whether a call unpacks the local dict ``name`` into keywords."""
        return any(f"**{name}" in values for values in self.others.values())


def explain(was: str, now: str, after: str) -> str:
    """Return the end of a reason: what a passage changed from ``was`` to ``now`` no longer passes; empty if nothing."""
    if not (is_python(was) and is_python(now)):
        return ""
    before, passed, whole = map(_Passed.of, (was, now, after))
    lost = {
        keyword
        for callee, given in before.keywords.items()
        if callee in passed.keywords and not _has_new_dict(before, passed, callee)
        for keyword, value in given.items()
        if keyword not in passed.keywords[callee] and value not in passed.others[callee]
    }
    lost |= {
        key
        for name, keys in before.keys.items()
        if name in passed.keys and whole.unpacks(name)
        for key in keys - whole.keys[name]
    }
    return f"; the new code no longer passes {at_most(NAMED, sorted(lost))}" if lost else ""


def _has_new_dict(was: _Passed, now: _Passed, callee: str) -> bool:
    return any(value.startswith("**") for value in now.others[callee] - was.others[callee])
