"""A port into a method that has the blocks of its twin in another order."""

from __future__ import annotations

from textwrap import indent

import pytest

from runner_sync.merge import PORT, merge
from runner_sync.merge.preparing.omni_order import in_omni_order
from runner_sync.model import Triple

HELD = """    # what was held back
    if self.connector:
        self.receive(output)
"""
BASE = f"""def run(self, output):
    self.prepare_all_that_the_next_step_needs(output)
    self.count_all_tokens_of_the_last_one(output)
    self.wait_for_what_is_under_way(output)
{HELD}    if self.is_done and not self.is_running_in_any_other_process():
        self.clear_all_buffers_of_the_last_step(output)
    with self.timer.measured():
        total = output.total_tokens
        if not total:
            return None
    self.finish_all(total)
"""
SENT = ("self.receive(output)\n", "self.receive(output)\n        self.send_what_waits(output)\n")


def behind(line: str, text: str = BASE) -> str:
    """``text`` with the block behind ``line`` instead."""
    assert text.count(HELD) == text.count(line) == 1
    return text.replace(HELD, "").replace(line, line + HELD)


ELSEWHERE = behind("        self.clear_all_buffers_of_the_last_step(output)\n")
LAST = behind("    self.finish_all(total)\n")
FIRST = behind("def run(self, output):\n")
OWN = ELSEWHERE.replace("self.connector:\n", "self.connector:\n        self.count_up(output)\n")


@pytest.mark.parametrize(
    "omni",
    [
        pytest.param(ELSEWHERE, id="a little further down"),
        pytest.param(LAST, id="at the end"),
        pytest.param(OWN, id="with a statement of its own"),
        pytest.param(FIRST, id="at the beginning"),
        pytest.param(FIRST.replace("self.connector", "self.is_connected()"), id="and under another condition"),
    ],
)
def test_what_is_new_in_a_block_comes_to_where_omni_has_it(omni: str) -> None:
    triple = Triple(BASE, omni, BASE.replace(*SENT))
    moved = in_omni_order(triple)
    assert (moved.omni, moved.upstream) == (omni, moved.base.replace(*SENT))
    assert moved.base != BASE
    result = merge(triple, policy=PORT)
    assert result.text == omni.replace(*SENT)
    assert result.decisions == ()


HELPED = "    self.exchange(output)\n"


@pytest.mark.parametrize(
    "omni", [pytest.param(ELSEWHERE, id="a little further down"), pytest.param(LAST, id="at the end")]
)
def test_the_call_of_a_new_helper_comes_to_where_omni_has_the_block(omni: str) -> None:
    """Connector code of ``execute_model`` moved into a method; NPU has it behind the preemption of vLLM's."""
    result = merge(Triple(BASE, omni, BASE.replace(HELD, HELPED)), policy=PORT)
    assert result.text == omni.replace(HELD, HELPED)
    assert result.decisions == ()


@pytest.mark.parametrize(
    "news",
    [
        pytest.param(HELPED + "    self.exchange_more(output)\n", id="two statements"),
        pytest.param("    with self.lock:\n        self.exchange(output)\n", id="another block"),
        pytest.param("    if self.connector:\n        self.exchange(output)\n", id="the same block, changed"),
    ],
)
def test_noop_no_single_statement_took_the_place_of_the_block(news: str) -> None:
    """The first two keep their place, the last one is a change inside of the block."""
    triple = Triple(BASE, LAST, BASE.replace(HELD, news))
    moved = in_omni_order(triple)
    assert (moved == triple) == ("connector" not in news)


TOTAL = "        total = output.total_tokens\n"
INSIDE = BASE.replace(HELD, "").replace(TOTAL, TOTAL + indent(HELD, "    "))
WRAPPED = BASE.replace(*SENT).replace(
    """    if self.is_done and not self.is_running_in_any_other_process():
        self.clear_all_buffers_of_the_last_step(output)
""",
    """    with self.lock:
        if self.is_done and not self.is_running_in_any_other_process():
            self.clear_all_buffers_of_the_last_step(output)
        if self.is_late:
            self.hurry_up(output)
""",
)
SETTING = ("receive(output)\n", "receive(output)\n        size = output.size\n")
READING = BASE.replace(*SETTING).replace("last_step(output)", "last_step(size)")


def test_noop_upstream_has_put_its_neighbour_into_a_block() -> None:
    """Behind it in there, the end of that block would be in the one that moved."""
    triple = Triple(BASE, ELSEWHERE, WRAPPED)
    assert in_omni_order(triple) == triple


def test_noop_statements_that_are_in_no_method() -> None:
    base, omni = ("\n".join(line[4:] for line in text.split("\n")[1:]) for text in (BASE, FIRST))
    triple = Triple(base, omni, base.replace(*(part.replace("        ", "    ") for part in SENT)))
    assert in_omni_order(triple) == triple


@pytest.mark.parametrize(
    ("base", "omni", "news"),
    [
        pytest.param(BASE, BASE, SENT, id="at its place"),
        pytest.param(BASE, ELSEWHERE, ("self.finish_all", "self.finish_some"), id="nothing is new in it"),
        pytest.param(BASE, ELSEWHERE.replace("receive", "give_up"), SENT, id="another one under the same condition"),
        pytest.param(BASE, ELSEWHERE.replace("    self.fin", f"{HELD}    self.fin"), SENT, id="there twice"),
        pytest.param(BASE, INSIDE, SENT, id="in another suite"),
        pytest.param(BASE, LAST, (HELD, ""), id="gone"),
        pytest.param(READING, ELSEWHERE.replace(*SETTING), SENT, id="what it sets is read in between"),
    ],
)
def test_noop_what_is_no_block_in_another_order(base: str, omni: str, news: tuple[str, str]) -> None:
    assert news[0] in base
    triple = Triple(base, omni, base.replace(*news))
    assert in_omni_order(triple) == triple
