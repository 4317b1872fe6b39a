"""A port of which one passage would leave NPU's statements unreachable: that passage stays out, the rest comes."""

from __future__ import annotations

from runner_sync import merge
from runner_sync.model import Triple
from runner_sync.texts.soundness import Problem
from runner_sync.upgrade.from_gpu.merging import sound_merge

OLD = """\
    def run(self, rows):
        if self.state is None:
            if not rows:
                return None
            # The rows were sent elsewhere.
            if rows.is_empty():
                return self.finish(self.empty)
            output = self.copy(self.empty)
            output.rows = rows
            return self.finish(output)
        experts = by_dict(rows)
        return self.pack(rows, experts)
"""
GONE = OLD[OLD.index("            if not") : OLD.index("        experts")]
LEAVING = "            # The rows were sent elsewhere.\n            return self.finish(self.only(rows))\n"
NEW = OLD.replace(GONE, LEAVING).replace("by_dict(rows)", "self.by_list(rows)")
OMNI = (
    OLD.replace("self.finish(output)", "output")
    .replace("self.finish(self.empty)", "self.empty")
    .replace("            if not rows", "            self.receive()\n            if not rows")
)
HELD = frozenset({"output = self.copy(self.empty)", "output.rows = rows"})
IDLE = "output = self.copy(self.empty)"


def port(omni: str, new: str, pinned: frozenset[str] = HELD) -> tuple[merge.Merged, set[Problem]]:
    sides = Triple(OLD, omni, new)
    return sound_merge.merge_soundly(
        sides, merge.PORT, veto=lambda _canon: None, foreign=(), pinned=pinned, known={"by_dict"}
    )


def test_only_the_passage_above_idle_statements_stays_out() -> None:
    """In `sample_tokens` of vllm-omni, one `return` kept the whole change of the routed experts out."""
    result, broken = port(OMNI, NEW)
    assert (result.text, broken) == (OMNI.replace("by_dict(rows)", "self.by_list(rows)"), set())
    (asked,) = result.decisions
    assert (asked.reason.kind, asked.reason.names) == ("leaves before other statements", (IDLE,))
    assert result.text.split("\n")[asked.line - 1].strip() == IDLE
    assert (asked.base.count("\n"), asked.omni, asked.upstream) == (7, IDLE, "return self.finish(self.only(rows))")


def test_a_passage_above_an_edited_statement_stays_out() -> None:
    result, broken = port(OMNI, NEW, frozenset())
    assert (result.text, broken) == (OMNI.replace("by_dict(rows)", "self.by_list(rows)"), set())
    assert [item.reason.names for item in result.decisions] == [("return output",)]


def test_a_passage_that_leaves_nothing_idle_comes() -> None:
    result, broken = port(OLD, NEW, frozenset())
    assert broken == set()
    assert "output.rows" not in result.text
    assert "leaves before other statements" not in {item.reason.kind for item in result.decisions}


def test_what_npu_has_idle_already_is_no_reason() -> None:
    idle = OMNI.replace("            return output\n", "            return output\n            self.later(rows)\n")
    result, broken = port(idle, OLD.replace("by_dict(rows)", "self.by_list(rows)"))
    assert (result.text, broken, result.decisions) == (idle.replace("by_dict(rows)", "self.by_list(rows)"), set(), ())


def test_an_added_exit_still_keeps_the_whole_change_out() -> None:
    """An addition replaces nothing, so there is no passage to keep."""
    new = OLD.replace("        experts =", "        return self.other(rows)\n        experts =")
    result, broken = port(OMNI, new)
    assert [problem.kind for problem in broken] == ["idle"]
    assert "leaves before other statements" not in {item.reason.kind for item in result.decisions}


TWICE = """\
    def run(self, rows):
        if self.first:
            self.prepare(rows)
            output = self.copy(rows)
            self.mark(output)
            return output
        self.mid(rows)
        if self.second:
            self.load(rows)
            output = self.copy(rows)
            self.mark(output)
            return output
        return self.pack(rows)
"""
ALIKE = "            output = self.copy(rows)\n            self.mark(output)\n            return output"


def test_a_passage_equal_to_one_above_idle_statements_comes() -> None:
    own = "            self.mark(output, self.own)\n            output.own = self.own\n            return output"
    omni = TWICE.replace("            self.mark(output)\n            return output", own, 1)
    new = TWICE.replace(f"            self.prepare(rows)\n{ALIKE}", "            return self.only(rows)")
    loading = "            self.load(rows)\n            output = self.copy(rows)"
    new = new.replace(loading, "            output = self.load_copy(rows, self.table)")
    result, broken = sound_merge.merge_soundly(
        Triple(TWICE, omni, new), merge.PORT, veto=lambda _canon: None, foreign=(), pinned=frozenset(), known=set()
    )
    assert broken == set()
    assert result.text == omni.replace(loading, "            output = self.load_copy(rows, self.table)")
    assert [item.reason.kind for item in result.decisions].count("leaves before other statements") == 1
