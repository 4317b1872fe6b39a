"""Runs a type checker as a second opinion: its diagnostics about the NPU runners that are new on the new trees.

Comes in: two worlds and the paths of the checked modules. Goes out: RS390 findings. May touch: a scratch directory that
it removes, and the type checker's process (`ty` or `mypy`, with a time limit). torch, CANN and the packages themselves
are not installed: the checker does not know what they provide, and gives no diagnostic about it that counts.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from runner_sync.edits import Places
from runner_sync.errors import InputError
from runner_sync.model import Finding
from runner_sync.syntax import statement_at, walk
from runner_sync.verify import overlay
from runner_sync.verify.rules import rs304_missing_attribute, rs308_typed_attribute
from runner_sync.verify.rules import rs390_type_checker as rule
from runner_sync.verify.trees import modules
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.annotations import members_of
from runner_sync.verify.trees.values.kinds import members
from runner_sync.verify.trees.world import World

Kind = Literal["ty", "mypy"]
# The path, line, column and name of an attribute that is read.
_Read = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One diagnostic of the checker. Line and column are 1-based."""

    path: str
    line: int
    end_line: int
    column: int
    check: str
    text: str


# Diagnostics of code that fails at run time: ty's names for them (it renames rules between versions) and mypy's codes,
# each with a pattern for the text ("" matches any). Left out are mismatches with an annotation, which never fail at run
# time, and values that only may be `None` or another type of a union, which is known from annotations alone.
_NOT_NONE = r"^(?!.*\bNone\b)"
_ONE_TYPE = r"^(?!.*(?:\bNone\b| \| ))"
_BREAKS: Mapping[Kind, Mapping[str, str]] = {
    "ty": {
        "missing-attribute": "",
        "unresolved-attribute": "",
        "unknown-argument": "",
        "missing-argument": "",
        "too-many-positional-arguments": "",
        "parameter-already-assigned": "",
        "positional-only-parameter-as-kwarg": "",
        "incompatible-method-override": "",
        "invalid-method-override": "",
        "not-callable": _NOT_NONE,
        "call-non-callable": _NOT_NONE,
        "not-iterable": "is not iterable",
        "unsupported-operator": _ONE_TYPE,
        "invalid-context-manager": "",
        "unused-awaitable": "",
        "redundant-condition": "always truthy",
        "invalid-assignment": "read-only",
        "invalid-argument-type": "`isinstance`",
    },
    "mypy": {
        "attr-defined": "",
        "call-arg": "",
        "override": "",
        "operator": _ONE_TYPE,
        "unused-coroutine": "",
        "truthy-function": "",
        "misc": "read-only|is not iterable|multiple values for keyword",
        "arg-type": '"isinstance"',
    },
}
_ATTRIBUTES = frozenset({"missing-attribute", "unresolved-attribute", "attr-defined"})
_TRUTHS = frozenset({"redundant-condition", "truthy-function"})
_CALLS = frozenset({"not-callable", "call-non-callable", "operator"})
# The hint that mypy adds to an error about one of several types of an operand.
_OPERAND_OF_UNION = re.compile(r"operand is of type|operands are unions")
_REMEDY = "install another version (runner-sync[verify] names one that works), or run without the type checker"
# The type of a value that is only known to have the attributes that `hasattr` found; nothing is known of these.
_UNKNOWN = re.compile(r"[`\"]object[`\"]")
_LACKING = re.compile(r"attribute [`\"](\w+)[`\"]")
_UNPACKS = re.compile(r"values to unpack|to unpack \(\d+ expected", re.IGNORECASE)


def run(
    new: World,
    old: World,
    names: Sequence[str],
    *,
    kind: Kind = "ty",
    known: Iterable[Finding] = (),
    timeout: float = 300.0,
) -> list[Finding]:
    """Return new diagnostics about the modules at paths ``names``, sorted by place.

    ``known`` are findings of the rules; their statements are not reported again. ``timeout`` is in seconds, for each of
    the two runs. Attributes count as missing only if RS304 and RS308 agree, because they know more of them. Raises
    InputError if the checker is absent, fails or does not finish.
    """
    command = find_checker(kind)
    before = {
        _key(old, diagnostic)
        for diagnostic in _run_checker(old, old.existing(names), kind, command=command, timeout=timeout)
    }
    after = _run_checker(new, names, kind, command=command, timeout=timeout)
    known_statements = {(f.path, statement_at(new.module_at(f.path).node, f.line)) for f in known if f.path in names}
    fresh = [d for d in after if _key(new, d) not in before and (d.path, _statement(new, d)) not in known_statements]
    if any(d.check in _ATTRIBUTES for d in fresh):
        lines = {(d.path, d.line) for d in fresh if d.check in _ATTRIBUTES}
        present = set(_find_present_attributes(Program(new, names), lines))
        fresh = [
            d for d in fresh if d.check not in _ATTRIBUTES or (d.path, d.line, d.column, _symbol(d)) not in present
        ]
    if any(d.check in _TRUTHS | _CALLS for d in fresh):
        program = Program(new, names)
        fresh = [d for d in fresh if not _may_be_right(program, d)]
    return [
        _make_finding(new, diagnostic, kind)
        for diagnostic in sorted(set(fresh), key=lambda d: (d.path, d.line, d.column))
    ]


