"""Drops arguments of a left-out feature from calls of the GPU twin if they pass the parameter's default at first.

Comes in: the sides of a port, the names that it lacks, and methods. Goes out: the sides, or review items. May touch:
nothing.

Without the feature, the shorter call does the same, so it need not stay out with the feature::

    GPU twin    capture = False                              port    self.attach(rows)
                if self.plan is not None:
                    capture = self.plan.capture
                self.attach(rows, capture=capture)                   def attach(self, rows, capture=False): …
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from runner_sync.edits import Places, apply
from runner_sync.model import ReviewItem, Triple
from runner_sync.signatures import is_as_written
from runner_sync.statements import ancestors, flatten, parse_function, tree_of
from runner_sync.statements.dataflow import binds
from runner_sync.syntax import is_name, walk


def drop_default_arguments(sides: Triple, lacking: Collection[str], find_method: Callable[[str], str | None]) -> Triple:
    """Drop keywords from the twin's new calls that pass a ``lacking`` local whose first value is the default.

    ``find_method`` takes a method's name and returns its text, if known. A method that the base calls, too, keeps its
    argument: without it the change would be none, and nothing would be asked.
    """
    text = sides.upstream
    edits = [
        Places(text).removal(call, keyword)
        for name in sorted(lacking)
        for value, lines in _find_first_value(text, name)
        for method, call, keyword in _find_arguments(text, name)
        if f"self.{method}(" not in sides.base
        and call.lineno in lines
        and _find_default(find_method(method) or "", keyword.arg) == value
    ]
    return replace(sides, upstream=apply(text, edits)) if edits else sides


def mention_dropped_arguments(item: ReviewItem, lacking: Collection[str]) -> ReviewItem:
    """Name in a question the arguments that the twin's calls have more than the port's, if they pass ``lacking`` names.

    The question keeps its id, because the decision is the same.
    """
    kept = {(method, keyword.arg) for name in lacking for method, _, keyword in _find_arguments(item.chosen, name)}
    found = [
        f"{keyword.arg}={name}"
        for name in sorted(lacking)
        for method, _, keyword in _find_arguments(item.upstream, name)
        if (method, keyword.arg) not in kept and f"self.{method}(" in item.chosen
    ]
    hint = f"; without {', '.join(found)}, because the port leaves that value out and its first value is the default"
    return replace(item, reason=item.reason + hint) if found else item


def _find_first_value(text: str, name: str) -> Iterator[tuple[str, range]]:
    """Yield the constant that a method first assigns to a local, and the lines of the suite from there on."""
    nodes = flatten(text)
    first = next((k for k, node in enumerate(nodes) if name in binds(node)), None)
    if first is None or not isinstance(_parse_value(nodes[first].canon), ast.Constant):
        return
    inside = [k for k in range(first, len(nodes)) if nodes[first].parent in ancestors(nodes, k)]
    end = max(nodes[k].start + len(nodes[k].lines) for k in inside) if inside else 0
    yield nodes[first].canon.partition(" = ")[2], range(nodes[first].start, end)


def _parse_value(canon: str) -> ast.expr | None:
    statement = next(iter(tree_of(canon).body), None)
    return statement.value if isinstance(statement, ast.Assign) else None


def _find_arguments(text: str, name: str) -> Iterator[tuple[str, ast.Call, ast.keyword]]:
    """Yield the method, the call and the keyword of each call on ``self`` that passes ``name`` by keyword."""
    for node in walk(tree_of(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_name(node.func.value, "self"):
            yield from ((node.func.attr, node, key) for key in node.keywords if is_name(key.value, name) and key.arg)


def _find_default(method: str, parameter: str | None) -> str | None:
    """Return the default of a keyword parameter, as canonical text."""
    function = parse_function(method)
    if function is None or not is_as_written(function):
        return None
    args = function.args
    plain = args.args[len(args.args) - len(args.defaults) :]
    pairs = [*zip(plain, args.defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return next((ast.unparse(value) for arg, value in pairs if arg.arg == parameter and value is not None), None)
