"""What becomes of a branch of omni's whose condition upstream removed or replaced: it never runs for always."""

from __future__ import annotations

import pytest
from merge_samples import kinds

from runner_sync.merge import FOLLOW, PORT, Merged, Policy, merge
from runner_sync.model import Triple

BASE = """\
def run(self):
    capturer = self.capturer
    if capturer is not None:
        capturer.clear_buffer()
    else:
        logger.error("Capturer not initialized.")
    return capturer
"""
OMNI = BASE.replace('error("Capturer not', 'warning("Capturer is not')
BRANCH = BASE[BASE.index("    else") : BASE.index("    return")]
WITHOUT = BASE.replace(BRANCH, "")
CONDITION = ("if capturer is not None", 'if capturer is not None and hasattr(capturer, "finish")')
POLICIES = pytest.mark.parametrize("policy", [FOLLOW, PORT])


def merged(policy: Policy, upstream: str, *, omni: str = OMNI, base: str = BASE) -> Merged:
    return merge(Triple(base, omni, upstream), policy=policy)


@POLICIES
def test_a_branch_goes_to_the_condition_that_stands_for_its_own(policy: Policy) -> None:
    upstream = WITHOUT.replace(*CONDITION).replace("clear_buffer", "finish")
    result = merged(policy, upstream)
    assert result.text == OMNI.replace(*CONDITION).replace("clear_buffer", "finish")
    assert kinds(result) == ["edited statement removed"]


@POLICIES
def test_a_branch_without_its_condition_goes_and_is_asked_about(policy: Policy) -> None:
    upstream = WITHOUT.replace("    if capturer is not None:\n        capturer", "    capturer")
    result = merged(policy, upstream)
    assert result.text == upstream
    (asked,) = result.decisions
    assert asked.reason.kind == "edited statement removed"
    assert asked.omni == 'logger.warning("Capturer is not initialized.")'
    assert asked.chosen == ""


@POLICIES
def test_what_is_edited_under_an_exception_goes_with_it(policy: Policy) -> None:
    words = (("if capturer is not None:", "try:"), ("else:", "except AttributeError:"))
    base, omni = ((text.replace(*words[0])).replace(*words[1]) for text in (BASE, OMNI))
    upstream = WITHOUT.replace("    if capturer is not None:\n        capturer", "    capturer")
    result = merged(policy, upstream, omni=omni, base=base)
    assert result.text == upstream
    assert kinds(result) == ["edited statement removed"]


@POLICIES
def test_a_condition_with_a_branch_of_its_own_takes_no_other(policy: Policy) -> None:
    upstream = BASE.replace(*CONDITION).replace("clear_buffer", "finish").replace(BRANCH, "    else:\n        stop()\n")
    result = merged(policy, upstream)
    assert result.text.count("else:") == 1
    assert "stop()" in result.text


@POLICIES
def test_a_branch_whose_condition_stays_stays(policy: Policy) -> None:
    assert merged(policy, WITHOUT).text == OMNI


@POLICIES
def test_a_branch_that_nobody_edited_goes_as_upstream_removed_it(policy: Policy) -> None:
    upstream = WITHOUT.replace(*CONDITION).replace("clear_buffer", "finish")
    omni = BASE.replace("return capturer", "return [capturer]")
    result = merged(policy, upstream, omni=omni)
    assert result.text == upstream.replace("return capturer", "return [capturer]")
    assert kinds(result) == []
