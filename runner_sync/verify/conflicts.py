"""Finds the files of a job that hold merge conflicts.

Comes in: a `Library`, and the rules that are wanted. Goes out: paths and findings. May touch: nothing but what the job
can read.
"""

from __future__ import annotations

from runner_sync.errors import UnresolvedConflict
from runner_sync.verify.branch import Lines
from runner_sync.verify.codes import Codes
from runner_sync.verify.hits import Hit
from runner_sync.verify.rules import rs410_conflict_markers
from runner_sync.verify.runners.job import Library


class Conflicts:
    """The files of a job that hold merge conflicts, by path; files that a rule comes upon are added.

    Conflicts are the only findings in their file. Raises ``UnresolvedConflict`` for one that would not be reported.
    """

    def __init__(self, library: Library, codes: Codes) -> None:
        self._library = library
        self._codes = codes
        self._found: dict[str, list[Hit]] = {}
        for module in library.job.modules:
            self.look_into(module.path)
            if module.gpu_text is not None:
                self.look_into(module.gpu_path)

    def __contains__(self, path: str) -> bool:
        return path in self._found

    def hits(self) -> list[Hit]:
        """Return one finding for each conflict."""
        return [hit for hits in self._found.values() for hit in hits]

    def look_into(self, path: str) -> bool:
        """Whether the omni file at ``path`` holds a conflict; if so, adds it."""
        reading = self._library.at(path)
        found = list(rs410_conflict_markers.find(reading)) if reading is not None else []
        if found and not self._codes.wants("RS410", path):
            raise UnresolvedConflict(path, found[0].finding.line)
        if found:
            self._found[path] = found
        return bool(found)

    def look_beside(self, changed: Lines | None) -> None:
        """Look for conflicts in the files searched for classes, and in files beside the modules that a branch changed.

        A class is found by its text even in a file that does not parse; without it an MRO has a hole. Raises
        ``InputError`` for a file that cannot be read or does not parse; with a branch, only for a file that it changed.
        """
        for path, error in self._library.unread.items():
            if changed is None or path in changed:
                raise error
        folders = {module.path.rpartition("/")[0] for module in self._library.job.modules}
        beside = [p for p in changed or () if p.endswith(".py") and p.rpartition("/")[0] in folders]
        for path in dict.fromkeys([*self._library.paths(), *beside]):
            reading = self._library.at(path)
            if not self.look_into(path) and reading is not None and (changed is None or path in changed):
                _ = reading.tree
