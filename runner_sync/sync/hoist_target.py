"""Decide whether GPU and NPU can share one definition of a method, and where it goes.

Comes in: the trees of a run and the name of a unit. Goes out: a ``Move``; ``InputError`` with the reason if the unit
cannot be shared. May touch: the trees, by reading.

A method goes to the first possible place. If the NPU class inherits from its GPU twin, the NPU copy is just deleted. If
both have an omni base and no other class defines the method, it moves to that base. Else it moves to a mixin in front
of the other bases of both classes, so that every name and every ``super()`` resolves as before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from runner_sync.errors import InputError
from runner_sync.naming import module_name
from runner_sync.profile import Profile
from runner_sync.sync.check_modules import describe_module
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.syntax import Function, names_in
from runner_sync.texts.member_text import canonical
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.runners.ancestry import Ancestry, find_ancestry, find_writer
from runner_sync.verify.runners.duplication import has_same_globals, is_equal_translated
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.parity import is_device_bound, translate_to_npu
from runner_sync.verify.runners.reading import ClassText, Reading

Place = Literal["inherited", "base", "mixin", "function"]


@dataclass(frozen=True, slots=True)
class Definition:
    """One definition of the unit: its file, its class (``""`` at module level) and its text."""

    path: str
    owner: str
    name: str
    node: Function
    reading: Reading

    @property
    def qualname(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Move:
    """Where a unit goes and why; ``base`` and ``base_path`` are set if the place is an existing base class."""

    place: Place
    npu: Definition
    gpu: Definition
    base: str = ""
    base_path: str = ""
    reason: str = ""


def find_move(given: inputs.Inputs, modules: Sequence[DerivedModule], unit: str) -> Move:
    """Find where ``unit`` can go.

    The unit is ``Class.method`` with either class name, a bare method name, or a function.
    """
    described = tuple(describe_module(given, derived) for derived in modules)
    library = Library(CheckJob(given.profile, described, read=given.omni.read))
    derived, owner, name = _locate(given, modules, library, unit)
    npu, gpu = _find_definitions(given, library, derived, owner=owner, name=name)
    _refuse_unequal(npu, gpu, given.profile)
    if not owner:
        return Move("function", npu, gpu, reason=f"{npu.path} imports it from {gpu.path}")
    return _choose_place(given, library, derived, npu, gpu)


def _locate(
    given: inputs.Inputs, modules: Sequence[DerivedModule], library: Library, unit: str
) -> tuple[DerivedModule, str, str]:
    """Return the module, the class (empty at module level) and the name that ``unit`` means.

    Raises ``InputError`` if no class or module defines it, or several do.
    """
    owner, _, name = unit.rpartition(".")
    owner = given.profile.npu_name(owner)
    matches: list[tuple[DerivedModule, str]] = []
    for derived in modules:
        reading = _require_reading(library, derived.path)
        if not owner and name in reading.functions:
            matches.append((derived, ""))
        classes = [c for c in reading.classes.values() if owner in ("", c.name) and name in c.methods]
        matches += [(derived, c.name) for c in classes]
    if not matches:
        raise InputError(
            f"no {given.profile.platform} runner defines {unit}: name a method as Class.method; "
            "`runner-sync blocks` lists them."
        )
    if len(matches) > 1:
        named = " and ".join(f"{found_owner}.{name}".strip(".") for _, found_owner in matches)
        raise InputError(f"{unit} is the name of {named}: say which one.")
    return *matches[0], name


def _require_reading(library: Library, path: str) -> Reading:
    reading = library.at(path)
    assert reading is not None
    return reading


def _find_definitions(
    given: inputs.Inputs, library: Library, derived: DerivedModule, *, owner: str, name: str
) -> tuple[Definition, Definition]:
    """Return the definitions of the unit on NPU and on GPU; raise ``InputError`` if one is missing."""
    reading = _require_reading(library, derived.path)
    twin_path = derived.module.gpu.path if derived.module.gpu is not None else ""
    twin = library.at(twin_path) if twin_path else None
    twin_owner = next((gpu for gpu, npu in given.profile.classes if npu == owner), "") if owner else ""
    npu_function = _find_definition(reading, owner, name)
    other = _find_definition(twin, twin_owner, name) if twin is not None and bool(twin_owner) == bool(owner) else None
    label = f"{owner}.{name}".strip(".")
    if npu_function is None or other is None or twin is None:
        raise InputError(f"{label} has no twin in {twin_path or 'a GPU runner'}: there is nothing to share.")
    gpu_side = _find_owner(library, Definition(twin_path, twin_owner, name, other, twin), reading, owner)
    both = Definition(derived.path, owner, name, npu_function, reading), gpu_side
    if beside := next((one for one in both if one.qualname not in one.reading.units), None):
        raise InputError(
            f"{beside.path}:{beside.node.lineno}: {beside.qualname} stands inside another statement: move it out of "
            "that first."
        )
    return both


def _find_owner(library: Library, gpu: Definition, npu: Reading, npu_owner: str) -> Definition:
    """Return the definition in the class that the GPU class has it from.

    Raises ``InputError`` if the NPU class does not derive from that class, with which it would share the method.
    """
    writer = find_writer(library, gpu.reading.classes[gpu.owner], gpu.name) if gpu.owner else None
    if writer is None or writer.name == gpu.owner:
        return gpu
    node = writer.methods[gpu.name][-1]
    if writer not in find_ancestry(library, npu.classes[npu_owner]).classes:
        raise InputError(
            f"{gpu.owner} has {gpu.name} from {writer.name} ({writer.reading.path}:{node.lineno}): derive {npu_owner} "
            f"from that, too, and delete {npu_owner}.{gpu.name}."
        )
    return Definition(writer.reading.path, writer.name, gpu.name, node, writer.reading)


def _find_definition(reading: Reading, owner: str, name: str) -> Function | None:
    """Return the function, or the last definition of the method, which is the one in effect."""
    if not owner:
        return reading.functions.get(name)
    definitions = reading.classes[owner].methods.get(name, []) if owner in reading.classes else []
    return definitions[-1] if definitions else None


def _refuse_unequal(npu: Definition, gpu: Definition, profile: Profile) -> None:
    """Raise ``InputError`` if one definition cannot replace both.

    The reason may be that their code differs, that it names a device, that its globals mean different things in the two
    modules, or that it depends on its own class.
    """
    where = f"{gpu.qualname} ({gpu.path}:{gpu.node.lineno})"
    if npu.name == "__init__":
        raise InputError(f"{npu.qualname} sets its own class up: hoist the methods that it calls.")
    if not is_equal_translated(npu.reading, npu.node, gpu.reading, gpu.node, profile=profile):
        raise InputError(f"{npu.qualname} differs from {where}: make them equal first, or leave both.")
    device_word = next((word for side in (npu, gpu) for word in _find_device_words(side, profile)), "")
    if device_word:
        raise InputError(f"{npu.qualname} names {device_word}, which is the device's: it cannot be shared.")
    if not has_same_globals(npu.reading, npu.node, gpu.reading):
        raise InputError(f"{npu.qualname} reads names that mean something else beside {where}: it cannot be shared.")
    if re.search(r"\bsuper\(\s*\w|\bself\.__\w+(?<!__)\b(?!__)", gpu.reading.text_of(gpu.node)):
        raise InputError(f"{npu.qualname} names its own class (super(…) with arguments, self.__x): it cannot be moved.")


def _find_device_words(side: Definition, profile: Profile) -> list[str]:
    """Return the device-bound parts of a definition, as words for a message; comments and docstrings do not count."""
    text = "\n".join(canonical(side.reading.text_of(side.node)))
    words = [f"torch.{device}" for device in profile.device if f"torch.{device}" in text]
    if translate_to_npu(text, profile) != text or is_device_bound(text, profile):
        words.append(f"a name that has another form on {profile.platform}")
    return words


def _choose_place(
    given: inputs.Inputs, library: Library, derived: DerivedModule, npu: Definition, gpu: Definition
) -> Move:
    """Choose the place of a method: none (it is inherited), a base of both classes, or a mixin.

    Raises ``InputError`` if a class between the NPU class and its twin has its own version.
    """
    npu_class, gpu_class = npu.reading.classes[npu.owner], gpu.reading.classes[gpu.owner]
    npu_mro, gpu_mro = find_ancestry(library, npu_class), find_ancestry(library, gpu_class)
    if gpu_class in npu_mro.classes:
        below = npu_mro.find(npu.name, after=npu_class)
        if below is not gpu_class:
            between = below.name if below is not None else "a class"
            raise InputError(f"{between} stands between {npu.owner} and {gpu.owner} with its own {npu.name}.")
        return Move("inherited", npu, gpu, reason=f"{npu.owner} inherits it from {gpu.owner}")
    base = next((c for c in gpu_mro.classes[1:] if c in npu_mro.classes), None)
    reason = _why_no_base(given, derived, npu, gpu, base, mros=(npu_mro, gpu_mro))
    if base is not None and not reason:
        text = f"{base.name} is a base of both classes"
        return Move("base", npu, gpu, base=base.name, base_path=base.reading.path, reason=text)
    return Move("mixin", npu, gpu, reason=f"a mixin, because {reason}")


def _why_no_base(
    given: inputs.Inputs,
    derived: DerivedModule,
    npu: Definition,
    gpu: Definition,
    base: ClassText | None,
    *,
    mros: tuple[Ancestry, Ancestry],
) -> str:
    """Return why the method cannot go to ``base``, the first omni base of both classes; empty if it can.

    The reason may be that vllm-ascend or vLLM is not at hand: a runner that inherits from both ``base`` and an upstream
    could then get this method instead of the upstream one.
    """
    if base is None:
        return f"{npu.owner} and {gpu.owner} have no base of omni's in common"
    if "super" in names_in(gpu.node):
        return "it calls super()"
    for mro in mros:
        other = next((c for c in mro.classes[1:] if npu.name in c.methods), None)
        if other is not None:
            return f"{other.name} has its own {npu.name}"
    if given.ascend is None or given.vllm is None:
        trees = {"vllm-ascend": given.ascend, "vLLM": given.vllm}
        missing = [name for name, tree in trees.items() if tree is None]
        options = " and ".join(f"--{name.lower().removeprefix('vllm-')}-path or -version" for name in missing)
        which = f"only {' and '.join(trees)} tell whether other runners inherit another {npu.name} from them"
        return f"{which}, and {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not named ({options})"
    module_texts = ModuleTexts(given.trees)
    if npu.name in module_texts.find_inherited(derived.text, npu.owner, module_name(derived.path)).members:
        return f"other runners inherit an upstream {npu.name}, which one in {base.name} would hide"
    return ""