def find_checker(kind: Kind) -> str:
    """Return the checker's executable: beside this interpreter, else on PATH. Raises InputError if there is none."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = shutil.which(kind, path=places)
    if found is None:
        raise InputError(f"{kind}: not installed; install runner-sync[verify], or run without the type checker")
    return found


def _run_checker(world: World, names: Sequence[str], kind: Kind, *, command: str, timeout: float) -> list[Diagnostic]:
    with tempfile.TemporaryDirectory(prefix="runner-sync-") as scratch:
        root = Path(scratch)
        overlay.write(world, names, root / "src")
        output = _execute(kind, [command, *_ARGUMENTS[kind](root), *names], root / "src", timeout=timeout)
    breaks = (diagnostic for diagnostic in _read(kind, output) if _is_break(kind, diagnostic))
    return [diagnostic for diagnostic in breaks if diagnostic.path in set(names)]


def _is_break(kind: Kind, diagnostic: Diagnostic) -> bool:
    wanted = _BREAKS[kind].get(diagnostic.check)
    if _UNKNOWN.search(diagnostic.text):
        return False
    return bool(_UNPACKS.search(diagnostic.text) or (wanted is not None and re.search(wanted, diagnostic.text)))


def _execute(kind: Kind, command: list[str], folder: Path, *, timeout: float) -> str:
    dropped = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "MYPYPATH")
    environment = {k: v for k, v in os.environ.items() if k not in dropped and not k.startswith("TY_")}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"{kind}: not finished after {timeout:g} s; allow it more time, or run without the type checker"
        raise InputError(message) from error
    if done.returncode not in (0, 1):
        last = (done.stderr.strip() or done.stdout.strip() or "no output").split("\n")[-1]
        raise InputError(f"{kind}: failed ({last}); update it, or run without the type checker")
    return done.stdout


def _ty_arguments(root: Path) -> list[str]:
    """Return arguments for a separate project and an empty environment, to use no other configuration or torch."""
    (root / "src" / "ty.toml").write_text("", encoding="utf-8")
    (root / "env" / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (root / "env" / "pyvenv.cfg").write_text("home = /\nversion = 3.12\n", encoding="utf-8")
    return ["check", "--project", ".", "--python", str(root / "env"), "--output-format", "gitlab", "--exit-zero"]


def _mypy_arguments(root: Path) -> list[str]:
    options = ["--config-file=", "--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent"]
    output = ["--output=json", "--no-error-summary", f"--cache-dir={root / 'cache'}"]
    return [*options, *output, "--check-untyped-defs", "--namespace-packages", "--explicit-package-bases"]


def _read(kind: Kind, output: str) -> list[Diagnostic]:
    """Read the diagnostics in a checker's output. Raises InputError for output in an unknown form."""
    try:
        return list(_READERS[kind](output))
    except json.JSONDecodeError as error:
        raise InputError(f"{kind}: its output is not JSON; {_REMEDY}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{kind}: its output has a form that is not known here; {_REMEDY}") from error


def _read_ty(output: str) -> Iterator[Diagnostic]:
    for item in json.loads(output):
        begin, end = (item["location"]["positions"][side] for side in ("begin", "end"))
        check = str(item["check_name"])
        text = str(item["description"]).removeprefix(f"{check}: ")
        path, column = str(item["location"]["path"]), int(begin["column"])
        yield Diagnostic(path, int(begin["line"]), int(end["line"]), column, check, text)


def _read_mypy(output: str) -> Iterator[Diagnostic]:
    for line in output.splitlines():
        if line.startswith("{"):
            item = json.loads(line)
            if item["severity"] == "error" and not _OPERAND_OF_UNION.search(item.get("hint") or ""):
                path, at, column = str(item["file"]), int(item["line"]), int(item["column"]) + 1
                yield Diagnostic(path, at, at, column, str(item["code"]), str(item["message"]))


