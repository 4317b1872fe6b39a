"""What the RS2xx rules share: an NPU class, its GPU twin, and which methods each of them runs.

Comes in: a `Subject`. Goes out: `Pair`s with both MROs, names that code mentions, GPU text with NPU names. May touch:
nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from runner_sync.profile import Profile
from runner_sync.syntax import Function, walk
from runner_sync.verify.runners.ancestry import Ancestry, ancestry
from runner_sync.verify.runners.job import Library, Subject
from runner_sync.verify.runners.reading import ClassText, Reading, constant_text, dotted

OF_WHOLE_CLASSES = ("RS103", "RS105", "RS202", "RS203", "RS204", "RS207", "RS402")
"""The rules that say nothing about a class with a base that cannot be followed, or not all (RS402)."""


@dataclass(eq=False)
class Pair:
    """A GPU class and its NPU twin."""

    library: Library
    gpu: ClassText
    npu: ClassText

    @cached_property
    def gpu_mro(self) -> Ancestry:
        """The GPU class's MRO."""
        return ancestry(self.library, self.gpu)

    @cached_property
    def npu_mro(self) -> Ancestry:
        """The NPU class's MRO."""
        return ancestry(self.library, self.npu)

    @cached_property
    def npu_mentions(self) -> frozenset[str]:
        """Every name that live methods of the NPU class mention, or any code in its file."""
        live = [function for _, function in self.npu_mro.live()]
        return frozenset(mentioned([*live, self.npu.reading.tree]))

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """GPU helpers that need the GPU, directly or through another helper. Helpers that the NPU side defines do not
        count."""
        texts = {name: self.gpu.reading.text_of(f) for name, f in self.gpu.reading.functions.items()}
        texts |= {name: self.gpu.reading.text_of(c.node) for name, c in self.gpu.reading.classes.items()}
        texts |= {name: self.gpu.reading.text_of(f[-1]) for name, f in self.gpu.methods.items()}
        todo = {n: t for n, t in texts.items() if n not in self.npu_mentions and n != self.gpu.name}
        bound = {name for name, text in todo.items() if is_device_bound(text, self.library.job.profile)}
        used = {name: frozenset(re.findall(r"\w+", text)) for name, text in todo.items()}
        while more := {name for name in todo if name not in bound and used[name] & bound}:
            bound |= more
        return frozenset(bound)

    @cached_property
    def asking(self) -> dict[str, int]:
        """The `asking_functions` among the functions of the GPU module and the live methods of the GPU class."""
        return asking_functions([*self.gpu.reading.functions.values(), *(f for _, f in self.gpu_mro.live())])

    @property
    def npu_own(self) -> tuple[ClassText, ...]:
        """The classes of the NPU MRO that the GPU MRO does not have."""
        return tuple(c for c in self.npu_mro.classes if c not in self.gpu_mro.classes)


def pairs(subject: Subject) -> tuple[Pair, ...]:
    """The twins of one module, made once for all rules."""
    return subject.answers.once(pairs, lambda: tuple(Pair(subject.library, gpu, npu) for gpu, npu in subject.twins))


def whole_pairs(subject: Subject) -> tuple[Pair, ...]:
    """The twins of which every class that NPU runs is known; of others nobody can say what they lack."""
    return tuple(pair for pair in pairs(subject) if not pair.npu_mro.is_open)


def port_of(subject: Subject, unit: str, twin: str, name: str, place: str) -> str:
    """The remedy for statements with a ``name`` that the GPU unit ``twin`` has at ``place`` and NPU lacks, as text.

    Those already lacking at the last sync need an older base. It is named where an earlier revision of the twin is at
    hand that has no such statement yet.
    """
    command = f"runner-sync upgrade --gpu-only --only {unit}"
    earlier = subject.module.gpu_units
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    without = [ref for ref, units in earlier.items() if not word.search(units.get(twin, ""))]
    if without:
        return f"`{command} --omni-base {without[-1]}` ports what came after that ({place}), or says what keeps it out."
    oldest = next(iter(earlier), "")
    before = f"vllm-omni before {oldest}" if oldest else "vllm-omni"
    return (
        f"`{command}` brings what is newer than the last sync; with `--omni-base V` also what is older, where V is a "
        f"{before} in which the GPU runner did not have it yet ({place})."
    )


