"""Finds calls that no longer fit their callee, because only one of the two units has changed.

Comes in: drafts. Goes out: units whose port must be taken back; or the drafts with a question about each such call,
restored to omni's form where that fits. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from runner_sync.confidence import CONTESTED, DEFECT
from runner_sync.edits import Places, apply
from runner_sync.fitting.shifted import find_shifted
from runner_sync.model import ReviewItem
from runner_sync.signatures import is_as_written, is_bound, misfits, of_call, of_function, of_method
from runner_sync.statements import bound_anywhere, parse_function
from runner_sync.syntax import calls_on_self, is_name, names_in, same_code, self_attributes_set, walk
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob, is_selected
from runner_sync.upgrade.questions.reviews import Shown, ask


def find_unfit(drafts: Sequence[Draft], before: Mapping[str, str]) -> dict[str, str]:
    """Return ``{unit: unit that calls it}`` for units whose changed signature breaks a call that fitted before.

    ``before`` has the texts of the units that may have changed. Considers only calls on ``self`` within one class.
    """
    found: dict[str, str] = {}
    here = [draft for draft in drafts if not draft.removed]
    for draft in here:
        was = before.get(draft.name)
        if was is None or _unparse_parameters(was) == _unparse_parameters(draft.text):
            continue
        for other in here:
            fitted = not _has_misfit(was, member=draft.member, caller=before.get(other.name, other.text))
            if (
                other.owner == draft.owner
                and fitted
                and _has_misfit(draft.text, member=draft.member, caller=other.text)
            ):
                found[draft.name] = other.name
    return found


def ask_about_calls(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Ask about each new call of another unit of the module that does not accept its arguments.

    This happens with ``--only`` on the caller: the call fits only the upgraded form of its callee, which stays
    unchanged.

    timid: asks nothing if the name may mean something else: a property or otherwise decorated method, an attribute that
    a method of the class sets, a local or an import of the caller.
    """
    here = [draft for draft in drafts if not draft.removed]
    return [draft if draft.removed else _ask_about_misfits(draft, here, job) for draft in drafts]


def _ask_about_misfits(caller: Draft, drafts: Sequence[Draft], job: ModuleJob) -> Draft:
    """Ask about each unit that ``caller`` newly calls with arguments which the unit does not accept.

    Restores the old call if the callee was selected as well and the old call still fits.
    """
    for other in drafts if caller.text != caller.before else ():
        call = _find_new_misfit(caller, other, drafts)
        if call is None:
            continue
        is_asked_for = is_selected(other.name, job.settings.only)
        restored = _restore_call(caller, other, call) if is_asked_for else None
        new_call = ast.unparse(call)
        if restored is not None:
            caller = _drop_settled(caller.with_completion(restored), asked=caller.reviews)
            reason = (
                f"{other.member} does not accept the arguments that this call would pass now, so the old call stays"
            )
            shown, confidence = Shown(upstream=new_call), CONTESTED
        else:
            more = "" if is_asked_for else f"; `--only {other.name}` upgrades {other.member}, too"
            reason = f"{other.member} does not accept the arguments of this new call{more}"
            shown, confidence = _show_sides(caller, other, new_call), DEFECT
        caller = ask(caller, job.path, reason=reason, confidence=confidence, shown=shown, line=call.lineno)
    return caller


def _show_sides(caller: Draft, other: Draft, new_call: str) -> Shown:
    """Return what to show of a new call: each side's only call of the callee if both have one and neither is new."""
    own, given = (
        [ast.unparse(call) for call in _find_calls(text, other.member, bare=not other.owner)]
        for text in (caller.before, caller.upstream or "")
    )
    if len(own) != 1 or len(given) != 1 or new_call in given:
        return Shown(upstream=new_call, chosen=new_call)
    return Shown(omni=own[0], upstream=given[0], chosen=new_call)


