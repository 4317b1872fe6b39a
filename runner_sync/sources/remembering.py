"""Cache answers computed from the files of a tree, file by file, for later runs.

Comes in: the place of a tree, the state of each of its files, and a function that computes an answer. Goes out: the
answers. May touch: the cache folder. A state changes with the text and is known without reading the text: the name of a
git object, or the size and the times of a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from runner_sync.sources import cache

_LENGTH = 8
"""Bytes of the number at the start of an entry: the length of its table of answers."""


def compute_cached(
    what: str, place: str, states: Mapping[str, str], find: Callable[[str], bytes], *, near: str = ""
) -> dict[str, bytes]:
    """Return ``{path: find(path)}`` for ``states``, reusing the last run's answer if the path's state is the same.

    The cache has one entry for each ``what`` and ``place``, with the paths of the last run only. A place without an
    entry starts from the entry of ``near``, which holds the answers of the last place computed there: another revision
    of the same files shares most of them.
    """
    own = _load(what, place)
    known = own or (_load(what, near) if near else {})
    kept = {path: known[path] for path, state in states.items() if path in known and known[path][0] == state}
    found = {path: kept[path] if path in kept else (state, find(path)) for path, state in states.items()}
    if found != own:
        for entry in filter(None, (place, near)):
            cache.store_answer(what, entry, _pack(found))
    return {path: answer for path, (_, answer) in found.items()}


def _pack(found: Mapping[str, tuple[str, bytes]]) -> bytes:
    rows = [(path, state, len(answer)) for path, (state, answer) in found.items()]
    head = json.dumps(rows).encode()
    return b"".join([len(head).to_bytes(_LENGTH), head, *(answer for _, answer in found.values())])


def _load(what: str, place: str) -> dict[str, tuple[str, bytes]]:
    """Return the entry of ``what`` and ``place``; empty if it is absent or of another form."""
    data = cache.load_answer(what, place)
    try:
        return {} if data is None else _unpack(data)
    except cache.OTHER_FORM:
        return {}


def _unpack(data: bytes) -> dict[str, tuple[str, bytes]]:
    at = _LENGTH + int.from_bytes(data[:_LENGTH])
    found = {}
    for path, state, length in json.loads(data[_LENGTH:at]):
        found[path] = (state, data[at : at + length])
        at += length
    return found
