"""Pairs an NPU class with its GPU twin and tells which methods each of them runs; shared by the RS2xx rules.

Comes in: a `Subject`. Goes out: `Pair`s with both MROs, names that code mentions, GPU text with NPU names. May touch:
nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from runner_sync.naming import imported_by
from runner_sync.profile import Profile
from runner_sync.syntax import walk, walk_suites
from runner_sync.verify.answers import answered_once
from runner_sync.verify.runners.ancestry import Ancestry, find_ancestry
from runner_sync.verify.runners.callees import read_apart
from runner_sync.verify.runners.job import Library, Subject
from runner_sync.verify.runners.model_hooks import find_asking_functions
from runner_sync.verify.runners.reading import ClassText, Reading
from runner_sync.verify.runners.without_gpu import WithoutGpu


@dataclass(eq=False)
class Pair:
    """A GPU class and its NPU twin."""

    library: Library
    gpu: ClassText
    npu: ClassText

    @cached_property
    def gpu_mro(self) -> Ancestry:
        """The MRO of the GPU class."""
        return find_ancestry(self.library, self.gpu)

    @cached_property
    def npu_mro(self) -> Ancestry:
        """The MRO of the NPU class."""
        return find_ancestry(self.library, self.npu)

    @cached_property
    def npu_mentions(self) -> frozenset[str]:
        """Every name mentioned by live methods of the NPU class or by any code in its file."""
        live = [function for _, function in self.npu_mro.live()]
        return frozenset(find_mentions([*live, self.npu.reading.tree]))

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Names of GPU helpers, inherited ones too, that need the GPU, directly or through another helper.

        Skips helpers that the NPU side mentions, and methods that it has itself.
        """
        texts = {f.name: owner.reading.text_of(f) for owner, f in self.gpu_mro.live()}
        texts |= {name: self.gpu.reading.text_of(f) for name, f in self.gpu.reading.functions.items()}
        texts |= {name: self.gpu.reading.text_of(c.node) for name, c in self.gpu.reading.classes.items()}
        texts |= {name: self.gpu.reading.text_of(f[-1]) for name, f in self.gpu.methods.items()}
        imported = self._read_imported()
        texts |= imported
        known = self.npu_mentions.union({self.gpu.name}, *(c.methods for c in self.npu_own)).difference(imported)
        todo = {name: text for name, text in texts.items() if name not in known}
        bound = {name for name, text in todo.items() if is_device_bound(text, self.library.job.profile)}
        used = {name: frozenset(re.findall(r"\w+", text)) for name, text in todo.items()}
        while more := {name for name in todo if name not in bound and used[name] & bound}:
            bound |= more
        return frozenset(bound)

    def _read_imported(self) -> dict[str, str]:
        """Return the texts of omni's functions that GPU code imports where it calls them, and no NPU class names.

        Parses only modules with a text that the profile lists as device-only or unported.
        """
        library, profile = self.library, self.library.job.profile
        helpers = {id(f): f for f in (*self.gpu.reading.functions.values(), *(f for _, f in self.gpu_mro.live()))}
        imports = (node for f in helpers.values() for node in walk_suites(f) if isinstance(node, ast.ImportFrom))
        named = {entry.dotted: entry for node in imports for entry in imported_by(node, self.gpu.reading.path)}
        found: dict[str, str] = {}
        for entry in named.values():
            reading = read_apart(library, f"{entry.module.replace('.', '/')}.py")
            is_npus = any(entry.name in owner.reading.text for owner in self.npu_own)
            if reading is not None and not is_npus and is_device_bound(reading.text, profile):
                functions = reading.functions
                found |= {entry.name: reading.text_of(functions[entry.name])} if entry.name in functions else {}
        return found

    @cached_property
    def lacking(self) -> tuple[ClassText, ...]:
        """The other classes of the GPU MRO that the NPU MRO does not have, nor one of the same name."""
        names = {c.name for c in self.npu_mro.classes}
        return tuple(c for c in self.gpu_mro.classes if c is not self.gpu and c.name not in names)

    @cached_property
    def asking(self) -> dict[str, int]:
        """The `find_asking_functions` of the GPU module's functions and the GPU class's live methods."""
        return find_asking_functions([*self.gpu.reading.functions.values(), *(f for _, f in self.gpu_mro.live())])

    @cached_property
    def without_gpu(self) -> WithoutGpu:
        """What code of the GPU class comes to on another platform."""
        return self.without_hooks()

    def without_hooks(self, *unasked: str) -> WithoutGpu:
        """Return the same for code that does not ask the model for some hooks."""
        return WithoutGpu(self.library, frozenset(unasked), self.asking)

    @property
    def npu_own(self) -> tuple[ClassText, ...]:
        """The classes of the NPU MRO that the GPU MRO does not have."""
        return tuple(c for c in self.npu_mro.classes if c not in self.gpu_mro.classes)


