"""Attributes that GPU code reads and that no tree which the result is for defines.

Comes in: a GPU module's text and the trees. Goes out: names. May touch: the trees, by reading.

The GPU runners of a release are made for one vLLM. On an older one `OmniModelRunnerOutput.with_kv_conn_output_only`
(vLLM 0.23.0) ends in an AttributeError, so nothing that reads it is ported. A name that anything in the trees defines
counts as defined (timid): whether the class at hand has it, `verify` tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.compose.import_entries import imports
from runner_sync.model import PACKAGES
from runner_sync.naming import project_of
from runner_sync.trees import Tree

# What is read of other objects than `self` and the projects' own classes may be anybody's.
_READS = re.compile(r"(?<![\w.])(self|[A-Z]\w*)\.(\w+)")

_OF_ALL = frozenset({*dir(type), "_fields", "_replace", "_asdict", "_make"})

_COMMENTS = re.compile(r"^\s*#.*$", re.MULTILINE)

# All that can define a name: a definition, a field, an assignment on something, a name in quotes for `setattr`.
_DEFINES = r"\b(?:def|class)\s+{0}\b|\.{0}\s*(?::[^=\n]+)?=[^=]|^\s*{0}\s*(?::|=[^=])|[\"']{0}[\"']"


class Attributes:
    """What some trees define, looked up once for each name. The folders ``near`` are read first."""

    def __init__(self, trees: Iterable[Tree], near: Sequence[str]) -> None:
        """The trees are read when somebody asks."""
        self._trees = tuple(trees)
        self._near = tuple(f"{folder}/" for folder in near)
        self._is_defined: dict[str, bool] = {}

    def undefined(self, text: str, known: Iterable[str]) -> frozenset[str]:
        """The attributes that ``text`` reads of ``self`` or of a class, and that no file of the trees defines.

        The words of the texts ``known`` count as defined, but not those in comments: a review comment of an earlier
        run names what was missing. Of classes, those count that come from the projects.
        """
        imported = {name: entry.module for name, entry in imports(text).items() if project_of(entry.module) is not None}
        owners = {"self", *imported}
        read = {name for owner, name in _READS.findall(text) if owner in owners and name not in _OF_ALL}
        heard_of = {word for one in known for word in re.findall(r"\w+", _COMMENTS.sub("", one))}
        names = {name for name in read - heard_of if not _defines(name).search(text)}
        self._look_for(names - self._is_defined.keys(), set(imported.values()))
        return frozenset(name for name in names if not self._is_defined[name])

    def _look_for(self, names: set[str], modules: Iterable[str]) -> None:
        left = set(names)
        for text in self._texts(modules) if left else ():
            left -= {name for name in left if name in text and _defines(name).search(text)}
            if not left:
                break
        self._is_defined |= {name: name not in left for name in names}

    def _texts(self, modules: Iterable[str]) -> Iterator[str]:
        """The modules of the trees, those called ``modules`` first, then those near."""
        first = tuple(module.replace(".", "/") for module in modules)
        places = [(path, tree) for tree in self._trees for path in tree.paths(f"{PACKAGES[tree.source.project]}/")]
        for path, tree in sorted(
            places, key=lambda at: (not at[0].startswith(first), not at[0].startswith(self._near))
        ):
            if path.endswith(".py") and (text := tree.read(path)) is not None:
                yield text


def _defines(name: str) -> re.Pattern[str]:
    return re.compile(_DEFINES.format(re.escape(name)), re.MULTILINE)
