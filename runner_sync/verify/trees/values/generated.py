"""The constructor that ``@dataclass`` or ``msgspec.Struct`` generates, and whether it can generate one.

Comes in: classes as their statements show them. Goes out: signatures, or ``None`` if they are unknown. May touch:
nothing. The rules are from the documentation of ``dataclasses`` and of msgspec: a struct's ``kw_only`` applies to the
fields of that class alone, and a subclass of a struct is a struct without a decorator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner_sync.signatures import Field, Signature, class_option, find_dataclass_decorators, of_fields, option
from runner_sync.syntax import last_word
from runner_sync.verify.trees.classes import ClassInfo, is_struct


def is_dataclass(info: ClassInfo) -> bool:
    """Whether the class itself is decorated as a dataclass."""
    return bool(find_dataclass_decorators(info.node))


def find_structs(classes: Sequence[ClassInfo]) -> list[ClassInfo]:
    """Return the classes of an MRO that derive from ``msgspec.Struct``, directly or through each other."""
    found: list[ClassInfo] = []
    for info in reversed(classes):
        bases = {last_word(base) for base in info.node.bases}
        if is_struct(info) or any(one.name in bases for one in found):
            found.append(info)
    return found


def make_signature(classes: Sequence[ClassInfo]) -> Signature | None:
    """Return the signature of the dataclass or struct ``classes[0]``, which inherits from the others."""
    found = collect_fields(classes)
    made = find_dataclass_decorators(classes[0].node)
    if found is None or any(option(decorator, "init", default=True) is not True for decorator in made):
        return None
    return of_fields(field for _, field in found)


def collect_fields(classes: Sequence[ClassInfo]) -> list[tuple[ClassInfo, Field]] | None:
    """Return the fields of the dataclass or struct ``classes[0]`` in order, each with the class that declares it.

    ``None`` if an option of a field or class is no constant.
    """
    found: dict[str, tuple[ClassInfo, Field]] = {}
    made = find_structs(classes)
    for info in reversed(classes):
        if is_dataclass(info) or info in made:
            own = info.fields
            options = [one for field in own.values() for one in (field.by_keyword, field.is_given)]
            if None in [*options, class_option(info.node, "kw_only")]:
                return None
            found |= {name: (info, field) for name, field in own.items()}
    return list(found.values())


def find_misplaced_field(found: Iterable[tuple[ClassInfo, Field]]) -> tuple[Field, ClassInfo, Field] | None:
    """Return a field without a default behind one with a default, which Python refuses.

    Also returns the class of the field with the default, and that field.
    """
    with_default = None
    for owner, field in found:
        if field.is_given and not field.by_keyword:
            if with_default is not None and not field.has_default:
                return field, *with_default
            with_default = (owner, field) if field.has_default else with_default
    return None
