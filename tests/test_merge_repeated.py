"""A statement that upstream has once more and that omni changed: whether the new copy is a question."""

from __future__ import annotations

import pytest

from runner_sync.merge import merge
from runner_sync.model import Triple

CALL = "logits = self.model.compute(rows)"
OWN_CALL = "logits = self.model.compute(rows, self.metadata)"
BASE = f"""def run(self, rows):
    rows = hidden[ids]
    {CALL}
    self.keep(logits)
"""
NEW = f"""def run(self, rows):
    if self.last:
        rows = hidden[ids]
        {CALL}
    else:
        self.note()
        rows = hidden[ids]
        {CALL}
        logits = self.send(logits)
    self.keep(logits)
"""
TRIED = f"""try:
        {OWN_CALL}
    except TypeError:
        {CALL}"""


@pytest.mark.parametrize(
    ("own", "new", "is_asked"),
    [
        pytest.param(OWN_CALL, NEW, True, id="omni edited it"),
        pytest.param(TRIED, NEW, True, id="omni put a try around it"),
        pytest.param(f"if self.wanted:\n        {CALL}", NEW, True, id="omni put a condition on it"),
        pytest.param(CALL, NEW, False, id="omni left it"),
        pytest.param(CALL.replace(" =", ": Tensor ="), NEW, False, id="omni annotated it"),
        pytest.param(OWN_CALL.replace(" =", ": Tensor ="), NEW, True, id="omni annotated and edited it"),
        pytest.param(OWN_CALL, NEW.replace(CALL, "logits = self.other(rows)", 1), False, id="upstream has it once"),
        pytest.param(f"{OWN_CALL}\n    more = 1\n    {CALL}", NEW, False, id="omni added a call in front"),
    ],
)
def test_a_second_copy_of_what_omni_changed(own: str, new: str, is_asked: bool) -> None:
    """`compute_logits` of vllm-ascend's `execute_model` got a second branch; omni passes its metadata to the first."""
    omni = BASE.replace(CALL, own)
    result = merge(Triple(BASE, omni, new))
    asked = [item.chosen for item in result.decisions if item.reason.kind == "repeated without omni's change"]
    assert asked == [CALL] * is_asked


def test_a_copy_inside_the_block_of_omni_needs_no_question() -> None:
    base = f"def run(self, rows):\n    self.begin(rows)\n    {CALL}\n    self.keep(logits)\n    self.end(logits)\n"
    body = base.partition("\n")[2].replace("\n    ", "\n        ")
    omni = f"def run(self, rows):\n    with self.recorded():\n    {body}"
    new = base.replace("    self.end(", f"    if self.again:\n        {CALL}\n    self.end(")
    result = merge(Triple(base, omni, new))
    assert result.text.count(CALL) == 2
    assert "repeated without omni's change" not in {item.reason.kind for item in result.decisions}


def test_a_short_statement_needs_no_question() -> None:
    base, new = (text.replace(CALL, "logits = None") for text in (BASE, NEW))
    omni = base.replace("logits = None", "logits = self.empty")
    result = merge(Triple(base, omni, new))
    assert "repeated without omni's change" not in {item.reason.kind for item in result.decisions}


DRAFT = """    if self.spec:
        draft = {}
        self.push(draft)
    self.keep(logits)
"""


@pytest.mark.parametrize(
    ("own", "new", "is_asked"),
    [
        pytest.param(OWN_CALL, "self.model.compute(draft_rows)", True, id="omni added an argument"),
        pytest.param("logits = self.talker(rows)", "self.model.compute(draft_rows)", True, id="omni calls another"),
        pytest.param(CALL, "self.model.compute(draft_rows)", False, id="omni left it"),
        pytest.param(
            CALL.replace("rows", "last"), "self.model.compute(draft_rows)", False, id="omni gives another value"
        ),
        pytest.param(
            CALL.replace("self.model", "keep(self.model", 1) + ")", "self.model.compute(a)", False, id="a call around"
        ),
        pytest.param(OWN_CALL, "self.model.draft(draft_rows)", False, id="upstream calls another"),
        pytest.param(OWN_CALL, "self.model.compute(draft_rows, self.metadata)", False, id="it has what omni added"),
        pytest.param(OWN_CALL, "self.model.compute(draft_rows, self.rows)", True, id="it has another argument"),
    ],
)
def test_a_further_call_of_what_omni_calls_otherwise(own: str, new: str, is_asked: bool) -> None:
    """The second call has other values, so it is no copy of the first; omni's change may be due all the same."""
    upstream = BASE.replace("    self.keep(logits)\n", DRAFT.format(new))
    result = merge(Triple(BASE, BASE.replace(CALL, own), upstream))
    reasons = [item.reason for item in result.decisions]
    assert [(reason.kind, reason.names) for reason in reasons] == [
        ("called without omni's change", ("self.model.compute",))
    ] * is_asked


@pytest.mark.parametrize(
    ("own", "is_asked"),
    [
        pytest.param("logits = self.talker(rows, ids=ids, staged=self.staged, mask=self.mask)", True, id="omni's call"),
        pytest.param(
            f"logits = self.talker(rows, ids=ids, mask=self.mask)\n    if logits is None:\n        {CALL}",
            False,
            id="omni calls it, too",
        ),
        pytest.param("self.talker(rows, ids=ids, staged=self.staged, mask=self.mask)", False, id="for no value"),
        pytest.param("logits = None", False, id="omni calls nothing"),
    ],
)
def test_a_further_call_of_what_omni_replaced_by_a_call_of_its_own(own: str, is_asked: bool) -> None:
    """A warm-up in `_dummy_run` that calls `_model_forward`, instead of which omni calls the model itself."""
    upstream = BASE.replace(f"    {CALL}\n", f"    if self.twice:\n        self.model.compute(hidden)\n    {CALL}\n")
    result = merge(Triple(BASE, BASE.replace(CALL, own), upstream))
    kinds = [item.reason.kind for item in result.decisions]
    assert ("called without omni's change" in kinds) == is_asked


