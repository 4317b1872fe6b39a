"""Reads the text of one class member: its canonical statements, and the names that it uses and calls.

Comes in: the text of a method, a field or a passage. Goes out: names, statements, answers. May touch: nothing.
"""

from __future__ import annotations

import ast
import copy
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from runner_sync.statements import UnparsableText, canons, code_of, first_function, nested_canons, tree_of
from runner_sync.statements.likeness import dice
from runner_sync.statements.parents import parents_called
from runner_sync.statements.tokenizing import own_lines
from runner_sync.syntax import Function, walk


@lru_cache(maxsize=8192)
def canonical(text: str) -> tuple[str, ...]:
    """Return the canonical statements of a member, without comments and docstring.

    Members with equal statements may nest them differently: ``is_same`` compares members.
    """
    try:
        return canons(text)
    except UnparsableText:
        return (text,)


def is_same(text: str, other: str) -> bool:
    """Whether two members have the same statements in the same nesting, whatever their comments and docstrings."""
    try:
        return text == other or nested_canons(text) == nested_canons(other)
    except UnparsableText:
        return False


def is_same_but_for_hints(text: str, other: str) -> bool:
    """Whether two members do the same as ``is_same`` tells, but for the annotations of signatures."""
    is_as_long = len(canonical(text)) == len(canonical(other))
    return is_same(text, other) or (is_as_long and is_same(_drop_annotations(text), _drop_annotations(other)))


def _drop_annotations(text: str) -> str:
    """Return the text of a member without the annotations of its signatures."""
    tree = copy.deepcopy(tree_of(text))
    for node in walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, Function):
            node.returns = None
    return ast.unparse(tree) if tree.body else text


def likeness(text: str, other: str) -> float:
    """Return the Dice coefficient of the canonical statements of two members; 1 if both have none."""
    own, others = Counter(canonical(text)), Counter(canonical(other))
    return dice(own, others) if own or others else 1.0


@lru_cache(maxsize=4096)
def self_names(text: str) -> frozenset[str]:
    """Return attributes read from ``self``, ``cls`` or a class (``Runner.parse_row``, as static methods are called)."""
    return frozenset(
        node.attr
        for node in walk(tree_of(text))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and _is_self_or_class(node.value.id)
    )


def self_names_of(texts: Iterable[str | None]) -> frozenset[str]:
    """Return the `self_names` of all ``texts``; ``None`` has none."""
    return frozenset(name for text in texts if text is not None for name in self_names(text))


def find_reached(text: str, methods: Mapping[str, str]) -> set[str]:
    """Return the ``methods`` of a class that ``text`` uses on ``self``, directly or through others."""
    found: set[str] = set()
    todo = [text]
    while todo:
        more = (self_names(todo.pop()) & methods.keys()) - found
        found |= more
        todo += [methods[name] for name in more]
    return found


def _is_self_or_class(name: str) -> bool:
    return name in ("self", "cls") or (name[:1].isupper() and not name.isupper())


def self_mentions(passage: str) -> frozenset[str]:
    """Return the names after ``self.`` in a passage that need not parse, for example a statement without its suite."""
    return frozenset(_OF_SELF.findall(passage))


_OF_SELF = re.compile(r"\bself\.(\w+)")


def find_used_members(canon: str, members: Collection[str], functions: Collection[str]) -> list[str]:
    """Return which of these ``members`` of its class and module-level ``functions`` a canonical text uses, by name.

    A keyword argument, a local or an attribute of another object does not count, even with the name of a member.
    """
    own = {name for match in _MEMBER.finditer(canon) for name in match.groups() if name}
    free = set(_FREE.findall(code_of(canon))) if functions else set()
    return sorted(own.intersection(members) | free.intersection(functions))


_MEMBER = re.compile(
    r"(?<![\w.])(?:self|cls|super\(\)|[A-Z]\w*)\.(\w+)|(?<![\w.])(?:get|has|set|del)attr\(self, '(\w+)'"
)
_FREE = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\b(?!=[^=])")


@lru_cache(maxsize=4096)
def find_called_parents(text: str, member: str) -> frozenset[str]:
    """Return the classes whose ``member`` a method calls, ``super()`` included; none if the text does not parse."""
    if f".{member}" not in text:
        return frozenset()
    return parents_called(tree_of(text), member)


def has_class_call(text: str, owner: str, member: str) -> bool:
    """Whether a method calls ``owner.member(…)``, even as a static method; comments and docstrings do not count."""
    call = re.compile(rf"\b{re.escape(owner)}\.{re.escape(member)}\(")
    return any(call.search(statement) for statement in canonical(text))


def has_code_word(text: str, word: str) -> bool:
    """Whether the code of ``text``, outside comments and strings, has ``word``; ``.name`` matches a whole attribute."""
    if word not in text:
        return False
    wanted = re.compile(re.escape(word) + (r"\b" if word[0] == "." else ""))
    places = [found.start() for found in wanted.finditer(text)]
    return any(_is_certainly_code(text, at) for at in places) or (
        bool(places) and wanted.search(code_of(text)) is not None
    )


def _is_certainly_code(text: str, at: int) -> bool:
    """Whether the character at ``at`` is certainly code: not behind a quote or ``#``, nor on a line inside a string.

    A quick test, because tokenizing a whole module takes long.
    """
    start = text.rfind("\n", 0, at) + 1
    if not {"'", '"', "#"}.isdisjoint(text[start:at]):
        return False
    return text.count("\n", 0, at) + 1 not in _lines_in_strings(text)


@lru_cache(maxsize=16)
def _lines_in_strings(text: str) -> frozenset[int]:
    try:
        return frozenset(own_lines(text)[1])
    except (SyntaxError, tokenize.TokenError):
        return frozenset(range(1, text.count("\n") + 2))


def split_head(text: str) -> tuple[str, str]:
    """Split a method into head (decorators, signature, docstring) and rest; both empty for no method or a one-liner."""
    node = first_function(text)
    if node is None or node.body[0].lineno == node.lineno:
        return "", ""
    body = node.body[1:] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body
    at = body[0].lineno - 1
    lines = text.split("\n")
    while at and lines[at - 1].strip().startswith("#"):
        at -= 1
    return "\n".join(lines[:at]) + "\n", "\n".join(lines[at:])


def join_head(head_of: str, body_of: str) -> str:
    """Return the body of one method under the head of another; empty if one of them has none."""
    head, _ = split_head(head_of)
    _, body = split_head(body_of)
    return head + body.lstrip("\n") if head and body else ""
