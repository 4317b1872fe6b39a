"""Classes of other omni files (mixins), read without parsing those files.

Comes in: a `Reading`. Goes out: `ClassText`s whose methods are parsed when the first of them is asked for. May touch:
nothing. Most rules want only the bases and method names of a mixin, so that parsing its whole file would be a waste.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from runner_sync.syntax import move_lines, statements_of
from runner_sync.verify.runners.reading import ClassText, Function, Reading, dotted

_METHOD = re.compile(r"^    (?:async )?def (\w+)\(", re.MULTILINE)
_TOP_LEVEL = re.compile(r"\n[^\s#)\]}]")


def outline(reading: Reading, name: str) -> ClassText | None:
    """The class ``name`` of ``reading``, ``None`` when no line begins one. Raises ``InputError`` where the file has to
    be parsed whole and is not Python."""
    start = _start(reading.text, name)
    if start < 0:
        return None
    after = _TOP_LEVEL.search(reading.text, start + len(name))
    text = reading.text[start : after.start() + 1 if after is not None else len(reading.text)]
    header = _header(text)
    # The lines of a long string may begin at the margin and look like the end of the class.
    if header is None or text.count('"""') % 2 or text.count("'''") % 2:
        return reading.classes.get(name)
    above = reading.text.count("\n", 0, start)
    move_lines(header, above)
    bases = tuple(dotted(base) for base in header.bases)
    return ClassText(name, header, reading, bases, OutlineMethods(reading, name, text, above=above))


def _start(text: str, name: str) -> int:
    """Offset of the first line that begins class ``name``, -1 for none. Without a pattern: compiling one per name is
    slow."""
    lines, wanted = f"\n{text}", f"\nclass {name}"
    at = lines.find(wanted)
    while at >= 0 and re.match(r"\w", lines[at + len(wanted) : at + len(wanted) + 1]):
        at = lines.find(wanted, at + 1)
    return at


def _header(text: str) -> ast.ClassDef | None:
    """The class statement with an empty body."""
    head = re.match(r"class \w+(?:\([^()]*\))?:", text)
    node = ast.parse(f"{head[0]} pass").body[0] if head is not None else None
    return node if isinstance(node, ast.ClassDef) else None


class OutlineMethods(Mapping[str, list[Function]]):
    """Methods of one class by name; ``text`` is the class, ``above`` the number of lines above it in its file."""

    def __init__(self, reading: Reading, name: str, text: str, *, above: int) -> None:
        self._reading = reading
        self._name = name
        self._text = text
        self._above = above
        self._names = frozenset(_METHOD.findall(text))
        self._parsed: Mapping[str, list[Function]] | None = None

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __getitem__(self, name: str) -> list[Function]:
        return self._all()[name]

    def _all(self) -> Mapping[str, list[Function]]:
        if self._parsed is None:
            self._parsed = self._parse()
            self._names = frozenset(self._parsed)
        return self._parsed

    def _parse(self) -> Mapping[str, list[Function]]:
        try:
            tree = ast.parse(self._text)
        except SyntaxError:
            return self._reading.classes[self._name].methods
        move_lines(tree, self._above)
        methods: dict[str, list[Function]] = {}
        for statement in statements_of(getattr(tree.body[0], "body", [])):
            if isinstance(statement, Function):
                methods.setdefault(statement.name, []).append(statement)
        return methods
