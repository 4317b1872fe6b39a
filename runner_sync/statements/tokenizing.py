"""Tokenize a source text, with each f-string as one token.

Comes in: source text. Goes out: tokens. May touch: nothing.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from runner_sync.syntax import walk

OPENERS = frozenset("([{")
CLOSERS = frozenset(")]}")

_START: int = getattr(tokenize, "FSTRING_START", -2)
_END: int = getattr(tokenize, "FSTRING_END", -3)


def tokens(source: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of ``tokenize``, but each f-string as one ``STRING`` token, which Python 3.12 and later split
    up.

    Raises ``tokenize.TokenError`` or ``SyntaxError`` if the source is not Python.
    """
    lines = source.split("\n")
    opened: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == _START:
            opened.append(token)
        elif token.type == _END:
            first = opened.pop()
            if not opened:
                text = _get_text_between(lines, first.start, token.end)
                yield tokenize.TokenInfo(tokenize.STRING, text, first.start, token.end, first.line)
        elif not opened:
            yield token


def own_lines(source: str) -> tuple[dict[int, int], set[int]]:
    """Return ``{line: column}`` of the comments on their own lines, and the lines that begin inside a string.

    The source must be Python.
    """
    comments: dict[int, int] = {}
    inside: set[int] = set()
    line, at = 1, 0
    for found in _STRING_OR_COMMENT.finditer(source):
        if _is_cut(source, found):
            return find_own_lines_by_token(source)
        line += source.count("\n", at, found.start())
        at = found.start()
        begin = source.rfind("\n", 0, at) + 1
        if source[at] != "#":
            inside.update(range(line + 1, line + found[0].count("\n") + 1))
        elif not source[begin:at].strip():
            comments[line] = at - begin
    return comments, inside


_STRING_OR_COMMENT = re.compile(
    r"""#[^\n]*|"{3}(?:[^\\"]++|\\.|"(?!""))*+"{3}|'{3}(?:[^\\']++|\\.|'(?!''))*+'{3}"""
    r"""|"(?:[^\\"\n]++|\\.)*+"|'(?:[^\\'\n]++|\\.)*+'""",
    re.DOTALL,
)


def _is_cut(source: str, found: re.Match[str]) -> bool:
    """Whether the match may end too early, at a quote inside a field of an f-string, which Python 3.12 and later
    allow."""
    prefix = source[max(found.start() - 2, 0) : found.start()].lower()
    if sys.version_info < (3, 12) or "f" not in prefix or "{" not in found[0]:
        return False
    try:
        ast.parse(f"{'rf' if 'r' in prefix else 'f'}{found[0]}", mode="eval")
    except SyntaxError:
        return True
    return False


def find_own_lines_by_token(source: str) -> tuple[dict[int, int], set[int]]:
    """Return ``own_lines`` by the tokenizer: always correct, but twelve times slower."""
    comments: dict[int, int] = {}
    inside: set[int] = set()
    for token in tokens(source):
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            comments[token.start[0]] = token.start[1]
        inside.update(get_inner_lines(token))
    return comments, inside


@lru_cache(maxsize=1024)
def code_of(text: str) -> str:
    """Return ``text`` with its comments and strings emptied; unchanged if it is not Python. The fields of f-strings
    stay, because they are code."""
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    kept: list[str] = []
    at = 0
    try:
        for token in tokens(text + "\n"):
            if token.type in (tokenize.STRING, tokenize.COMMENT):
                kept += [text[at : starts[token.start[0] - 1] + token.start[1]], f"''{_get_fields(token.string)}"]
                at = starts[token.end[0] - 1] + token.end[1]
    except (SyntaxError, tokenize.TokenError):
        return text
    return "".join([*kept, text[at:]])


def _get_fields(string: str) -> str:
    """Return the expressions of an f-string, each after a ``%``; ``""`` for any other string, and for a comment."""
    if string.startswith("#") or "f" not in string.partition(string[-1])[0].lower():
        return ""
    nodes = walk(ast.parse(string, mode="eval"))
    return "".join(f" % ({ast.unparse(node.value)})" for node in nodes if isinstance(node, ast.FormattedValue))


def inside_strings(text: str) -> frozenset[int]:
    """Return the 0-based lines of a statement or a head that begin inside a string; none if it is not Python."""
    if not _MAY_SPAN_LINES.search(text):
        return frozenset()
    try:
        return frozenset(line - 1 for token in tokens(text + "\n") for line in get_inner_lines(token))
    except (SyntaxError, tokenize.TokenError):
        return frozenset()


_MAY_SPAN_LINES = re.compile(r""""{3}|'{3}|\\\n|[fF][rR]?['"]""")
"""What a text must have for a string in it to extend over several lines; the tokenizer is slow."""


def comments_in(text: str) -> list[tokenize.TokenInfo]:
    """Return the comment tokens of a statement or a head; none if it is not Python."""
    if "#" not in text:
        return []
    try:
        return [token for token in tokens(text + "\n") if token.type == tokenize.COMMENT]
    except (SyntaxError, tokenize.TokenError):
        return []


def last_comment(text: str) -> str:
    """Return the comment at the end of the last line of a statement or a head, with its ``#``; ``""`` if there is
    none."""
    found = comments_in(text)
    return found[-1].string if found and found[-1].end[0] == text.count("\n") + 1 else ""


def get_inner_lines(token: tokenize.TokenInfo) -> range:
    """Return the 1-based lines that begin inside a string token, all but its first; none for any other token."""
    return range(token.start[0] + 1, token.end[0] + 1) if token.type == tokenize.STRING else range(0)


def _get_text_between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Return the text between two positions ``(1-based line, column)``."""
    if start[0] == end[0]:
        return lines[start[0] - 1][start[1] : end[1]]
    return "\n".join((lines[start[0] - 1][start[1] :], *lines[start[0] : end[0] - 1], lines[end[0] - 1][: end[1]]))
