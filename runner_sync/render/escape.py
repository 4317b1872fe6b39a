"""Make untrusted text safe for the place where it is shown.

Comes in: any text (source code, names, messages, paths). Goes out: text that cannot steer a terminal, break a table,
start a workflow command or leave a code span. May touch: nothing.

Invisible and direction-changing characters are shown as Python escapes, because they can make code look different from
what it is (CVE-2021-42574, "Trojan Source").
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

# C0 (without tab and newline), DEL, C1, line separators, surrogates, non-characters, annotation marks, and what Unicode
# calls Default_Ignorable_Code_Point: marks of direction, fillers, variation selectors and tags.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufff9-\ufffb\ufffe\uffff"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_FORMS = "\ufe0e\ufe0f"
"""Variation selectors that ask for a symbol as text or as emoji; after a symbol such as ``⚠`` they hide nothing."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~<>&$])")
_CODE_SPAN = re.compile(r"(?<!`)(?P<fence>`{1,2})(?!`)(?P<code>[^`\n]+)(?P=fence)(?!`)")
"""Code in the fences of Markdown or of reStructuredText, which docstrings are written in."""


def _escape_character(match: re.Match[str]) -> str:
    if match.group() in _FORMS and _is_symbol(match.string[max(match.start() - 1, 0) : match.start()]):
        return match.group()
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_symbol(character: str) -> bool:
    return bool(character) and unicodedata.category(character) == "So"


def visible(text: str) -> str:
    """Return ``text`` with every control and invisible character escaped; newlines stay, tabs become spaces."""
    return _UNSAFE.sub(_escape_character, text).expandtabs(4)


def one_line(text: str) -> str:
    """Return ``text`` as one safe line: each run of white space becomes one space."""
    return visible(" ".join(re.split(r"[ \t\n]+", text.strip(" \t\n"))))


def make_markdown_code(text: str, *, in_table: bool = False) -> str:
    """Return ``text`` as an inline code span with a fence longer than any backtick run inside (CommonMark 6.1)."""
    body = one_line(text)
    if not body:
        return ""
    fence = "`" * (_measure_longest_run(body) + 1)
    pad = " " if body[0] == "`" or body[-1] == "`" else ""
    span = f"{fence}{pad}{body}{pad}{fence}"
    return span.replace("|", "\\|") if in_table else span


def make_markdown_text(text: str, *, in_table: bool = False) -> str:
    """Return prose with its balanced code spans kept and everything else literal.

    An empty comment splits ``@name`` outside code, so that a comment posted by CI notifies nobody.
    """
    line, at, parts = one_line(text), 0, list[str]()
    for span in _CODE_SPAN.finditer(line):
        parts += [_escape_markdown(line[at : span.start()]), make_markdown_code(span["code"], in_table=in_table)]
        at = span.end()
    return "".join([*parts, _escape_markdown(line[at:])])


def _escape_markdown(text: str) -> str:
    escaped = _MARKDOWN.sub(r"\\\1", text)
    escaped = re.sub(r"^(\s*\d+)([.)])", r"\1\\\2", escaped)
    escaped = re.sub(r"^(\s*)([-=])", r"\1\\\2", escaped)
    return escaped.replace("://", ":\\/\\/").replace("@", "@<!-- -->")


def make_markdown_fence(text: str, language: str = "python") -> str:
    """Return ``text`` as a fenced block whose fence is longer than any backtick run inside."""
    body = visible(text).rstrip("\n")
    fence = "`" * max(3, _measure_longest_run(body) + 1)
    return f"{fence}{language}\n{body}\n{fence}"


def quote_html(text: str) -> str:
    """Return ``text`` as an HTML ``<code>`` element, for places that do not render Markdown (``<summary>``)."""
    from html import escape  # loads a table of all entities, which few formats need

    return f"<code>{escape(one_line(text))}</code>"


def escape_workflow_message(text: str) -> str:
    """Escape the message of a GitHub workflow command (actions/toolkit ``escapeData``)."""
    return _escape_data(visible(text))


def escape_workflow_property(text: str) -> str:
    """Escape a property value of a GitHub workflow command (actions/toolkit ``escapeProperty``)."""
    return _escape_data(visible(text)).replace(":", "%3A").replace(",", "%2C")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def make_relative_uri(path: str) -> str:
    """Return a POSIX path as a relative URI reference; escapes ``:``, which in the first segment would read as a
    scheme."""
    return quote(path.encode("utf-8", "surrogatepass"), safe="/-._~")


def _measure_longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
