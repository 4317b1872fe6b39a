"""The house rules that a reader relies on: who imports whom, who prints, who writes, who fetches.

Read from the sources with ``ast``; every exception is listed here with its reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import zip_longest
from pathlib import Path

import pytest

import runner_sync
from runner_sync.merge.weave import Strand

PACKAGE = Path(runner_sync.__file__).parent

VOCABULARY = {
    "confidence",
    "digests",
    "model",
    "doors",
    "errors",
    "edits",
    "listing",
    "profile",
    "mro",
    "naming",
    "references",
    "rulers",
    "signatures",
    "statements",
    "syntax",
    "texts",
    "thresholds",
    "trees",
    "units",
    "unmerged",
    "user_paths",
}
"""Names and values that every room may speak in."""

FOUNDATION = {
    "confidence": set[str](),
    "model": {"doors"},
    "digests": {"errors", "statements", "syntax"},
    "doors": set[str](),
    "errors": set[str](),
    "edits": {"syntax"},
    "listing": set[str](),
    "profile": {"model", "naming"},
    "mro": set[str](),
    "naming": {"model"},
    "references": {"naming", "syntax"},
    "rulers": set[str](),
    "signatures": {"syntax"},
    "syntax": set[str](),
    "thresholds": set[str](),
    "trees": {"model"},
    "unmerged": set[str](),
    "user_paths": {"errors"},
    "units": {
        "model",
        "doors",
        "errors",
        "edits",
        "naming",
        "profile",
        "references",
        "rulers",
        "statements",
        "syntax",
        "unmerged",
    },
    "statements": {"model", "doors", "errors", "profile", "syntax"},
    "texts": {"naming", "statements", "syntax"},
}
"""The vocabulary itself, and what each part of it may build on."""

ENGINE = {"compose", "fitting", "lineage", "lock", "markers", "merge", "transforms"}
"""The pure rooms that ``upgrade`` makes a new module with."""

WIRING = {"upgrade", "sync", "cli", "terminal", "__main__"}

NEIGHBOURS = {
    ("verify", "lock"): "drift is what differs from the lock, and the lock is only ever parsed text",
    ("verify", "lineage"): "what counts as a copy is measured in one way",
    ("verify", "markers"): "the marker rules report what the one reader of markers finds",
}
"""Room, neighbour: why the one may import the other."""

DOORS = {"merge", "transforms", "upgrade"}
"""Rooms that others enter by their ``__all__`` alone: what stands behind it can be arranged anew."""

CIRCLES = {
    "verify.trees": "what a call reaches depends on what things are, and the other way round",
}
"""Packages whose parts ask each other, and why."""

WRITERS = {
    "write": "the one place where sources are replaced",
    "sources.cache": "what was fetched is kept in the cache folder",
    "sources.transfer": "a wheel is hashed in an unnamed temporary file",
    "score": "git compares two temporary files",
    "sync.applying": "makes the folder that --out names",
    "verify.overlay": "the type checker reads a scratch copy of the trees",
    "verify.typecheck": "and a configuration of its own beside it",
    "terminal.delivery": "report files that the user names with -o",
}
"""Modules that may open files for writing, and why."""

NETWORK = {"git", "requests", "urllib3", "remotezip", "pypi_simple", "httpx", "socket", "urllib.request"}
PRINTERS = {"__main__", "cli", "terminal"}
_MOST_LINES = 360
"""Three hundred is the aim; a module beyond this has to become a folder."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module by its dotted name below the package, ``__init__`` left out of the name."""
    return {_name(path): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def room(module: str) -> str:
    """The room that a module belongs to: the first part of its name."""
    return module.partition(".")[0]


def imports(tree: ast.Module) -> Iterator[str]:
    """Absolute names of all modules a tree imports, also late and for type checking only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where a name comes from"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(tree: ast.Module) -> set[str]:
    """Rooms of this package that a tree imports."""
    found = {name.split(".")[1] for name in imports(tree) if name.startswith("runner_sync.")}
    return found - {"__version__"}


def test_the_rooms_that_are_named_here_are_there() -> None:
    named = {
        *VOCABULARY,
        *FOUNDATION,
        *ENGINE,
        *WIRING,
        *PRINTERS,
        *DOORS,
        *(name for pair in NEIGHBOURS for name in pair),
    }
    assert named <= {room(module) for module in modules()}


@pytest.mark.parametrize("part", FOUNDATION)
def test_the_vocabulary_builds_on_itself_only(part: str) -> None:
    for module, tree in modules().items():
        if room(module) == part:
            assert own_imports(tree) <= FOUNDATION[part] | {part}, module


def test_rooms_import_no_neighbour() -> None:
    found = {
        f"{module} imports {other}"
        for module, tree in modules().items()
        if room(module) not in {*WIRING, *FOUNDATION, "__init__"}
        for other in own_imports(tree) - VOCABULARY - {room(module)}
        if (room(module), other) not in NEIGHBOURS
    }
    assert "\n".join(sorted(found)) == ""


@pytest.mark.parametrize(
    ("part", "allowed"),
    [
        ("upgrade", ENGINE | VOCABULARY),
        ("sync", None),
        ("terminal", {"sync", "render", "model", "errors", "user_paths"}),
        ("cli", {"sync", "render", "terminal", "model", "errors"}),
        ("__main__", {"cli"}),
    ],
)
def test_wiring_runs_one_way(part: str, allowed: set[str] | None) -> None:
    for module, tree in modules().items():
        if room(module) != part:
            continue
        if allowed is None:
            assert not own_imports(tree) & (WIRING - {part, "upgrade"}), module
        else:
            assert own_imports(tree) <= allowed | {part}, module


@pytest.mark.parametrize("door", sorted(DOORS))
def test_nobody_goes_past_a_door(door: str) -> None:
    found = {
        f"{module} imports {name}"
        for module, tree in modules().items()
        if room(module) != door
        for name in imports(tree)
        if name.startswith(f"runner_sync.{door}.") and name.removeprefix(f"runner_sync.{door}.") not in offered(door)
    }
    assert "\n".join(sorted(found)) == ""


def test_upgrade_offers_what_other_rooms_need_and_no_more() -> None:
    trees = [tree for module, tree in modules().items() if room(module) != "upgrade"]
    used = {name for tree in trees for name in imports(tree)}
    used |= {f"runner_sync.{ast.unparse(node)}" for tree in trees for node in ast.walk(tree) if _is_of("upgrade", node)}
    assert [name for name in offered("upgrade") if f"runner_sync.upgrade.{name}" not in used] == []


def offered(door: str) -> list[str]:
    """The names in the ``__all__`` of a room."""
    (names,) = (
        ast.literal_eval(node.value)
        for node in modules()[door].body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return [*names]


def _is_of(door: str, node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == door


def test_no_rooms_import_each_other_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for module, tree in modules().items():
        graph.setdefault(room(module), set()).update(own_imports(tree) - {room(module)})
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Also not late or for types only. A package's door counts where a module of another package asks at it."""
    graph = {
        module: {name for name in modules_asked(tree) if name != module and not module.startswith(f"{name}.")}
        for module, tree in modules().items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_no_parts_of_a_room_import_each_other_in_a_circle() -> None:
    """Of a room and of each package in it, the packages and modules that stand there."""
    graphs: dict[str, dict[str, set[str]]] = {}
    for module, tree in modules().items():
        for asked in modules_asked(tree):
            here, there = module.split("."), asked.split(".")
            shared = next((k for k, (a, b) in enumerate(zip_longest(here, there)) if a != b), 0)
            if 0 < shared < min(len(here), len(there)):
                parts = graphs.setdefault(".".join(here[:shared]), {})
                parts.setdefault(here[shared], set()).add(there[shared])
    assert {package for package, parts in graphs.items() if _is_circular(parts)} == CIRCLES.keys()


def modules_asked(tree: ast.Module) -> set[str]:
    """The modules of this package that a tree imports, or imports from."""
    names = {name.removeprefix("runner_sync.") for name in imports(tree) if name.startswith("runner_sync.")}
    return {name if name in modules() else name.rpartition(".")[0] for name in names} - {""}


def _is_circular(graph: dict[str, set[str]]) -> bool:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError:
        return True
    return False


def test_what_a_step_of_the_merge_changes_on_the_strands_stands_in_its_docstring() -> None:
    """Strands are changed in place by one step after the other: a reader has to know by which."""
    of_strands = {field.name for field in fields(Strand)}
    for module, tree in modules().items():
        if room(module) == "merge" and not any(other.startswith(f"{module}.") for other in modules()):
            changed = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_stored(node)}
            said = re.search(r"May\s+touch:(.*?)(\n\n|\Z)", ast.get_docstring(tree) or "", re.DOTALL)
            assert said is not None, module
            assert of_strands.intersection(re.findall(r"``(\w+)``", said[1])) == of_strands & changed, module


def _is_stored(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Store)


def test_only_the_command_line_prints() -> None:
    found = {
        f"{module}:{node.lineno}"
        for module, tree in modules().items()
        if room(module) not in PRINTERS
        for node in ast.walk(tree)
        if _prints(node)
    }
    assert "\n".join(sorted(found)) == ""


def _prints(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "input"):
        return True
    return isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr", "sys.stdin")


def test_only_listed_modules_write_files() -> None:
    found = {
        f"{module}:{node.lineno} {ast.unparse(node.func)}"
        for module, tree in modules().items()
        if module not in WRITERS
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _writes(node)
    }
    assert "\n".join(sorted(found)) == ""


def _writes(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    if last in ("write_text", "write_bytes", "mkdir", "unlink", "rmdir", "rmtree", "symlink_to", "touch", "makedirs"):
        return True
    if name.startswith(("tempfile.", "shutil.copy", "shutil.move")) or name in ("os.replace", "os.rename", "os.remove"):
        return True
    return (name == "open" or name.endswith(".open")) and any(
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) & set("wax+")
        for mode in [*call.args[: 2 if name == "open" else 1], *(word.value for word in call.keywords)]
    )


def test_text_files_are_utf_8_whatever_the_locale() -> None:
    """In a minimal container it is ASCII, and the text of a runner need not be."""
    found = {
        f"{module}:{node.lineno} {ast.unparse(node)}"
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if len(node.args) < {"read_text": 1, "write_text": 2}.get(node.func.attr, 0)
        if not any(word.arg == "encoding" for word in node.keywords)
    }
    assert "\n".join(sorted(found)) == ""


@pytest.mark.parametrize("module", WRITERS)
def test_listed_writers_still_write(module: str) -> None:
    assert any(isinstance(node, ast.Call) and _writes(node) for node in ast.walk(modules()[module]))


@pytest.mark.parametrize(("importer", "imported"), NEIGHBOURS)
def test_listed_neighbours_are_still_needed(importer: str, imported: str) -> None:
    assert any(imported in own_imports(tree) for module, tree in modules().items() if room(module) == importer)


def test_only_sources_touch_git_or_the_network() -> None:
    found = {
        f"{module} imports {name}"
        for module, tree in modules().items()
        if room(module) != "sources"
        for name in imports(tree)
        if any(name == library or name.startswith(f"{library}.") for library in NETWORK)
    }
    assert "\n".join(sorted(found)) == ""


def test_nothing_read_is_ever_run() -> None:
    """To ask the compiler whether a text is Python is not to run it, as long as nobody keeps what it made."""
    found = set()
    for module, tree in modules().items():
        thrown_away = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            runs = node.func.id in ("eval", "exec", "__import__")
            if runs or (node.func.id == "compile" and id(node) not in thrown_away):
                found.add(f"{module}:{node.lineno}")
    assert "\n".join(sorted(found)) == ""


def test_modules_say_what_they_are() -> None:
    silent = [module for module, tree in modules().items() if not ast.get_docstring(tree)]
    assert silent == []


@pytest.mark.parametrize("package", sorted(path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py")))
def test_a_room_names_its_parts(package: Path) -> None:
    """So that a reader who opens one finds a way through it. The rules are listed by their ``catalog``."""
    docstring = ast.get_docstring(ast.parse((PACKAGE / package / "__init__.py").read_text("utf-8"))) or ""
    named = set(re.findall(r"\w+", " ".join(re.findall(r"``(.+?)``", docstring, re.DOTALL))))
    there = {path.stem for path in (PACKAGE / package).glob("*.py")} - {"__init__"}
    there |= {path.parent.name for path in (PACKAGE / package).glob("*/__init__.py")}
    assert package == Path("verify/rules") or sorted(there - named) == []


def test_sides_are_called_base_omni_and_upstream() -> None:
    """Or after what they are: with two upstreams and a GPU twin, "mine" and "theirs" say nothing."""
    names = {
        (module, getattr(node, "id", None) or getattr(node, "arg", None))
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Name | ast.arg)
    }
    assert sorted((module, name) for module, name in names if name in ("mine", "ours", "theirs", "yours")) == []


def test_nobody_points_to_a_numbered_section_of_another_document() -> None:
    """It says no reader where to look: write what it says, or the file that says it."""
    root = Path(__file__).parents[1]
    for folder in (PACKAGE, root / "benchmarks"):
        for path in folder.glob("**/*.py"):
            assert not re.search(r"\b[A-Z]{3,} section \d", path.read_text("utf-8")), path


_ROOMS = "compose|lineage|merge|render|statements|sync|transforms|units|upgrade|verify"
_PART = re.compile(rf"`(?:runner_sync\.)?((?:{_ROOMS})(?:\.\w+)+)`")


def test_a_part_that_is_named_with_its_room_is_there() -> None:
    root = Path(__file__).parents[1]
    texts = [*PACKAGE.rglob("*.py"), *root.glob("tests/*.py"), *root.glob("benchmarks/*.py")]
    texts += [root / "README.md", *root.glob("docs/*.md"), root / "benchmarks/README.md"]
    named = {(path.name, name) for path in texts for name in _PART.findall(path.read_text("utf-8"))}
    assert named
    assert sorted((text, name) for text, name in named if not _is_there(name)) == []


def _is_there(name: str) -> bool:
    """Whether a module, or a module that has the last word of it, stands under that name."""
    *rooms, last = name.split(".")
    room = PACKAGE.joinpath(*rooms)
    if (room / last).is_dir() or (room / f"{last}.py").is_file():
        return True
    module = room / "__init__.py" if room.is_dir() else room.with_suffix(".py")
    return module.is_file() and re.search(rf"\b{last}\b", module.read_text("utf-8")) is not None


def test_there_are_no_drawers_for_odds_and_ends() -> None:
    names = {part for module in modules() for part in module.split(".")}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


def test_rooms_stay_small() -> None:
    sizes = {name: len(path.read_text("utf-8").splitlines()) for path in PACKAGE.rglob("*.py") if (name := _name(path))}
    assert {name: size for name, size in sizes.items() if size > _MOST_LINES} == {}