@pytest.mark.parametrize(
    ("old", "own", "new"),
    [
        pytest.param(
            "logger.info('begin of the run')", "logger.info('begin of %s', rows)", "logger.info('b')", id="log"
        ),
        pytest.param(
            "self.logger.info('begin of the run')", "self.note(rows)", "self.logger.info('b')", id="own logger"
        ),
        pytest.param(
            "number_of_all_rows = len(rows)", "number_of_all_rows = count(rows)", "m = len(ids)", id="built in"
        ),
        pytest.param("rows.append(ids)", "other.append(ids)", "rows.append(hidden)", id="a short statement"),
    ],
)
def test_a_further_call_of_what_is_called_anywhere_needs_no_question(old: str, own: str, new: str) -> None:
    base = BASE.replace(CALL, old)
    result = merge(Triple(base, base.replace(old, own), base.replace("    self.keep(logits)\n", DRAFT.format(new))))
    assert "called without omni's change" not in {item.reason.kind for item in result.decisions}


@pytest.mark.parametrize(
    ("own", "new", "is_asked"),
    [
        pytest.param(TRIED, "logits = None if self.skips else self.model.compute(rows)", True, id="a condition"),
        pytest.param(TRIED, "logits = self.model.compute(rows).float()", True, id="more is done with the value"),
        pytest.param(TRIED, "logits = self.scale(self.model.compute(rows))", True, id="the value goes into a call"),
        pytest.param(TRIED, "logits = self.model.compute(rows)", False, id="nothing changed"),
        pytest.param(TRIED, "logits = self.other(rows)", False, id="another function, which has its own question"),
        pytest.param(
            TRIED.replace(OWN_CALL, "logits = self.talker(rows)"),
            "logits = keep(self.model.compute(rows))",
            False,
            id="omni first calls another",
        ),
        pytest.param(
            TRIED.replace(OWN_CALL, "logits = self.model.compute(ids, 1)"),
            "logits = keep(self.model.compute(rows))",
            False,
            id="omni's call is given something else",
        ),
    ],
)
def test_what_upstream_does_around_a_call_is_asked_about_at_omnis_own_call(own: str, new: str, is_asked: bool) -> None:
    """The fallback of `compute_logits` gets upstream's change; omni's call in front of it does not."""
    result = merge(Triple(BASE, BASE.replace(CALL, own), BASE.replace(CALL, new)))
    assert new in result.text
    assert ("call beside a changed one" in {item.reason.kind for item in result.decisions}) == is_asked


STEPS = """def run(self, rows):
    plan = self.plan(rows)
    if self.last:
        out = self.forward(plan)
    else:
        out = self.send(plan)
    self.keep(out)
    return out
"""
PLANS, FORWARDS, SENDS, KEEPS = (line + "\n" for line in STEPS.split("\n") if " = " in line or "keep" in line)


@pytest.mark.parametrize(
    ("own", "new", "is_asked"),
    [
        pytest.param(("    ", PLANS), ("    ", KEEPS), True, id="at two places"),
        pytest.param(("        ", FORWARDS), ("    ", KEEPS), True, id="in a branch and below"),
        pytest.param(("        ", FORWARDS), ("        ", SENDS), False, id="in two branches"),
    ],
)
@pytest.mark.parametrize("before", ["", "    self.dump()\n"], ids=["new", "old, too"])
def test_a_call_that_both_add(before: str, own: tuple[str, str], new: tuple[str, str], is_asked: bool) -> None:
    base = STEPS.replace(PLANS, before + PLANS)
    omni = base.replace(own[1], f"{own[1]}{own[0]}self.dump()\n")
    upstream = base.replace(new[1], f"{new[1]}{new[0]}self.dump(rows=rows)\n")
    result = merge(Triple(base, omni, upstream))
    assert result.text.count("self.dump") == 2 + bool(before)
    reasons = [(item.reason.kind, item.reason.names) for item in result.decisions]
    assert reasons == [("called by both", ("self.dump",))] * is_asked


@pytest.mark.parametrize(
    ("before", "own", "new"),
    [
        pytest.param("    self.dump()\n", "", "self.dump(rows=rows)", id="omni dropped the old one"),
        pytest.param("", "made = self.dump()", "self.dump(rows=rows)", id="for its value"),
        pytest.param("", "self.dump()", "self.rows.dump()", id="of another object"),
        pytest.param("", "logger.info('own')", "logger.info('new')", id="a logger"),
        pytest.param("", "print('own')", "print('new')", id="a builtin"),
    ],
)
def test_a_call_that_is_not_made_more_often(before: str, own: str, new: str) -> None:
    base = STEPS.replace(PLANS, before + PLANS)
    omni = base.replace(before + PLANS, PLANS + (f"    {own}\n" if own else ""))
    result = merge(Triple(base, omni, base.replace(KEEPS, f"{KEEPS}    {new}\n")))
    assert new in result.text
    assert "called by both" not in {item.reason.kind for item in result.decisions}
