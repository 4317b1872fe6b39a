"""Arguments by place of a method that has another parameter at their place now: which calls name them."""

from __future__ import annotations

import pytest

from runner_sync.fitting.shifted import pass_shifted_by_name

BEFORE = "    def build(self, rows, talker=None):\n        return rows\n"
NOW = "    def build(self, rows, flag=False, talker=None):\n        return rows\n"
CALLER = "    def run(self, rows):\n        return self.build({})\n"


def named(arguments: str, *, before: str = BEFORE, now: str = NOW, own: str = "", upstream: str = "") -> str | None:
    """The arguments of a call after the change; ``None`` without one."""
    texts = [CALLER.format(given) for given in (arguments, own or arguments, upstream)]
    made = pass_shifted_by_name(texts[0], before=texts[1], upstream=texts[2], method=("build", before, now))
    return made.text.partition("self.build(")[2].rstrip().removesuffix(")") if made is not None else None


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("rows, own", "rows, talker=own"),
        ("rows, self.talk(rows)", "rows, talker=self.talk(rows)"),
        ("rows,\n            own", "rows,\n            talker=own"),
    ],
)
def test_omnis_argument_is_named_where_upstreams_parameter_comes_first(given: str, made: str) -> None:
    """Both added one: omni's call would set ``flag``, without an error."""
    assert named(given) == made


def test_omnis_argument_is_named_where_upstream_passes_the_new_parameter() -> None:
    """The merged call is neither side's."""
    assert named("rows, own, flag=True", own="rows, own", upstream="rows, flag=True") == "rows, talker=own, flag=True"


def test_all_behind_the_new_parameter_are_named() -> None:
    more = "    def build(self, {}rows, talker=None):\n        return rows\n"
    now = more.format("flag, ")
    assert named("rows, own", before=more.format(""), now=now) == "rows=rows, talker=own"


@pytest.mark.parametrize(
    ("given", "options"),
    [
        pytest.param("rows", {}, id="nothing by place behind it"),
        pytest.param("rows, talker=own", {}, id="named already"),
        pytest.param("rows, *own", {}, id="a star"),
        pytest.param("rows, own", {"now": BEFORE}, id="the same parameters"),
        pytest.param("rows, own", {"now": NOW.replace("flag=False, talker", "talker, flag")}, id="the new one is last"),
        pytest.param("rows, own", {"now": NOW.replace("talker", "speaker")}, id="omni's is gone"),
        pytest.param("rows, own", {"now": NOW.replace("talker=None", "talker=None, /")}, id="by place only"),
        pytest.param("rows, own", {"upstream": "rows, own"}, id="upstream's call"),
        pytest.param("rows, own", {"own": "rows"}, id="a call that is new"),
        pytest.param(
            "rows, True, own", {"own": "rows, own", "upstream": "rows, True"}, id="upstream's argument in front"
        ),
    ],
)
def test_other_calls_stay(given: str, options: dict[str, str]) -> None:
    assert named(given, **options) is None
