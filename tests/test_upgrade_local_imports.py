"""A ported method does not import what its module imports, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, OMNI_TREE, dedent, port_of

from runner_sync.upgrade.from_gpu.members.imports_at_hand import without_imports_at_hand

IMPORTS = "import json\nfrom .tools import near\nfrom tools.graph import Wrapper, Pool as P\n"
MODULE = f"{IMPORTS}\nif FAST:\n    from tools import fast\n"
REST = "        return bool(self.rows)\n"


def method(*lines: str) -> str:
    return "    def run(self):\n" + "".join(f"        {line}\n" if line else "\n" for line in lines) + REST


@pytest.mark.parametrize(
    ("lines", "rest"),
    [
        pytest.param(["from tools.graph import Wrapper", ""], [], id="with the blank line below"),
        pytest.param(['"""Run."""', "import json", "", "x = 1"], ['"""Run."""', "x = 1"], id="behind a docstring"),
        pytest.param(["from tools.graph import (", "    Wrapper,", ")", "x = 1"], ["x = 1"], id="on several lines"),
        pytest.param(
            ["x = 1", "", "# Lazy.", "# As a rule.", "import json", "y = 2"], ["x = 1", "", "y = 2"], id="a comment"
        ),
        pytest.param(
            ["# Lazy.", "import json", "from tools import slow"],
            ["# Lazy.", "from tools import slow"],
            id="a comment on more imports",
        ),
        pytest.param(["# ------ Omni-new ------", "import json"], ["# ------ Omni-new ------"], id="below a ruler"),
        pytest.param(["from tools.graph import Pool as P"], [], id="under the same name"),
        pytest.param(["x = 1", "import json", "y = 2", "import json"], ["x = 1", "y = 2"], id="anywhere in the body"),
    ],
)
def test_what_the_module_imports_is_not_imported_again(lines: list[str], rest: list[str]) -> None:
    assert without_imports_at_hand(method(*lines), MODULE) == method(*rest)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("from other.graph import Wrapper", id="another module's"),
        pytest.param("from tools.graph import Pool", id="under another name"),
        pytest.param("from tools.graph import Wrapper, Graph", id="more than the module has"),
        pytest.param("from tools import fast", id="the module has it under a condition"),
        pytest.param("import json; x = 1", id="another statement on the line"),
        pytest.param("from .tools import near", id="of the package"),
    ],
)
def test_other_imports_stay(line: str) -> None:
    assert without_imports_at_hand(method(line), MODULE) == method(line)


@pytest.mark.parametrize(
    ("more", "below"),
    [
        pytest.param(["json = None"], "", id="the method sets it"),
        pytest.param(["for json in self.all:", "    send(json)"], "", id="the method has a loop over it"),
        pytest.param(["def done():", "    nonlocal json", "    json = None"], "", id="a nested function sets it"),
        pytest.param([], "json = None\n", id="the module sets it"),
        pytest.param([], "if FAST:\n    import fast as json\n", id="the module imports another"),
        pytest.param([], "def use():\n    global json\n    json = None\n", id="a function of the module sets it"),
    ],
)
def test_an_import_of_a_name_that_is_bound_again_stays(more: list[str], below: str) -> None:
    text = method("# Lazy.", "import json", *more)
    assert without_imports_at_hand(text, MODULE + below) == text


def test_an_import_of_a_parameter_stays() -> None:
    text = method("import json").replace("(self)", "(self, json)")
    assert without_imports_at_hand(text, MODULE) == text


@pytest.mark.parametrize("text", ["LIMIT = 4\n", "    def run(self):\n        import json\n"])
def test_what_would_be_empty_and_what_is_no_function_stays(text: str) -> None:
    assert without_imports_at_hand(text, MODULE) == text


@pytest.mark.parametrize("has_it", [True, False])
def test_a_ported_method_uses_the_import_of_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_it: bool
) -> None:
    call = "        return super()._finish(logits, total)"
    helper = "\n    def _has_rows(self):\n        import json\n\n        return json.dumps(self.rows)\n"
    was, npu = dedent(OMNI_TREE[GPU_AR]), dedent(OMNI_TREE[AR])
    now = was.replace(call, f"        self._has_rows()\n{call}") + helper
    if has_it:
        npu = f"import json\n{npu}\n\nEMPTY = json.dumps([])\n"
    text, _ = port_of(tmp_path, monkeypatch, npu, was, now)
    assert "def _has_rows(" in text
    assert text.count("import json") == 1
    assert ("        import json\n" in text) is not has_it
