"""Recall an answer that depends on files of the omni tree as long as these files are the same.

Comes in: a question, and how to read files. Goes out: the answer of an earlier run. May touch: the cache folder, and
what the reader reads.

An answer is kept with the digest of every file that was read for it. It depends on this program's text and on Python,
too. Whatever is wrong with the cache, there is no answer. What a TOML text holds depends on the text alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from runner_sync.errors import InputError
from runner_sync.lock import decode_toml
from runner_sync.sources import cache
from runner_sync.sync.program import program_digest
from runner_sync.verify.check_job import TextReader

_TOML = "toml"


class Recorder:
    """Reads files, and keeps the digests of their texts; ``None`` stands for no such file."""

    def __init__(self, read: TextReader) -> None:
        self._read = read
        self.digests: dict[str, str | None] = {}
        self.has_failed = False

    def __call__(self, path: str) -> str | None:
        try:
            text = self._read(path)
        except InputError:
            self.has_failed = True
            raise
        self.digests[path] = _digest_text(text)
        return text


def make_key(question: str) -> str:
    """Return the key of a question to this version of the program."""
    return _digest(f"{program_digest()}\0{question}")


def recall(kind: str, key: str, read: TextReader) -> Any:
    """Return what an earlier run kept; ``None`` if there is nothing, or a file that it read is another one now."""
    with suppress(InputError, *cache.OTHER_FORM):
        data = cache.load_answer(kind, key)
        if data is not None:
            digests, answer = json.loads(data)
            if all(_digest_text(read(path)) == digest for path, digest in digests.items()):
                return answer
    return None


def keep(kind: str, key: str, answer: Any, digests: Mapping[str, str | None]) -> None:
    """Keep an answer that JSON can hold. Unlike a download, one that cannot be kept is no reason to fail."""
    with suppress(InputError):
        cache.store_answer(kind, key, json.dumps([digests, answer]).encode())


def _digest_text(text: str | None) -> str | None:
    return None if text is None else _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def recall_toml(text: str) -> dict[str, Any]:
    """Return `decode_toml`, recalled if an earlier run decoded the same text: reading JSON takes a tenth of the time.

    Raises ``ValueError`` as it does.
    """
    key = _digest(text)
    with suppress(InputError, *cache.OTHER_FORM):
        known = json.loads(cache.load_answer(_TOML, key) or b"")
        if isinstance(known, dict):
            return known
    found = decode_toml(text)
    with suppress(InputError, TypeError):  # JSON has no dates
        cache.store_answer(_TOML, key, json.dumps(found).encode())
    return found
