"""Writes what a module imports as upstream writes it: by its name, or through its module.

Comes in: units and the texts of their modules. Goes out: the forms that differ, and units in upstream's. May touch:
nothing.

    ``from pkg.work.tools import step``    ``from pkg.work import tools``    ``import pkg.work.tools as t``
    ``step(rows)``                         ``tools.step(rows)``              ``t.step(rows)``

All call the same function until somebody replaces it in its module at start-up, as vllm-ascend does. Then only the
last two call the replacement. So upstream's form is taken (vllm-ascend writes ``mamba_utils.preprocess_mamba(…)`` from
0.19.1rc1 on, and people followed in 0.26.0), and the merge must not take the difference for an edit.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache

from runner_sync.edits import Places, apply
from runner_sync.naming import Import, imported_by
from runner_sync.statements import bound_anywhere, bound_in, parse_unit
from runner_sync.syntax import dotted_name, module_of, walk
from runner_sync.texts.import_entries import IMPORTS

Forms = Mapping[str, str]
"""``{"step": "tools.step"}``: names or attributes of imported modules, and what upstream writes instead."""


def spell_as_upstream(text: str, module: str, *, upstream: str, upstream_module: str) -> str:
    """Respell what ``text``, a unit of ``module``, uses of its imports as the unit ``upstream`` does."""
    return respell(text, find_forms(text, module, upstream=upstream, upstream_module=upstream_module))


def find_forms(text: str, module: str, *, upstream: str, upstream_module: str) -> Forms:
    """Return the forms that ``text``, a unit of ``module``, has of imports and the unit ``upstream`` has otherwise.

    A form stays if ``text`` binds one of its names itself, or if the name that upstream's begins with is another one in
    ``module``.
    """
    spellings = _list_spellings(module, upstream_module)
    if not spellings:
        return {}
    tree, other = parse_unit(text), parse_unit(upstream)
    bound_here, bound_there = bound_anywhere(tree), bound_anywhere(other)
    omni, there, taken = _read_sure_imports(module), _read_sure_imports(upstream_module), _list_bound(module)
    written = _list_forms(other)
    forms = {}
    for form in _list_forms(tree):
        name, _, member = form.partition(".")
        new = spellings.get(name, {}).get(member, "")
        head = new.partition(".")[0]
        is_free = head not in taken or (head in omni and omni[head].dotted == there[head].dotted)
        if new in written and is_free and {name, head}.isdisjoint(bound_here) and head not in bound_there:
            forms[form] = new
    return forms


def respell(text: str, forms: Forms) -> str:
    """Return a unit with the values of ``forms`` in place of the keys."""
    if not forms:
        return text
    places = Places(text)
    found = [(node, form) for node, form in _iterate_forms(parse_unit(text)) if form in forms]
    inner = {node.value for node, _ in found if isinstance(node, ast.Attribute)}
    return apply(text, [places.instead_of(node, forms[form]) for node, form in found if node not in inner])


@lru_cache(maxsize=64)
def _list_spellings(module: str, upstream_module: str) -> Mapping[str, Mapping[str, str]]:
    """Return, for names that only ``module`` imports, upstream's form of each member; ``""`` is the name itself."""
    spelled = {entry.dotted: entry for entry in _read_sure_imports(upstream_module).values()}
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name, entry in _read_sure_imports(module).items():
        if name in _list_bound(upstream_module) or entry.binds_package:
            continue
        if entry.name and (holder := spelled.get(entry.module)) is not None:
            found[name][""] = f"{holder.bound}.{entry.name}"
        for dotted, other in spelled.items():
            if other.name and dotted == f"{entry.dotted}.{other.name}":
                found[name][other.name] = other.bound
    return found


@lru_cache(maxsize=64)
def _read_sure_imports(module: str) -> Mapping[str, Import]:
    """Return the imports of a module that are under no condition and whose names it binds to nothing else."""
    body = module_of(module).body
    entries = {entry for one in body if isinstance(one, IMPORTS) for entry in imported_by(one)}
    counts = Counter(entry.bound for entry in entries)
    other = bound_in([one for one in body if not isinstance(one, IMPORTS)])
    return {entry.bound: entry for entry in entries if counts[entry.bound] == 1 and entry.bound not in other}


@lru_cache(maxsize=64)
def _list_bound(module: str) -> frozenset[str]:
    return bound_in(module_of(module).body)


def _list_forms(tree: ast.AST) -> frozenset[str]:
    return frozenset(form for _, form in _iterate_forms(tree))


def _iterate_forms(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield each name that is read, alone and with the attribute that is read of it."""
    for node in walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            form = dotted_name(node)
            if form is not None and form.count(".") <= 1:
                yield node, form
