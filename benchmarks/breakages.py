"""Plant single breaks in vllm-ascend and vLLM: does ``verify`` report each of them, and nothing else?

Comes in: a release of vllm-omni and a vllm-ascend that it fits. Goes out: ``Plant``s and what ``verify`` reports about
them. May touch: what ``runner_sync.sources`` touches.

A plant is a common upstream change: a name is replaced everywhere in both trees; a function requires one more
parameter, gets a new first one, returns one more value, or stops being a context manager. Which statements of the NPU
runners break is known by construction. They are found by name alone, without the name resolution that ``verify`` uses.

The benchmark proves that such a break is not missed. It proves nothing about changes of meaning, and little about names
that upstream uses for several things, because all of these are renamed together.
"""

from __future__ import annotations

import ast
import copy
import functools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from benchmarks import tables
from benchmarks.spread import spread
from runner_sync.model import PACKAGES, Finding, Project
from runner_sync.profile import ASCEND_RUNNER, VLLM_RUNNER
from runner_sync.sync.opening import open_inputs
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.sync.trees.runners import find_modules
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.syntax import lasting_module_of
from runner_sync.trees import Tree
from runner_sync.verify import breakage
from runner_sync.verify.trees.world import World

PAIRS = (("0.26.0", "0.25.1rc1"), ("0.32.0rc1", "0.30.0rc2"))
"""Releases of vllm-omni, each with a vllm-ascend on which ``verify`` finds no error."""

EACH = 25
"""Plants per kind and pair, drawn with a fixed seed because one plant takes seconds."""

SHARES = 4
"""Parts of the work on one pair; each runs in its own process."""

NEW = "planted_name"

_DEFINES = re.compile(r"\b(?:def|class)\s+(\w+)|\.(\w+)\s*(?::[^=\n]+)?=[^=]|^\s*(\w+)\s*(?::|=[^=])", re.M)
_NEAR = re.compile(r"/(worker|core|platforms|outputs|distributed)\b")

_UPSTREAMS: tuple[Project, ...] = ("vllm-ascend", "vllm")
_RUNNERS: Mapping[Project, tuple[str, str]] = {
    "vllm-ascend": (ASCEND_RUNNER, "NPUModelRunner"),
    "vllm": (VLLM_RUNNER, "GPUModelRunner"),
}


