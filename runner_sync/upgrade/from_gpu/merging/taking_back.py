"""Takes back ports whose new signature breaks a call, or repeats them without the new parameters.

Comes in: drafts before and after their ports. Goes out: the drafts, with a question about each such port. May touch:
nothing.

The caller's own port was declined, or the caller was not selected. NPU then keeps its signature, but the rest of the
change may be a fix that does not depend on the new parameter::

    GPU twin    def store(self, rows, staged):                       NPU    def store(self, rows):
                    if staged is not None:                           left out, with a question
                        self.send(staged)
                    self.cache.update(rows.gpu, staged=staged)              self.cache.update(rows.gpu)
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Protocol

from runner_sync.confidence import CONTESTED
from runner_sync.edits import Edit, Places, apply
from runner_sync.signatures import Signature, of_method
from runner_sync.statements import flatten, parse_function, tree_of
from runner_sync.statements.dataflow import reads
from runner_sync.syntax import calls_in
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.asking import call_fit
from runner_sync.upgrade.questions.reviews import Shown, make_not_ported_review, make_review

NO_PARAMETERS = Signature((), frozenset(), (), frozenset(), var_positional=False, var_keyword=False)
SHOWN = 60
"""Most characters of a statement that a reason quotes."""


class PortOf(Protocol):
    """Ports the twin's change to ``new`` into a draft, without statements that read ``lacking`` names.

    Returns ``None`` if the port is refused.
    """

    def __call__(self, draft: Draft, new: str, lacking: Collection[str]) -> Draft | None: ...


def take_back_unfit(
    ported: Sequence[Draft],
    before: Sequence[Draft],
    *,
    beside: Sequence[Draft],
    twin: tuple[Mapping[str, str], Mapping[str, str]],
    path: str,
    port: PortOf,
) -> list[Draft]:
    """Take back ports that changed a signature while a caller still uses the old one, until every call fits.

    ``twin`` are the old and the new texts of the GPU units. First tries the port without new parameters.
    """
    left = [*ported]
    texts_before = {draft.name: draft.text for draft in before}
    tried: set[str] = set()
    while found := call_fit.find_unfit([*left, *beside], texts_before):
        for k, was in enumerate(before):
            if was.name not in found:
                continue
            old, new = (texts.get(was.name, "") for texts in twin)
            why = f"{found[was.name].rpartition('.')[2]} still calls this method with the old arguments"
            rest = _port_rest(was, old, new, path=path, why=why, port=port) if was.name not in tried else None
            left[k] = rest or _take_back(left[k], was, old, new, path=path, why=why)
        tried |= found.keys()
    return left


def _port_rest(was: Draft, old: str, new: str, *, path: str, why: str, port: PortOf) -> Draft | None:
    """Port the twin's change without the parameters that it newly requires; ``None`` if nothing of it can come."""
    names = _find_new_parameters(new, [old, was.text])
    text = new
    while (edit := _find_removal(text, names, was.text)) is not None:
        text = apply(text, [edit])
    draft = port(was, text, names) if names and parse_function(text) is not None else None
    if draft is None or draft.text == was.text:
        return None
    count = len(was.reviews)
    word = re.compile(rf"\b({'|'.join(names)})\b")
    added = [
        replace(item, reason=f"{item.reason}; {why}") if word.search(item.upstream) else item
        for item in draft.reviews[count:]
    ]
    if not any(item.reason.endswith(why) for item in added):
        head, own = (flatten(side)[0].canon for side in (new, was.text))
        reason = f"left out: the new parameter {', '.join(sorted(names))}; {why}"
        shown = Shown(omni=own, upstream=head, chosen=own)
        added.append(make_review(draft, path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=True))
    return replace(draft, reviews=(*draft.reviews[:count], *added))


def _find_new_parameters(new: str, others: Sequence[str]) -> AbstractSet[str]:
    """Return parameters that ``new`` requires and none of ``others`` has."""
    known = {name for text in others for name in _read_signature(text).keywords}
    return _read_signature(new).required - known


def _read_signature(text: str) -> Signature:
    function = parse_function(text)
    return of_method(function) if function is not None else NO_PARAMETERS


def _find_removal(text: str, names: Collection[str], npu: str) -> Edit | None:
    """Return the edit that removes one of the parameters ``names``, or a keyword argument that only passes one on.

    Such an argument goes only if ``npu`` makes the call without it.
    """
    function, places = parse_function(text), Places(text)
    if function is None:
        return None
    for arguments in ([*function.args.posonlyargs, *function.args.args], function.args.kwonlyargs):
        for arg in arguments[1:]:
            if arg.arg in names:
                return places.element_out(arg, arguments)
    for call in calls_in(tree_of(text)):
        for key in call.keywords:
            is_passed_on = isinstance(key.value, ast.Name) and key.value.id in names
            if is_passed_on and any(_is_same_without(call, key, other) for other in calls_in(tree_of(npu))):
                return places.removal(call, key)
    return None


def _is_same_without(call: ast.Call, key: ast.keyword, other: ast.Call) -> bool:
    """Whether ``other`` calls the same without ``key``, and passes nothing that ``call`` does not pass."""
    given, known = ({one.arg for one in node.keywords} for node in (call, other))
    return (
        ast.unparse(call.func) == ast.unparse(other.func)
        and len(other.args) <= len(call.args)
        and known <= given - {key.arg}
    )


def _take_back(draft: Draft, was: Draft, old: str, new: str, *, path: str, why: str) -> Draft:
    """Return the draft as before its port, with a question; in the file, if it also keeps out other statements."""
    names = _find_new_parameters(new, [old, was.text])
    known = {node.canon for text in (old, was.text) for node in flatten(text)}
    others = [
        node.canon
        for node in flatten(new)[1:]
        if not node.is_comment and node.canon not in known and names.isdisjoint(reads(node))
    ]
    if others:
        why += f"; other changes stay out with it, such as `{textwrap.shorten(others[0], SHOWN, placeholder=' …')}`"
    item = make_not_ported_review(was, path, why=why, confidence=CONTESTED, base=old, omni=was.text, upstream=new)
    item = replace(item, in_file=bool(others))
    return replace(draft, stages=was.stages, reviews=was.reviews).with_questions(item)
