"""Read class bases, conditional ones included, and edit them without changing the rest of the header.

Comes in: a ``Module``. Goes out: ``BaseClass`` values, or a ``Module`` with another header. May touch: nothing.

The base class of a runner may be chosen at import time (``if is_310p(): from a import X as B else: from b import B``,
or ``B = X if is_310p() else Y``), so one base expression can come from several places, each under a condition.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.edits import Edit, Places, apply
from runner_sync.errors import InputError
from runner_sync.naming import Import
from runner_sync.references import Binding, Reference, alternatives, find_bindings, followed
from runner_sync.syntax import dotted_name
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
    """One base expression of a class and all its possible origins."""

    expression: str
    origins: tuple[BaseOrigin, ...]


def class_bases(module: Module, class_name: str) -> tuple[BaseClass, ...]:
    """Return the bases of a class in order. Raises ``KeyError`` if the module has no such class."""
    node = _parse_header(find_class(module, class_name), module.path)
    bound = group_bindings(module)
    return tuple(BaseClass(ast.unparse(base), find_origins(base, bound)) for base in node.bases)


def _parse_header(piece: ClassPiece, path: str) -> ast.ClassDef:
    header = piece.parts[0].text
    body = "" if len(piece.parts) == 1 else "\n pass\n"
    node = parse(header + body, path=path).body[0]
    assert isinstance(node, ast.ClassDef)
    return node


def group_bindings(module: Module) -> Mapping[str, list[Binding]]:
    """Return the bindings of a module, grouped by name."""
    found: dict[str, list[Binding]] = {}
    for binding in _iter_bindings(module):
        found.setdefault(binding.name, []).append(binding)
    return found


def _iter_bindings(module: Module) -> Iterator[Binding]:
    for piece in module.pieces:
        if isinstance(piece, ClassPiece):
            yield Binding(bare_name(piece.name), None, "")
        elif piece.kind not in ("function", "trivia"):
            yield from find_bindings(parse(piece.text, path=module.path).body)


def find_origins(expression: ast.expr | str, bound: Mapping[str, Sequence[Binding]]) -> tuple[BaseOrigin, ...]:
    """Return the origins of a base ``expression``, or of a dotted name, in a module with the bindings ``bound``.

    A name that is an alias has the origins of what it stands for. A dotted name has those of its first name, or of a
    module imported by its full name (``import a.b``).
    """

    def meanings(_here: None, name: str) -> Iterator[_Meaning]:
        parts = name.split(".")
        for count in range(len(parts), 0, -1):
            rest = ".".join(parts[count:])
            for binding in bound.get(".".join(parts[:count]), ()):
                yield from _resolve_binding(binding, rest)

    found = followed(Reference(None, expression), meanings)
    return tuple(replace(origin, condition=condition) for origin, condition in found)


_Meaning = tuple[BaseOrigin | Reference[None, BaseOrigin], str]


def _resolve_binding(binding: Binding, rest: str) -> Iterator[_Meaning]:
    """Yield what a binding resolves its name to, or the member ``rest`` of that name."""
    match binding.to:
        case None:
            yield BaseOrigin("", _join_names(binding.name, rest), ""), binding.condition
        case Import(module=module, name=name) if rest:
            bare = module.lstrip(".")
            dots = module[: len(module) - len(bare)]
            yield BaseOrigin(dots + _join_names(bare, name), rest, ""), binding.condition
        case Import(module=module, name=name):
            yield BaseOrigin(module, name, ""), binding.condition
        case value:
            for part, condition in alternatives(value, binding.condition):
                if alias := dotted_name(part):
                    full = _join_names(alias, rest)
                    yield Reference(None, full, BaseOrigin("", full, "")), condition


def _join_names(first: str, second: str) -> str:
    return f"{first}.{second}" if first and second else first or second


def set_bases(module: Module, class_name: str, bases: Sequence[str]) -> Module:
    """Return ``module`` with the class's base expressions replaced; keywords, decorators and layout stay.

    If bases are only added, the existing ones keep their text. Raises ``KeyError`` if the class is missing,
    ``InputError`` if comments between the bases would be lost.
    """
    piece = find_class(module, class_name)
    node = _parse_header(piece, module.path)
    old = [ast.unparse(base) for base in node.bases]
    if old == _unparse_bases(bases):
        return module
    header = _edit_header(piece.parts[0].text, node, list(bases), f"{module.path}: class {class_name}")
    first = replace(piece.parts[0], text=header)
    edited = replace(piece, parts=(first, *piece.parts[1:]))
    return replace(module, pieces=tuple(edited if part is piece else part for part in module.pieces))


def _unparse_bases(expressions: Sequence[str]) -> list[str]:
    """Return the expressions as ``ast.unparse`` writes them in a class header, where starred ones are allowed."""
    (statement,) = ast.parse(f"class _({', '.join(expressions)}): ...").body
    return [ast.unparse(base) for base in statement.bases] if isinstance(statement, ast.ClassDef) else []


def _edit_header(header: str, node: ast.ClassDef, bases: list[str], where: str) -> str:
    """Return a class header with ``bases``. Raises ``InputError`` with ``where`` if comments would be lost."""
    if not node.bases:
        return _add_first_bases(header, node, bases)
    places = Places(header)
    extents = _find_extents(places, node)
    start, end = extents[0][0], extents[-1][1]
    kept = [places.source(base) for base in node.bases]
    if _is_subsequence(kept, bases):
        return _add_bases(header, extents, kept, bases)
    if "#" in header[start:end]:
        raise InputError(f"{where} has comments between its bases; move them above the class.")
    if bases:
        return header[:start] + ", ".join(bases) + header[end:]
    rest = header[end:].lstrip()
    return header[:start] + (rest.removeprefix(",").lstrip() if rest.startswith(",") else header[end:])


def _is_subsequence(short: list[str], long: list[str]) -> bool:
    remaining = iter(long)
    return all(base in remaining for base in short)


def _find_extents(places: Places, node: ast.ClassDef) -> list[tuple[int, int]]:
    """Return start and end of each base, including its own parentheses: ``class A((B if new else C)):``."""
    header, found = places.text, []
    at = header.index("(", _find_name_end(header, node)[0]) + 1
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


def _add_bases(header: str, extents: list[tuple[int, int]], kept: list[str], bases: list[str]) -> str:
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


def _add_first_bases(header: str, node: ast.ClassDef, bases: list[str]) -> str:
    listed = ", ".join(bases)
    if node.keywords:
        return apply(header, [Places(header).before(node.keywords[0], f"{listed}, ")])
    opening, closing = _find_name_end(header, node)
    return f"{header[:opening]}({listed}){header[closing:]}"


def _find_name_end(header: str, node: ast.ClassDef) -> tuple[int, int]:
    """Return the offsets between which ``(bases)`` goes: after the class name, before the colon."""
    opening = 0
    for token in tokenize.generate_tokens(io.StringIO(header).readline):
        offset = _get_offset(header, token.end)
        if token.start[0] >= node.lineno and token.string == node.name and not opening:
            opening = offset
        elif opening and token.string == ":":
            return opening, offset - 1
    return opening, opening


def _get_offset(text: str, position: tuple[int, int]) -> int:
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: position[0] - 1]) + position[1]
