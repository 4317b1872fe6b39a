"""Write the methods that a class inherits into the text of its module, as if the class defined them itself.

Comes in: the text of a module, and methods with the module that they are from. Goes out: the text. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_sync.model import Unit
from runner_sync.naming import Import, module_name
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.names import defined_names, undefined_names
from runner_sync.units import texts


@dataclass(frozen=True, slots=True)
class Inherited:
    """A module with a base class, and the methods that a class has from there."""

    path: str
    text: str
    methods: Mapping[str, str]


def own_units(text: str, name: str, path: str) -> dict[str, Unit]:
    """Return the units of class ``name`` of the module ``text`` by their names in it."""
    prefix = f"{name}."
    return {full.removeprefix(prefix): u for full, u in texts.unit_table(text, path).items() if full.startswith(prefix)}


def may_inherit(name: str, text: str, package: str) -> bool:
    """Whether a base class of class ``name`` may be of ``package``, told without parsing: most revisions have none."""
    head = re.search(rf"^class {re.escape(name)}\(([^)]*)\)", text, re.MULTILINE)
    own = re.findall(rf"^\s*from (?:\.|{package}\b)[\w.]* import (\([^)]*\)|[^\n]*)", text, re.MULTILINE)
    own += re.findall(rf"^\s*import ({package}\b[^\n]*)", text, re.MULTILINE)
    known = {*re.findall(r"^(?:class )?(\w+)\b", text, re.MULTILINE), *re.findall(r"\w+", " ".join(own))}
    return head is not None and not known.isdisjoint(re.findall(r"\w+", head[1]))


def complete(text: str, name: str, path: str, inherited: Sequence[Inherited]) -> str:
    """Return the module ``text`` with ``inherited`` methods added to class ``name``, and what they need imported."""
    if inherited:
        from runner_sync.units.changing import insert_member
        from runner_sync.units.pieces import join
    for parent in inherited:
        text = join(insert_member(texts.parsed(text, path), name, "\n".join(parent.methods.values())))
        text = text if parent.path == path else add_imports(text, parent.path, parent.text)
    return text


def add_imports(text: str, path: str, source: str) -> str:
    """Return ``text`` with imports of the names that it uses and only the module ``source`` defines or imports.

    ``path`` is that module's. They stand at the end, so that the lines before the added code keep their numbers.
    """
    imported, own = read_imports(source, path), defined_names(source)
    module = module_name(path)
    used = sorted(undefined_names(text))
    known = {*imported, *own}
    entries = [imported[name] if name in imported else Import(module, name, name) for name in used if name in known]
    return "".join([text if text.endswith("\n") else f"{text}\n", *(f"{entry.statement()}\n" for entry in entries)])
