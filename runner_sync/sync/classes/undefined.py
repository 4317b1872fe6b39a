"""Find attributes that GPU code reads and nothing defines in the trees on which the result is to run.

Comes in: a GPU module's text and the trees. Goes out: names. May touch: the trees, by reading.

The GPU runners of a release are made for one vLLM, and the result may have to run on an older one. There, for example,
`OmniModelRunnerOutput.with_kv_conn_output_only` (vLLM 0.23.0) would raise an AttributeError, so code that reads it is
not ported. timid: a name counts as defined if anything in the trees defines it; `verify` checks the class at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import PACKAGES
from runner_sync.naming import project_of
from runner_sync.texts.import_entries import read_imports
from runner_sync.trees import Tree

# Only attributes of `self` and of classes, because a text does not show where other objects define theirs.
_READS = re.compile(r"(?<![\w.])(self|[A-Z]\w*)\.(\w+)")

_OF_EVERY_CLASS = frozenset({*dir(type), "_fields", "_replace", "_asdict", "_make"})

_COMMENTS = re.compile(r"^\s*#.*$", re.MULTILINE)

# A name is defined by a definition, a field, an assignment to an attribute, or a string for `setattr`.
_DEFINES = r"\b(?:def|class)\s+{0}\b|\.{0}\s*(?::[^=\n]+)?=[^=]|^\s*{0}\s*(?::|=[^=])|[\"']{0}[\"']"


class Attributes:
    """Tells which names some trees define; looks each name up once, in the folders ``near`` first."""

    def __init__(self, trees: Iterable[Tree], near: Sequence[str]) -> None:
        """Read nothing before the first question."""
        self._trees = tuple(trees)
        self._near = tuple(f"{folder}/" for folder in near)
        self._is_defined: dict[str, bool] = {}

    def find_undefined(self, text: str, known: Iterable[str]) -> frozenset[str]:
        """Return the attributes that ``text`` reads from ``self`` or imported classes and nothing in the trees defines.

        Only classes imported from one of the projects count. All words of the texts ``known`` count as defined, except
        in comments, since a review comment of an earlier run names what was missing.
        """
        imported = {
            name: entry.module for name, entry in read_imports(text).items() if project_of(entry.module) is not None
        }
        owners = {"self", *imported}
        read = {name for owner, name in _READS.findall(text) if owner in owners and name not in _OF_EVERY_CLASS}
        known_words = {word for one in known for word in re.findall(r"\w+", _COMMENTS.sub("", one))}
        names = {name for name in read - known_words if not _definition_pattern(name).search(text)}
        self._look_for(names - self._is_defined.keys(), set(imported.values()))
        return frozenset(name for name in names if not self._is_defined[name])

    def _look_for(self, names: set[str], modules: Iterable[str]) -> None:
        """Remember whether some file defines each of ``names``, searching the likely ``modules`` first."""
        left = set(names)
        for text in self._read_texts(modules) if left else ():
            left -= {name for name in left if name in text and _definition_pattern(name).search(text)}
            if not left:
                break
        self._is_defined |= {name: name not in left for name in names}

    def _read_texts(self, modules: Iterable[str]) -> Iterator[str]:
        """Yield the texts of the trees: those of ``modules`` first, then those in the near folders."""
        first = tuple(module.replace(".", "/") for module in modules)
        places = [(path, tree) for tree in self._trees for path in tree.paths(f"{PACKAGES[tree.source.project]}/")]
        for path, tree in sorted(
            places, key=lambda at: (not at[0].startswith(first), not at[0].startswith(self._near))
        ):
            if path.endswith(".py") and (text := tree.read(path)) is not None:
                yield text


def _definition_pattern(name: str) -> re.Pattern[str]:
    return re.compile(_DEFINES.format(re.escape(name)), re.MULTILINE)
