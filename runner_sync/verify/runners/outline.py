"""Reads classes of other omni files (mixins) without parsing those files.

Comes in: a `Reading`. Goes out: `ClassText`s whose methods are parsed when one is first asked for. May touch: nothing.
Most rules need only the bases and method names of a mixin, so parsing its whole file would waste time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping
from functools import cached_property

from runner_sync.syntax import Function, move_lines
from runner_sync.verify.runners.reading import ClassText, Reading, assigned_in, dotted, methods_of

_METHOD = re.compile(r"^    (?:async )?def (\w+)\(", re.MULTILINE)
_ASSIGNED = re.compile(r"^    (\w+) *(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_MAYBE = re.compile(r"^[ \t]+(?:async[ \t]+)?(?:def[ \t]+(\w+)|(\w+)[ \t]*(?::[^=\n]*)?=(?!=))", re.MULTILINE)
_TOP_LEVEL = re.compile(r"\n[^\s#)\]}]")


def outline(reading: Reading, name: str) -> ClassText | None:
    """Return the class ``name`` of ``reading``; ``None`` if it has none.

    Raises ``InputError`` if the whole file must be parsed and is not Python.
    """
    start = _find_start(reading.text, name)
    if start < 0:
        return reading.classes.get(name) if f"class {name}" in reading.text else None
    after = _TOP_LEVEL.search(reading.text, start + len(name))
    text = reading.text[start : after.start() + 1 if after is not None else len(reading.text)]
    header = _parse_header(text)
    if header is None or (after is not None and not _is_whole(text)):
        return reading.classes.get(name)
    above = reading.text.count("\n", 0, start)
    move_lines(header, above)
    bases = tuple(dotted(base) for base in header.bases)
    members = _Members(reading, name, text, above=above)
    return ClassText(name, header, reading, bases, OutlineMethods(members), _OutlineAssigned(members))


def _find_start(text: str, name: str) -> int:
    """Return the offset of the first line that begins class ``name``, or -1.

    Uses no pattern, because compiling one per name is slow.
    """
    lines, wanted = f"\n{text}", f"\nclass {name}"
    at = lines.find(wanted)
    while at >= 0 and re.match(r"\w", lines[at + len(wanted) : at + len(wanted) + 1]):
        at = lines.find(wanted, at + 1)
    return at


def _parse_header(text: str) -> ast.ClassDef | None:
    """Return the class statement with an empty body; ``None`` if its bases contain brackets."""
    head = re.match(r"class \w+(?:\([^()]*\))?:", text)
    node = ast.parse(f"{head[0]} pass").body[0] if head is not None else None
    return node if isinstance(node, ast.ClassDef) else None


def _is_whole(text: str) -> bool:
    """Whether the text of a class really ends where it seems to.

    Lines inside a long string, or inside brackets, may begin at the margin and look like the end. The end is certain
    outside long strings if a blank line precedes it (comments aside) or the text parses.
    """
    if text.count('"""') % 2 or text.count("'''") % 2:
        return False
    lines = (line for line in reversed(text.split("\n")[:-1]) if not line.startswith("#"))
    return not next(lines, "").strip() or _parse_class(text) is not None


def _parse_class(text: str) -> ast.ClassDef | None:
    try:
        node = ast.parse(text).body[0]
    except SyntaxError:
        return None
    return node if isinstance(node, ast.ClassDef) else None


class _Members:
    """The names that the body of one class binds.

    ``text`` is the class, ``above`` the number of lines above it in its file.
    """

    def __init__(self, reading: Reading, name: str, text: str, *, above: int) -> None:
        self._reading = reading
        self._name = name
        self._text = text
        self._above = above
        self.plain = frozenset(_METHOD.findall(text))
        """Methods at the usual indentation."""

    @cached_property
    def plainly_assigned(self) -> frozenset[str]:
        """Names that the body assigns at the usual indentation."""
        return frozenset(_ASSIGNED.findall(self._text))

    @cached_property
    def perhaps(self) -> frozenset[str]:
        """Names that a definition or assignment at any indentation of the class may bind."""
        return frozenset(name for found in _MAYBE.findall(self._text) for name in found)

    @cached_property
    def node(self) -> ast.ClassDef:
        """The parsed class, with the line numbers of the file."""
        parsed = _parse_class(self._text)
        if parsed is None:
            return self._reading.classes[self._name].node
        move_lines(parsed, self._above)
        return parsed

    @cached_property
    def methods(self) -> Mapping[str, list[Function]]:
        """The methods of the class, each name with all its definitions."""
        return methods_of(self.node)

    @cached_property
    def assigned(self) -> frozenset[str]:
        """The names that the body assigns."""
        return frozenset(assigned_in(self.node.body))


class OutlineMethods(Mapping[str, list[Function]]):
    """The methods of one class by name.

    Parses the class only if a method may stand at an unusual indentation, or for the definitions.
    """

    def __init__(self, members: _Members) -> None:
        self._members = members

    def __contains__(self, name: object) -> bool:
        members = self._members
        return name in members.plain or (name in members.perhaps and name in members.methods)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members.methods)

    def __len__(self) -> int:
        return len(self._members.methods)

    def __getitem__(self, name: str) -> list[Function]:
        return self._members.methods[name]


class _OutlineAssigned(Container[str]):
    """The names that the body of one class assigns."""

    def __init__(self, members: _Members) -> None:
        self._members = members

    def __contains__(self, name: object) -> bool:
        members = self._members
        return name in members.plainly_assigned or (name in members.perhaps and name in members.assigned)
