"""What code around the runners does to them: attributes that it writes, classes that it derives from theirs.

Comes in: trees by project, and the folders whose modules get runners passed. Goes out: answers about names. May touch:
the trees, by reading. Texts are searched and not parsed, so a word in the wrong place can at most keep a rule silent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from runner_sync.model import PACKAGES, Project
from runner_sync.trees import Remembering, Tree, peek
from runner_sync.verify.answers import remembered
from runner_sync.verify.trees.word_index import KIND, WordIndex, make_filter

_BASES_KIND = "bases-1"
"""The key under which bases are kept between runs. A change of what counts as one must raise the number."""

_PROJECTS = {package: project for project, package in PACKAGES.items()}

_FURTHER = r"(?:[ \t]*,[ \t]*\*?[\w.]+(?:\[[^\]\n]*\])?)+,?\)?[ \t]"
"""The targets between one target and the ``=``. The space in front excludes ``f(runner.x, y=1)``."""

_ASSIGNS = rf"(?:\s*:[^=\n]+|{_FURTHER})?\s*=[^=]"


_OPERATOR = r"(?:[-+*/%&|^@]|//|\*\*|<<|>>)"


class Surroundings:
    """The texts of the trees and of some folders in them, read when first asked for."""

    def __init__(self, trees: Mapping[Project, Tree], folders: Sequence[str]) -> None:
        self._trees = dict(trees)
        self.folders = tuple(folders)

    def is_set_on_runner(self, attribute: str) -> bool:
        """Whether some module writes ``attribute`` on a runner or worker that it was given (``runner.x = …``)."""
        name = re.escape(attribute)
        return self._is_near(
            attribute,
            rf"(?i:runner|worker)\w*\.{name}{_ASSIGNS}|setattr\([^,()]*,\s*[\"']{name}[\"']",
            part=rf"{_not_of_self_pattern(attribute)}{_ASSIGNS}|{_quoted_pattern(attribute)}",
        )

    def is_written(self, attribute: str) -> bool:
        """Whether ``attribute`` is assigned on any object, is the name of a field, or stands in quotes."""
        name = re.escape(attribute)
        return self._is_near(attribute, rf"\.{name}{_ASSIGNS}|^\s+{name}\s*:|[\"']{name}[\"']")

    def is_written_on(self, name: str, attribute: str) -> bool:
        """Whether ``attribute`` is assigned on a variable named like the class: ``input_batch`` for ``InputBatch``."""
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().removeprefix("get_")
        return self._is_near(attribute, rf"\b(?i:\w*{re.escape(words)})(?:\(\))?\.{re.escape(attribute)}{_ASSIGNS}")

    def is_written_elsewhere(self, attribute: str) -> bool:
        """Whether ``attribute`` is assigned on any object but ``self``."""
        return bool(self._find_place(attribute, rf"{_not_of_self_pattern(attribute)}{_ASSIGNS}", is_near=True))

    def writing(self, attribute: str) -> list[str]:
        """Return the modules of the trees that assign ``attribute`` on ``self`` or any other object, or set it by its
        name."""
        name = re.escape(attribute)
        by_name = rf"setattr\([^,()]*,\s*{_quoted_pattern(attribute)}"
        return sorted(self._find_paths(attribute, rf"\.{name}(?:{_ASSIGNS}|\s*{_OPERATOR}=)|{by_name}"))

    def is_used_elsewhere(self, member: str, *, beside: Collection[str] = ()) -> bool:
        """Whether some module quotes a member's name, or reads it from any object but ``self`` and ``super()``.

        Reads in the folders ``beside`` do not count: vLLM's own worker stands beside its runner, and runs on no other
        platform.
        """
        if self._is_near(member, _quoted_pattern(member)):
            return True
        found = self._find_paths(member, _read_elsewhere_pattern(member), is_near=True)
        return any(path.rpartition("/")[0] not in beside for path in found)

    def is_used_in(self, project: Project, member: str) -> bool:
        """As `is_used_elsewhere`, in all modules of a project: the engine's calls of its workers, for example."""
        return self._is_in(project, member, rf"{_quoted_pattern(member)}|{_read_elsewhere_pattern(member)}")

    def find_using(self, project: Project, member: str) -> list[str]:
        """Return the modules for which `is_used_in` is true."""
        pattern = rf"{_quoted_pattern(member)}|{_read_elsewhere_pattern(member)}"
        return sorted(self._find_paths(member, pattern, below=f"{PACKAGES[project]}/"))

    def is_read_in(self, project: Project, attribute: str) -> bool:
        """As `is_used_in`, without assignments."""
        return self._is_in(project, attribute, rf"{_quoted_pattern(attribute)}|{_read_only_pattern(attribute)}")

    def may_build_name(self, project: Project, member: str) -> bool:
        """Whether some module of a project builds a name at run time that may be ``member``.

        Its beginning up to an underscore must fit: ``f"to_{kind}"`` and ``"to_" + kind`` may be ``to_list``.
        """
        starts = [re.escape(member[:end]) for end in range(2, len(member)) if member[end - 1] == "_"]
        wanted = re.compile(rf"[\"'](?:{'|'.join(starts)})(?:\{{|%s|[\"']\s*\+)")
        return bool(starts) and any(wanted.search(text) for text in self._read_texts(project))

    def is_quoted(self, word: str) -> bool:
        """Whether a word stands in quotes in any module of the trees: it may be an argument of ``setattr``."""
        return any(True for _ in self._find_paths(word, _quoted_pattern(word)))

    def is_quoted_in(self, project: Project, word: str) -> bool:
        """As `is_quoted`, in the modules of a project."""
        return self._is_in(project, word, _quoted_pattern(word))

    def find_quoting(self, word: str, *, beside: str) -> list[str]:
        """Return the modules in the folders that quote a word and contain ``beside``."""
        found = self._find_paths(word, _quoted_pattern(word), is_near=True)
        return [path for path in found if beside in self._read_folders()[path]]

    def having(self, word: str, project: Project) -> list[str]:
        """Return the modules of a project that contain a word, in the folders or not."""
        return sorted(self.find_having(word, project))

    def find_having(self, word: str, project: Project) -> Iterator[str]:
        """Yield the same modules one by one, for a search that may end early."""
        return self._find_paths(word, _word_pattern(word), below=f"{PACKAGES[project]}/")

    def reading(self, attribute: str) -> list[str]:
        """Return the modules of omni that read an attribute of any object but ``self``."""
        return sorted(self._find_paths(attribute, _read_only_pattern(attribute), below=f"{PACKAGES['vllm-omni']}/"))

    def may_give_key(self, key: str) -> bool:
        """Whether any module of the trees assigns an item of that key, or omni has it in a dictionary display."""
        quoted = _quoted_pattern(key)
        is_set = any(True for _ in self._find_paths(key, rf"\[{quoted}\]{_ASSIGNS}"))
        return is_set or self._is_in("vllm-omni", key, rf"{quoted}\s*:")

    def is_mentioned(self, word: str, *, beside: Collection[str]) -> bool:
        """Whether any module of the trees contains a word, except the modules at the paths ``beside``."""
        return any(path not in beside for path in self._find_paths(word, _word_pattern(word)))

    def find_definition(self, name: str) -> str:
        """Return ``path:line`` of an upstream module that defines or assigns a name, or an empty text."""
        word = re.escape(name)
        return self._find_place(name, rf"\b(?:def|class)\s+{word}\b|\.{word}{_ASSIGNS}|^[ \t]+{word}\s*[:=]")

    def find_outside_assignment(self, attribute: str) -> str:
        """Return ``path:line`` of an upstream module that assigns an attribute on any object but ``self``, or an empty
        text."""
        return self._find_place(attribute, rf"{_not_of_self_pattern(attribute)}{_ASSIGNS}")

    def is_member(self, name: str) -> bool:
        """Whether a class of an upstream module has a member of that name."""
        word = re.escape(name)
        return bool(self._find_place(name, rf"^[ \t]+def {word}\b|\bself\.{word}{_ASSIGNS}|^[ \t]+{word}\s*:"))

    def is_upstream_text(self, text: str) -> bool:
        """Whether an upstream module contains a text as whole words."""
        return bool(self._find_place(_WORD.findall(text)[-1], rf"(?<![\w.]){re.escape(text)}\b"))

    def deriving_from(self, class_name: str) -> list[str]:
        """Return the files in the folders with a class that may derive from ``class_name``, under this or another
        name."""
        return [path for path, text in self._find_near_modules(class_name) if _may_derive(text, class_name)]

    def deriving_anywhere(self, class_name: str, *, beside: str) -> list[str]:
        """As `deriving_from`, for all modules of the trees, if they contain ``beside``."""
        return [p for p, text in self._find_modules(class_name) if beside in text and _may_derive(text, class_name)]

    def has_subclass(self, class_name: str) -> bool:
        """Whether some module of the trees may have a class that derives from ``class_name``."""
        return any(self.has_subclass_in(project, class_name) for project in self._trees)

    def has_subclass_in(self, project: Project, class_name: str) -> bool:
        """As `has_subclass`, for the modules of one project."""
        return class_name in self._collect_bases(project)

    @remembered
    def _collect_bases(self, project: Project) -> set[str]:
        found = _ask_files(self._trees[project], _BASES_KIND, _list_bases) if project in self._trees else {}
        return {name for names in found.values() for name in names.decode().split()}

    @remembered
    def _is_near(self, word: str, pattern: str, *, part: str = "") -> bool:
        """Whether a module in the runners' folders matches a pattern.

        ``part`` matches in every text in which ``pattern`` does, and is searched first. It begins with the word, which
        is rare: a pattern that may begin at most words takes many times as long.
        """
        likely = re.compile(part, re.M)
        wanted = re.compile(pattern, re.M)
        return any(likely.search(text) and wanted.search(text) for _, text in self._find_near_modules(word))

    def _is_in(self, project: Project, word: str, pattern: str) -> bool:
        """Whether a module of a project matches a pattern."""
        return any(True for _ in self._find_paths(word, pattern, below=f"{PACKAGES[project]}/"))

    def _find_paths(self, word: str, pattern: str, *, is_near: bool = False, below: str = "") -> Iterator[str]:
        """Yield the modules that contain a word and match a pattern: of all, or of those in the runners' folders."""
        wanted = re.compile(pattern, re.M)
        found = self._find_near_modules(word) if is_near else self._find_modules(word, below=below)
        return (path for path, text in found if path.startswith(below) and wanted.search(text))

    @remembered
    def _find_place(self, word: str, pattern: str, *, is_near: bool = False) -> str:
        """Return ``path:line`` of the first line that contains a word and matches a pattern, or an empty text.

        The line is in an upstream module, or in any module in the runners' folders.
        """
        wanted = re.compile(pattern)
        omnis = PACKAGES["vllm-omni"]
        modules = (
            self._find_near_modules(word)
            if is_near
            else ((path, text) for path, text in self._find_modules(word) if not path.startswith(omnis))
        )
        found = (f"{path}:{line}" for path, text in modules if (line := _find_line(text, word, wanted)))
        return next(found, "")

    def _find_modules(self, word: str, *, below: str = "") -> Iterator[tuple[str, str]]:
        """Yield path and text of every module of the trees, or ``below`` a folder, that contains ``word``.

        The modules in the runners' folders come first, because most words are found there.
        """
        yield from self._find_near_modules(word)
        paths = (path for path in self._indexes[1].may_have(word) if path.startswith(below))
        texts = ((path, self._read_text(path)) for path in paths)
        yield from ((path, text) for path, text in texts if word in text)

    def _find_near_modules(self, word: str) -> Iterator[tuple[str, str]]:
        """Yield path and text of the modules in the runners' folders that contain ``word``."""
        texts = self._read_folders()
        yield from ((path, texts[path]) for path in self._indexes[0].may_have(word) if word in texts[path])

    @cached_property
    def _indexes(self) -> tuple[WordIndex, WordIndex]:
        """The word indexes of the modules in the folders, and of all others; made once, as they cover whole trees."""
        near = self._read_folders()
        filters = {
            path: words for tree in self._trees.values() for path, words in _ask_files(tree, KIND, make_filter).items()
        }
        others = {path: words for path, words in filters.items() if path not in near}
        return WordIndex({path: filters[path] for path in near}), WordIndex(others)

    def _read_text(self, path: str) -> str:
        tree = self._trees.get(_PROJECTS[path.partition("/")[0]])
        # Most of these modules are never parsed, and some thousand texts are a tenth of the memory of a run.
        return (peek(tree, path) or "") if tree else ""

    def _read_texts(self, project: Project) -> Iterator[str]:
        tree = self._trees.get(project)
        return (peek(tree, path) or "" for path in tree.paths(f"{PACKAGES[project]}/")) if tree else iter(())

    @remembered
    def _read_folders(self) -> dict[str, str]:
        projects = ((folder, _PROJECTS.get(folder.partition("/")[0])) for folder in self.folders)
        trees = ((folder, self._trees.get(project)) for folder, project in projects if project)
        return {path: tree.read(path) or "" for folder, tree in trees if tree for path in tree.paths(f"{folder}/")}


