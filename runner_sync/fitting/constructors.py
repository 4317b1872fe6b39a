"""Sets keywords that upstream passes to a record, but omni's own record does not accept, as attributes instead.

Comes in: method texts and the keywords that constructors accept. Goes out: the text with ``record.name = value`` behind
the call. May touch: nothing.

vllm-ascend passes new results as arguments of its own record (``spec_token_ids=`` since 0.25.1rc1, by a patch of vLLM's
class that does not reach omni's subclass). Omni's own runners set such a field on the finished record::

    before    output = Output(rows=rows, spec_token_ids=ids)
    after     output = Output(rows=rows)
              output.spec_token_ids = ids
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache

from runner_sync.edits import Places, apply
from runner_sync.fitting.record_lists import Fields
from runner_sync.fitting.repair import Repair
from runner_sync.signatures import fields_of
from runner_sync.statements import bound_in, tree_of
from runner_sync.syntax import dotted_name, module_of, walk

Constructors = Mapping[str, frozenset[str]]


def move_keyword_to_attribute(before: str, text: str, constructors: Constructors) -> Repair | None:
    """Return the method with the first keyword that the constructor does not accept set as an attribute instead.

    Skips keywords that ``before`` already passed. ``None`` if there is no such keyword.
    """
    known = {(name, key.arg) for _, name, call in _find_constructions(before, constructors) for key in call.keywords}
    for made, name, call in _find_constructions(text, constructors):
        for key in call.keywords:
            if key.arg is None or key.arg in constructors[name] or (name, key.arg) in known:
                continue
            moved = _move_to_attribute(text, made, call, key)
            if moved is not None:
                line, statement, new = moved
                return Repair(
                    new,
                    line,
                    statement,
                    f"the constructor of {name} does not accept {key.arg}, so it is set on the new object",
                )
    return None


@lru_cache(maxsize=64)
def find_added_fields(text: str, name: str) -> Fields | None:
    """Return the fields that a class of module ``text`` adds to its generated constructor; none if no dataclass itself.

    ``None`` if the class is missing, has a constructor of its own, or does not allow other attributes.
    """
    for node in module_of(text).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            if any(isinstance(one, ast.FunctionDef) and one.name in _CONSTRUCTING for one in node.body) or _is_closed(
                node
            ):
                return None
            decorators = [ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list]
            declared = fields_of(node).values() if any(one.endswith("dataclass") for one in decorators) else ()
            return tuple(field.name for field in declared if field.is_given is not False)
    return None


_CONSTRUCTING = ("__init__", "__new__", "__setattr__")


def _is_closed(owner: ast.ClassDef) -> bool:
    """Whether objects refuse attributes that are no fields: ``frozen``, ``slots``, or a named tuple."""
    keywords = [
        *owner.keywords,
        *(key for one in owner.decorator_list if isinstance(one, ast.Call) for key in one.keywords),
    ]
    closed = any(key.arg in ("frozen", "slots") and not _is_false(key.value) for key in keywords)
    return (
        closed
        or "__slots__" in bound_in(owner.body)
        or any((dotted_name(base) or "").endswith("NamedTuple") for base in owner.bases)
    )


def _is_false(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _find_constructions(text: str, constructors: Constructors) -> Iterator[tuple[ast.Assign, str, ast.Call]]:
    for node in walk(tree_of(text)):
        if isinstance(node, ast.Assign) and isinstance(call := node.value, ast.Call):
            name = ast.unparse(call.func)
            if name in constructors:
                yield node, name, call


def _move_to_attribute(text: str, made: ast.Assign, call: ast.Call, key: ast.keyword) -> tuple[int, str, str] | None:
    """Return line and text of a new assignment behind ``made``, and the whole text with it and without the keyword.

    ``None`` if the record is not assigned to a name in a statement on lines of its own.
    """
    places = Places(text)
    margin = text[places.line(made.lineno)[0] : places.start(made)]
    if margin.strip() or len(made.targets) != 1 or not isinstance(made.targets[0], ast.Name):
        return None
    statement = f"{made.targets[0].id}.{key.arg} = {places.source(key.value)}"
    out = places.removal(call, key)
    line = text.count("\n", 0, places.end(made)) - text.count("\n", out.start, out.end) + 2
    return line, statement, apply(text, [out, places.behind(made, f"\n{margin}{statement}")])
