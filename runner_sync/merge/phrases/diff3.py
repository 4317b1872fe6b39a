"""Merge three sequences of texts: the phrases of a statement, or the lines of a docstring.

Comes in: the base's, omni's and upstream's texts. Goes out: the merged ones, or ``None`` for a conflict. May touch:
nothing.

The algorithm is diff3 (Khanna, Kunal and Pierce, "A formal investigation of diff3", 2007): texts that all three have in
order part the sequences into pieces, and each piece is merged by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from runner_sync.merge.policy import Winner

MergePiece = Callable[[list[str], list[str], list[str]], list[str] | None]
"""Merges a piece of base, omni and upstream; ``None`` for a conflict."""


def diff3(
    base: list[str], omni: list[str], upstream: list[str], merge_piece: MergePiece, *, prefer: Winner | None = None
) -> list[str] | None:
    """Return the merged sequence; ``None`` if there is a conflict.

    With ``prefer``, that side's texts stand for each piece with a conflict.
    """
    to_omni, to_upstream = (_index_matches(find_matches(base, side)) for side in (omni, upstream))
    out: list[str] = []
    b = o = u = 0
    stops = [i for i in range(len(base)) if i in to_omni and i in to_upstream]
    for stop in [*stops, len(base)]:
        end_o = to_omni.get(stop, len(omni))
        end_u = to_upstream.get(stop, len(upstream))
        piece = merge_piece(base[b:stop], omni[o:end_o], upstream[u:end_u])
        if piece is None and prefer is None:
            return None
        if piece is None:
            piece = omni[o:end_o] if prefer == "omni" else upstream[u:end_u]
        out += piece
        if stop < len(base):
            out.append(base[stop])
        b, o, u = stop + 1, end_o + 1, end_u + 1
    return out


def merge_lines(base: list[str], omni: list[str], upstream: list[str]) -> list[str] | None:
    """Merge a piece of a text: one side changed it, or one changed it and the other added lines around it.

    ``None`` for anything else.
    """
    if omni == upstream:
        return omni
    for one, other in ((omni, upstream), (upstream, omni)):
        at = _find_run(base, one)
        if at is not None:
            return [*one[:at], *other, *one[at + len(base) :]]
    return None


def _find_run(run: list[str], among: list[str]) -> int | None:
    """Return the index at which ``run`` stands in a sequence; ``None`` if it does not, or if it is empty."""
    if not run:
        return None if among else 0
    return next((k for k in range(len(among) - len(run) + 1) if among[k : k + len(run)] == run), None)


def find_matches(base: Sequence[str], other: Sequence[str]) -> list[tuple[int, int, int]]:
    """Return the runs that both sequences have, as ``(index, other index, length)``."""
    return [tuple(m) for m in SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()]  # type: ignore[misc]


def _index_matches(blocks: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    return {a + k: b + k for a, b, size in blocks for k in range(size)}
