"""Translates GPU texts to upstream's new names for locals and forms of imports, too.

Comes in: a ``Translation`` and what copies have taken over. Goes out: a ``Translation``. May touch: nothing.

A twin's method calls a local as omni's copy did until that followed vllm-ascend's new name. Otherwise each statement
with the name would seem to differ::

    the copy   hidden = tools.run(rows)         the twin   hidden_states = run(rows)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from runner_sync import merge
from runner_sync.profile import Profile
from runner_sync.statements import bound_anywhere, parse_unit
from runner_sync.upgrade.import_forms import Forms, find_forms, respell
from runner_sync.upgrade.npu_words import InNpuWords, Translation


class TakenOver(NamedTuple):
    """The new names and forms that a copy, ``text``, has taken over from upstream."""

    names: Mapping[str, str]
    forms: Forms
    text: str


def with_new_names(translation: Translation, taken: Mapping[str, TakenOver], upstream_module: str) -> Translation:
    """Return a translation that also respells units as the copies in ``taken``, by their NPU names.

    A name stays in a text that has the new one for something else, a form also in a module that imports something else.
    """
    taken = {name: one for name, one in taken.items() if one.names or one.forms}
    if not taken:
        return translation
    of_member = dict(_list_unambiguous(taken))

    @lru_cache(maxsize=64)
    def translate_module(text: str, profile: Profile, *, path: str, with_findings: bool) -> InNpuWords:
        found = translation.module(text, profile, path=path, with_findings=with_findings)
        units = {**found.units}
        for name in units.keys() & taken.keys():
            copy, unit = taken[name], units[name]
            forms = find_forms(unit, found.text, upstream=copy.text, upstream_module=upstream_module)
            forms = {form: new for form, new in forms.items() if copy.forms.get(form) == new}
            units[name] = merge.rename_where_free(respell(unit, forms), copy.names)
        return replace(found, units=units)

    def translate_unit(text: str, profile: Profile) -> str:
        unit, defined = translation.unit(text, profile), _DEFINED.search(text)
        copy = of_member.get(defined[1]) if defined is not None else None
        return merge.rename_where_free(_respell_free(unit, copy.forms), copy.names) if copy is not None else unit

    return Translation(translate_module, translate_unit)


def _respell_free(text: str, forms: Forms) -> str:
    """Respell a unit of an unknown module, but no name that the unit itself binds."""
    bound = bound_anywhere(parse_unit(text)) if forms else frozenset()
    return respell(
        text, {form: new for form, new in forms.items() if bound.isdisjoint({form.split(".")[0], new.split(".")[0]})}
    )


def _list_unambiguous(taken: Mapping[str, TakenOver]) -> Iterator[tuple[str, TakenOver]]:
    """Yield each method's name and what its copy took over, unless the method of another class has taken any, too."""
    members = [name.rpartition(".")[2] for name in taken]
    for member, copy in zip(members, taken.values(), strict=True):
        if members.count(member) == 1:
            yield member, copy


_DEFINED = re.compile(r"^\s*(?:async )?def (\w+)", re.MULTILINE)
