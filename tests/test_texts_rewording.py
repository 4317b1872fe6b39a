"""Revisions of a method that differ in their wording alone, and those that do not."""

from __future__ import annotations

import pytest

from runner_sync.texts.rewording import is_only_reworded

SAMPLE = """\
    def sample(self, logits, spec):
        metadata = self.batch.metadata
        for row in self.rows:
            metadata.take(row)

        def again(rows):
            return metadata.of(rows)

        self.drafter = again
        return self.sampler(logits=logits, metadata=metadata, size=1)
"""


def renamed(text: str) -> str:
    return text.replace(" metadata ", " seen ").replace(" metadata.", " seen.").replace("=metadata", "=seen")


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(renamed(SAMPLE), id="another name for a local"),
        pytest.param(SAMPLE.replace("row in", "one in").replace("(row)", "(one)"), id="for a loop's"),
        pytest.param(SAMPLE.replace("logits=logits, ", "").replace("size=1", "size=1, logits=logits"), id="keywords"),
        pytest.param(SAMPLE.replace("logits, spec)", "logits: Tensor, spec: Spec | None) -> Output"), id="hints"),
        pytest.param(SAMPLE.replace("metadata =", "metadata: Metadata ="), id="the hint of a local"),
        pytest.param(SAMPLE.replace("        for", "        # each\n        for"), id="a comment"),
    ],
)
def test_wording_is_no_change(new: str) -> None:
    assert new != SAMPLE
    assert is_only_reworded(SAMPLE, new)
    assert is_only_reworded(new, SAMPLE)


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(SAMPLE.replace("spec)", "rejected)"), id="another name for a parameter"),
        pytest.param(SAMPLE.replace("metadata=metadata", "metadata=self.metadata"), id="another value"),
        pytest.param(SAMPLE.replace("metadata.take", "row.take").replace("(row)", "(metadata)"), id="two exchanged"),
        pytest.param(
            SAMPLE.replace("self.sampler(", "self.sampler(logits, ").replace("logits=logits, ", ""), id="place"
        ),
        pytest.param(SAMPLE.replace("size=1", "size=1, **self.more"), id="more keywords"),
        pytest.param(SAMPLE.replace("self.drafter", "self.drafters"), id="another attribute"),
        pytest.param(SAMPLE.replace("spec)", "spec=None)"), id="a default"),
        pytest.param("    def sample(self:\n", id="no Python"),
    ],
)
def test_everything_else_is_a_change(new: str) -> None:
    assert new != SAMPLE
    assert not is_only_reworded(SAMPLE, new)


@pytest.mark.parametrize(
    ("old", "is_same"),
    [
        pytest.param("f(a=g(), b=h())", False, id="calls run in another order"),
        pytest.param("f(a=g(), b=1)", True, id="only one call"),
        pytest.param("f(a=g(), b=1, **c)", False, id="what is unpacked may come first"),
    ],
)
def test_keywords_in_another_order(old: str, *, is_same: bool) -> None:
    first, second = old[2:-1].split(", ")[:2]
    new = old.replace(f"{first}, {second}", f"{second}, {first}")
    before, now = (f"def run(self):\n    return {value}\n" for value in (old, new))
    assert is_only_reworded(before, now) is is_same


BRANCHES = """\
def run(self, rows):
    if {}:
        out = {}
        self.note(out)
    else:
        out = {}
    return out
"""


@pytest.mark.parametrize(
    ("test", "opposite", "is_same"),
    [
        pytest.param("self.is_split", "not self.is_split", True, id="not"),
        pytest.param("rows is None", "rows is not None", True, id="is not"),
        pytest.param("self.rank == 0", "self.rank != 0", True, id="unequal"),
        pytest.param("self.is_split", "self.is_even", False, id="another condition"),
    ],
)
def test_a_negated_condition_with_its_branches_swapped(test: str, opposite: str, *, is_same: bool) -> None:
    old = BRANCHES.format(test, "rows[0]", "rows[1]")
    new = f"def run(self, rows):\n    if {opposite}:\n        out = rows[1]\n    else:\n        out = rows[0]\n"
    new += "        self.note(out)\n    return out\n"
    assert is_only_reworded(old, new) is is_same
    assert not is_only_reworded(old, old.replace(test, opposite))


def test_a_name_that_is_also_an_import_is_kept() -> None:
    text = "def run(self):\n    import numpy as np\n    return np.zeros(1)\n"
    assert not is_only_reworded(text, text.replace("np", "n"))
