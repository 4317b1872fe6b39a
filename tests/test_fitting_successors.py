"""Members of upstream's that got another name get it in omni's own lines, too, with a question."""

from __future__ import annotations

import pytest

from runner_sync.fitting.successors import find_renamed_members, rename_member
from runner_sync.profile import NPU
from runner_sync.upgrade import ModuleJob, ModuleRevision, Upstream, upgrade_module

OLD = {
    "__init__": "    def __init__(self, config):\n        self.use_cp = config.size > 1\n",
    "run": "    def run(self, rows):\n        if self.use_cp:\n            rows = split(rows)\n        return rows\n",
    "plan": "    def plan(self, rows):\n        return len(rows) if self.use_cp else 0\n",
}


RENAMED = {name: text.replace("use_cp", "use_dcp") for name, text in OLD.items()}
ASKING = '    def old(self):\n        return getattr(self, "use_cp", 0)\n'
OTHER = "    def rows_of(self):\n        return 1\n"


def found(old: dict[str, str], new: dict[str, str], *, elsewhere: str = "") -> dict[str, str]:
    return find_renamed_members(old, new, ["use_cp", "rows"], [elsewhere])


def test_a_member_that_stands_in_the_same_lines_under_another_name() -> None:
    assert found(OLD, RENAMED) == {"use_cp": "use_dcp"}
    assert found(OLD, RENAMED | {"plan": "    def plan(self, rows):\n        return 0\n"}) == {"use_cp": "use_dcp"}


def test_a_method_that_is_called_in_the_same_lines_under_another_name() -> None:
    old = {
        "run": "    def run(self):\n        return self.size(3)\n",
        "size": "    def size(self, n):\n        return n\n",
    }
    new = {name: text.replace("size", "width") for name, text in old.items()}
    assert find_renamed_members(old, {"run": new["run"], "width": new["size"]}, ["size"], []) == {"size": "width"}


OF_THEIR_OWN = {
    "__init__": "    def __init__(self, config):\n        self.use_dcp = make_group(config, size=2)\n",
    "run": "    def run(self, rows):\n        return gathered(rows, by=self.use_dcp)\n",
}
STAYS = {
    "still there": (OLD, RENAMED | {"plan": OLD["plan"]}, ""),
    "asked for by name": (OLD, RENAMED | {"old": ASKING}, ""),
    "gone": (OLD, {"run": "    def run(self, rows):\n        return rows\n"}, ""),
    "in lines of their own": (OLD, OF_THEIR_OWN, ""),
    "under a name for each": (OLD, {k: t.replace("use_cp", f"use_{k[:2]}") for k, t in OLD.items()}, ""),
    "under the name of another one": (
        OLD | {"rows_of": OTHER},
        {k: t.replace("use_cp", "rows_of") for k, t in OLD.items()} | {"rows_of": OTHER},
        "",
    ),
    "also set by omni": (OLD, RENAMED, "        self.use_cp = False\n"),
    "never upstream's": ({"run": OLD["run"]}, {"run": RENAMED["run"]}, ""),
}


@pytest.mark.parametrize("name", STAYS)
def test_a_member_that_has_no_other_name(name: str) -> None:
    old, new, elsewhere = STAYS[name]
    assert not found(old, new, elsewhere=elsewhere)


def test_only_what_is_read_of_self_gets_the_name() -> None:
    text = (
        "    def own(self, other):\n"
        "        use_cp = other.use_cp  # not self.use_cp\n"
        "        return self.use_cp and self.use_cp.size, 'self.use_cp'\n"
    )
    made = rename_member(text, {"use_cp": "use_dcp", "gone": "new"})
    assert made is not None
    assert made.text == text.replace(
        "return self.use_cp and self.use_cp.size", "return self.use_dcp and self.use_dcp.size"
    )
    assert (made.line, made.was.strip()[:16]) == (3, "return self.use_")
    assert rename_member(made.text, {"use_cp": "use_dcp"}) is None


def module(methods: dict[str, str], name: str = "NPUModelRunner") -> str:
    return f"class {name}:\n" + "\n".join(methods.values())


def test_an_upgrade_asks_about_the_lines_of_omnis_that_got_the_name() -> None:
    own = "            notify(self.use_cp)\n"
    copy = OLD["run"].replace("            rows = split(rows)\n", f"            rows = split(rows)\n{own}")
    hook = "    def hook(self):\n        return self.use_cp\n"
    path = NPU.modules[0].upstreams[0].path
    old, new = (ModuleRevision(ref, module(it), path) for ref, it in (("1", OLD), ("2", RENAMED)))
    text = module({"run": copy, "hook": hook}, NPU.modules[0].name)
    made = upgrade_module(ModuleJob(NPU, NPU.modules[0], "runner.py", text, Upstream(new=new, bases=(old, new))))
    assert "use_cp" not in made.after.replace("replaced self.use_cp", "")
    assert "notify(self.use_dcp)" in made.after
    said = "upstream replaced self.use_cp, which is gone, by self.use_dcp, and so do omni's own lines now"
    asked = [(item.unit, item.reason) for item in made.reviews]
    assert asked == [(f"{NPU.modules[0].name}.{unit}", said) for unit in ("run", "hook")]
