"""The names that a statement uses and defines.

Comes in: nodes. Goes out: names. May touch: nothing. For example::

                         reads         uses        binds   sets   rebinds
    rows = pad(rows)     pad, rows     pad, rows   rows    rows   rows
    total += size        size, total   size        total
    del total            total
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.statements.nodes import Node


def reads(node: Node) -> frozenset[str]:
    """Return the names that must be bound for a statement (or a head) to run."""
    return node.facts.reads


def uses(node: Node) -> frozenset[str]:
    """Return the ``reads`` except names that are only updated or deleted: ``total`` in ``total += 1`` and ``del
    total``."""
    return node.facts.uses


def binds(node: Node) -> frozenset[str]:
    """Return the names that a statement (or a head) binds: targets, loop variables, definitions, imports,
    parameters."""
    return node.facts.binds


def sets(node: Node) -> frozenset[str]:
    """Return the ``binds`` that are newly set; excludes ``total`` in ``total += 1``, which only updates it."""
    return node.facts.sets


def rebinds(node: Node) -> frozenset[str]:
    """Return the ``sets`` that an assignment computes from their old value: ``rows = pad(rows)``."""
    return node.facts.rebinds


def attributes_set(node: Node) -> frozenset[str]:
    """Return the dotted attributes that a statement (or a head) sets: ``self.total``, also in ``self.total += 1``."""
    return node.facts.attributes


def uses_anything_of(setting: Sequence[Node], using: Sequence[Node]) -> bool:
    """Whether the statements ``using`` mention a local or an attribute that ``setting`` sets."""
    return mention_any({name for node in setting for name in (*binds(node), *attributes_set(node))}, using)


def find_fed(setting: Sequence[Node], using: Sequence[Node]) -> set[str]:
    """Return the locals and attributes that ``setting`` sets and ``using``, a run of statements, reads as they come.

    A local that the run itself has set before it reads it does not count, nor does one that only becomes a copy of
    itself (``rows = deepcopy(rows)``). Of one that becomes a copy with other fields (``rows = replace(rows, ids=ids)``)
    reads of its other fields do not count.
    """
    copied = {
        match["name"]: match["fields"] or "" for node in setting if (match := _COPIES_ITSELF.fullmatch(node.canon))
    }
    wanted = {name for node in setting if not _COPIES_ITSELF.fullmatch(node.canon) for name in binds(node)}
    wanted |= {name for node in setting for name in attributes_set(node)}
    fed = set[str]()
    for node in using:
        fed |= {name for name in wanted if name in reads(node) or ("." in name and _reads_attribute(node, name))}
        fed |= {name for name, fields in copied.items() if name in reads(node) and _reads_field(node, name, fields)}
        wanted -= binds(node) | attributes_set(node)
        copied = {name: fields for name, fields in copied.items() if name not in binds(node)}
    return fed


def _reads_field(node: Node, name: str, fields: str) -> bool:
    """Whether a statement reads one of the fields that a copy got (``ids=ids, …``), or may: it uses the whole object.

    Without fields, the copy is the same as before.
    """
    changed = {field.partition("=")[0] for field in _FIELD.findall(fields)}
    uses_of = re.compile(rf"\b{name}\b(?:\.(\w+)|, '(\w+)'[,)])?")
    return bool(changed) and any(
        not (one or other) or (one or other) in changed for one, other in uses_of.findall(node.canon)
    )


def _reads_attribute(node: Node, name: str) -> bool:
    """Whether a statement mentions an attribute, or anything of it, not only as its target."""
    words: list[str] = DOTTED.findall(node.canon)
    mentioned = sum(name == word or word.startswith(f"{name}.") for word in words)
    return mentioned > (name in attributes_set(node))


_COPIES_ITSELF = re.compile(
    r"(?P<name>\w+) = (?:(?:copy\.)?(?:deep)?copy\((?P=name)\)|(?P=name)\.copy\(\)"
    r"|(?:dataclasses\.)?replace\((?P=name), (?P<fields>\w+=.*)\))"
)
_FIELD = re.compile(r"\b\w+=(?!=)")


def mention_any(names: Collection[str], using: Sequence[Node]) -> bool:
    """Whether the statements ``using`` mention a name, or anything of it: ``rows.ids`` for ``rows``."""
    words = {word for node in using for word in DOTTED.findall(node.canon)}
    return any(name == word or word.startswith(f"{name}.") for name in names for word in words)


DOTTED = re.compile(r"[A-Za-z_][\w.]*")
"""A name with all attributes read of it."""
