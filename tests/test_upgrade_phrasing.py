"""The words of a merge in a port, and names that look like them."""

from __future__ import annotations

import pytest

from runner_sync.upgrade.phrasing import in_words_of_a_port

BOTH = "omni and upstream changed the same part of a statement"


@pytest.mark.parametrize(
    ("reason", "code", "said"),
    [
        (BOTH, "x = 1", "the NPU and the GPU runner changed the same part of a statement"),
        (
            "upstream removed a loop that omni had added to",
            "",
            "the GPU runner removed a loop that the NPU runner had added to",
        ),
        (
            "upstream sets self.x now, which omni sets, too",
            "self.upstream = 1  # omni",
            "the GPU runner sets self.x now, which the NPU runner sets, too",
        ),
        ("it uses rows, whose definition was not taken", "y = rows", "it uses rows, whose definition was not taken"),
        ("it uses upstream, which nothing sets here", "y = upstream", "it uses upstream, which nothing sets here"),
        (
            "it uses self.omni, which is not in OmniRunner",
            "y = self.omni.x",
            "it uses self.omni, which is not in OmniRunner",
        ),
        (
            "it uses upstream_rows, which nothing sets here",
            "y = upstream_rows",
            "it uses upstream_rows, which nothing sets here",
        ),
        ("it runs under 'if omni:' of upstream's now", "x = 1", "it runs under 'if omni:' of the GPU runner's now"),
        (
            "upstream added a use of omni, which nothing sets",
            "f(omni)",
            "the GPU runner added a use of omni, which nothing sets",
        ),
    ],
    ids=[
        "both",
        "words",
        "attribute and comment",
        "no words",
        "a name",
        "an attribute",
        "a part",
        "quoted",
        "one of two",
    ],
)
def test_in_words_of_a_port(reason: str, code: str, said: str) -> None:
    assert in_words_of_a_port(reason, ["", code]) == said


def test_every_word_of_what_is_no_python_may_be_a_name() -> None:
    assert in_words_of_a_port("it uses upstream, which nothing sets here", ["f(upstream"]) == (
        "it uses upstream, which nothing sets here"
    )
