"""Translates module texts from GPU to NPU, so that both sides of a merge use the same names.

Comes in: source text and a `Profile`. Goes out: `Translated` (text, findings, which rewrites applied). May touch:
libcst only.

The text is parsed and walked once, then the rewrites run in the order listed here, then it is printed. A rewrite only
yields edits and doubts; `translate` applies them. What is not edited keeps its bytes; statements are never moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from runner_sync.model import Finding
from runner_sync.naming import module_name
from runner_sync.profile import Profile
from runner_sync.syntax import is_indented
from runner_sync.transforms import class_names, device_calls, imported_names, members
from runner_sync.transforms.bodies import Shortened, shortened
from runner_sync.transforms.concrete_tree import Change, parse, rebuild
from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.scopes import Index
from runner_sync.transforms.walk import index

__all__ = ["REWRITES", "UNTRANSLATED", "Translated", "translate", "translate_unit"]

Rewrite = Callable[[Job], Iterable[NodeEdit | Doubt]]

REWRITES: Mapping[str, Rewrite] = {
    "imported_names": imported_names.rewrite,
    "device_calls": device_calls.rewrite,
    "members": members.rewrite,
    "class_names": class_names.rewrite,
}
"""The rewrites in their order, by the names used in ``Translated.applied``."""

# The rule code of findings about GPU code that a rewrite left as it is.
UNTRANSLATED = "RS490"
_WRAPPER = "if True:\n"


@dataclass(frozen=True, slots=True)
class Translated:
    """A translated text. ``applied`` names the rewrites that changed it, in their order."""

    text: str
    findings: tuple[Finding, ...] = ()
    applied: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def translate(text: str, profile: Profile, *, path: str = "", with_findings: bool = True) -> Translated:
    """``text`` of a module with the profile's GPU names translated.

    Args:
        text: source of a whole GPU module (omni's or vLLM's), LF newlines; NPU modules need no translation.
        profile: the tables of names; of rows with the same source the first one counts (``Profile.fitted``).
        path: POSIX path of the module in its tree; lets relative imports and the module's own classes be resolved.
        with_findings: whether findings are wanted: to find their lines takes as long as all the rest.

    Raises:
        InputError: the text is not valid Python.
    """
    if not _trigger(profile).search(text):
        return Translated(text)
    short = shortened(text, _kept(profile))
    code = index(parse(short.text, path=path), module=module_name(path))
    try:
        return _whole(_applied(short.text, Job(code, profile), path=path, with_findings=with_findings), short)
    finally:
        code.take_apart()


@lru_cache(maxsize=1024)
def translate_unit(text: str, profile: Profile) -> Translated:
    """Like `translate` for a fragment, such as one indented method.

    Names that it does not bind are taken to be what the profile's rows import under these names.

    Raises:
        InputError: the fragment is not valid Python.
    """
    if not _may_change_fragment(text, profile):
        return Translated(text)
    wrapper = _WRAPPER if is_indented(text) else ""
    code = index(parse(wrapper + text), module="", assumed=_assumed(profile))
    try:
        result = _applied(wrapper + text, Job(code, profile), path="", above=len(wrapper) and 1)
    finally:
        code.take_apart()
    return Translated(result.text.removeprefix(wrapper), result.findings, result.applied)


def _whole(found: Translated, short: Shortened) -> Translated:
    """The translation of a shortened text as that of the whole one."""
    findings = (replace(one, line=short.line(one.line), end_line=short.line(one.end_line)) for one in found.findings)
    return replace(found, text=short.restored(found.text), findings=tuple(findings))


@lru_cache(maxsize=8)
def _trigger(profile: Profile) -> re.Pattern[str]:
    """Matches every text that any rewrite could change."""
    names = {row.name for row in profile.names}
    return _any_of(names | {row.call for row in profile.keywords} | _words(profile))


@lru_cache(maxsize=8)
def _kept(profile: Profile) -> re.Pattern[str]:
    """Matches every function body that may have to do with a rewrite: also the keywords of a call under an alias, and
    ``global``, which rebinds a name of the module."""
    names = {row.name for row in profile.names}
    return _any_of(names | {row.name for row in profile.keywords} | _words(profile) | {"global"})


@lru_cache(maxsize=8)
def _renamed(profile: Profile) -> re.Pattern[str]:
    """Matches every fragment without an import that any rewrite could change: where a name only moves to another
    module, its uses stay."""
    names = {row.name for row in profile.names if row.name != row.new_name}
    return _any_of(names | {row.name for row in profile.keywords} | _words(profile))


def _may_change_fragment(text: str, profile: Profile) -> bool:
    if _renamed(profile).search(text):
        return True
    return "import" in text and _trigger(profile).search(text) is not None


def _words(profile: Profile) -> set[str]:
    """The words of everything that is not imported under one name."""
    words = {old for old, _ in profile.classes} | {profile.device[0], f"is_{profile.device[0]}"}
    words |= {old.split(".")[1] for old, _ in profile.attributes}
    return words | {old.rpartition(".")[2] for old, _ in profile.members}


def _any_of(words: set[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, words)))})\b")


def _assumed(profile: Profile) -> dict[str, str]:
    """``{name: origin}`` for the names of the profile, which a fragment uses without importing them."""
    known = {row.name: f"{row.module}.{row.name}" for row in reversed(profile.names)}
    known |= {row.name: f"{row.module}.{row.name}" for row in class_names.twins(profile, module="?")}
    return known | {name: name for name in {old.partition(".")[0] for old, _ in profile.attributes}}


def _applied(text: str, job: Job, *, path: str, above: int = 0, with_findings: bool = True) -> Translated:
    """``text`` after all rewrites; ``above`` is the number of lines put in front of it only to make it parse."""
    changes: dict[cst.CSTNode, list[Change]] = {}
    doubts: list[Doubt] = []
    applied: list[str] = []
    for name, rewrite in REWRITES.items():
        said = list(rewrite(job))
        edits = [one for one in said if isinstance(one, NodeEdit)]
        doubts.extend(one for one in said if isinstance(one, Doubt))
        for edit in edits:
            changes.setdefault(edit.node, []).append(edit.change)
        if edits:
            applied.append(name)
    findings = tuple(_findings(job.code, doubts, path=path, above=above)) if with_findings else ()
    if not changes:
        return Translated(text, findings)
    new = rebuild(job.code.tree, changes, parents=job.code.parents).code
    # libcst drops a byte order mark.
    return Translated("\ufeff" * text.startswith("\ufeff") + new.lstrip("\ufeff"), findings, tuple(applied))


def _findings(code: Index, doubts: Iterable[Doubt], *, path: str, above: int) -> Iterable[Finding]:
    """The doubts as findings, at the lines of the text without the ``above`` lines in front of it."""
    doubts = list(doubts)
    if not doubts:
        return
    positions = MetadataWrapper(code.tree, unsafe_skip_copy=True).resolve(PositionProvider)
    for doubt in doubts:
        span = positions[doubt.node]
        yield Finding(
            code=UNTRANSLATED,
            severity="info",
            path=path,
            line=span.start.line - above,
            end_line=span.end.line - above,
            unit=doubt.unit,
            symbol=doubt.symbol,
            message=doubt.message,
            fix=doubt.fix,
            column=span.start.column + 1,
            end_column=span.end.column + 1,
        )