@dataclass(frozen=True, slots=True)
class Plant:
    """One change, as the files that it replaces, and the NPU runner statement that it breaks."""

    kind: str
    name: str
    path: str
    lines: tuple[int, int]
    texts: Callable[[], Mapping[Project, dict[str, str]]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether ``verify`` reported a plant at its statement (``here``) or only elsewhere by name, and its other
    findings."""

    kind: str
    name: str
    place: str
    here: bool
    elsewhere: bool
    besides: tuple[Finding, ...]


@dataclass(eq=False)
class Ground:
    """One pair of releases to plant in."""

    omni: str
    ascend: str
    _trees: dict[Project, Tree] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Open the trees. Raises ``InputError``."""
        options = UpgradeOptions(omni=TreeOptions(version=self.omni), ascend=TreeOptions(version=self.ascend))
        given = open_inputs(options)
        assert given.ascend is not None
        assert given.vllm is not None
        self._trees = {"vllm-omni": given.omni, "vllm-ascend": given.ascend, "vllm": given.vllm}
        self.runners = {found.path: found.text for found in find_modules(given)}
        self.old = World(self._trees, surroundings=given.profile.surroundings)

    @cached_property
    def upstream(self) -> dict[Project, dict[str, str]]:
        """The texts of both upstreams by path, without the models, which no runner names."""
        found: dict[Project, dict[str, str]] = {}
        for project in _UPSTREAMS:
            tree = self._trees[project]
            paths = [p for p in tree.paths(f"{PACKAGES[project]}/") if p.endswith(".py") and "/models/" not in p]
            found[project] = {path: text for path in paths if (text := tree.read(path))}
        return found

    @cached_property
    def upstream_names(self) -> set[str]:
        """The names that only upstream defines, so that omni's uses break if they are renamed."""
        paths = [path for path in self._trees["vllm-omni"].paths("vllm_omni/") if path.endswith(".py")]
        texts = [text for path in paths if _NEAR.search(path) and (text := self._trees["vllm-omni"].read(path))]
        omni = {name for text in texts for found in _DEFINES.findall(text) for name in found}
        return {
            n for texts in self.upstream.values() for t in texts.values() for f in _DEFINES.findall(t) for n in f
        } - omni

    def iter_plants(self) -> Iterator[Plant]:
        """Yield every possible plant, each name of a kind once per module."""
        for path, text in self.runners.items():
            seen: set[tuple[str, str]] = set()
            module = ast.parse(text)
            for statement in [node for node in ast.walk(module) if isinstance(node, ast.stmt)]:
                for plant in self._iter_in_statement(path, module, statement):
                    if (plant.kind, plant.name) not in seen:
                        seen.add((plant.kind, plant.name))
                        yield plant

    def _iter_in_statement(self, path: str, module: ast.Module, statement: ast.stmt) -> Iterator[Plant]:
        lines = (statement.lineno, statement.end_lineno or statement.lineno)
        for kind, name in _iter_uses(statement):
            if "_" in name.strip("_") and name in self.upstream_names:
                yield Plant(kind, name, path, lines, lambda name=name: self._rename(name))  # type: ignore[misc]
        for call in _iter_calls(statement):
            found = self._find_called(module, call.func)
            for kind, change in _iter_changes(statement, call) if found is not None else ():
                assert found is not None
                project, file, function = found
                edited = change(self.upstream[project][file], copy.deepcopy(function))
                is_wrong = change is not _insert_first_parameter or not self._has_same_call(call, function.name)
                if edited is not None and is_wrong:
                    given: Mapping[Project, dict[str, str]] = {project: {file: edited}}
                    yield Plant(kind, function.name, path, lines, lambda given=given: given)  # type: ignore[misc]

    def _has_same_call(self, call: ast.Call, name: str) -> bool:
        """Whether upstream makes the very same call, which a plant leaves as it is: then the call counts as right."""
        texts = [(p, f) for p, files in self.upstream.items() for f, text in files.items() if f"{name}(" in text]
        calls = (node for place in texts for node in ast.walk(self._parse(*place)) if isinstance(node, ast.Call))
        return ast.unparse(call) in {ast.unparse(node) for node in calls if ast.unparse(node.func).endswith(name)}

    def _rename(self, name: str) -> dict[Project, dict[str, str]]:
        word = re.compile(rf"\b{name}\b")
        return {
            project: {path: word.sub(NEW, text) for path, text in texts.items() if name in text}
            for project, texts in self.upstream.items()
        }

    def _find_called(self, module: ast.Module, called: ast.expr) -> tuple[Project, str, ast.FunctionDef] | None:
        """Return the one upstream function that a call reaches by name: a method of the runner itself, or an imported
        function."""
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "self":
            if called.attr not in self.upstream_names:
                return None
            for project, (file, owner) in _RUNNERS.items():
                classes = [n for n in ast.walk(self._parse(project, file)) if isinstance(n, ast.ClassDef)]
                bodies = [statement for node in classes if node.name == owner for statement in node.body]
                for function in bodies:
                    if isinstance(function, ast.FunctionDef) and function.name == called.attr:
                        return project, file, function
        if not isinstance(called, ast.Name):
            return None
        for node in ast.walk(module):
            if isinstance(node, ast.ImportFrom) and any(alias.name == called.id for alias in node.names):
                return self._find_imported(node.module or "", called.id)
        return None

    def _find_imported(self, module: str, name: str) -> tuple[Project, str, ast.FunctionDef] | None:
        file = module.replace(".", "/") + ".py"
        for project in _UPSTREAMS:
            for function in self._parse(project, file).body if file in self.upstream[project] else ():
                if isinstance(function, ast.FunctionDef) and function.name == name:
                    return project, file, function
        return None

    def _parse(self, project: Project, file: str) -> ast.Module:
        return lasting_module_of(self.upstream[project][file])

    def verify(self, plant: Plant) -> Verdict:
        """Plant the change, and run ``verify`` with the unchanged trees as the old ones."""
        trees = {**self._trees}
        for project, texts in plant.texts().items():
            trees[project] = PatchedTree(self._trees[project], texts)
        world = World(trees, surroundings=self.old.surroundings.folders)
        found = breakage.find(world, self.old, list(self.runners))
        first, last = plant.lines
        at_statement = [f for f in found if f.path == plant.path and f.line <= last and f.end_line >= first]
        words = re.compile(rf"\b({plant.name}|{NEW})\b")
        of_it = [f for f in found if f not in at_statement and words.search(f"{f.symbol} {f.message}")]
        besides = tuple(f for f in found if f not in at_statement and f not in of_it)
        return Verdict(plant.kind, plant.name, f"{plant.path}:{first}", bool(at_statement), bool(of_it), besides)


def _iter_uses(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield kind and name of each external name that a statement uses, excluding nested statements."""
    if isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] in ("vllm", "vllm_ascend"):
        yield from (("import", alias.name) for alias in statement.names)
    for node in _iter_own_nodes(statement):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if own or isinstance(node.value, ast.Name | ast.Attribute):
                yield "attribute of self" if own else "attribute of another object", node.attr


def _iter_calls(statement: ast.stmt) -> Iterator[ast.Call]:
    return (node for node in _iter_own_nodes(statement) if isinstance(node, ast.Call))


def _iter_own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the expressions of a statement, excluding those of nested statements."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


_Change = Callable[[str, ast.FunctionDef], str | None]


def _iter_changes(statement: ast.stmt, call: ast.Call) -> Iterator[tuple[str, _Change]]:
    """Yield the changes of the called function that break ``call`` in ``statement``."""
    if not any(keyword.arg is None for keyword in call.keywords):
        yield "parameter required", _require_parameter
    if call.args and not any(isinstance(argument, ast.Starred) for argument in call.args):
        yield "parameter put first", _insert_first_parameter
    for keyword in call.keywords[:1] if call.keywords and call.keywords[0].arg else ():
        yield "keyword gone", functools.partial(_drop_parameter, name=keyword.arg or "")
    if isinstance(statement, ast.Assign) and statement.value is call and isinstance(statement.targets[0], ast.Tuple):
        yield "one value more", _return_more
    if isinstance(statement, ast.With) and any(item.context_expr is call for item in statement.items):
        yield "no context manager", _undecorate


def _require_parameter(text: str, function: ast.FunctionDef) -> str | None:
    function.args.kwonlyargs.append(ast.arg(NEW))
    function.args.kw_defaults.append(None)
    return _rewrite_head(text, function)


def _insert_first_parameter(text: str, function: ast.FunctionDef) -> str | None:
    is_method = bool(function.args.args) and function.args.args[0].arg in ("self", "cls")
    function.args.args.insert(int(is_method), ast.arg(NEW))
    return _rewrite_head(text, function)


def _drop_parameter(text: str, function: ast.FunctionDef, *, name: str) -> str | None:
    parameters = function.args
    for number, parameter in enumerate(parameters.kwonlyargs):
        if parameter.arg == name:
            del parameters.kwonlyargs[number], parameters.kw_defaults[number]
            return _rewrite_head(text, function) if parameters.kwarg is None else None
    for number, parameter in enumerate(parameters.args):
        if parameter.arg == name:
            with_default = number - (len(parameters.args) - len(parameters.defaults))
            del parameters.args[number], parameters.defaults[max(with_default, 0) : with_default + 1]
            return _rewrite_head(text, function) if parameters.kwarg is None else None
    return None


def _rewrite_head(text: str, function: ast.FunctionDef) -> str | None:
    """Return ``text`` with the head of ``function`` rewritten."""
    lines = text.split("\n")
    head = ast.unparse(
        ast.FunctionDef(function.name, function.args, [ast.Pass()], [], returns=function.returns, lineno=1)
    )
    lines[function.lineno - 1 : function.body[0].lineno - 1] = [" " * function.col_offset + head.split("\n")[0]]
    return _get_if_parsing("\n".join(lines))


def _return_more(text: str, function: ast.FunctionDef) -> str | None:
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    lines = text.split("\n")
    for node in sorted(returns, key=lambda node: -node.lineno):
        if not isinstance(node.value, ast.Tuple):
            return None
        node.value.elts.append(ast.Constant(None))
        lines[node.lineno - 1 : node.end_lineno] = [" " * node.col_offset + ast.unparse(node)]
    return _get_if_parsing("\n".join(lines)) if returns else None


def _undecorate(text: str, function: ast.FunctionDef) -> str | None:
    """Return ``text`` with ``contextmanager`` removed, so that ``function`` returns a generator that ``with`` cannot
    enter."""
    found = [node for node in function.decorator_list if ast.unparse(node).rpartition(".")[2] == "contextmanager"]
    lines = text.split("\n")
    for node in found:
        del lines[node.lineno - 1]
    return _get_if_parsing("\n".join(lines)) if len(found) == 1 and found[0].lineno == found[0].end_lineno else None


def _get_if_parsing(text: str) -> str | None:
    try:
        ast.parse(text)
    except SyntaxError:
        return None
    return text


def draw(ground: Ground, each: int = EACH) -> list[Plant]:
    """Draw up to ``each`` plants of every kind, always the same ones."""
    kinds: dict[str, list[Plant]] = {}
    for plant in ground.iter_plants():
        kinds.setdefault(plant.kind, []).append(plant)
    return [p for kind, plants in kinds.items() for p in random.Random(kind).sample(plants, min(each, len(plants)))]


@dataclass(frozen=True, slots=True)
class Share:
    """Every ``SHARES``-th of the plants drawn in one pair, starting at ``number``."""

    omni: str
    ascend: str
    each: int
    number: int


def verify_share(share: Share) -> list[Verdict]:
    """Verify the plants of a share. Raises ``InputError``."""
    ground = Ground(share.omni, share.ascend)
    return [ground.verify(plant) for plant in draw(ground, share.each)[share.number :: SHARES]]


def report(pairs: Iterable[tuple[str, str]] = PAIRS, each: int = EACH) -> str:
    """Return the table, and one line for each unreported plant. Raises ``InputError``."""
    shares = [Share(*pair, each, number) for pair in pairs for number in range(SHARES)]
    verdicts = sorted(
        (t for found in spread(verify_share, shares) for t in found), key=lambda t: (t.kind, t.place, t.name)
    )
    rows = [
        _make_row(kind, [t for t in verdicts if t.kind == kind]) for kind in dict.fromkeys(t.kind for t in verdicts)
    ]
    head = ("planted", "plants", "told at the statement", "told elsewhere", "silent", "told besides")
    silent = [t for t in verdicts if not t.here and not t.elsewhere]
    lines = [f"- {t.kind} `{t.name}` ({t.place}): nothing was said." for t in silent]
    return "\n".join(
        ["### Planted breaks\n", tables.format_table(head, [*rows, _make_row("all", verdicts)]), *lines, ""]
    )


def _make_row(name: str, rows: Sequence[Verdict]) -> tuple[str, ...]:
    here = sum(t.here for t in rows)
    elsewhere = sum(t.elsewhere and not t.here for t in rows)
    return name, *map(
        str, (len(rows), here, elsewhere, len(rows) - here - elsewhere, sum(len(t.besides) for t in rows))
    )
