"""Ports whose signature somebody still calls as it was, and changes that every call fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking.call_fit import ask_about_calls, find_unfit
from runner_sync.upgrade.job import ModuleJob, Settings
from runner_sync.upgrade.questions.reviews import Shown, make_review

OLD = "    def fetch(self, rows, total):\n        return rows\n"
NEW = "    def fetch(self, rows, staged, total):\n        return rows\n"


JOB = ModuleJob(NPU, NPU.modules[0], "runner.py", "")


def caller(arguments: str) -> str:
    return f"    def run(self, rows):\n        return self.fetch({arguments})\n"


CASES = {
    "one argument less than it takes now": (OLD, NEW, "rows, 1", "rows, 1", {"Runner.fetch": "Runner.run"}),
    "a call that was brought along": (OLD, NEW, "rows, 1", "rows, None, 1", {}),
    "a parameter with a default": (OLD, OLD.replace("total", "total, step=0"), "rows, 1", "rows, 1", {}),
    "a keyword that is gone": (OLD, NEW.replace("total", "count"), "rows, total=1", "rows, total=1", ...),
    "a call that never fitted": (OLD, NEW, "rows", "rows", {}),
    "another body": (OLD, OLD.replace("return rows", "return total"), "rows, 1", "rows, 1", {}),
    "a star that may give it": (OLD, NEW, "*rows", "*rows", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_signatures_that_are_still_called_as_they_were(name: str) -> None:
    was, now, called, calls, found = CASES[name]
    drafts = [
        Draft("Runner.fetch", (Stage(was), Stage(now, "gpu"))),
        Draft("Runner.run", (Stage(caller(called)), Stage(caller(calls), "gpu"))),
    ]
    before = {draft.name: draft.before for draft in drafts}
    assert find_unfit(drafts, before) == ({"Runner.fetch": "Runner.run"} if found is ... else found)


def test_calls_of_another_class_are_its_own() -> None:
    drafts = [Draft("Runner.fetch", (Stage(OLD), Stage(NEW, "gpu"))), Draft("Other.run", (Stage(caller("rows, 1")),))]
    assert find_unfit(drafts, {draft.name: draft.before for draft in drafts}) == {}


RUN = "    def run(self, rows):\n        return self.fetch(rows, None, 1)\n"


def asked(callee: Draft, run: Draft, *only: str) -> list[tuple[str, int]]:
    job = ModuleJob(NPU, NPU.modules[0], "runner.py", "", settings=Settings(only=only))
    same, made = ask_about_calls([callee, run], job)
    assert same == callee
    return [(item.reason, item.line) for item in made.reviews]


LACKING = "fetch does not accept the arguments of this new call"
STANDING = "fetch does not accept the arguments that this call would pass now, so the old call stays"


@pytest.mark.parametrize(
    ("only", "reason"),
    [
        ((), STANDING),
        (("Runner.*",), STANDING),
        (("Runner.run",), f"{LACKING}; `--only Runner.fetch` upgrades fetch, too"),
    ],
    ids=["of a whole upgrade", "asked for", "not asked for"],
)
def test_a_new_call_of_what_stays_as_it_was_is_a_question(only: tuple[str, ...], reason: str) -> None:
    """``--only`` on the caller brings the call with one argument more; the helper in another unit keeps its own."""
    run = Draft("Runner.run", (Stage(caller("rows, 1")), Stage(RUN, "upstream")))
    assert asked(Draft("Runner.fetch", (Stage(OLD),)), run, *only) == [(reason, 2)]


def build(parameters: str) -> str:
    return f"    def build(self, {parameters}):\n        return rows\n"


@pytest.mark.parametrize(
    ("now", "given", "made", "shown"),
    [
        pytest.param(
            "rows, flag, talker=None",
            "rows, talker=own",
            "rows, talker=own",
            ("self.build(rows, own)", "self.build(rows, True)", "self.build(rows, talker=own)"),
            id="the old argument would be the flag",
        ),
        pytest.param(
            "rows, talker=None, flag=False",
            "rows, own, size=1",
            "rows, own",
            ("", "self.build(rows, own, size=1)", ""),
            id="it is what it was",
        ),
    ],
)
def test_an_old_call_whose_arguments_would_be_others_does_not_come_back(
    now: str, given: str, made: str, shown: tuple[str, str, str]
) -> None:
    run = "    def run(self, rows, own):\n        return self.build({})\n"
    callee = Draft("Runner.build", (Stage(build("rows, talker=None")), Stage(build(now), "upstream")))
    stages = (Stage(run.format("rows, own")), Stage(run.format(given), "upstream"))
    caller_draft = Draft("Runner.run", stages, upstream=run.format("rows, True"))
    _, result = ask_about_calls([callee, caller_draft], JOB)
    assert result.text == run.format(made)
    assert [(item.omni, item.upstream, item.chosen) for item in result.reviews] == [shown]


@pytest.mark.parametrize(
    ("before", "after", "made"),
    [
        pytest.param("self.fetch(rows, 1)", "self.fetch(rows, None, 1)", "self.fetch(rows, 1)", id="one call"),
        pytest.param(
            "self.fetch(rows, 1)\n        return rows",
            "self.fetch(\n            rows, None, 1\n        )\n        return rows.all",
            "self.fetch(rows, 1)\n        return rows.all",
            id="on several lines",
        ),
        pytest.param("None", "self.fetch(rows, None, 1)", ..., id="a new one"),
        pytest.param("self.fetch(rows)", "self.fetch(rows, None, 1)", ..., id="one that never fitted"),
        pytest.param(
            "self.fetch(rows, 1) + self.fetch(rows, 2)",
            "self.fetch(rows, None, 1) + self.fetch(rows, 2)",
            ...,
            id="one of two",
        ),
        pytest.param("self.fetch(old, 1)", "self.fetch(rows, None, 1)", ..., id="of a local that is gone"),
    ],
)
def test_a_call_that_fitted_stands_where_the_new_one_does_not_fit(before: str, after: str, made: str) -> None:
    texts = [f"    def run(self, rows):\n        return {text}\n" for text in (before, after)]
    run = Draft("Runner.run", (Stage(texts[0]), Stage(texts[1], "upstream")))
    _, result = ask_about_calls([Draft("Runner.fetch", (Stage(OLD),)), run], JOB)
    assert result.text == (texts[1] if made is ... else f"    def run(self, rows):\n        return {made}\n")
    assert [item.reason for item in result.reviews] == [LACKING if made is ... else STANDING]


@pytest.mark.parametrize(
    ("more", "left"),
    [
        pytest.param("", [STANDING], id="the whole passage is omni's again"),
        pytest.param("\n        self.note(rows)", ["ported", STANDING], id="another statement of it came"),
    ],
)
def test_a_question_about_a_passage_that_is_omnis_again_is_dropped(more: str, left: list[str]) -> None:
    """The port of the call was a question of its own; the call that stands again is another one."""
    before, after = "rows = self.fetch(rows, 1)", f"rows = self.fetch(rows, None, 1){more}"
    run, ported = (f"    def run(self, rows):\n        {text}\n        return rows\n" for text in (before, after))
    draft = Draft("Runner.run", (Stage(run), Stage(ported, "gpu")))
    shown = Shown(omni=before, upstream=after.replace(" " * 8, ""), chosen=after.replace(" " * 8, ""))
    asked = make_review(draft, "runner.py", reason="ported", confidence=0.6, shown=shown, line=2)
    asked = replace(asked, end_line=2 + more.count("\n"))
    _, result = ask_about_calls([Draft("Runner.fetch", (Stage(OLD),)), draft.with_questions(asked)], JOB)
    assert [item.reason for item in result.reviews] == left


def test_a_new_call_of_a_function_of_the_module_is_one_too() -> None:
    run = Draft("Runner.run", (Stage(caller("rows, 1")), Stage(RUN.replace("self.fetch", "fetch"), "upstream")))
    fetch = Draft("fetch", (Stage("def fetch(rows):\n    return rows\n"),))
    assert len(asked(fetch, run)) == 1


@pytest.mark.parametrize(
    ("callee", "before", "after"),
    [
        pytest.param(
            Draft("Runner.fetch", (Stage(OLD), Stage(NEW, "upstream"))), caller("rows, 1"), RUN, id="both came"
        ),
        pytest.param(Draft("Runner.fetch", (Stage(OLD),)), RUN, f"{RUN}        pass\n", id="it was so before"),
        pytest.param(Draft("Runner.fetch", (Stage(OLD),)), RUN, RUN, id="nothing came"),
        pytest.param(Draft("Other.fetch", (Stage(OLD),)), caller("rows, 1"), RUN, id="of another class"),
        pytest.param(Draft("fetch", (Stage("def fetch():\n    pass\n"),)), caller("rows, 1"), RUN, id="a function"),
        pytest.param(Draft("Runner.fetch", (Stage(OLD),), removed=True), caller("rows, 1"), RUN, id="one that goes"),
    ],
)
def test_calls_that_fit_or_were_there_are_no_question(callee: Draft, before: str, after: str) -> None:
    assert asked(callee, Draft("Runner.run", (Stage(before), Stage(after, "upstream")))) == []


FETCH = "def fetch(rows):\n    return rows\n"
CALLS = "        return fetch(rows, 1)\n"

# The text of the callee, and that of the method with a new call of it that does not fit what is written there.
HIDDEN = {
    "a property": (f"    @property\n{OLD}", RUN),
    "a cached property": (f"    @functools.cached_property\n{OLD}", RUN),
    "a decorator that may change the parameters": (f"    @curry(1)\n{OLD}", RUN),
    "the caller stores another one": (OLD, RUN.replace("        return", "        self.fetch = rows\n        return")),
    "a parameter": (FETCH, f"    def run(self, rows, fetch):\n{CALLS}"),
    "a keyword of its own": (FETCH, f"    def run(self, rows, *, fetch):\n{CALLS}"),
    "a local": (FETCH, f"    def run(self, rows):\n        fetch = rows.fetch\n{CALLS}"),
    "an import": (FETCH, f"    def run(self, rows):\n        from x import get as fetch\n{CALLS}"),
    "a function inside": (FETCH, f"    def run(self, rows):\n        def fetch(*both): ...\n{CALLS}"),
    "a loop": (FETCH, "    def run(self, rows):\n        return [fetch(rows, 1) for fetch in rows]\n"),
    "a lambda": (FETCH, "    def run(self, rows):\n        return rows(lambda fetch: fetch(rows, 1))\n"),
}
PLAIN = {
    "a decorator that changes nothing": (f"    @torch.inference_mode()\n{OLD}", RUN),
    "a static method": (f"    @staticmethod\n{OLD}", RUN.replace("rows, None, 1", "rows, 1")),
    "another object's attribute is stored": (
        OLD,
        RUN.replace("        return", "        rows.fetch = self.fetch\n        return"),
    ),
    "another local": (FETCH, f"    def run(self, rows):\n        fetched = rows\n{CALLS}"),
    "a keyword argument of a call": (FETCH, f"    def run(self, rows):\n        rows(fetch=1)\n{CALLS}"),
}


def questions(text: str, after: str) -> int:
    name = "Runner.fetch" if text.startswith(" ") else "fetch"
    return len(
        asked(Draft(name, (Stage(text),)), Draft("Runner.run", (Stage(caller("rows")), Stage(after, "upstream"))))
    )


@pytest.mark.parametrize("name", HIDDEN)
def test_a_call_that_may_reach_something_else_is_no_question(name: str) -> None:
    assert questions(*HIDDEN[name]) == 0


@pytest.mark.parametrize("name", PLAIN)
def test_a_call_that_reaches_what_is_written_is_one(name: str) -> None:
    assert questions(*PLAIN[name]) == 1


def test_a_member_that_another_method_stores_may_be_anything() -> None:
    drafts = [
        Draft("Runner.fetch", (Stage(OLD),)),
        Draft("Runner.run", (Stage(caller("rows, 1")), Stage(RUN, "upstream"))),
        Draft("Runner.setup", (Stage("    def setup(self, rows):\n        self.fetch = rows\n"),)),
    ]
    assert ask_about_calls(drafts, JOB) == drafts
