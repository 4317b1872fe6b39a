"""Which of two additions comes first where both sides added statements between the same two."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Policy, merge
from runner_sync.model import Triple

HEAD, END = "def run(self, rows):\n    rows = self.load(rows)\n", "    return self.finish(rows)\n"
PAD, COUNT = "    rows = self.pad(rows)\n", "    self.count = len(rows)\n"
PAD_IF = "    if self.pads:\n        rows = self.pad(rows)\n"
PAD_SELF, KEEP = "    self.rows = self.pad(rows)\n", "    self.keep(self.rows)\n"
LEAVE = "    if self.is_done:\n        return self.leave(rows)\n"
NAME, SIZE = "    self.names = getattr(rows, 'names', []) + rows.more\n", "    self.size = rows.size\n"
FIELDS = "    rows = replace(rows, ids=self.ids, size=max(rows.sizes))\n"
COPY = "    if self.is_async:\n        rows = deepcopy(rows)\n"
NOTE = "    self.note('loaded')\n"
OWN = "    for part in self.parts:\n        rows += part.rows_of(self.batch, rows)\n"


@pytest.mark.parametrize(
    ("new", "own", "merged"),
    [
        pytest.param(PAD, COUNT, PAD + COUNT, id="a local"),
        pytest.param(PAD_IF, COUNT, PAD_IF + COUNT, id="set under a condition"),
        pytest.param(PAD_SELF, KEEP, PAD_SELF + KEEP, id="an attribute"),
        pytest.param(PAD + NOTE, COUNT, PAD + COUNT + NOTE, id="and only as far as needed"),
        pytest.param(PAD, LEAVE, PAD + LEAVE, id="read in a block of omni's"),
        pytest.param(PAD, OWN + COUNT, OWN + COUNT + PAD, id="both change it"),
        pytest.param(NOTE, COUNT, COUNT + NOTE, id="nothing set"),
        pytest.param(COUNT, PAD, PAD + COUNT, id="set by omni"),
        pytest.param(COPY, COUNT, COUNT + COPY, id="only copied"),
        pytest.param(FIELDS, COUNT, FIELDS + COUNT, id="copied with other fields and read as a whole"),
        pytest.param(FIELDS, SIZE, FIELDS + SIZE, id="one of these fields read"),
        pytest.param(FIELDS, NAME, NAME + FIELDS, id="another field read"),
        pytest.param(PAD, NOTE, NOTE + PAD, id="not read"),
    ],
)
def test_upstream_s_addition_comes_before_omni_s_that_reads_what_it_sets(new: str, own: str, merged: str) -> None:
    """What omni's statement reads is what upstream's code further down works with; omni's come first elsewhere."""
    assert merge(Triple(HEAD + END, HEAD + own + END, HEAD + new + END)).text == HEAD + merged + END


@pytest.mark.parametrize(
    ("new", "own", "asked"),
    [
        pytest.param(PAD, COUNT, ["set beside its use"], id="set and read in one gap"),
        pytest.param(PAD, OWN + COUNT, ["set beside its use"], id="changed by both"),
        pytest.param(PAD, "    rows = []\n" + COUNT, [], id="set anew by omni first"),
        pytest.param(COUNT, PAD, [], id="read by upstream's"),
        pytest.param(NOTE, COUNT, [], id="nothing set"),
        pytest.param(COPY, COUNT, [], id="only copied"),
        pytest.param(FIELDS, NAME, [], id="another field read"),
        pytest.param(FIELDS, SIZE, ["set beside its use"], id="one of the new fields read"),
    ],
)
def test_the_order_of_two_additions_is_asked_about_if_omni_s_reads_what_upstream_s_sets(
    new: str, own: str, asked: list[str]
) -> None:
    merged = merge(Triple(HEAD + END, HEAD + own + END, HEAD + new + END))
    assert [item.reason.kind for item in merged.decisions] == asked


