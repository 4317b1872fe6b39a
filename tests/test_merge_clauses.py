"""No statement gets two ``else`` or ``finally``, whatever the sides moved; if both filled one anew, that is asked."""

from __future__ import annotations

import pytest

from runner_sync.merge import FOLLOW, PORT, Merged, Policy, merge
from runner_sync.model import Triple

POLICIES = pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
STATEMENTS = {
    "if": ("if self.on:", "else:"),
    "for": ("for row in batch:", "else:"),
    "while": ("while self.wait(batch):", "else:"),
    "try": ("try:", "finally:"),
    "try, except": ("try:", "except:"),
}


def _method(head: str, inside: list[str], clause: str, last: list[str]) -> str:
    suites = (head, inside), (clause, last)
    lines = [line for one, suite in suites for line in (f"    {one}", *(f"        {row}" for row in suite))]
    return "\n".join(["def run(self, batch):", *lines, "    return self.done(batch)"]) + "\n"


Suites = tuple[list[str], list[str]]
"""What stands under the head, and under the clause."""


def _under(clause: str, text: str) -> list[str]:
    """What stands under the only clause of this text, at the end but for one statement."""
    before, *suites = text.split(f"    {clause}\n")
    assert len(suites) == 1, before
    return [line.strip() for line in suites[0].splitlines()[:-1]]


def _merged(statement: str, policy: Policy, *sides: Suites, clauses: tuple[str, ...] = ("", "", "")) -> Merged:
    """The merge of three methods with one statement and one clause, given what stands under both."""
    head, clause = STATEMENTS[statement]
    texts = (_method(head, inside, other or clause, last) for (inside, last), other in zip(sides, clauses, strict=True))
    result = merge(Triple(*texts), policy=policy)
    assert result.parses
    return result


READ, CLOSE, UNLOCK = "rows = self.read(batch)", "self.close()", "omni.unlock(batch.key, all=True)"
TELL = "send(batch.size)"


@POLICIES
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize(
    ("omni", "upstream", "due"),
    [
        pytest.param(([READ], [UNLOCK]), (["pass"], [READ, CLOSE]), [READ, UNLOCK], id="upstream moved into it"),
        pytest.param(
            (["pass"], [READ, CLOSE]), ([READ], [UNLOCK, TELL]), [READ, UNLOCK, TELL], id="omni moved into it"
        ),
        pytest.param(([READ], [UNLOCK]), ([CLOSE], [TELL]), [TELL, UNLOCK], id="upstream moved out of it"),
    ],
)
def test_a_clause_that_both_rewrote_stands_once_with_one_question(
    statement: str, omni: Suites, upstream: Suites, due: list[str], policy: Policy
) -> None:
    clause = STATEMENTS[statement][1]
    result = _merged(statement, policy, ([READ], [CLOSE]), omni, upstream)
    assert sorted(_under(clause, result.text)) == sorted(due)
    lines = [line.strip() for line in result.text.splitlines()]
    at = lines.index(clause)
    (item,) = [item for item in result.decisions if item.reason.kind == "both rewrote a suite"]
    assert lines[item.line - 1 : item.end_line] == lines[at:-1]
    assert item.omni.splitlines()[0] == item.upstream.splitlines()[0] == clause
    assert all(row in item.omni for row in omni[1])
    assert all(row in item.upstream for row in upstream[1])


@POLICIES
@pytest.mark.parametrize(
    ("omni", "upstream", "due"),
    [
        pytest.param(([READ], [UNLOCK]), ([READ], [CLOSE]), [UNLOCK], id="one side rewrote it"),
        pytest.param(([READ], [CLOSE, UNLOCK]), ([READ], [TELL, CLOSE]), [TELL, CLOSE, UNLOCK], id="both added"),
        pytest.param(([READ], [UNLOCK]), ([READ], [UNLOCK]), [UNLOCK], id="both wrote the same"),
        pytest.param(
            ([READ], [CLOSE, UNLOCK]), (["pass"], [READ, CLOSE]), [READ, CLOSE, UNLOCK], id="one moved, one added"
        ),
        pytest.param((["pass"], [READ, CLOSE]), ([READ], [UNLOCK]), [READ, UNLOCK], id="one moved, one edited"),
        pytest.param(
            ([READ, CLOSE], [UNLOCK]), ([READ, TELL], [CLOSE]), [UNLOCK], id="omni moved out of it, upstream left it"
        ),
    ],
)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_clause_in_which_the_changes_go_together_is_no_question(
    statement: str, omni: Suites, upstream: Suites, due: list[str], policy: Policy
) -> None:
    result = _merged(statement, policy, ([READ], [CLOSE]), omni, upstream)
    assert result.decisions == ()
    assert _under(STATEMENTS[statement][1], result.text) == due


@POLICIES
def test_two_handlers_of_other_errors_stay_two(policy: Policy) -> None:
    clauses = "except OSError:", "except OSError:", "except KeyError:"
    sides = ([READ], [CLOSE]), ([READ], [UNLOCK]), ([READ], [TELL])
    result = _merged("try", policy, *sides, clauses=clauses)
    assert "both rewrote a suite" not in {item.reason.kind for item in result.decisions}