def _ask_files(tree: Tree, what: str, find: Callable[[str], bytes]) -> Mapping[str, bytes]:
    """Return ``find`` of the text of each module of a tree, by path; most trees have it from an earlier run."""
    if isinstance(tree, Remembering):
        return tree.remembered(what, find)
    return {path: find(tree.read(path) or "") for path in tree.paths(f"{PACKAGES[tree.source.project]}/")}


def _find_line(text: str, word: str, wanted: re.Pattern[str]) -> int:
    """Return the number of the first line that contains a word and matches a pattern, or 0.

    The word is searched first: that is much faster than a pattern that may begin anywhere.
    """
    at = text.find(word)
    while at >= 0:
        start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
        if wanted.search(text[start:end]):
            return text.count("\n", 0, at) + 1
        at = text.find(word, end)
    return 0


def _may_derive(text: str, class_name: str) -> bool:
    if any(class_name in _WORD.findall(found[1]) for found in _find_matches(_BASES, text, after=_is_no_word)):
        return True
    renamed = re.compile(rf"{re.escape(class_name)}\s+as\s+\w")
    return any(True for _ in _find_matches(renamed, text, after=_is_no_word))


def _quoted_pattern(member: str) -> str:
    return rf"[\"']{re.escape(member)}[\"']"


