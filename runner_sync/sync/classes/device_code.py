"""Find omni's own functions that do nothing without a GPU behind the calls of a runner.

Comes in: the profile's GPU modules and the texts of the trees. Goes out: the file of such a function. May touch: the
trees, by reading.

For example ``schedule_async_write`` of vllm-omni's prefix cache (0.28.0) returns at once where ``torch.cuda`` is not
available.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from runner_sync.naming import Import, project_of
from runner_sync.profile import Profile
from runner_sync.statements import first_function, is_python
from runner_sync.statements.assigning import targets_of
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.syntax import dotted_name, is_string, module_of, walk
from runner_sync.texts.import_entries import read_imports
from runner_sync.units import texts


class DeviceCode:
    """Finds the definition behind a call in the GPU runners.

    Covers functions that a GPU module imports from omni, and methods of objects that a GPU class makes from an omni
    class: ``self.cache = Cache(rows)``. Calls inside those are not followed.
    """

    def __init__(self, profile: Profile, module_texts: ModuleTexts) -> None:
        self._paths = profile.twin_paths
        # False on NPU, even if vllm-ascend lets `torch.cuda` stand for `torch.npu`: its wrapper exchanges other names.
        self._available = f"torch.{profile.device[0]}.is_available"
        self._module_texts = module_texts

    def gives_up(self, called: str) -> str:
        """Return the file that defines a called name which returns at once if there is no CUDA; else empty.

        ``self.cache.write`` (as the GPU runner writes it) gives ``vllm_omni/cache.py``.
        """
        return next(
            (path for path, text in self._find_definitions(called) if _begins_with_exit(text, unless=self._available)),
            "",
        )

    def _find_definitions(self, called: str) -> Iterator[tuple[str, str]]:
        """Yield the path and text of each definition that the called name may mean in a GPU module."""
        owner, dot, name = called.rpartition(".")
        for entry in self._omni_imports.get(name, ()) if not dot else ():
            found = self._module_texts.find_module(entry.module)
            units = texts.whole_definitions(found[1], found[0]) if found is not None and is_python(found[1]) else {}
            if found is not None and entry.name in units:
                yield found[0], units[entry.name]
        for entry in self._attribute_classes.get(owner.removeprefix("self."), ()) if owner.startswith("self.") else ():
            made = self._module_texts.find_class(entry.module, entry.name)
            source = self._module_texts.find_module(made.module) if made is not None else None
            if made is not None and source is not None:
                members = texts.members(made.text, made.name, made.module)
                if name in members:
                    yield source[0], members[name]

    @cached_property
    def _omni_imports(self) -> dict[str, list[Import]]:
        """Imports of the GPU modules from omni, by bound name."""
        found: dict[str, list[Import]] = {}
        for path, text in self._texts:
            for bound, entry in read_imports(text, path).items():
                if entry.name and project_of(entry.module) == "vllm-omni":
                    found.setdefault(bound, []).append(entry)
        return found

    @cached_property
    def _attribute_classes(self) -> dict[str, list[Import]]:
        """The omni classes from which GPU classes make their attributes, by attribute."""
        found: dict[str, list[Import]] = {}
        for _, text in self._texts:
            for attribute, name in _find_constructions(module_of(text)):
                found.setdefault(attribute, []).extend(self._omni_imports.get(name, ()))
        return found

    @cached_property
    def _texts(self) -> Sequence[tuple[str, str]]:
        """The path and text of each existing GPU module."""
        tree = self._module_texts.trees["vllm-omni"]
        return [(path, text) for path in self._paths if (text := tree.read(path))]


def _begins_with_exit(text: str, *, unless: str) -> bool:
    """Whether a function begins, below its docstring, with ``if not unless(): return``."""
    function = first_function(text)
    body = [one for one in function.body if not is_string(one)] if function is not None else []
    match body:
        case [ast.If(test=ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=asked)), body=[ast.Return(value=None)]), *_]:
            return dotted_name(asked) == unless
    return False


def _find_constructions(module: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield ``("cache", "Cache")`` for each ``self.cache = Cache(…)``, with a type or without."""
    for node in walk(module):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
            continue
        name = dotted_name(node.value.func)
        for target in targets_of(node):
            owner, _, attribute = (dotted_name(target) or "").rpartition(".")
            if name is not None and owner == "self":
                yield attribute, name