@answered_once
def make_pairs(subject: Subject) -> tuple[Pair, ...]:
    """Return the twins of one module, made once for all rules."""
    return tuple(Pair(subject.library, gpu, npu) for gpu, npu in subject.twins)


def find_whole_pairs(subject: Subject) -> tuple[Pair, ...]:
    """Return the twins whose NPU MRO is fully known. What other twins lack cannot be told."""
    return tuple(pair for pair in make_pairs(subject) if not pair.npu_mro.is_open)


def describe_port(subject: Subject, unit: str, twin: str, name: str, place: str) -> str:
    """Return the fix, as text, for statements with ``name`` that GPU unit ``twin`` has at ``place`` and NPU lacks.

    Statements already missing at the last sync need an older base. The fix names it if an earlier revision of the twin
    without ``name`` is at hand.
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


def find_mentions(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield names, attributes, string literals, keywords and parameters anywhere below ``nodes``.

    The definition of a method does not mention it: something has to call it.
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


def read_words(reading: Reading | None) -> frozenset[str]:
    """Return every word of a file's text, comments and strings included; empty for no file."""
    return _split_words(reading.text) if reading is not None else frozenset()


@lru_cache(maxsize=8)
def _split_words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


def read_upstream_words(subject: Subject) -> frozenset[str]:
    """Return `read_words` of vLLM's module and of vllm-ascend's."""
    return read_words(subject.vllm) | read_words(subject.upstream)


def read_canons(reading: Reading | None) -> frozenset[str]:
    """Return the canonical statements of a module; empty for no file."""
    from runner_sync.lineage import fingerprint  # few rules compare statements

    units = reading.units.values() if reading is not None else ()
    return frozenset(canon for unit in units for canon in fingerprint(unit.text))


def read_upstream_canons(subject: Subject) -> frozenset[str]:
    """Return `read_canons` of vLLM's module and of vllm-ascend's."""
    return read_canons(subject.vllm) | read_canons(subject.upstream)


def attribute_of_record(name: str) -> str:
    """Return the attribute that a record travels in: ``execute_model_state`` for ``ExecuteModelState``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def translate_to_npu(text: str, profile: Profile) -> str:
    """Return GPU code with GPU names replaced by the profile's NPU names; only for comparison, never to be written."""
    pattern, table = _build_dictionary(profile)
    # Most texts contain no GPU name, and the pattern would be tried at every character.
    if not any(name in text for name in table):
        return text
    return pattern.sub(lambda found: table[found[0]], text)


@lru_cache(maxsize=4)
def _build_dictionary(profile: Profile) -> tuple[re.Pattern[str], Mapping[str, str]]:
    table = {row.name: row.new_name for row in reversed(profile.names) if row.name != row.new_name}
    table |= dict(profile.classes) | dict(profile.attributes)
    table |= {f".{old.rpartition('.')[2]}": f".{new.rpartition('.')[2]}" for old, new in profile.members}
    ordered = sorted(table, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(_make_pattern, ordered))})\b"), table


def _make_pattern(name: str) -> str:
    """Return a pattern for a name: a member must follow a dot, any other name must not.

    The lookbehind is at the end, because a search for letters skips nearly all of a text.
    """
    word = re.escape(name)
    return word if name.startswith(".") else rf"{word}(?<![\w.]{word})"


def is_device_bound(text: str, profile: Profile) -> bool:
    """Whether GPU code cannot simply be ported: it uses a name that the profile lists as device-only or unported."""
    translated = translate_to_npu(text, profile)
    return any(word in text for word in profile.device_only) or any(word in translated for word in profile.unported)
