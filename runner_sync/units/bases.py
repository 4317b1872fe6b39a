"""Class bases as data, conditional ones included; and edits of them that leave the rest of the header as it is.

Comes in: a ``Module``. Goes out: ``BaseClass`` values, or a ``Module`` with another header. May touch: nothing.

The base class of a runner may be chosen at import time (``if is_310p(): from a import X as B else: from b import B``),
so one base expression can come from several places, each under a condition.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from runner_sync.edits import Edit, Places, apply
from runner_sync.errors import InputError
from runner_sync.naming import imported_by
from runner_sync.units.listing import find_class
from runner_sync.units.pieces import ClassPiece, Module
from runner_sync.units.splitting import bare_name, parse


@dataclass(frozen=True, slots=True)
class BaseOrigin:
    """Where a name comes from: ``module`` (``""``: this module), its ``name`` there, and the condition (or ``""``)."""

    module: str
    name: str
    condition: str


@dataclass(frozen=True, slots=True)
class BaseClass:
    """One base expression of a class and all the places it may come from."""

    expression: str
    origins: tuple[BaseOrigin, ...]


def class_bases(module: Module, class_name: str) -> tuple[BaseClass, ...]:
    """The bases of a class in order. ``KeyError`` when the module has no such class."""
    node = _header_node(find_class(module, class_name), module.path)
    bound = list(_bound(module))
    return tuple(BaseClass(text, tuple(_origins(text, bound))) for text in (ast.unparse(base) for base in node.bases))


def _header_node(piece: ClassPiece, path: str) -> ast.ClassDef:
    header = piece.parts[0].text
    body = "" if len(piece.parts) == 1 else "\n pass\n"
    node = parse(header + body, path=path).body[0]
    assert isinstance(node, ast.ClassDef)
    return node


def _origins(expression: str, bound: list[tuple[str, BaseOrigin]]) -> Iterator[BaseOrigin]:
    """The origins of a base ``expression``, given what the module has ``bound``.

    For a dotted expression they are those of its first name, or of a module imported by its full name (``import a.b``).
    """
    plain = expression.partition("[")[0]
    for name, origin in bound:
        if plain == name:
            yield origin
        elif plain.startswith(f"{name}."):
            parts = [part for part in (origin.module.rstrip("."), origin.name) if part]
            dots = origin.module[len(origin.module.rstrip(".")) :]
            yield BaseOrigin(dots + ".".join(parts), plain.removeprefix(f"{name}."), origin.condition)


def _bound(module: Module) -> Iterator[tuple[str, BaseOrigin]]:
    for piece in module.pieces:
        if isinstance(piece, ClassPiece):
            yield bare_name(piece.name), BaseOrigin("", bare_name(piece.name), "")
        elif piece.kind not in ("function", "trivia"):
            yield from _bindings(parse(piece.text, path=module.path).body, "")


def _bindings(body: Iterable[ast.stmt], condition: str) -> Iterator[tuple[str, BaseOrigin]]:
    """Each name that module-level code binds by an import, a class or a plain alias, with its origin."""
    for node in body:
        match node:
            case ast.Import() | ast.ImportFrom():
                for entry in imported_by(node):
                    bound = entry.module if entry.binds_package else entry.bound
                    yield bound, BaseOrigin(entry.module, entry.name, condition)
            case ast.ClassDef():
                yield node.name, BaseOrigin("", node.name, condition)
            case ast.Assign(targets=[ast.Name(id=name)], value=(ast.Name() | ast.Attribute()) as value):
                yield name, BaseOrigin("", ast.unparse(value), condition)
            case ast.If():
                test = ast.unparse(node.test)
                yield from _bindings(node.body, _conjunction(condition, test))
                yield from _bindings(node.orelse, _conjunction(condition, f"not ({test})"))
            case ast.Try() | ast.TryStar():
                yield from _bindings((*node.body, *node.orelse, *node.finalbody), _conjunction(condition, "try"))
                for handler in node.handlers:
                    caught = ast.unparse(handler.type) if handler.type else "BaseException"
                    yield from _bindings(handler.body, _conjunction(condition, f"except {caught}"))


def _conjunction(outer: str, inner: str) -> str:
    return f"{outer} and {inner}" if outer else inner


def set_bases(module: Module, class_name: str, bases: Sequence[str]) -> Module:
    """``module`` with the class's base expressions replaced; keywords, decorators and layout stay.

    If bases are only added, the existing ones keep their text. ``KeyError`` when the class is missing, ``InputError``
    when comments between the bases would be lost.
    """
    piece = find_class(module, class_name)
    node = _header_node(piece, module.path)
    old = [ast.unparse(base) for base in node.bases]
    if old == _as_bases(bases):
        return module
    header = _edited_header(piece.parts[0].text, node, list(bases), f"{module.path}: class {class_name}")
    first = replace(piece.parts[0], text=header)
    edited = replace(piece, parts=(first, *piece.parts[1:]))
    return replace(module, pieces=tuple(edited if part is piece else part for part in module.pieces))


def _as_bases(expressions: Sequence[str]) -> list[str]:
    """The expressions as ``ast.unparse`` writes them in a class header, where starred ones are allowed."""
    (statement,) = ast.parse(f"class _({', '.join(expressions)}): ...").body
    return [ast.unparse(base) for base in statement.bases] if isinstance(statement, ast.ClassDef) else []


def _edited_header(header: str, node: ast.ClassDef, bases: list[str], where: str) -> str:
    """The text of a class header with ``bases`` in it. An ``InputError`` names ``where`` if comments would be lost."""
    if not node.bases:
        return _with_first_bases(header, node, bases)
    places = Places(header)
    extents = _extents(places, node)
    start, end = extents[0][0], extents[-1][1]
    kept = [places.source(base) for base in node.bases]
    if _is_subsequence(kept, bases):
        return _with_added_bases(header, extents, kept, bases)
    if "#" in header[start:end]:
        raise InputError(f"{where} has comments between its bases; move them above the class.")
    if bases:
        return header[:start] + ", ".join(bases) + header[end:]
    rest = header[end:].lstrip()
    return header[:start] + (rest.removeprefix(",").lstrip() if rest.startswith(",") else header[end:])


def _is_subsequence(short: list[str], long: list[str]) -> bool:
    remaining = iter(long)
    return all(base in remaining for base in short)


def _extents(places: Places, node: ast.ClassDef) -> list[tuple[int, int]]:
    """Start and end of each base, including parentheses of its own: ``class A((B if new else C)):``."""
    header, found = places.text, []
    at = header.index("(", _name_end(header, node)[0]) + 1
    for base in node.bases:
        start, end = places.start(base), places.end(base)
        gap = header[at:start]
        opened = 0 if "#" in gap else gap.count("(")
        if opened:
            start = at + gap.index("(")
        for _ in range(opened):
            end = header.index(")", end) + 1
        found.append((start, end))
        at = end
    return found


def _with_added_bases(header: str, extents: list[tuple[int, int]], kept: list[str], bases: list[str]) -> str:
    edits: list[Edit] = []
    index = 0
    for base in bases:
        if index < len(kept) and base == kept[index]:
            index += 1
        elif index == 0:
            edits.append(Edit(extents[0][0], extents[0][0], f"{base}, "))
        else:
            edits.append(Edit(extents[index - 1][1], extents[index - 1][1], f", {base}"))
    return apply(header, edits)


def _with_first_bases(header: str, node: ast.ClassDef, bases: list[str]) -> str:
    listed = ", ".join(bases)
    if node.keywords:
        return apply(header, [Places(header).before(node.keywords[0], f"{listed}, ")])
    opening, closing = _name_end(header, node)
    return f"{header[:opening]}({listed}){header[closing:]}"


def _name_end(header: str, node: ast.ClassDef) -> tuple[int, int]:
    """Offsets between which ``(bases)`` goes: after the class name, before the colon."""
    opening = 0
    for token in tokenize.generate_tokens(io.StringIO(header).readline):
        offset = _char_offset(header, token.end)
        if token.start[0] >= node.lineno and token.string == node.name and not opening:
            opening = offset
        elif opening and token.string == ":":
            return opening, offset - 1
    return opening, opening


def _char_offset(text: str, position: tuple[int, int]) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: position[0] - 1]) + position[1]
