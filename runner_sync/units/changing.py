"""Change, remove and add units without touching the bytes of any other unit.

Comes in: a ``Module`` and texts. Goes out: a new ``Module``; only the named pieces and, at a removal or an insertion,
the adjacent blank lines differ. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from runner_sync import rulers
from runner_sync.errors import InputError
from runner_sync.statements import inside_strings
from runner_sync.syntax import indentation
from runner_sync.units.listing import find_class
from runner_sync.units.pieces import ClassPiece, Module, Piece, iter_leaves, qualify, split_lines
from runner_sync.units.splitting import number_names, number_parts, split

_Pieces = Sequence[Piece | ClassPiece]


def replace_units(module: Module, edits: Mapping[str, str | None], *, whole: Collection[str] = ()) -> Module:
    """Return ``module`` with each named unit given its new text, or removed if the text is ``None``.

    A class name means its header, or the whole class if it is listed in ``whole`` or removed. Texts are used unchanged:
    they must already be indented, but need not parse. Raises ``KeyError`` with the names of missing units.
    """
    classes = {piece.name for piece in module.pieces if isinstance(piece, ClassPiece)}
    known = {name for name, _ in iter_leaves(module)} - {""}
    if unknown := sorted(edits.keys() - known):
        raise KeyError(f"{module.path or 'the module'} has no unit {', '.join(unknown)}")
    entire = {name for name in edits.keys() & classes if name in whole or edits[name] is None}
    pieces: list[Piece | ClassPiece] = []
    for piece in module.pieces:
        if isinstance(piece, ClassPiece) and piece.name not in entire:
            pieces.append(_edit_class(piece, edits))
        elif piece.name in edits:
            pieces.extend(_replace_piece(piece, edits[piece.name]))
        else:
            pieces.append(piece)
    return replace(module, pieces=tuple(_close_gaps(pieces)))


def _replace_piece(piece: Piece | ClassPiece, text: str | None) -> list[Piece | ClassPiece]:
    if text is None or text == "":
        return [_REMOVED]
    if isinstance(piece, ClassPiece):
        return _resplit(_match_ending(text, piece.text), piece)
    return [replace(piece, text=_match_ending(text, piece.text))]


def _resplit(text: str, piece: ClassPiece) -> list[Piece | ClassPiece]:
    # Text with diff3 conflict markers does not parse. It becomes one header piece, byte for byte.
    try:
        return list(split(text).pieces)
    except InputError:
        return [ClassPiece(piece.name, (Piece("header", "", text),))]


def _match_ending(text: str, old: str) -> str:
    """Return ``text`` with a final newline exactly if ``old`` has one."""
    if old.endswith("\n"):
        return text if text.endswith("\n") else text + "\n"
    return text.removesuffix("\n")


_REMOVED = Piece("trivia", "removed", "")


def _edit_class(piece: ClassPiece, edits: Mapping[str, str | None]) -> ClassPiece:
    """Return the class with its parts replaced; its body becomes ``pass`` if nothing else is left."""
    parts: list[Piece | ClassPiece] = []
    for part in piece.parts:
        name = qualify(piece.name, part)
        parts.extend(_replace_piece(part, edits[name]) if name in edits else [part])
    kept = [part for part in _close_gaps(parts) if isinstance(part, Piece)]
    if _REMOVED in parts and all(part.kind in ("header", "trivia") for part in kept):
        kept[-1] = replace(kept[-1], text=_end_line(kept[-1].text))
        kept.append(Piece("statement", "pass", f"{get_body_indent(piece)}pass\n"))
    return replace(piece, parts=tuple(kept))


def _close_gaps(pieces: _Pieces) -> list[Piece | ClassPiece]:
    """Drop the removed pieces, each with the blank lines on one side of it."""
    kept: list[Piece | ClassPiece] = []
    closing = False
    for index, piece in enumerate(pieces):
        if piece is _REMOVED:
            at_end = all(later is _REMOVED or _is_blank(later) for later in pieces[index:])
            if at_end and kept and _is_blank(kept[-1]):
                kept.pop()
            closing = not kept or kept[-1].kind == "header" or _ends_blank(kept[-1])
            continue
        if closing and piece.kind == "trivia":
            piece = Piece("trivia", "", _drop_leading_blanks(piece.text))
        closing = False
        if piece.text:
            kept.append(piece)
    return kept


def _drop_leading_blanks(text: str) -> str:
    lines = split_lines(text)
    while lines and not lines[0].strip():
        del lines[0]
    return "".join(lines)


def _is_blank(piece: Piece | ClassPiece) -> bool:
    return piece.kind == "trivia" and not piece.text.strip()


def insert_member(
    module: Module, class_name: str, text: str, *, before: str | None = None, after: str | None = None
) -> Module:
    """Return ``module`` with ``text`` (one or more members) inserted into a class: before or after a member, or at the
    end.

    ``before`` and ``after`` are member names, qualified or not. The text is indented to the class's depth. Raises
    ``KeyError`` if class or member is missing; ``InputError`` if the text does not parse or the class body is on the
    ``class`` line.
    """
    target = find_class(module, class_name)
    if len(target.parts) == 1:
        raise InputError(f"{module.path}: the body of class {class_name} is not on lines of its own; give it its own.")
    body = _end_line(reindent(text, get_body_indent(target)))
    new = _split_members(body, path=module.path)
    old: _Pieces = target.parts
    if before is not None:
        old, index = _find_front(old, before.removeprefix(f"{class_name}."), module.path)
    else:
        index = _find_behind(old, None if after is None else after.removeprefix(f"{class_name}."), module.path)
    parts = _place(old, new, index, gap=1, is_cut=before is not None)
    edited = replace(target, parts=number_parts([part for part in parts if isinstance(part, Piece)]))
    return replace(module, pieces=tuple(edited if piece is target else piece for piece in module.pieces))


def insert_definition(module: Module, text: str, *, before: str) -> Module:
    """Return ``module`` with module-level ``text`` inserted before the definition named.

    Raises ``KeyError`` if that definition is missing, ``InputError`` if the text does not parse.
    """
    new = [piece for piece in split(_end_line(text), path=module.path).pieces if piece.text]
    index = _find_position(module.pieces, before, module.path)
    if index and rulers.is_divider(_get_last_line(module.pieces[index - 1].text)):
        index -= 1
    return replace(module, pieces=number_names(_place(module.pieces, new, index, gap=2)))


def _split_members(text: str, *, path: str) -> list[Piece]:
    if not text.strip():
        raise InputError(f"{path}: there is no text to insert.")
    (piece,) = split("class _:\n" + text, path=path).pieces
    assert isinstance(piece, ClassPiece)
    return list(piece.parts[1:])


def _find_position(pieces: _Pieces, name: str, path: str) -> int:
    for index, piece in enumerate(pieces):
        if piece.name == name:
            return index
    raise KeyError(f"{path or 'the module'} has no {name}")


def _find_front(pieces: _Pieces, name: str, path: str) -> tuple[_Pieces, int]:
    """Return the pieces, and the index in them before piece ``name`` and its comments.

    The trivia above may be cut in two for that.
    """
    index = _find_position(pieces, name, path)
    above = pieces[index - 1] if index else None
    if above is None or above.kind != "trivia":
        return pieces, index
    lines = split_lines(above.text)
    blank = [k for k, line in enumerate(lines) if not line.strip()]
    # A ruler directly below a definition closes its block.
    start = 0 if index > 1 and pieces[index - 2].kind == "header" else len(lines)
    if blank:
        start = next((k for k in range(blank[0], len(lines)) if lines[k].strip()), len(lines))
    parts = [Piece("trivia", "", "".join(part)) for part in (lines[:start], lines[start:]) if part]
    return [*pieces[: index - 1], *parts, *pieces[index:]], index - 1 + bool(start)


def _find_behind(pieces: _Pieces, name: str | None, path: str) -> int:
    """Return the index behind piece ``name``, or behind the last definition if ``name`` is ``None``."""
    if name is None:
        return max((i + 1 for i, piece in enumerate(pieces) if piece.kind != "trivia"), default=len(pieces))
    return _find_position(pieces, name, path) + 1


def _place(pieces: _Pieces, new: _Pieces, index: int, *, gap: int, is_cut: bool = False) -> list[Piece | ClassPiece]:
    """Insert ``new`` at ``index``, with the usual ``gap`` of blank lines between definitions.

    Comments there that belong to the definition above stay with it; with ``is_cut`` they are already split off.
    """
    head, tail = list(pieces[:index]), list(pieces[index:])
    if head and tail and not is_cut and (glued := _get_closing_comments(tail[0], is_last=len(tail) == 1)):
        rest = tail[0].text[len(glued) :]
        head.append(Piece("trivia", "", glued))
        tail[0] = Piece("trivia", "", rest)
    if head and not head[-1].text.endswith("\n"):
        head[-1] = _add_newline(head[-1])
    first, last = new[0], new[-1]
    previous = head[-1] if head else None
    if previous is not None and not _ends_blank(previous) and _wants_gap(previous, first):
        head.append(Piece("trivia", "", "\n" * (gap if previous.kind != "header" else 0)))
    follower = next((piece for piece in tail if piece.kind != "trivia"), None)
    middle: list[Piece | ClassPiece] = list(new)
    tail = [piece for piece in tail if piece.text]
    if tail and not _starts_blank(tail[0]) and follower is not None and _wants_gap(last, follower):
        middle.append(Piece("trivia", "", "\n" * gap))
    return [piece for piece in (*head, *middle, *tail) if piece.text]


def _get_closing_comments(piece: Piece | ClassPiece, *, is_last: bool) -> str:
    """Return the comments at the start of a piece that belong to the definition above, with no blank line between them.

    Returns ``""`` if they also touch the next definition, unless it is a single line: a ruler that closes a block.
    """
    lines = split_lines(piece.text) if piece.kind == "trivia" else []
    glued = [*takewhile(str.strip, lines)]
    is_free_below = len(glued) < len(lines) or len(glued) == 1 or is_last
    return "".join(glued) if is_free_below and not any(map(rulers.is_divider, glued[1:])) else ""


def _wants_gap(upper: Piece | ClassPiece, lower: Piece | ClassPiece) -> bool:
    tight = {"import", "field", "statement"}
    return not (upper.kind in tight and lower.kind in tight)


def _ends_blank(piece: Piece | ClassPiece) -> bool:
    return piece.kind == "trivia" and not _get_last_line(piece.text).strip()


def _starts_blank(piece: Piece | ClassPiece) -> bool:
    return piece.kind == "trivia" and not split_lines(piece.text)[0].strip()


def _get_last_line(text: str) -> str:
    return (split_lines(text) or [""])[-1]


def _add_newline(piece: Piece | ClassPiece) -> Piece | ClassPiece:
    if isinstance(piece, Piece):
        return replace(piece, text=piece.text + "\n")
    last = replace(piece.parts[-1], text=piece.parts[-1].text + "\n")
    return replace(piece, parts=(*piece.parts[:-1], last))


def _end_line(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def get_body_indent(piece: ClassPiece) -> str:
    """Return the indentation of the members of ``piece``, or four spaces if it has none."""
    for part in piece.parts[1:]:
        if part.kind != "trivia":
            return indentation(part.text)
    return "    "


def reindent(text: str, indent: str) -> str:
    """Return ``text`` moved so that its first line starts at ``indent``; the inside of multi-line strings stays
    unchanged."""
    old = indentation(text)
    if old == indent:
        return text
    frozen = inside_strings(text)
    moved = []
    for row, line in enumerate(split_lines(text)):
        if row in frozen or not line.strip():
            moved.append(line)
        else:
            moved.append(indent + (line[len(old) :] if line.startswith(old) else line.lstrip(" \t")))
    return "".join(moved)
