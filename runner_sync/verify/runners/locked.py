"""Compares the units of a module with the lock to find units that were edited since (RS110, RS201).

Comes in: a `Reading` and lock entries. Goes out: answers, and the extra keys of an entry that a later `check` needs
(`hash_own`, `hash_gpu`). May touch: nothing. A hash of its lines shows at once that a unit is unchanged, as nearly all
are. Only for the others is the module split into units, whose digests ignore layout and comments.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runner_sync.statements.assigning import targets_of
from runner_sync.syntax import Function, first_line
from runner_sync.verify.runners.reading import Reading, dotted

if TYPE_CHECKING:
    from runner_sync.lock import Entry
    from runner_sync.model import BaseRef

# Extra keys of a lock entry: the digest of the NPU unit as it was written, and quick hashes.
OWN, OWN_TEXT, GPU_TEXT, OUTSIDE = "digest", "text_hash", "gpu_text_hash", "outside_hash"
GPU_CODE = "gpu_code_hash"
OWN_KEYS = (OWN, OWN_TEXT, OUTSIDE)
KEYS = (*OWN_KEYS, GPU_TEXT, GPU_CODE)


def find_definition(reading: Reading, qualname: str) -> Function | ast.ClassDef | None:
    """Return the last definition of ``qualname``; ``None`` if there is none."""
    owner, _, member = qualname.rpartition(".")
    if owner:
        found = reading.classes[owner].methods.get(member) if owner in reading.classes else None
        return found[-1] if found else None
    if member in reading.functions:
        return reading.functions[member]
    return reading.classes[member].node if member in reading.classes else None


def text_hash(reading: Reading, qualname: str) -> str:
    """Return the hash of the lines of a definition or class-level field; ``""`` if there is none."""
    node = _find_unit(reading, qualname)
    return hash_text(reading.text_of(node)) if node is not None else ""


def _find_unit(reading: Reading, qualname: str) -> ast.stmt | None:
    """Return the statement of a definition or a class-level field; ``None`` if there is none."""
    return find_definition(reading, qualname) or _find_field(reading, qualname)


def _find_field(reading: Reading, qualname: str) -> ast.stmt | None:
    owner, _, member = qualname.rpartition(".")
    body = reading.classes[owner].node.body if owner in reading.classes else []
    assigning = (statement for statement in body if isinstance(statement, ast.Assign | ast.AnnAssign))
    return next((statement for statement in assigning if dotted(targets_of(statement)[0]) == member), None)


def hash_text(text: str) -> str:
    """Return the first 16 digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def outside_hash(reading: Reading, qualname: str, *, label: str) -> str:
    """Return the hash of a definition's code outside its Omni-new blocks; layout and comments do not count."""
    lines = outside_lines(reading, qualname, label=label)
    return hash_text("".join(code for _, code in lines)) if lines is not None else ""


def outside_lines(reading: Reading, qualname: str, *, label: str) -> list[tuple[int, str]] | None:
    """Return (line number, code) pairs of a definition outside its Omni-new blocks; ``None`` if there is none.

    The code has no blanks and comments.
    """
    from runner_sync.markers import read_markers

    node = _find_unit(reading, qualname)
    if node is None:
        return None
    marked = read_markers(reading.text, path=reading.path, label=label).marked
    start = first_line(node)
    lines = enumerate(reading.lines[start - 1 : node.end_lineno], start=start)
    return [(number, re.sub(r"\s+|#.*", "", line)) for number, line in lines if number not in marked]


def is_edited(entry: Entry, reading: Reading) -> bool | None:
    """Whether the NPU unit differs from the locked one; ``None`` if the lock has no digest or the unit is gone."""
    locked = entry.extra.get(OWN)
    if not isinstance(locked, str):
        return None
    if text_hash(reading, entry.qualname) == entry.extra.get(OWN_TEXT):
        return False
    now = digest_now(reading, entry.qualname)
    return None if now is None else now != locked


def is_changed(reference: BaseRef, reading: Reading, *, quick: object, code: object = None) -> bool:
    """Whether the unit that ``reference`` names differs from the locked one, or is gone.

    ``quick`` is the locked hash of its lines. With ``code``, the locked hash without docstrings, docstrings do not
    count.
    """
    if quick and text_hash(reading, reference.qualname) == quick:
        return False
    if digest_now(reading, reference.qualname) == reference.digest:
        return False
    return not code or code_hash(reading, reference.qualname) != code


def find_changed_helpers(reference: BaseRef, reading: Reading) -> tuple[str, ...]:
    """Return the names of the locked helpers of a unit that have other code now, or are gone."""
    names = (helper.rpartition("@")[0] for helper in reference.helpers)
    return tuple(name for name in names if f"{name}@{code_hash(reading, name)}" not in reference.helpers)


def is_unchanged(now: Reading, before: Reading, qualname: str) -> bool:
    """Whether the unit has the same code in both readings, or exists in neither.

    Layout, comments and docstrings do not count.
    """
    text = text_hash(now, qualname)
    if text and text == text_hash(before, qualname):
        return True
    return code_hash(now, qualname) == code_hash(before, qualname)


def code_hash(reading: Reading, qualname: str) -> str:
    """Return the hash of a unit's code without docstrings; ``""`` if there is no such unit."""
    return (_digest(reading, qualname, documented=False) or "")[:16]


def digest_now(reading: Reading, qualname: str) -> str | None:
    """Return the digest of the unit of that name; ``None`` if there is none."""
    if qualname not in reading.digests:
        reading.digests[qualname] = _digest(reading, qualname)
    return reading.digests[qualname]


def _digest(reading: Reading, qualname: str, *, documented: bool = True) -> str | None:
    from runner_sync.digests import digest, digest_of

    unit = reading.units.get(qualname)
    if unit is None:
        return None
    node = find_definition(reading, qualname)
    # The lines of a function contain nothing else, but fields may share a line.
    if isinstance(node, Function) and unit.start <= node.lineno <= unit.end:
        return digest_of([node], documented=documented)
    return digest(unit.text, documented=documented)


def hash_own(qualname: str, npu: Reading, *, label: str) -> Iterator[tuple[str, str]]:
    """Yield the keys by which RS110 and RS201 later find an edit of an NPU unit; none if there is no such unit."""
    own = digest_now(npu, qualname)
    if own is not None:
        yield OWN, own
        yield OWN_TEXT, text_hash(npu, qualname)
        yield OUTSIDE, outside_hash(npu, qualname, label=label)


def hash_gpu(qualname: str, gpu: Reading) -> Iterator[tuple[str, str]]:
    """Yield the keys by which RS201 finds a changed GPU text at once, for a twin that has the locked text."""
    yield GPU_TEXT, text_hash(gpu, qualname)
    yield GPU_CODE, code_hash(gpu, qualname)
