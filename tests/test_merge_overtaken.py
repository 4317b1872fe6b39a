"""A statement that upstream moved past an addition of omni's: a question if their order matters."""

from __future__ import annotations

from textwrap import indent

import pytest

from runner_sync.merge import Merged, merge
from runner_sync.model import Triple


def merged(base: str, omni: str, upstream: str) -> Merged:
    head, last = "def step(self, out, rows, n):\n", "    return rows\n"
    return merge(Triple(*(f"{head}{indent(text, '    ')}\n{last}" for text in (base, omni, upstream))))


def is_asked(result: Merged) -> bool:
    return "on the other side" in {decision.reason.kind for decision in result.decisions}


BEFORE_UPDATE = "self._begin(out)\nself._count(out)\nself._update(out)\ntotal = out.total"
SWAPPED = "meta = self.build({0})\nids = ids_[:{0}]\nself.run(meta, ids)"
EXIT = "self._update(out)\nreqs = self.fetch(out)\nmeta = self.build(reqs)\nself.run(meta)"
LOOP = """for req in rows:
    if not req.done:
        num = req.num
        self.total += num
    self.count(req)"""
LOOP_NOW = """for req in rows:
    self.count(req)
    if req.done:
        continue
    num = req.num
    self.total += num"""


def put_behind(line: str, added: str, text: str) -> str:
    assert line in text
    return text.replace(line, f"{line}\n{added}")


UPDATED_FIRST = "self._update(out)\nself._begin(out)\nself._count(out)\ntotal = out.total"
BEFORE_OF_N = "self._begin(n)\nself._count(n)\nself._update(out)\ntotal = n.total"
UPDATED_FIRST_OF_N = "self._update(out)\nself._begin(n)\nself._count(n)\ntotal = n.total"
IN_CONTEXT = """with self.record():
    self._begin(n)
    with self.guard():
        # Update.
        self._update(out)
        self.run(n)"""
OUT_OF_CONTEXT = (
    "self._update(out)\nwith self.record():\n    self._begin(n)\n    with self.guard():\n        self.run(n)"
)
UPDATED_LAST = "reqs = self.fetch(out)\nmeta = self.build(reqs)\nself._update(out)\nself.run(meta)"


@pytest.mark.parametrize(
    ("base", "line", "added", "upstream"),
    [
        pytest.param(
            BEFORE_UPDATE, "self._count(out)", "self.t.send(out)", UPDATED_FIRST, id="it stood directly in front"
        ),
        pytest.param(
            IN_CONTEXT, "    self._begin(n)", "    self.t.send(out)", OUT_OF_CONTEXT, id="in front of the context of it"
        ),
        pytest.param(
            SWAPPED.format("n"),
            "meta = self.build(n)",
            "n = self.t.extend(n)",
            "ids = ids_[:n]\nmeta = self.build(n)\nself.run(meta, ids)",
            id="the merge itself keeps one of two orders",
        ),
        pytest.param(
            BEFORE_UPDATE,
            "self._begin(out)",
            "out[0] = n",
            UPDATED_FIRST,
            id="it sets an element of what the statement uses",
        ),
        pytest.param(
            f"self._start(n)\n{BEFORE_UPDATE}",
            "self._begin(out)",
            "out.merge(n)",
            f"self._start(n)\n{UPDATED_FIRST}",
            id="it calls a method of what the statement uses",
        ),
        *(
            pytest.param(BEFORE_OF_N, "self._begin(n)", added, UPDATED_FIRST_OF_N, id=added)
            for added in ("out.flag = 1", "out.size += 1", "out.rows[0] = 1", "out.rows.clear()", "out.a, out.b = n")
        ),
        pytest.param(
            BEFORE_OF_N.replace("(out)", "(self.size)"),
            "self._begin(n)",
            "self.size.x = 4",
            UPDATED_FIRST_OF_N.replace("(out)", "(self.size)"),
            id="a part of an attribute",
        ),
        pytest.param(
            EXIT,
            "reqs = self.fetch(out)",
            "if self.t.only:\n    return self.t.run(reqs)",
            UPDATED_LAST,
            id="it may return",
        ),
        pytest.param(LOOP, "    self.count(req)", "    self.t.count(req)", LOOP_NOW, id="a new exit is in between"),
    ],
)
def test_an_addition_past_which_upstream_moved_a_statement_is_a_question(
    base: str, line: str, added: str, upstream: str
) -> None:
    result = merged(base, put_behind(line, added, base), upstream)
    assert added.strip().partition("\n")[0] in result.text
    assert is_asked(result)


@pytest.mark.parametrize(
    ("base", "line", "added", "upstream"),
    [
        *(
            pytest.param(BEFORE_UPDATE, "self._count(out)", added, UPDATED_FIRST, id=added)
            for added in (
                "logger.info('counted')",
                "assert n > 0",
                "'counted'",
                "if self.debug:\n    logger.info('counted')",
                "self.d['k'] = n",
            )
        ),
        pytest.param(
            IN_CONTEXT.replace("with self.guard()", "if self.guard()"),
            "    self._begin(n)",
            "    self.t.send(out)",
            OUT_OF_CONTEXT.replace("with self.guard()", "if self.guard()"),
            id="in front of a condition on it",
        ),
        pytest.param(
            IN_CONTEXT.replace("        # Update.", "        self.count(n)"),
            "    self._begin(n)",
            "    self.t.send(out)",
            OUT_OF_CONTEXT.replace("        self.run", "        self.count(n)\n        self.run"),
            id="in front of a context with another statement before it",
        ),
        pytest.param(
            BEFORE_OF_N.replace("(out)", "(out.rows)"),
            "self._begin(n)",
            "out.flag = 1",
            UPDATED_FIRST_OF_N.replace("(out)", "(out.rows)"),
            id="another part of the same object",
        ),
        pytest.param(
            BEFORE_UPDATE, "self._begin(out)", "self.t.send(n)", UPDATED_FIRST, id="it is no neighbour and independent"
        ),
        pytest.param(
            BEFORE_UPDATE,
            "self._count(out)",
            "self.t.rows = self.t.pad(n)",
            UPDATED_FIRST,
            id="what it sets says when it is due",
        ),
        pytest.param(
            BEFORE_UPDATE, "self._begin(out)", "log.info(n)", UPDATED_FIRST, id="it calls something of the module"
        ),
        pytest.param(
            BEFORE_UPDATE, "total = out.total", "self._update.total = total", UPDATED_FIRST, id="it stands behind both"
        ),
        pytest.param(
            EXIT,
            "reqs = self.fetch(out)",
            "for row in rows:\n    if row.last:\n        break\n    self.t.run(row)",
            UPDATED_LAST,
            id="it leaves only its own loop",
        ),
        pytest.param(
            EXIT,
            "reqs = self.fetch(out)",
            "def late():\n    return self.t.rows",
            UPDATED_LAST,
            id="it defines a function",
        ),
        pytest.param(
            EXIT, "reqs = self.fetch(out)", "if not reqs:\n    raise self.t.error", UPDATED_LAST, id="it only fails"
        ),
        pytest.param(
            LOOP,
            "    self.count(req)",
            "    self.t.count(req)",
            LOOP_NOW.replace("        continue\n", "        num = 0\n"),
            id="the new block is no exit",
        ),
    ],
)
def test_an_addition_whose_order_does_not_matter_is_no_question(
    base: str, line: str, added: str, upstream: str
) -> None:
    result = merged(base, put_behind(line, added, base), upstream)
    assert added.strip().partition("\n")[0] in result.text
    assert not is_asked(result)
