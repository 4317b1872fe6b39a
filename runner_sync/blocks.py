"""Omni code inside the units of one module, as ``model.Block`` values.

Comes in: the text, its units, and which lines are omni's (from lineage) and which are marked (from markers). Goes out:
blocks with their label and the names they use and define. May touch: nothing.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import textwrap
import tokenize
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from runner_sync import rulers
from runner_sync.model import Block, Unit
from runner_sync.syntax import walk
from runner_sync.units.splitting import parse

_BUILTINS = frozenset(dir(builtins))
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!\W)\.\s+(?=[A-Z`])")
_OWN = re.compile(r"#\s*runner-sync:")
_LABEL_LENGTH = 160
"""Characters of a block's label."""
_LABEL_REACH = 5
"""Lines below the first of a block in which the comment that says its purpose is looked for last."""


def list_blocks(
    text: str,
    *,
    path: str,
    units: Sequence[Unit],
    marked: Collection[int] = (),
    omni_lines: Collection[int] | None = None,
    marker: str = "Omni-new",
) -> list[Block]:
    """The blocks of ``text`` in line order; a block never leaves its unit.

    ``omni_lines`` are omni's lines as lineage knows them (comments and blank lines between them are filled in);
    without them the ``marked`` lines count. Imports make no blocks: the blocks that use them name them. Raises
    ``InputError`` when ``text`` does not parse.
    """
    omni = frozenset(marked if omni_lines is None else omni_lines)
    source = _Source(text, path, marker)
    blocks: list[Block] = []
    for unit in units:
        if unit.kind == "import":
            continue
        inside = [line for line in range(unit.start, unit.end + 1) if line in omni]
        for start, end, is_marked in _runs(inside, frozenset(marked), source):
            label, code = source.label(start, end), source.text(start, end)
            used, defined = source.names(start, end)
            blocks.append(Block(path, unit.qualname, start, end, is_marked, label, code, used, defined))
    return blocks


def _runs(lines: Iterable[int], marked: frozenset[int], source: _Source) -> Iterator[tuple[int, int, bool]]:
    """Runs of omni lines that only blank and comment lines interrupt, each wholly marked or wholly unmarked."""
    run: list[int] = []
    for line in lines:
        gap = range(run[-1] + 1, line) if run else ()
        if run and ((line in marked) != (run[-1] in marked) or any(source.has_code(other) for other in gap)):
            yield from source.trimmed(run[0], run[-1], run[0] in marked)
            run = []
        run.append(line)
    if run:
        yield from source.trimmed(run[0], run[-1], run[0] in marked)


