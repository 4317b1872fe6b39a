"""What upstream did to parts that omni does not have, or has in its own form: what is said and shown of it."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, merge
from runner_sync.merge.doubts.decisions import Decision
from runner_sync.model import Triple

OMNI = """\
def run(self, rows):
    self.begin(rows)
    out = self.forward(rows)
    return out
"""
STOPS = "if self.debugger is not None:\n            self.debugger.stop()\n        "
BLOCK = """\
    if not self.is_last:
        out.sent = True
        {}self.send(out)
        return out
"""


def with_block(inside: str) -> str:
    return OMNI.replace("    return out\n", BLOCK.format(inside) + "    return out\n")


def asked(base: str, upstream: str, omni: str = OMNI) -> tuple[Decision, ...]:
    result = merge(Triple(base, omni, upstream), policy=FOLLOW)
    assert result.text == omni
    return result.decisions


@pytest.mark.parametrize(
    ("was", "now", "kind"),
    [
        pytest.param(STOPS, "self.dump()\n        ", "replacement", id="in its place"),
        pytest.param("", "self.dump()\n        ", "addition", id="where nothing stood"),
        pytest.param(
            "self.note()\n        ", "self.dump()\n        self.note()\n        ", "addition", id="in front of it"
        ),
    ],
)
def test_a_replacement_in_a_block_that_omni_lacks_is_called_one(was: str, now: str, kind: str) -> None:
    """``_finalize_dump_data()`` of vllm-ascend 0.22.1rc1 for a condition around three lines."""
    (one,) = asked(with_block(was), with_block(now))
    assert one.reason.kind == f"{kind} in a removed block".replace("addition in", "addition to")
    assert one.upstream == "self.dump()"
    gone = "if self.debugger is not None:\n    self.debugger.stop()"
    assert one.base == (gone if kind == "replacement" else "")


def test_what_upstream_has_elsewhere_by_now_was_not_replaced() -> None:
    base = with_block("self.note(rows)\n        ")
    upstream = with_block("self.dump()\n        ").replace(
        "    self.begin(rows)\n", "    self.note(rows)\n    self.begin(rows)\n"
    )
    kinds = [one.reason.kind for one in merge(Triple(base, OMNI, upstream), policy=FOLLOW).decisions]
    assert "addition to a removed block" in kinds
    assert "replacement in a removed block" not in kinds


def test_a_sign_stands_for_what_is_not_shown_of_a_block() -> None:
    """Two blocks, of which one statement each is new, read as if they held nothing else."""
    base, upstream = (
        with_block(inside).removesuffix("    return out\n") + more + "    return out\n"
        for inside, more in (
            (STOPS, "    if self.pools:\n        self.step()\n        return self.pool(out)\n"),
            ("self.dump()\n        ", "    if self.pools:\n        self.dump()\n        return self.pool(out)\n"),
        )
    )
    (one,) = asked(base, upstream)
    assert one.upstream == "if not self.is_last:\n    # …\n    self.dump()\nif self.pools:\n    self.dump()"
    assert "    # …\n    if self.debugger is not None:\n" in one.base


MAKES = """\
def run(self, rows):
    ids = self.ids(rows)
    sampled = self.sample(rows)
    if self.connector is not None:
        self.connector.finish(rows)
    record = Output({})
    if self.is_async:
        return self.wrapped(record)
    return record
"""
VALUES = "ids=ids, rows=sampled, names=None"
MAKES_OWN = """\
def run(self, rows):
    ids = self.ids(rows)
    {}
    if self.connector is not None:
        self.connector.finish(rows)
    return out
"""


def changed(own: str, values: str = VALUES) -> Decision:
    """The question about a keyword that upstream adds to its record, of which omni has its ``own``."""
    omni = MAKES_OWN.format(own)
    result = merge(Triple(MAKES.format(values), omni, MAKES.format(f"{values}, experts=self.experts")), policy=FOLLOW)
    assert result.text == omni
    (one,) = result.decisions
    assert one.upstream == f"record = Output({values}, experts=self.experts)"
    return one


@pytest.mark.parametrize(
    "own",
    [
        pytest.param("out = OmniOutput(ids=ids, rows=[], names={})", id="a record named like it"),
        pytest.param("out = records.Output(ids=ids, rows=[], names={})", id="the record itself"),
    ],
)
def test_a_call_that_omni_makes_in_its_own_form_is_asked_about_there(own: str) -> None:
    """The generation runner of vllm-omni 0.20.0 makes an ``OmniModelRunnerOutput``, before upstream's makes its own."""
    one = changed(own)
    assert (one.reason.kind, one.reason.names, one.line) == ("renamed statement changed", ("out",), 3)
    assert one.omni == one.chosen == own


@pytest.mark.parametrize(
    ("own", "values"),
    [
        pytest.param("out = OmniOutput(ids=ids, total=0, size=1)", VALUES, id="other keywords"),
        pytest.param("out = OmniOutput(ids=ids, rows=[])", "ids=ids, rows=sampled", id="too few keywords"),
        pytest.param(
            "out = OmniOutput(ids=ids, rows=[], names={})\n    also = OmniOutput(ids=ids, rows=[], names=out)",
            VALUES,
            id="two of them",
        ),
        pytest.param("out = Batch(ids=ids, rows=[], names={})", VALUES, id="another record"),
        pytest.param("out = OmniOutput", VALUES, id="no call"),
    ],
)
def test_a_call_that_is_not_surely_the_same_is_no_form_of_it(own: str, values: str) -> None:
    one = changed(own, values)
    assert (one.reason.kind, one.omni) == ("removed statement changed", "")
