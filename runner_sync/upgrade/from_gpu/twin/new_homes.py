"""Finds the functions of other omni modules that methods of the GPU twin became.

Comes in: methods that the twin no longer has, and a ``ModuleJob``. Goes out: ``Home`` values. May touch: nothing.

Candidates are the functions that the twin newly imports, and the functions of the same module that these call.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.edits import Edit, Places, apply
from runner_sync.lineage import FEWEST
from runner_sync.naming import Import
from runner_sync.statements import first_function, is_python
from runner_sync.statements.likeness import dice, words
from runner_sync.statements.mentioning import parameters
from runner_sync.syntax import calls_in, is_name, walk
from runner_sync.texts.import_entries import read_imports
from runner_sync.thresholds import NAMESAKE
from runner_sync.units import texts
from runner_sync.upgrade.from_gpu.twin.computed import find_computed, is_most_of
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import ModuleRevision


@dataclass(frozen=True, slots=True)
class Home:
    """The function that a method of the GPU twin became, in NPU names.

    The twin calls it ``bound``. ``around`` are functions of its module that it calls and that no other method became.
    With ``gets_self``, the twin passes the runner as first argument, which is named ``self`` in ``text``.
    """

    module: str
    name: str
    bound: str
    text: str
    around: tuple[str, ...] = ()
    gets_self: bool = False

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.name}"

    @property
    def whole(self) -> str:
        """Return the function followed by those in ``around``."""
        return "\n\n".join(text.strip("\n") for text in (self.text, *self.around))


Homes = Mapping[str, Home]
"""Former methods of the twin, by name."""


def find_new_homes(gone: Mapping[str, str], then: ModuleRevision, job: ModuleJob) -> Homes:
    """Map ``gone`` methods to the functions that they became, which the twin imports now and did not in ``then``.

    A function matches if it computes most of the method's statements, or resembles it in name and words.
    """
    candidates = _find_new_functions(then, job)
    likely = {name: _choose_home(name, text, candidates) for name, text in gone.items()} if candidates else {}
    found = {name: home for name, home in likely.items() if home is not None}
    taken = {home.dotted for home in found.values()}
    others = {
        name: [one for one in _find_called(home, candidates) if one.dotted not in taken] for name, home in found.items()
    }
    return {name: _translate_home(home, others[name], job) for name, home in found.items()}


def _choose_home(name: str, text: str, candidates: Sequence[Home]) -> Home | None:
    """Return the candidate that the method ``text`` became, the most similar one of several, or ``None``."""
    likely = [one for one in candidates if is_most_of(text, one.text) or _is_namesake(name, text, one, candidates)]
    return max(likely, key=lambda one: dice(_count_words(text), _count_words(one.text)), default=None)


def _is_namesake(name: str, text: str, home: Home, candidates: Sequence[Home]) -> bool:
    """Whether one name's words include the other's, and the texts share enough words."""
    words, others = ({*one.strip("_").split("_")} for one in (name, home.name))
    if words != others and (min(len(words), len(others)) < FEWEST or not (words <= others or others <= words)):
        return False
    whole = "\n".join([home.text, *(one.text for one in _find_called(home, candidates))])
    return max(dice(_count_words(text), _count_words(one)) for one in (home.text, whole)) >= NAMESAKE


def _count_words(text: str) -> Counter[str]:
    return words("\n".join(one.head for one in find_computed(text)))


def _find_called(home: Home, candidates: Sequence[Home]) -> list[Home]:
    """Return the functions of its own module that ``home`` calls, directly or through others."""
    beside = {one.name: one for one in candidates if one.module == home.module and one.name != home.name}
    found: list[Home] = []
    todo = [home]
    while todo:
        called = _find_plain_calls(todo.pop().text)
        more = [one for name, one in beside.items() if name in called and one not in found]
        found += more
        todo += more
    return found


def _find_plain_calls(text: str) -> set[str]:
    function = first_function(text)
    calls = calls_in(function) if function is not None else []
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def _find_new_functions(then: ModuleRevision, job: ModuleJob) -> list[Home]:
    """Return the functions that the twin imports from omni modules now and did not in ``then``, and those they call."""
    assert job.twin.new is not None
    before = {(entry.module, entry.name) for entry in read_imports(then.text, then.path).values()}
    found: dict[str, Home] = {}
    for entry in read_imports(job.twin.new.text, job.twin.new.path).values():
        if (entry.module, entry.name) not in before and entry.module.startswith(f"{job.profile.package}."):
            for home in _resolve_import(entry, job):
                found.setdefault(home.dotted, home)
    return [*found.values()]


def _resolve_import(entry: Import, job: ModuleJob) -> Sequence[Home]:
    """Return the function that an import binds and those of its module that it calls.

    Returns all functions of an imported module, and none of a module that does not parse.
    """
    assert job.twin.new is not None
    whole = job.target.omni_module(entry.dotted)
    module, name = (entry.dotted, "") if whole else (entry.module, entry.name)
    path, text = whole or job.target.omni_module(module) or ("", "")
    for _ in range(_RE_EXPORTS):
        if not is_python(text):
            return []
        again = read_imports(text, path).get(name) if name and name not in texts.unit_texts(text, path) else None
        if again is None or not again.name:
            break
        module, name = again.module, again.name
        path, text = job.target.omni_module(module) or ("", "")
    known = texts.unit_texts(text, path) if is_python(text) else {}
    units = {n: unit for n, unit in known.items() if "." not in n and first_function(unit) is not None}
    if not name:
        return [Home(module, n, f"{entry.bound}.{n}", unit) for n, unit in units.items()]
    made = [Home(module, n, entry.bound if n == name else n, unit) for n, unit in units.items()]
    first = next((home for home in made if home.name == name), None)
    return [first, *_find_called(first, made)] if first is not None else []


_RE_EXPORTS = 3
"""Most modules followed to find a name's definition when each only re-exports the name."""


def _translate_home(home: Home, around: Sequence[Home], job: ModuleJob) -> Home:
    """Translate ``home`` and the functions ``around`` it."""
    assert job.twin.new is not None
    text, *others = (job.twin.translation.unit(one.text, job.profile) for one in (home, *around))
    gets_self = re.search(rf"(?<![\w.]){re.escape(home.bound)}\(\s*self\s*[,)]", job.twin.new.text) is not None
    return replace(home, text=_name_runner_self(text) if gets_self else text, around=tuple(others), gets_self=gets_self)


def _name_runner_self(text: str) -> str:
    """Rename the function's first parameter, which receives the runner, to ``self``."""
    function = first_function(text)
    given = parameters(function)[:1] if function is not None else []
    if function is None or not given:
        return text
    places = Places(text)
    used = [node for node in walk(function) if is_name(node, given[0].arg)]
    start = places.start(given[0])
    edits = [Edit(places.start(node), places.end(node), "self") for node in used]
    return apply(text, [Edit(start, start + len(given[0].arg), "self"), *edits])
