"""The functions of other omni modules that methods of the GPU twin became.

Comes in: methods that the twin has no more, and a ``ModuleJob``. Goes out: ``Home`` values. May touch: nothing.

Only what the twin imports since it lost the methods is looked at, and what that calls in its own module.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.compose.import_entries import imports
from runner_sync.edits import Edit, Places, apply
from runner_sync.lineage import FEWEST
from runner_sync.naming import Import
from runner_sync.statements import first_function, is_python
from runner_sync.statements.likeness import dice, words
from runner_sync.statements.mentions import parameters
from runner_sync.syntax import walk
from runner_sync.units import texts
from runner_sync.upgrade.from_gpu.twin.computed import computed, is_most_of
from runner_sync.upgrade.job import ModuleJob, ModuleRevision

NAMESAKE = 0.3
"""Dice coefficient of words from which on a function that goes by a method's name counts as that method, moved. A
judgement; without the name, most of the statements must be the same."""


@dataclass(frozen=True, slots=True)
class Home:
    """The function that a method of the GPU twin became, in NPU words; ``around`` are the functions of its module that
    it calls, and that no other method became. The twin calls it ``bound``. ``gets_self``: it passes it the runner as
    first argument, which is called ``self`` in ``text``."""

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
        """The function and those around it."""
        return "\n\n".join(text.strip("\n") for text in (self.text, *self.around))


Homes = Mapping[str, Home]
"""Former methods of the twin by name."""


def new_homes(gone: Mapping[str, str], then: ModuleRevision, job: ModuleJob) -> Homes:
    """Those of the ``gone`` methods, by name, that the twin imports as functions and did not in the module ``then``.

    Such a function resembles the method: most of the statements are the same, or the name and the words are.
    """
    candidates = new_functions(then, job)
    likely = {name: _home(name, text, candidates) for name, text in gone.items()} if candidates else {}
    found = {name: home for name, home in likely.items() if home is not None}
    taken = {home.dotted for home in found.values()}
    others = {
        name: [one for one in _called_by(home, candidates) if one.dotted not in taken] for name, home in found.items()
    }
    return {name: in_npu_words(home, others[name], job) for name, home in found.items()}


def _home(name: str, text: str, candidates: Sequence[Home]) -> Home | None:
    """The candidate that is the method ``text``, moved; the most similar one, if several may be."""
    likely = [one for one in candidates if is_most_of(text, one.text) or _is_namesake(name, text, one, candidates)]
    return max(likely, key=lambda one: dice(_words(text), _words(one.text)), default=None)


def _is_namesake(name: str, text: str, home: Home, candidates: Sequence[Home]) -> bool:
    """Whether a function has the name of a method, or more words in it or fewer, and enough of its words."""
    mine, theirs = ({*one.strip("_").split("_")} for one in (name, home.name))
    if mine != theirs and (min(len(mine), len(theirs)) < FEWEST or not (mine <= theirs or theirs <= mine)):
        return False
    whole = "\n".join([home.text, *(one.text for one in _called_by(home, candidates))])
    return max(dice(_words(text), _words(one)) for one in (home.text, whole)) >= NAMESAKE


def _words(text: str) -> Counter[str]:
    return words("\n".join(one.head for one in computed(text)))


def _called_by(home: Home, candidates: Sequence[Home]) -> list[Home]:
    """The functions of its own module that a function calls, and those that these call."""
    beside = {one.name: one for one in candidates if one.module == home.module and one.name != home.name}
    found: list[Home] = []
    todo = [home]
    while todo:
        called = _plain_calls(todo.pop().text)
        more = [one for name, one in beside.items() if name in called and one not in found]
        found += more
        todo += more
    return found


def _plain_calls(text: str) -> set[str]:
    function = first_function(text)
    calls = [node for node in walk(function) if isinstance(node, ast.Call)] if function is not None else []
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def new_functions(then: ModuleRevision, job: ModuleJob) -> list[Home]:
    """The functions that the twin imports from omni modules now and did not in ``then``, and those that they call."""
    assert job.twin.new is not None
    before = {(entry.module, entry.name) for entry in imports(then.text, then.path).values()}
    found: dict[str, Home] = {}
    for entry in imports(job.twin.new.text, job.twin.new.path).values():
        if (entry.module, entry.name) not in before and entry.module.startswith(f"{job.profile.package}."):
            for home in _functions_behind(entry, job):
                found.setdefault(home.dotted, home)
    return [*found.values()]


def _functions_behind(entry: Import, job: ModuleJob) -> Sequence[Home]:
    """The function that an import binds, and those of its module that it calls; of a module all functions. None of a
    module that does not parse."""
    assert job.twin.new is not None
    whole = job.target.omni_module(entry.dotted)
    module, name = (entry.dotted, "") if whole else (entry.module, entry.name)
    path, text = whole or job.target.omni_module(module) or ("", "")
    for _ in range(_RE_EXPORTS):
        if not is_python(text):
            return []
        again = imports(text, path).get(name) if name and name not in texts.unit_texts(text, path) else None
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
    return [first, *_called_by(first, made)] if first is not None else []


_RE_EXPORTS = 3
"""Through how many modules that only import it a name is followed."""


def in_npu_words(home: Home, around: Sequence[Home], job: ModuleJob) -> Home:
    """The function translated, with ``around`` around it."""
    assert job.twin.new is not None
    text, *others = (job.twin.translation.unit(one.text, job.profile) for one in (home, *around))
    gets_self = re.search(rf"(?<![\w.]){re.escape(home.bound)}\(\s*self\s*[,)]", job.twin.new.text) is not None
    return replace(home, text=_with_self(text) if gets_self else text, around=tuple(others), gets_self=gets_self)


def _with_self(text: str) -> str:
    """The function with its first parameter, which is given the runner, called ``self``."""
    function = first_function(text)
    given = parameters(function)[:1] if function is not None else []
    if function is None or not given:
        return text
    places = Places(text)
    used = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == given[0].arg]
    start = places.start(given[0])
    edits = [Edit(places.start(node), places.end(node), "self") for node in used]
    return apply(text, [Edit(start, start + len(given[0].arg), "self"), *edits])
