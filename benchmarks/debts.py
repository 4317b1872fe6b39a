"""Did ``check`` report GPU runner code missing on NPU that people added in a later release?

Comes in: releases of vllm-omni. Goes out: ``Debt`` rows, one per release. May touch: what ``runner_sync.sources``
touches.

A GPU runner method is owed if it holds an omni statement (vLLM's module lacks it) that no NPU module has. It is paid if
an NPU module of a later release has that statement, and no vllm-ascend release read here does. The authors of this
benchmark wrote neither. It proves that what people found missing was reported before. A finding about a method that
nobody paid is not necessarily wrong: NPU may still lack the code, or have it in other words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks import corpus, tables
from runner_sync.model import Project
from runner_sync.profile import ASCEND_RUNNER, NPU, VLLM_RUNNER
from runner_sync.statements import canons
from runner_sync.sync import checking
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.transforms import translate

RELEASES = (
    ("0.14.0", "0.14.0rc1"),
    ("0.16.0", "0.15.0rc1"),
    ("0.18.0", "0.17.0rc1"),
    ("0.20.0", "0.19.1rc1"),
    ("0.21.0rc1", "0.19.1rc1"),
    ("0.22.0", "0.19.1rc1"),
    ("0.23.0rc1", "0.19.1rc1"),
    ("0.24.0", "0.19.1rc1"),
    ("0.25.0rc1", "0.19.1rc1"),
    ("0.26.0", "0.25.1rc1"),
    ("0.27.0rc1", "0.25.1rc1"),
    ("0.28.0", "0.25.1rc1"),
    ("0.29.0rc1", "0.25.1rc1"),
    ("0.30.0", "0.25.1rc1"),
    ("0.31.0rc1", "0.25.1rc1"),
    ("0.32.0rc1", "0.25.1rc1"),
)
"""Releases of vllm-omni in order, each with the vllm-ascend that its runners follow; the last only pays."""

_SAYS_LITTLE = re.compile(r"(else|elif|except|finally)\b|super\(\)\.|.{0,29}\Z", re.S)
"""Clauses, ``super()`` calls and short statements, which are too common to show where NPU code came from."""

_PLACE = re.compile(r"\((\S+\.py):(\d+)\)")

_MIXED_IN = re.compile(r"`(\w+)` mixes in `\w+`, which (.*?) uses?, ")
"""What RS204 says: the GPU class, and its methods that use a mixin which NPU lacks."""


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a GPU runner: its lines, and its omni statements that NPU lacks."""

    path: str
    name: str
    lines: range
    missing: frozenset[str]


@dataclass(frozen=True, slots=True)
class Debt:
    """The methods of one release that were paid later, and the findings about them.

    ``told`` of the ``paid`` methods were reported; ``silent`` are the others. ``came`` of the ``findings`` are about a
    paid method.
    """

    omni: str
    paid: int
    told: int
    findings: int
    came: int
    silent: tuple[str, ...]


def make_rows() -> list[Debt]:
    """Return one row per release except the last. Raises ``InputError``."""
    ported = [_read_npu_statements(omni) for omni, _ in RELEASES]
    upstream = {canon for _, ascend in RELEASES for canon in _read_statements("vllm-ascend", ascend)}
    found = []
    for at, (omni, ascend) in enumerate(RELEASES[:-1]):
        later = set().union(*ported[at + 1 :]) - upstream
        found.append(_make_row(omni, ascend, list(_iter_methods(omni, ported[at])), later))
    return found


def _make_row(omni: str, ascend: str, methods: Sequence[Method], later: set[str]) -> Debt:
    options = CheckOptions(
        omni=TreeOptions(version=omni),
        ascend=TreeOptions(version=ascend),
        vllm=TreeOptions(version=get_vllm_version(omni)),
        select=("RS2",),
    )
    messages = [finding.message for finding in checking.check(options).findings]
    places = [place for message in messages for place in _PLACE.findall(message)]
    about = [_find_method(methods, path, int(line)) for path, line in places]
    users = {
        f"{owner}.{name}" for said in messages for owner, names in _MIXED_IN.findall(said) for name in names.split("`")
    }
    about += [method for method in methods if method.name in users]
    paid = [method for method in methods if method.missing & later]
    reported = [method for method in paid if method in about]
    came = sum(method is not None and bool(method.missing & later) for method in about)
    silent = tuple(f"{method.name} ({method.path}:{method.lines[0]})" for method in paid if method not in reported)
    return Debt(omni, len(paid), len(reported), len(about), came, silent)


def _find_method(methods: Sequence[Method], path: str, line: int) -> Method | None:
    return next((method for method in methods if method.path == path and line in method.lines), None)


def _iter_methods(omni: str, npu: frozenset[str]) -> Iterator[Method]:
    """Yield the methods of the GPU runners with their statements missing on NPU."""
    have = npu | _read_statements("vllm", get_vllm_version(omni), VLLM_RUNNER)
    for module in NPU.modules:
        text = corpus.open_tree("vllm-omni", omni).read(module.gpu.path) if module.gpu is not None else None
        if text is None or module.gpu is None:
            continue
        in_npu_words = translate(text, NPU, path=module.gpu.path).text
        translated = dict(_iter_defined(in_npu_words, dict(NPU.classes).get(module.gpu.name, module.gpu.name)))
        for name, method in _iter_defined(text, module.gpu.name):
            first = min([method.lineno, *(d.lineno for d in method.decorator_list)])
            _, *inside = canons(ast.unparse(translated[name]))
            span = range(first, (method.end_lineno or first) + 1)
            missing = frozenset(canon for canon in inside if canon not in have and not _SAYS_LITTLE.match(canon))
            yield Method(module.gpu.path, f"{module.gpu.name}.{name}", span, missing)


def _iter_defined(text: str, name: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield the methods of class ``name`` in ``text``."""
    for part in ast.parse(text).body:
        if isinstance(part, ast.ClassDef) and part.name == name:
            yield from ((d.name, d) for d in part.body if isinstance(d, ast.FunctionDef | ast.AsyncFunctionDef))


def _read_npu_statements(omni: str) -> frozenset[str]:
    paths = [path for module in NPU.modules for path in module.paths]
    return frozenset(canon for path in paths for canon in _read_statements("vllm-omni", omni, path))


def _read_statements(project: Project, version: str, path: str = ASCEND_RUNNER) -> frozenset[str]:
    return frozenset(canons(corpus.open_tree(project, version).read(path) or ""))


def get_vllm_version(omni: str) -> str:
    return omni.split("rc")[0]


def report() -> str:
    """Return the rows and the unreported methods as Markdown. Raises ``InputError``."""
    found = make_rows()
    head = ("release", "methods completed later", "asked for", "findings of RS2xx", "of these about such a method")
    cells = [[row.omni, str(row.paid), str(row.told), str(row.findings), str(row.came)] for row in found]
    sums = [sum(getattr(row, name) for row in found) for name in ("paid", "told", "findings", "came")]
    cells.append(["all", *map(str, sums)])
    silent = [f"- {row.omni}: {name}" for row in found for name in row.silent]
    return "\n".join([f"### Parity\n\n{tables.format_table(head, cells)}", *silent, ""])