def test_the_question_shows_both_additions() -> None:
    (item,) = merge(Triple(HEAD + END, HEAD + COUNT + END, HEAD + PAD + END)).decisions
    assert (item.omni, item.upstream, item.reason.names) == (COUNT.strip(), PAD.strip(), ("rows",))


def test_a_value_that_upstream_only_sets_in_another_way_needs_no_question() -> None:
    base = "def run(self, batch):\n    out = self.model(batch)\n    return out\n"
    omni = base.replace("    return", "    if not is_record(out):\n        out = self.wrap(out)\n    return")
    upstream = base.replace("    out = self.model(batch)", "    call = partial(self.model, batch)\n    out = call()")
    assert merge(Triple(base, omni, upstream)).decisions == ()


def test_what_stands_behind_a_common_statement_needs_no_question() -> None:
    """Upstream changed the value for everything below, as if it had changed the statement that sets it."""
    between = "    self.check_all_rows()\n"
    omni, upstream = HEAD + between + COUNT + END, HEAD + PAD + between + END
    merged = merge(Triple(HEAD + between + END, omni, upstream))
    assert (merged.text, merged.decisions) == (HEAD + PAD + between + COUNT + END, ())


@pytest.mark.parametrize(
    ("omni", "is_asked"),
    [
        pytest.param(
            "    self.log()\n    self.note(rows, self.count)\n    self.send_all(rows)\n    self.check(rows)\n",
            False,
            id="unmoved",
        ),
        pytest.param(
            "    self.send_all(rows)\n    self.log()\n    self.note(rows, self.count)\n    self.check(rows)\n",
            True,
            id="moved",
        ),
        pytest.param("    self.log()\n    self.note(rows, self.count)\n    self.check(rows)\n", False, id="removed"),
    ],
)
@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["a copy", "a port"])
def test_a_new_suite_around_what_omni_has_moved_is_asked_about(omni: str, is_asked: bool, policy: Policy) -> None:
    """Its condition may be meant for omni's statement, too; without one, there is nothing to put it around."""
    head, last = "def run(self, rows):\n    self.log()\n    self.note(rows, self.count)\n", "    self.check(rows)\n"
    base = head + "    self.send_all(rows)\n" + last
    upstream = head + "    if self.is_first:\n        self.send_all(rows)\n" + last
    merged = merge(Triple(base, f"def run(self, rows):\n{omni}", upstream), policy=policy)
    assert [item.reason.kind for item in merged.decisions] == ["suite around other statements"] * is_asked


def test_a_new_loop_around_what_omni_computes_in_its_own_way_is_asked_about() -> None:
    base = "def run(self, rows):\n    out = self._forward(rows, self.positions)\n    return out\n"
    omni = base.replace("self._forward(rows, self.positions)", "model(input_ids=rows)")
    upstream = base.replace("    out", "    for _ in range(self.warmups):\n        out")
    (item,) = merge(Triple(base, omni, upstream)).decisions
    assert (item.reason.kind, item.omni) == ("suite around other statements", "out = model(input_ids=rows)")


RULER = "    # ------------ Omni-new ------------\n"


@pytest.mark.parametrize(
    "suite",
    [
        pytest.param("    with self.timed():\n{}", id="a context"),
        pytest.param("    if self.is_idle:\n        out = self.empty(rows)\n    else:\n{}", id="a branch"),
    ],
)
def test_rulers_follow_their_block_into_a_new_suite(suite: str) -> None:
    """Nothing of the block is left between them in the old suite, but the block is still there."""
    head, last = "def run(self, rows):\n    rows = self.load(rows)\n", "    return out\n"
    call = "    out = self.model.compute(rows)\n"
    own = f"    try:\n    {call.replace('(rows)', '(rows, self.batch)')}    except TypeError:\n    {call}"
    block = f"{RULER}{own}{RULER}"
    upstream = head + suite.format(f"    {call}") + last
    merged = merge(Triple(head + call + last, head + block + last, upstream))
    assert merged.text == head + suite.format("".join(f"    {line}" for line in block.splitlines(True))) + last
