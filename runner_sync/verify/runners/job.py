"""Tells the rules what names mean in the files of a job, and shows them one module of it.

Comes in: a `CheckJob`. Goes out: `Library` and `Subject`. May touch: nothing but what the job can read.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from runner_sync.errors import InputError, UnresolvedConflict
from runner_sync.model import TITLES
from runner_sync.naming import Import
from runner_sync.references import Reference, alternatives, followed
from runner_sync.syntax import dotted_name
from runner_sync.verify.answers import Answers
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.locked import find_definition
from runner_sync.verify.runners.reading import ClassText, Reading

if TYPE_CHECKING:
    from runner_sync.model import Severity, Unit
    from runner_sync.profile import Profile, RunnerModule
    from runner_sync.verify.check_job import CheckJob, CheckModule
    from runner_sync.verify.hits import Span
    from runner_sync.verify.trees.surroundings import Surroundings


class Meaning(NamedTuple):
    """The omni class that a name means, if any. ``is_open``: it may mean an omni class that cannot be followed."""

    found: ClassText | None = None
    is_open: bool = False


_OUTSIDE = Meaning()
_OPEN = Meaning(is_open=True)


class Library:
    """The files of a job, each read and parsed once, and what names mean in them.

    ``wants`` says whether findings of a rule, by its code, are reported for a path.
    """

    def __init__(self, job: CheckJob, wants: Callable[[str, str], bool] = lambda *_: True) -> None:
        self.job = job
        self.wants = wants
        self._by_path: dict[str, Reading | None] = {}
        self.unread: dict[str, InputError] = {}
        self.answers = Answers()
        for module in job.modules:
            self._by_path[module.path] = Reading(module.path, module.text)
            if module.gpu_text is not None and module.gpu_path:
                self._by_path[module.gpu_path] = Reading(module.gpu_path, module.gpu_text)

    @cached_property
    def before(self) -> Library | None:
        """The files at the start of the branch; ``None`` if no branch is named.

        Raises ``InputError`` if that tree cannot be checked.
        """
        return Library(self.job.before(), self.wants) if self.job.before is not None else None

    @cached_property
    def surroundings(self) -> Surroundings | None:
        """The texts of all trees at hand; ``None`` if the job has none."""
        if self.job.world is not None:
            return self.job.world.surroundings
        return self.job.around() if self.job.around is not None else None

    def at(self, path: str) -> Reading | None:
        """Return the omni file at ``path``; ``None`` if the job knows no such file."""
        if path not in self._by_path:
            text = self.job.read(path) if self.job.read is not None else None
            self._by_path[path] = Reading(path, text) if text is not None else None
        return self._by_path[path]

    def readable(self, path: str) -> Reading | None:
        """Return `at` for a file that no runner needs; if unreadable, record it in ``unread`` and return ``None``."""
        try:
            return self.at(path)
        except InputError as error:
            self.unread[path] = error
            return None

    def paths(self) -> tuple[str, ...]:
        """Return the paths of the files read so far."""
        return tuple(path for path, reading in self._by_path.items() if reading is not None)

    def module(self, name: str) -> Reading | None:
        """Return the omni module of that dotted name; ``None`` for a module outside omni, or that does not parse.

        Raises ``UnresolvedConflict``. Records any other error in ``unread``.
        """
        if not self._is_omnis(name):
            return None
        stem = name.replace(".", "/")
        reading = self.at(f"{stem}.py") or self.at(f"{stem}/__init__.py")
        if reading is None:
            return None
        try:
            _ = reading.tree
        except UnresolvedConflict:
            raise
        except InputError as error:
            self.unread[reading.path] = error
            return None
        return reading

    def meaning(self, reading: Reading, name: ast.expr | str) -> Meaning:
        """Return what a base expression or a name means at the top level of ``reading``; follows imports and
        assignments.

        A name is ``a`` or ``a.b.c``; ``""`` stands for any other expression.
        """
        text = name if isinstance(name, str) else ast.unparse(name)
        return self.answers.once((Meaning, reading.path, text), lambda: self._find_meaning(reading, name))

    def _find_meaning(self, reading: Reading, name: ast.expr | str) -> Meaning:
        """Return the first meaning that is an omni class; else open if any is open. A name without one is outside."""
        found = [meaning for meaning, _ in followed(Reference(reading, name), self._find_steps)]
        is_open = any(meaning.is_open for meaning in found)
        return next((meaning for meaning in found if meaning.found is not None), _OPEN if is_open else _OUTSIDE)

    def _find_steps(self, reading: Reading, name: str) -> Iterator[tuple[_Step, str]]:
        """Yield what one file says about a name."""
        head, _, rest = name.partition(".")
        found: list[_Step] = []
        if not name:
            found = [_OPEN]
        elif not rest and name in reading.classes:
            found = [Meaning(reading.classes[name])]
        elif head in reading.imports:
            found = [self._follow_import(origin, rest) for origin in reading.imports[head]]
        elif hasattr(builtins, name):
            found = [_OUTSIDE]
        elif head in reading.values:
            parts = (part for value in reading.values[head] for part, _ in alternatives(value))
            names = [dotted_name(part) or "" for part in parts]
            found = [Reference(reading, f"{name}.{rest}" if name and rest else name) for name in names]
        elif not rest:
            stars = [star for star in reading.imports.get("*", ()) if self._is_omnis(star.module)]
            found = [self._follow(star.module, name, otherwise=None) for star in stars]
        yield from ((step, "") for step in found)

    def _follow_import(self, origin: Import, rest: str) -> _Step:
        """Return what an import binds; with ``rest``, that member: ``c`` of ``b`` in ``from a import b``."""
        module, _, name = f"{origin.dotted}.{rest}".rpartition(".") if rest else (origin.module, "", origin.name)
        return self._follow(module, name, otherwise=_OPEN) if self._is_omnis(module) and name else _OUTSIDE

    def _follow(self, module: str, name: str, *, otherwise: Meaning | None) -> _Step:
        source = self.module(module)
        return Reference(source, name, otherwise) if source is not None else _OPEN

    def _is_omnis(self, module: str) -> bool:
        return module.partition(".")[0] == self.job.profile.package

    def find_class(self, reading: Reading, name: ast.expr | str) -> ClassText | None:
        """Return the omni class that ``name`` means in ``reading``; ``None`` for anything else."""
        return self.meaning(reading, name).found


_Step = Meaning | Reference[Reading, Meaning]


class Subject:
    """One NPU module in its job: the argument of every rule that looks at one module."""

    def __init__(self, library: Library, module: CheckModule) -> None:
        self.library = library
        self.job = library.job
        self.profile: Profile = library.job.profile
        self.module = module
        self._bases: dict[str, Reading | None] = {}
        self.answers = Answers()

    @cached_property
    def npu(self) -> Reading:
        """The NPU module."""
        reading = self.library.at(self.module.path)
        assert reading is not None
        return reading

    @cached_property
    def gpu(self) -> Reading | None:
        """The GPU twin of the NPU module."""
        return self.library.at(self.module.gpu_path) if self.module.gpu_path else None

    @cached_property
    def before(self) -> Subject | None:
        """The same module at the start of the branch.

        ``None`` if no branch is named, the tree there cannot be checked, or it lacks the module.
        """
        try:
            library = self.library.before
        except InputError:  # the branch may repair that tree
            return None
        modules = library.job.modules if library is not None else ()
        return next((Subject(library, m) for m in modules if library and m.path == self.module.path), None)

    @property
    def target(self) -> str:
        """The followed project and its target revision: ``vllm-ascend 0.30.0rc2``."""
        return f"{TITLES[self.profile.followed]} {self.module.upstream_ref}".strip()

    @cached_property
    def upstream(self) -> Reading | None:
        """The target module of the followed project."""
        return _make_reading(self.module.upstream_path or "the upstream module", self.module.upstream_text)

    def base(self, ref: str) -> Reading | None:
        """Return the upstream module at ``ref`` (empty: at ``base_ref``); ``None`` if its text is unknown."""
        if ref not in self._bases:
            usual = self.module.base_text if ref in ("", self.module.base_ref) else None
            text = self.module.base_texts.get(ref, usual)
            self._bases[ref] = _make_reading(self.module.upstream_path or "the base module", text)
        return self._bases[ref]

    @cached_property
    def vllm(self) -> Reading | None:
        """vLLM's own module behind the GPU twin."""
        return _make_reading("vLLM's module", self.module.vllm_text)

    @cached_property
    def runner(self) -> RunnerModule | None:
        """The profile's entry for this module."""
        return next((m for m in self.profile.modules if self.module.path in m.paths), None)

    @cached_property
    def twins(self) -> tuple[tuple[ClassText, ClassText], ...]:
        """The (GPU class, NPU class) pairs of the two files."""
        if self.gpu is None:
            return ()
        pairs = ((self.gpu.classes.get(g), self.npu.classes.get(n)) for g, n in self.profile.classes)
        return tuple((gpu, npu) for gpu, npu in pairs if gpu is not None and npu is not None)

    def unit_hit(
        self,
        rule: tuple[str, Severity],
        unit: Unit,
        *,
        symbol: str,
        message: str,
        fix: str,
        also: tuple[Span, ...] = (),
    ) -> Hit:
        """Make a finding at the ``def`` line of an NPU unit; a change anywhere in it makes it concern the branch."""
        spans = ((unit.path, unit.start, unit.end), *also)
        node = find_definition(self.npu, unit.qualname)
        if node is not None:
            return self.npu.hit(rule, node, symbol=symbol, message=message, fix=fix, also=spans)
        lines = (unit.start, unit.start)
        hit = self.npu.hit_lines(rule, lines, symbol=symbol, message=message, fix=fix, unit=unit.qualname)
        return Hit(hit.finding, spans)


def _make_reading(path: str, text: str | None) -> Reading | None:
    return Reading(path, text) if text is not None else None