def mentioned(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names, attributes, string literals, keywords and parameters anywhere below ``nodes``.

    The definition of a method is no mention of it: something has to call it.
    """
    for top in nodes:
        for node in walk(top):
            if isinstance(node, ast.Attribute):
                yield node.attr
            elif isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Constant):
                if isinstance(node.value, str):
                    yield node.value
            elif isinstance(node, ast.keyword | ast.arg) and node.arg:
                yield node.arg


def words(reading: Reading | None) -> frozenset[str]:
    """Every word in the text of a file, comments and strings included; empty for no file."""
    return _words(reading.text) if reading is not None else frozenset()


@lru_cache(maxsize=8)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def in_npu_words(text: str, profile: Profile) -> str:
    """GPU code with GPU names replaced by the profile's NPU names: for comparing only, never to be written."""
    pattern, table = _dictionary(profile)
    # Most texts hold none of them, and the pattern would be tried at every character.
    if not any(name in text for name in table):
        return text
    return pattern.sub(lambda found: table[found[0]], text)


@lru_cache(maxsize=4)
def _dictionary(profile: Profile) -> tuple[re.Pattern[str], Mapping[str, str]]:
    table = {row.name: row.new_name for row in reversed(profile.names) if row.name != row.new_name}
    table |= dict(profile.classes) | dict(profile.attributes)
    table |= {f".{old.rpartition('.')[2]}": f".{new.rpartition('.')[2]}" for old, new in profile.members}
    ordered = sorted(table, key=len, reverse=True)
    # A member is read from some object, any other name must not be.
    starts = ("" if name.startswith(".") else r"(?<![\w.])" for name in ordered)
    words = (start + re.escape(name) for start, name in zip(starts, ordered, strict=True))
    return re.compile(rf"(?:{'|'.join(words)})\b"), table


def is_device_bound(text: str, profile: Profile) -> bool:
    """Whether GPU code cannot simply be ported: it uses a name that the profile lists as device-only or unported."""
    translated = in_npu_words(text, profile)
    return any(word in text for word in profile.device_only) or any(word in translated for word in profile.unported)


def model_hooks(function: ast.AST, asking: Mapping[str, int]) -> Iterator[tuple[str, ast.Call]]:
    """The optional hooks of the model that a function asks for, with the call: ``hasattr(self.model, "x")``,
    ``getattr(self.model, "x", …)``, and calls of ``asking`` functions with the name of a hook."""
    for node in walk(function):
        at = _asks_at(node, asking) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and at is not None and (name := constant_text(node.args[at])):
            yield name, node


def asking_functions(functions: Iterable[Function]) -> dict[str, int]:
    """The functions that get the name of a hook as a parameter and ask the model for it, by ``hasattr``, by ``getattr``
    or through another such function; each with the position of that parameter in calls."""
    found: dict[str, int] = {}
    known = list(functions)
    while more := {f.name: at for f in known if f.name not in found and (at := _name_at(f, found)) is not None}:
        found |= more
    return found


def _name_at(function: Function, asking: Mapping[str, int]) -> int | None:
    """The position, ``self`` not counted, of the parameter by whose value a function asks the model for a hook."""
    names = [parameter.arg for parameter in function.args.args]
    given = names[1:] if names[:1] in (["self"], ["cls"]) else names
    for node in walk(function):
        at = _asks_at(node, asking) if isinstance(node, ast.Call) else None
        asked = dotted(node.args[at]) if isinstance(node, ast.Call) and at is not None else ""
        if asked in given:
            return given.index(asked)
    return None


def _asks_at(call: ast.Call, asking: Mapping[str, int]) -> int | None:
    """The position of the argument that names a hook in a call that asks the model, ``None`` for any other call."""
    name = dotted(call.func)
    if name in ("hasattr", "getattr"):
        return 1 if len(call.args) >= 2 and _is_model(call.args[0]) else None
    at = asking.get(name.removeprefix("self."))
    return at if at is not None and at < len(call.args) else None


def _is_model(node: ast.expr) -> bool:
    """Whether ``node`` is ``self.model``, ``model``, or ``getattr(self, "model", …)``."""
    if isinstance(node, ast.Call) and dotted(node.func) == "getattr" and len(node.args) >= 2:
        return dotted(node.args[0]) == "self" and constant_text(node.args[1]) == "model"
    return dotted(node) in ("model", "self.model")
