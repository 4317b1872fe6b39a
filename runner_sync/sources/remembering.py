"""Answers computed from the files of a tree, kept for later runs, file by file.

Comes in: the place of a tree, the state of each of its files, and a function that computes an answer. Goes out: the
answers. May touch: the cache folder. A state is whatever changes with the text and is known without reading it: the
name of a git object, or the size and the times of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from runner_sync.sources import cache
from runner_sync.trees import Tree

_LENGTH = 8
"""Bytes of the number in front of an entry that says how long its table of answers is."""


def remembered(
    what: str, place: str, states: Mapping[str, str], find: Callable[[str], bytes], *, near: str = ""
) -> dict[str, bytes]:
    """``{path: find(path)}`` for each path in ``states``; the answer of the last run if the path's state was the same.

    The cache has one entry for each ``what`` and ``place``, with the paths of the last run only. A place without one
    begins with that of ``near``, which gets the answers of whichever place was computed last: another revision of the
    same files shares most of them.
    """
    own = _loaded(what, place)
    known = own or (_loaded(what, near) if near else {})
    kept = {path: known[path] for path, state in states.items() if path in known and known[path][0] == state}
    found = {path: kept[path] if path in kept else (state, find(path)) for path, state in states.items()}
    if found != own:
        for entry in filter(None, (place, near)):
            cache.store_answer(what, entry, _packed(found))
    return {path: answer for path, (_, answer) in found.items()}


def of_release(tree: Tree, sha256: str, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
    """``{path: find(text)}`` for every file of a release, which never changes: the hash of its archive is its place."""
    return remembered(what, sha256, dict.fromkeys(tree.paths(), ""), lambda path: find(tree.read(path) or ""))


def _packed(found: Mapping[str, tuple[str, bytes]]) -> bytes:
    rows = [(path, state, len(answer)) for path, (state, answer) in found.items()]
    head = json.dumps(rows).encode()
    return b"".join([len(head).to_bytes(_LENGTH), head, *(answer for _, answer in found.values())])


def _loaded(what: str, place: str) -> dict[str, tuple[str, bytes]]:
    """The entry of ``what`` and ``place``; empty if there is none, or if it has another form."""
    data = cache.load_answer(what, place)
    try:
        return {} if data is None else _unpacked(data)
    except cache.OTHER_FORM:
        return {}


def _unpacked(data: bytes) -> dict[str, tuple[str, bytes]]:
    at = _LENGTH + int.from_bytes(data[:_LENGTH])
    found = {}
    for path, state, length in json.loads(data[_LENGTH:at]):
        found[path] = (state, data[at : at + length])
        at += length
    return found