_ARGUMENTS: Mapping[Kind, Callable[[Path], list[str]]] = {"ty": _ty_arguments, "mypy": _mypy_arguments}
_READERS: Mapping[Kind, Callable[[str], Iterator[Diagnostic]]] = {"ty": _read_ty, "mypy": _read_mypy}


def _key(world: World, diagnostic: Diagnostic) -> tuple[str, str, str, str]:
    unit = modules.unit_at(_module(world, diagnostic), diagnostic.line)
    return diagnostic.path, unit, diagnostic.check, diagnostic.text


def _module(world: World, diagnostic: Diagnostic) -> Module:
    return world.module_at(diagnostic.path)


def _statement(world: World, diagnostic: Diagnostic) -> tuple[int, int]:
    return statement_at(_module(world, diagnostic).node, diagnostic.line)


def _find_present_attributes(program: Program, lines: Collection[tuple[str, int]]) -> Iterator[_Read]:
    """Yield the reads on the ``lines`` (paths and numbers) of attributes that RS304 or RS308 do not consider missing.

    ``def set_flags(runner): runner.has_rows = True`` sets an attribute on a runner, which no type checker sees. And for
    a checker, ``self.batch`` has the class that the first of several bases gives it; on NPU, it may be another's.
    """
    for module in program.checked:
        places = Places(module.text)
        for frame in program.frames(module):
            own = {id(node) for node in frame.own_reads()}
            for node in frame.nodes():
                if not isinstance(node, ast.Attribute) or (module.path, node.lineno) not in lines:
                    continue
                if (
                    not rs304_missing_attribute.is_missing(program, frame, node)
                    if id(node) in own
                    else rs308_typed_attribute.has_member(program, frame, node)
                ):
                    yield module.path, node.lineno, places.column(node.lineno, node.col_offset), node.attr


def _may_be_right(program: Program, diagnostic: Diagnostic) -> bool:
    """Whether the code tests a hook before it calls it, or only an annotation makes the call wrong.

    ``if self.hook: self.hook()`` is right whether ``hook`` is ``None`` or a method. That a ``Callable | int`` may be a
    number is known from the annotation only.
    """
    module = _module(program.world, diagnostic)
    places = Places(module.text)
    for frame in program.frames(module):
        for node in frame.nodes():
            if not isinstance(node, ast.expr) or node.lineno != diagnostic.line:
                continue
            if places.column(node.lineno, node.col_offset) != diagnostic.column:
                continue
            if diagnostic.check in _TRUTHS and isinstance(node, ast.Name | ast.Attribute):
                if _is_called(frame, node):
                    return True
            elif (
                diagnostic.check in _CALLS
                and isinstance(node, ast.Call)
                and _has_union_annotation(program, frame, node)
            ):
                return True
    return False


def _is_called(frame: Frame, node: ast.expr) -> bool:
    """Whether the statement around ``node``, with all blocks of a compound one, calls the same expression."""
    around = [s for s in frame.nodes() if isinstance(s, ast.stmt) and s.lineno <= node.lineno <= (s.end_lineno or 0)]
    inner = max(around, key=lambda statement: statement.lineno)
    text = ast.unparse(node)
    return any(isinstance(part, ast.Call) and ast.unparse(part.func) == text for part in walk(inner))


def _has_union_annotation(program: Program, frame: Frame, call: ast.Call) -> bool:
    found = [member for member in members(program, frame, call.func).values() if member is not None]
    annotations = [source.annotation for member in found for source in member.sources]
    return any(len(members_of(annotation)) > 1 for annotation in annotations)


def _symbol(diagnostic: Diagnostic) -> str:
    named = _LACKING.findall(diagnostic.text) or re.findall(r"[`\"]([\w.]+)[`\"]", diagnostic.text)
    return named[-1] if named else diagnostic.check


def _make_finding(world: World, diagnostic: Diagnostic, kind: Kind) -> Finding:
    return Finding(
        rule.CODE,
        rule.SEVERITY,
        diagnostic.path,
        diagnostic.line,
        diagnostic.end_line,
        modules.unit_at(_module(world, diagnostic), diagnostic.line),
        _symbol(diagnostic),
        f"{diagnostic.text.rstrip('.')} ({kind}: {diagnostic.check}).",
        "Compare with the target's own code at this place.",
        diagnostic.column,
    )