class _Source:
    """One module read by line: its code lines, comments and names."""

    def __init__(self, text: str, path: str, marker: str) -> None:
        self._lines = text.split("\n")
        self._comments: dict[int, str] = {}
        self._code: set[int] = set()
        stem = re.escape(re.split(r"[\W_]", marker)[0])
        self._prefix = re.compile(
            rf"(?:\(?NOTE\)?:?\s*)?(?:\[{stem}\]|{stem}[-_ ](?:new|spec(?:ific)?)\b|{stem}:)[\s:,\-]*", re.IGNORECASE
        )
        tree = parse(text, path=path)
        self._names = _names_by_line(tree)
        self._docstrings = _docstrings(tree)
        self._read_tokens(text)

    def _read_tokens(self, text: str) -> None:
        layout = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
        for token in tokenize.generate_tokens(io.StringIO(text.removeprefix("\ufeff")).readline):
            if token.type == tokenize.COMMENT:
                self._comments[token.start[0]] = token.string
            elif token.type not in layout:
                self._code.update(range(token.start[0], token.end[0] + 1))

    def has_code(self, line: int) -> bool:
        """Whether ``line`` holds anything but a comment or blanks."""
        return line in self._code

    def text(self, start: int, end: int) -> str:
        """Source of the lines, with a final newline."""
        return "\n".join(self._lines[start - 1 : end]) + "\n"

    def trimmed(self, start: int, end: int, is_marked: bool) -> Iterator[tuple[int, int, bool]]:
        """The lines without blank ones at either end; nothing when no code is left."""
        while start <= end and not self._lines[start - 1].strip():
            start += 1
        while end >= start and not self._lines[end - 1].strip():
            end -= 1
        if any(self.has_code(line) for line in range(start, end + 1)):
            yield start, end, is_marked

    def label(self, start: int, end: int) -> str:
        """What the nearest comment says: on or above the first code line, above the block, below; else a docstring."""
        first = next(line for line in range(start, end + 1) if self.has_code(line))
        above = start
        while above - 1 in self._comments and not self.has_code(above - 1):
            above -= 1
        soon = min(end, first + _LABEL_REACH)
        for group in (range(start, first + 1), range(above, start), range(first + 1, soon + 1)):
            if label := self._first_label(group):
                return label
        return next((self._docstrings[line] for line in range(start, end + 1) if line in self._docstrings), "")

    def _first_label(self, lines: Iterable[int]) -> str:
        commented = [line for line in lines if line in self._comments]
        for _, run in groupby(enumerate(commented), key=lambda pair: pair[1] - pair[0]):
            words = " ".join(filter(None, (self._words(self._comments[line]) for _, line in run)))
            if words:
                return textwrap.shorten(_SENTENCE_END.split(words)[0], _LABEL_LENGTH, placeholder="…")
        return ""

    def _words(self, comment: str) -> str:
        """What a comment says of the code: what one of ours says (``runner-sync: review …``) is not its purpose."""
        if _OWN.match(comment):
            return ""
        return self._prefix.sub("", rulers.words(comment), count=1).strip()

    def names(self, start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names the lines need from outside, and names they define, each sorted."""
        stores: dict[str, int] = {}
        loads: dict[str, int] = {}
        for line in range(start, end + 1):
            for use in self._names.get(line, ()):
                if not start <= use.scope <= end:
                    (stores if use.is_store else loads).setdefault(use.name, line)
        used = (name for name, line in loads.items() if line <= stores.get(name, line) and name not in _BUILTINS)
        return tuple(sorted(used)), tuple(sorted(stores))


def _docstrings(tree: ast.Module) -> dict[int, str]:
    """The first line of each function's or class's docstring, by the line of its name."""
    documented = (node for node in walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))
    found = ((node.lineno, ast.get_docstring(node)) for node in documented)
    return {line: text.strip().split("\n")[0].removesuffix(".") for line, text in found if text and text.strip()}


_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(frozen=True, slots=True)
class _Use:
    """A name loaded or stored; ``scope`` is the line of the function or comprehension it is local to (0: of none)."""

    name: str
    is_store: bool
    scope: int


def _names_by_line(tree: ast.Module) -> Mapping[int, list[_Use]]:
    found: dict[int, list[_Use]] = defaultdict(list)
    for line, use in _uses(tree, ()):
        found[line].append(use)
    return found


def _uses(node: ast.AST, scopes: tuple[tuple[int, frozenset[str]], ...]) -> Iterator[tuple[int, _Use]]:
    for line, name, is_store in _names_of(node):
        scope = next((start for start, local in reversed(scopes) if name in local), 0)
        yield line, _Use(name, is_store, scope)
    if isinstance(node, _Function | _Comprehension):
        scopes = (*scopes, (node.lineno, _locals(node)))
    for child in ast.iter_child_nodes(node):
        yield from _uses(child, scopes)


def _locals(node: ast.AST) -> frozenset[str]:
    """Names bound directly in a function or comprehension, not in the functions inside it."""
    names: set[str] = set()
    pending = list(ast.iter_child_nodes(node))
    while pending:
        child = pending.pop()
        names.update(name for _, name, is_store in _names_of(child) if is_store and not name.startswith("self."))
        if not isinstance(child, _Function | _Comprehension | ast.ClassDef):
            pending += ast.iter_child_nodes(child)
    return frozenset(names)


def _names_of(node: ast.AST) -> Iterator[tuple[int, str, bool]]:
    """``(line, name, whether it is stored)`` of the names that a node says itself; ``self.x`` is one name."""
    match node:
        case ast.Name(id="self"):
            return
        case ast.Name(id=name, ctx=context):
            yield node.lineno, name, isinstance(context, ast.Store)
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=context):
            yield node.end_lineno or node.lineno, f"self.{name}", isinstance(context, ast.Store)
        case ast.AugAssign(target=ast.Name(id=name)):
            yield node.lineno, name, False
        case ast.AugAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            yield node.lineno, f"self.{name}", False
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.lineno, node.name, True
        case ast.arg(arg=name) if name != "self":
            yield node.lineno, name, True
        case ast.ExceptHandler(name=str() as name):
            yield node.lineno, name, True
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield alias.lineno, (alias.asname or alias.name).split(".")[0], True