def _list_bases(text: str) -> bytes:
    """Return the names of `_find_bases` as the cache keeps them."""
    return " ".join(sorted({*_find_bases(text)})).encode()


def _find_bases(text: str) -> Iterator[str]:
    """Yield the names that classes in a text may derive from.

    These are the names in the brackets of ``class`` statements, and those before an ``as``, which may rename a base.
    """
    for found in _find_matches(_BASES, text, after=_is_no_word):
        yield from _WORD.findall(found[1])
    for found in _find_matches(_RENAMED, text, after=str.isspace):
        # Takes the last word in front: searching for words followed by `as` takes five times as long.
        yield from _WORD.findall(text[max(found.start() - _LONGEST, 0) : found.start()])[-1:]


def _find_matches(pattern: re.Pattern[str], text: str, *, after: Callable[[str], bool]) -> Iterator[re.Match[str]]:
    """Yield the matches of ``pattern`` at the start of the text or behind a character that ``after`` accepts.

    That character is tested afterwards, because a pattern that begins with letters is found five times as fast.
    """
    found = pattern.search(text)
    while found is not None:
        is_meant = found.start() == 0 or after(text[found.start() - 1])
        if is_meant:
            yield found
        found = pattern.search(text, found.end() if is_meant else found.start() + 1)


def _is_no_word(character: str) -> bool:
    return _WORD.match(character) is None


_BASES = re.compile(r"class\s+\w+\s*\(([^)]*)")
_RENAMED = re.compile(r"as\s+\w")
_LONGEST = 100
"""Characters before a match in which the word directly before it is looked for; names are shorter."""
_WORD = re.compile(r"\w+")


def _word_pattern(word: str) -> str:
    return rf"\b{re.escape(word)}\b"


def _not_of_self_pattern(member: str) -> str:
    # The lookbehind is at the end, so that the search begins with the name, which is rare.
    return rf"\.{re.escape(member)}(?<!\bself\.{re.escape(member)})"


def _read_elsewhere_pattern(member: str) -> str:
    return rf"{_not_of_self_pattern(member)}(?<!\bsuper\(\)\.{re.escape(member)})\b"


def _read_only_pattern(member: str) -> str:
    return rf"{_read_elsewhere_pattern(member)}(?!{_ASSIGNS})"