def _restore_call(caller: Draft, other: Draft, call: ast.Call) -> str | None:
    """Return the caller's text with its only call of ``other`` restored.

    Returns ``None`` if there are more such calls, or if the old call does not fit, passes an argument by place to
    another parameter than before, or reads names that the new one does not.
    """
    bare = not other.owner
    old, new = ([*_find_calls(text, other.member, bare=bare)] for text in (caller.before, caller.text))
    if len(old) != 1 or len(new) != 1 or _falls_on_others(old[0], other):
        return None
    text = apply(caller.text, [Places(caller.text).instead_of(call, ast.unparse(old[0]))])
    fits = next(_find_misfits(other.text, member=other.member, caller=text, bare=bare), None) is None
    return text if fits and names_in(old[0]) <= names_in(new[0]) else None


def _falls_on_others(call: ast.Call, callee: Draft) -> bool:
    """Whether a call passes arguments by place that fall on other parameters since the callee changed."""
    before, now = (parse_function(text) for text in (callee.before, callee.text))
    return before is not None and now is not None and bool(find_shifted(call, of_method(before), of_method(now)))


def _drop_settled(restored: Draft, *, asked: Sequence[ReviewItem]) -> Draft:
    """Drop each of the questions ``asked`` before whose passage is omni's again since the call was restored.

    The question about the restored call replaces them.
    """
    pairs = zip(asked, restored.reviews, strict=True)
    left = [now for was, now in pairs if now.chosen == was.chosen or not same_code(now.chosen, now.omni)]
    return replace(restored, reviews=tuple(left))


def _find_new_misfit(caller: Draft, other: Draft, drafts: Sequence[Draft]) -> ast.Call | None:
    """Return a new call of ``other`` in ``caller`` that does not fit; ``None`` if there is none or it is uncertain."""
    if other.name == caller.name or (other.owner and other.owner != caller.owner):
        return None
    if not _is_plain(other) or _is_hidden(other, caller=caller, drafts=drafts):
        return None
    bare = not other.owner
    call = next(_find_misfits(other.text, member=other.member, caller=caller.text, bare=bare), None)
    known = {ast.unparse(old) for old in _find_calls(caller.before, other.member, bare=bare)} if call else ()
    return call if call is not None and ast.unparse(call) not in known else None


def _is_plain(draft: Draft) -> bool:
    function = parse_function(draft.text)
    return function is not None and is_as_written(function)


def _is_hidden(draft: Draft, *, caller: Draft, drafts: Sequence[Draft]) -> bool:
    """Whether the name may mean something else: an attribute set on ``self``, or a local of the caller."""
    if draft.owner:
        return any(draft.member in _find_attributes_set(other.text) for other in drafts if other.owner == draft.owner)
    function = parse_function(caller.text) if draft.member in caller.text else None
    return function is not None and draft.member in bound_anywhere(function)


@lru_cache(maxsize=256)
def _find_attributes_set(text: str) -> frozenset[str]:
    """Return the attributes of ``self`` that a method sets."""
    function = parse_function(text)
    return frozenset(self_attributes_set(function)) if function is not None else frozenset()


def _has_misfit(text: str, *, member: str, caller: str) -> bool:
    """Whether a call of ``member`` on ``self`` in ``caller`` does not fit the signature in ``text``."""
    return next(_find_misfits(text, member=member, caller=caller), None) is not None


def _find_misfits(text: str, *, member: str, caller: str, bare: bool = False) -> Iterator[ast.Call]:
    """Yield calls of ``member`` in ``caller`` that do not fit the signature in ``text``: on ``self``, or by ``bare``
    name."""
    function = parse_function(text) if member in caller else None
    if function is not None:
        signature = of_function(function, bound=not bare and is_bound(function))
        yield from (call for call in _find_calls(caller, member, bare=bare) if misfits(signature, of_call(call)))


def _find_calls(text: str, member: str, *, bare: bool) -> Iterator[ast.Call]:
    function = parse_function(text)
    if not bare:
        yield from calls_on_self(function, member)
        return
    for node in walk(function) if function is not None else ():
        if isinstance(node, ast.Call) and is_name(node.func, member):
            yield node


def _unparse_parameters(text: str) -> str:
    function = parse_function(text)
    return ast.unparse(function.args) if function is not None else ""
