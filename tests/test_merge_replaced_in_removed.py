"""Upstream replaces all inside a block that omni had taken away from around its statements."""

from __future__ import annotations

from merge_samples import kinds

from runner_sync.merge import merge
from runner_sync.model import Triple

UNIT = "def update(self, info):\n    self.check()\n{}    return info\n"
TYPED, LOOP = "    typed = self.parse(info)\n", "    for row in typed:\n        self.receive(row)\n"
NEW = "    self.engine.update(info)\n"


def _try(body: str, end: str) -> str:
    return "    try:\n" + "".join(f"    {line}\n" for line in body.splitlines()) + end


BASE = UNIT.format(_try(TYPED + LOOP, "    finally:\n        self.reset()\n"))
ERROR = "    except BaseException:\n        self.reset()\n        raise\n"
UPSTREAM = UNIT.format(_try(NEW, ERROR))


def test_the_replacement_comes_in_where_omni_has_the_statements() -> None:
    """``update_weights`` of vllm-ascend 0.24.0rc1 on vLLM 0.25: it did nothing any more."""
    result = merge(Triple(BASE, UNIT.format(TYPED + LOOP), UPSTREAM))
    assert result.text == UNIT.format(NEW)
    (asked,) = result.decisions
    assert asked.reason.kind == "addition to a removed block"
    assert "except BaseException" in asked.upstream


def test_what_omni_added_and_reads_stays_with_it() -> None:
    own = "    self.own(typed)\n"
    result = merge(Triple(BASE, UNIT.format(TYPED + own + LOOP), UPSTREAM))
    assert result.text == UNIT.format(NEW + TYPED + own)
    assert kinds(result) == ["addition to a removed block", "removed value read"]


def test_without_statements_of_omnis_it_stays_out() -> None:
    result = merge(Triple(BASE, UNIT.format(""), UPSTREAM))
    assert (result.text, kinds(result)) == (UNIT.format(""), ["replacement in a removed block"])
