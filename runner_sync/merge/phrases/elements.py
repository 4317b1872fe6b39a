"""Split a statement into phrases between commas and brackets, and join them to text again.

Comes in: the text of a statement or of a compound head. Goes out: phrases; elements, which are phrases with their
commas and types; and text. May touch: nothing.
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Sequence
from itertools import pairwise
from keyword import iskeyword

from runner_sync.statements import CLOSERS, OPENERS, tokens

_SKIP = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_LINE = "\n"
"""The phrase for the end of a decorator's line, which the head of the definition follows."""
_BREAKS = frozenset(",()[]{}:")
Phrases = list[str]

KEYWORD = re.compile(r"\w+ = ")
"""The start of a phrase that is a keyword argument or sets a default."""


def split_phrases(text: str) -> Phrases:
    """Split a statement into phrases. Raises ``TokenError`` or ``SyntaxError`` from the tokenizer."""
    out: Phrases = []
    fresh = True
    last = ""
    for token in tokens(text + "\n"):
        if token.type in _SKIP:
            continue
        if token.type == tokenize.NEWLINE:
            out.append(_LINE)
            fresh = True
        elif token.type == tokenize.COMMENT or (token.string in _BREAKS and token.type == tokenize.OP):
            out.append(token.string)
            fresh = True
        elif fresh:
            out.append(token.string)
            fresh = False
        else:
            is_attribute = (token.string == "." or last == ".") and not iskeyword(token.string) and not iskeyword(last)
            out[-1] += token.string if is_attribute else f" {token.string}"
        last = token.string
    while out and out[-1] == _LINE:
        out.pop()
    return out


def group_elements(phrases: Phrases) -> Phrases:
    """Join each comma to the phrase before it, and each annotation to its name.

    Each element of a list becomes one phrase, so that no merge can match the comma or type of one with another's.
    """
    out: Phrases = []
    for phrase in phrases:
        if phrase == "," and out and not out[-1].startswith("#") and out[-1] not in OPENERS:
            out[-1] += ","
        else:
            out.append(phrase)
        if len(out) > 2 and out[-2] == ":" and out[-3].isidentifier() and out[-1].endswith(","):
            out[-3:] = [f"{out[-3]}: {out[-1]}"]
    return out


def with_final_commas(phrases: Phrases) -> Phrases:
    """Give every bracketed list with a comma a trailing comma, so that appending an element changes no other phrase."""
    out: Phrases = []
    commas: list[bool] = []
    heads: list[int] = []
    for phrase in phrases:
        if phrase in OPENERS:
            commas.append(False)
            heads.append(0)
        elif phrase == "," and commas:
            commas[-1] |= not heads[-1]
        elif phrase == ":" and commas:
            heads[-1] = max(heads[-1] - 1, 0)
        elif phrase in CLOSERS and commas:
            heads.pop()
            last = next((p for p in reversed(out) if not p.startswith("#")), "")
            if commas.pop() and last != ",":
                at = len(out)
                while at and out[at - 1].startswith("#"):
                    at -= 1
                out.insert(at, ",")
        elif heads:
            heads[-1] += _count_lambdas(phrase)
        out.append(phrase)
    return out


def _count_lambdas(phrase: str) -> int:
    """Count the ``lambda`` in a phrase: commas up to the colon of each do not belong to the list around it."""
    return sum(token.string == "lambda" for token in tokens(f"{phrase}\n")) if "lambda" in phrase else 0


def without_added_commas(merged: Phrases, sides: Sequence[Phrases]) -> Phrases:
    """Remove the trailing commas that ``with_final_commas`` added and no side has.

    A formatter would break such a list into one element a line.
    """
    own = {element for side in sides for element, after in pairwise(side) if _is_closer(after)}
    pairs = pairwise([*merged, ""])
    return [phrase.removesuffix(",") if _is_closer(after) and phrase not in own else phrase for phrase, after in pairs]


def _is_closer(phrase: str) -> bool:
    return phrase.removesuffix(",") in CLOSERS


_TIGHT = frozenset(")]},:")


def join_phrases(phrases: Phrases) -> str:
    """Join phrases to text, with a line break behind each comment.

    A comment stays behind the code before it. A comment behind another comment gets its own line, because two on one
    line would become one comment that no side has.
    """
    text = ""
    for phrase in phrases:
        if phrase == _LINE:
            text += phrase
        elif phrase.startswith("#") and text.endswith("\n"):
            text += f"{phrase}\n"
        elif phrase.startswith("#"):
            text = f"{text.rstrip()}  {phrase}\n"
        elif not text or text.endswith("\n") or phrase[0] in _TIGHT or text[-1] in OPENERS:
            text += phrase
        elif phrase in OPENERS:
            text += phrase if _is_callable(text) else f" {phrase}"
        else:
            text += f" {phrase}"
    return text.rstrip()


def _is_callable(text: str) -> bool:
    """Whether a bracket behind this text opens a call or a subscript."""
    word = _LAST_WORD.search(text)
    return not iskeyword(word[0]) if word is not None else text[-1] in ")]"


_LAST_WORD = re.compile(r"\w+$")
