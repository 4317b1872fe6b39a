"""What was found out about the files of a tree, kept for later runs, file by file.

Comes in: where a tree is, the state of each of its files, and how to find out something about a text. Goes out: what
was found out. May touch: the cache folder. A state is whatever changes with the text and is had without reading it: the
name of a git object, or the size and the times of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from runner_sync.sources import cache
from runner_sync.trees import Tree

_LENGTH = 8


def remembered(what: str, place: str, states: Mapping[str, str], find: Callable[[str], bytes]) -> dict[str, bytes]:
    """``find(path)`` of each path in ``states``; of one that had the same state in an earlier run, what that found.

    A place has one entry for ``what``, which holds no other paths than those of its last run.
    """
    known = _unpacked(cache.load_answer(what, place))
    kept = {path: known[path] for path, state in states.items() if path in known and known[path][0] == state}
    found = {path: kept[path] if path in kept else (state, find(path)) for path, state in states.items()}
    if found != known:
        cache.store_answer(what, place, _packed(found))
    return {path: answer for path, (_, answer) in found.items()}


def of_release(tree: Tree, sha256: str, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
    """The same of every text of a release, known by the hash of its file: it never changes."""
    return remembered(what, sha256, dict.fromkeys(tree.paths(), ""), lambda path: find(tree.read(path) or ""))


def _packed(found: Mapping[str, tuple[str, bytes]]) -> bytes:
    rows = [(path, state, len(answer)) for path, (state, answer) in found.items()]
    head = json.dumps(rows).encode()
    return b"".join([len(head).to_bytes(_LENGTH), head, *(answer for _, answer in found.values())])


def _unpacked(data: bytes | None) -> dict[str, tuple[str, bytes]]:
    if data is None:
        return {}
    at = _LENGTH + int.from_bytes(data[:_LENGTH])
    found = {}
    for path, state, length in json.loads(data[_LENGTH:at]):
        found[path] = (state, data[at : at + length])
        at += length
    return found
