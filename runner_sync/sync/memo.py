"""Remember answers on disk that take long to find and depend on content alone.

Comes in: a unit and the revisions at hand, or a question as words. Goes out: the answer. May touch: the cache folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import msgspec

from runner_sync import upgrade
from runner_sync.lineage import Origin
from runner_sync.profile import Profile
from runner_sync.sources import cache as answer_cache
from runner_sync.sync.program import program_digest
from runner_sync.upgrade import InNpuWords, ModuleRevision, Translation


def recall(kind: str, question: Iterable[str], find: Callable[[], Any]) -> Any:
    """Return what ``find`` returns (any JSON value), computed once per ``kind`` and ``question``.

    Another version of this program, of Python or of libcst computes it again.
    """
    key = _digest([_program_digest(), *question])
    known = answer_cache.load_answer(kind, key)
    if known is not None:
        return json.loads(known)
    answer = json.dumps(find())
    answer_cache.store_answer(kind, key, answer.encode())
    return json.loads(answer)


def closest(name: str, text: str, sides: Sequence[ModuleRevision]) -> Origin | None:
    """Return ``upgrade.closest``, remembered by name, text and the texts of the sides."""

    def find() -> object:
        origin = upgrade.closest(name, text, sides)
        if origin is None:
            return None
        return [origin.ref, origin.similarity, sorted(origin.heritage), origin.composite]

    question = [name, text, *(word for side in sides for word in (side.ref, _hash(side.text), f"{side.is_named}"))]
    answer = recall("origins", question, find)
    if answer is None:
        return None
    ref, similarity, heritage, composite = answer
    side = next(side for side in reversed(sides) if side.ref == ref)
    return Origin(ref, side.units[name], similarity, frozenset(heritage), tuple(composite))


@lru_cache(maxsize=64)
def _translate_module(text: str, profile: Profile, *, path: str, with_findings: bool) -> InNpuWords:
    def find() -> object:
        translated = upgrade.TRANSLATION.module(text, profile, path=path, with_findings=with_findings)
        return msgspec.to_builtins(translated)

    question = [_serialise(profile), path, text, "with findings" if with_findings else ""]
    return msgspec.convert(recall("translations", question, find), InNpuWords)


@lru_cache(maxsize=1024)
def _translate_unit(text: str, profile: Profile) -> str:
    return str(recall("translations", [_serialise(profile), text], lambda: upgrade.TRANSLATION.unit(text, profile)))


TRANSLATION = Translation(_translate_module, _translate_unit)
"""``upgrade.TRANSLATION`` with its answers remembered."""


def _serialise(profile: Profile) -> str:
    return msgspec.json.encode(profile, order="deterministic").decode()


@cache
def _program_digest() -> str:
    """Return a digest of what every answer depends on: this program's text, libcst, and Python.

    Python counts because its ``ast`` unparses statements.
    """
    return _digest([program_digest(), version("libcst")])


@lru_cache(maxsize=1024)
def _hash(text: str) -> str:
    return _digest([text])


def _digest(words: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(words).encode(errors="surrogatepass")).hexdigest()
