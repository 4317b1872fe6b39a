"""Comments that omni has put inside a statement which upstream changed: they stay with their line, or are told."""

from __future__ import annotations

import pytest

from runner_sync.merge.phrases.inner_remarks import with_remarks
from runner_sync.model import Triple

CALL = "x = f(\n    aa,\n    bb,\n    cc,\n)"
"""What the base has; upstream has another last argument unless told."""
CHANGED = CALL.replace("cc", "dd")
NOTED = CALL.replace("bb,", "bb,  # noqa")


@pytest.mark.parametrize(
    ("base", "omni", "upstream", "expected"),
    [
        pytest.param(CALL, NOTED, CHANGED, NOTED.replace("cc", "dd"), id="at the end of a line"),
        pytest.param(
            CALL,
            CALL.replace("    bb", "    # why\n    # so\n    bb"),
            CHANGED,
            CHANGED.replace("    bb", "    # why\n    # so\n    bb"),
            id="above one",
        ),
        pytest.param(
            CALL.replace("aa,", "aa,  # noqa"),
            NOTED.replace("aa,", "aa,  # noqa"),
            CHANGED.replace("aa,", "aa,  # noqa"),
            NOTED.replace("aa,", "aa,  # noqa").replace("cc", "dd"),
            id="the same words as another one",
        ),
        pytest.param(
            CALL,
            NOTED,
            CHANGED.replace("dd,", "dd,  # noqa"),
            NOTED.replace("cc,", "dd,  # noqa"),
            id="the same words as a new one of upstream's",
        ),
        pytest.param(
            NOTED,
            NOTED.replace("    bb", "    # why\n    bb"),
            CHANGED.replace("bb,", "bb,  # noqa"),
            CHANGED.replace("    bb,", "    # why\n    bb,  # noqa"),
            id="above one that has a comment",
        ),
        pytest.param(CALL, CALL, CHANGED.replace("dd,", "dd,  # new"), None, id="upstream's own"),
        pytest.param(NOTED, NOTED, CHANGED, None, id="upstream took out one that omni did not put in"),
        pytest.param(CALL, NOTED, CHANGED.replace("bb,", "bb,  # noqa"), None, id="upstream put in the same"),
    ],
)
def test_where_it_goes(base: str, omni: str, upstream: str, expected: str | None) -> None:
    made, lost = with_remarks(upstream, Triple(base, omni, upstream))
    assert (made, lost) == (expected or upstream, [])


TEXT = 'x = f(\n    """\n    aa\n    """,\n    bb,\n)'
INNER = "x = f(\n    g(\n        aa,\n    ),\n    bb,\n)"
FOLDED = "x = f(\n    g(aa),\n    cc,\n)"


@pytest.mark.parametrize(
    ("base", "omni", "upstream"),
    [
        pytest.param(CALL, NOTED, "x = f(aa, bb, dd)", id="no such line"),
        pytest.param(TEXT, TEXT.replace('""",', '""",  # noqa'), TEXT.replace("bb", "cc"), id="behind a long string"),
        pytest.param(
            INNER, INNER.replace("    ),", "    ),  # noqa"), "x = f(\n    g(aa),\n    cc,\n)", id="a bracket"
        ),
        pytest.param(CALL, NOTED, CHANGED.replace("bb,", "bb,  # its own"), id="a comment is there"),
        pytest.param(
            CALL, NOTED, CHANGED.replace("    bb,\n", "    bb,\n    bb,\n"), id="two such lines, and who knows which"
        ),
        pytest.param(
            "x = (\n    g\n    + aa\n)", "x = (\n    g\n    # noqa\n    + aa\n)", "x = g \\\n    + aa", id="a backslash"
        ),
    ],
)
def test_what_has_no_place_is_told(base: str, omni: str, upstream: str) -> None:
    assert with_remarks(upstream, Triple(base, omni, upstream)) == (upstream, ["# noqa"])
