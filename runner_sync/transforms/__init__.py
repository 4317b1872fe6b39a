"""Translate module texts from GPU to NPU, so that both sides of a merge use the same names.

Comes in: source text and a `Profile`. Goes out: `Translated` (text, findings, applied rewrites). May touch: libcst
only.

The text is parsed and walked once, the rewrites run in the order listed here, then the tree is printed. A rewrite only
yields edits and doubts; `translate` applies them. Code that is not edited keeps its bytes; statements are never moved.

The rewrites are ``imported_names``, ``class_names``, ``members`` and ``device_calls``; ``renames``, ``imports`` and
``keywords`` serve them, and ``job`` defines what goes in and out. ``bodies`` shortens the text, ``concrete_tree``,
``walk`` and ``scopes`` read it.
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
from runner_sync.transforms.walk import build_index

__all__ = ["REWRITES", "UNTRANSLATED", "Translated", "translate", "translate_unit"]

Rewrite = Callable[[Job], Iterable[NodeEdit | Doubt]]

REWRITES: Mapping[str, Rewrite] = {
    "imported_names": imported_names.rewrite,
    "device_calls": device_calls.rewrite,
    "members": members.rewrite,
    "class_names": class_names.rewrite,
}
"""The rewrites in their order, by the names used in ``Translated.applied``."""

# Rule code of findings about GPU code that a rewrite left untranslated.
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
    """Translate the profile's GPU names in the text of a module.

    Args:
        text: source of a whole GPU module (omni's or vLLM's), LF newlines; NPU modules need no translation.
        profile: the tables of names; of rows with the same source the first one counts (``Profile.fitted``).
        path: POSIX path of the module in its tree; lets relative imports and the module's own classes be resolved.
        with_findings: whether findings are wanted; locating their lines takes as long as everything else together.

    Raises:
        InputError: the text is not valid Python.
    """
    if not _compile_trigger(profile).search(text):
        return Translated(text)
    short = shortened(text, _compile_kept(profile))
    code = build_index(parse(short.text, path=path), module=module_name(path))
    try:
        return _restore_bodies(
            _apply_rewrites(short.text, Job(code, profile), path=path, with_findings=with_findings), short
        )
    finally:
        code.take_apart()


@lru_cache(maxsize=1024)
def translate_unit(text: str, profile: Profile) -> Translated:
    """Translate a fragment, such as one indented method.

    Names that the fragment does not bind are assumed to be imported as the profile's rows say.

    Raises:
        InputError: the fragment is not valid Python.
    """
    if not _may_change_fragment(text, profile):
        return Translated(text)
    wrapper = _WRAPPER if is_indented(text) else ""
    code = build_index(parse(wrapper + text), module="", assumed=_assume_origins(profile))
    try:
        result = _apply_rewrites(wrapper + text, Job(code, profile), path="", above=len(wrapper) and 1)
    finally:
        code.take_apart()
    return Translated(result.text.removeprefix(wrapper), result.findings, result.applied)


def _restore_bodies(found: Translated, short: Shortened) -> Translated:
    """Turn the translation of a shortened text into the translation of the whole text."""
    findings = (replace(one, line=short.line(one.line), end_line=short.line(one.end_line)) for one in found.findings)
    return replace(found, text=short.restore(found.text), findings=tuple(findings))


@lru_cache(maxsize=8)
def _compile_trigger(profile: Profile) -> re.Pattern[str]:
    """Return a pattern that matches every text that a rewrite could change."""
    names = {row.name for row in profile.names}
    return _compile_words(names | {row.call for row in profile.keywords} | _collect_words(profile))


@lru_cache(maxsize=8)
def _compile_kept(profile: Profile) -> re.Pattern[str]:
    """Return a pattern that matches every function body that a rewrite may need.

    This includes keywords, because a call may use an alias, and ``global``, which rebinds a module name.
    """
    names = {row.name for row in profile.names}
    return _compile_words(names | {row.name for row in profile.keywords} | _collect_words(profile) | {"global"})


@lru_cache(maxsize=8)
def _compile_renamed(profile: Profile) -> re.Pattern[str]:
    """Return a pattern that matches every fragment without an import that a rewrite could change.

    A name that only moves to another module is left out, because its uses stay the same.
    """
    names = {row.name for row in profile.names if row.name != row.new_name}
    return _compile_words(names | {row.name for row in profile.keywords} | _collect_words(profile))


def _may_change_fragment(text: str, profile: Profile) -> bool:
    if _compile_renamed(profile).search(text):
        return True
    return "import" in text and _compile_trigger(profile).search(text) is not None


def _collect_words(profile: Profile) -> set[str]:
    """Return the words of the profile's classes, device, attributes and members."""
    words = {old for old, _ in profile.classes} | {profile.device[0], f"is_{profile.device[0]}"}
    words |= {old.split(".")[1] for old, _ in profile.attributes}
    return words | {old.rpartition(".")[2] for old, _ in profile.members}


def _compile_words(words: set[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, words)))})\b")


def _assume_origins(profile: Profile) -> dict[str, str]:
    """Return ``{name: origin}`` for the profile's names, which a fragment uses without importing them."""
    known = {row.name: f"{row.module}.{row.name}" for row in reversed(profile.names)}
    known |= {row.name: f"{row.module}.{row.name}" for row in class_names.iter_twin_rows(profile, module="?")}
    return known | {name: name for name in {old.partition(".")[0] for old, _ in profile.attributes}}


def _apply_rewrites(text: str, job: Job, *, path: str, above: int = 0, with_findings: bool = True) -> Translated:
    """Apply all rewrites to ``text``; ``above`` counts the lines put in front of it only to make it parse."""
    changes: dict[cst.CSTNode, list[Change]] = {}
    doubts: list[Doubt] = []
    applied: list[str] = []
    for name, rewrite in REWRITES.items():
        yielded = list(rewrite(job))
        edits = [one for one in yielded if isinstance(one, NodeEdit)]
        doubts.extend(one for one in yielded if isinstance(one, Doubt))
        for edit in edits:
            changes.setdefault(edit.node, []).append(edit.change)
        if edits:
            applied.append(name)
    findings = tuple(_make_findings(job.code, doubts, path=path, above=above)) if with_findings else ()
    if not changes:
        return Translated(text, findings)
    new = rebuild(job.code.tree, changes, parents=job.code.parents).code
    # libcst drops a byte order mark.
    return Translated("\ufeff" * text.startswith("\ufeff") + new.lstrip("\ufeff"), findings, tuple(applied))


def _make_findings(code: Index, doubts: Iterable[Doubt], *, path: str, above: int) -> Iterable[Finding]:
    """Turn doubts into findings; line numbers do not count the ``above`` lines in front of the text."""
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
