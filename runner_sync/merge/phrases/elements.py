"""A statement as phrases between commas and brackets, as elements of lists, and as text again.

Comes in: the text of a statement (or of the head of a compound one). Goes out: phrases; elements, which are phrases
with their commas and types; and the text of either. May touch: nothing.
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
"""The end of a decorator: what follows is the head of the definition."""
_BREAKS = frozenset(",()[]{}:")
Phrases = list[str]


def phrases_of(text: str) -> Phrases:
    """The phrases of a statement. Raises what the tokenizer raises: ``TokenError``, ``SyntaxError``."""
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


def elements_of(phrases: Phrases) -> Phrases:
    """Each comma with the phrase before it, and an annotation with its name: a list element is one thing.

    Commas and types never match each other then.
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
    """Give every bracketed list that has a comma a trailing one, so that appending to it changes no other phrase."""
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
            heads[-1] += _lambdas(phrase)
        out.append(phrase)
    return out


def _lambdas(phrase: str) -> int:
    """How many heads of a ``lambda`` begin in a phrase: the commas up to its colon are no commas of a list."""
    return sum(token.string == "lambda" for token in tokens(f"{phrase}\n")) if "lambda" in phrase else 0


def without_added_commas(merged: Phrases, sides: Sequence[Phrases]) -> Phrases:
    """Without the trailing commas of ``with_final_commas`` that no side has: formatters explode such lists."""
    own = {element for side in sides for element, after in pairwise(side) if _closes(after)}
    pairs = pairwise([*merged, ""])
    return [phrase.removesuffix(",") if _closes(after) and phrase not in own else phrase for phrase, after in pairs]


def _closes(phrase: str) -> bool:
    return phrase.removesuffix(",") in CLOSERS


_TIGHT = frozenset(")]},:")


def text_of(phrases: Phrases) -> str:
    """Text of the phrases; a comment ends its line inside brackets, at the end it stays behind the statement. Another
    one behind it has a line of its own: two in one line would be one that no side has."""
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
    """Whether brackets behind this text are those of a call or a subscript."""
    word = _LAST_WORD.search(text)
    return not iskeyword(word[0]) if word is not None else text[-1] in ")]"


_LAST_WORD = re.compile(r"\w+$")
