"""What modules replace or add in others at start-up, and what is there for type checkers only."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, symbols, world


def test_an_attribute_written_by_another_module_is_defined() -> None:
    worker = "def start(model_runner):\n    model_runner.late = 1\n"
    text = npu("def m(self):\n    return self.late")
    assert symbols(find(world(npu=text))) == [("RS304", "late")]
    assert symbols(find(world(npu=text, ascend_worker=worker))) == []


def test_a_patched_function_has_both_signatures() -> None:
    patch = "import vllm.runner\ndef helper(a, b, c): ...\nvllm.runner.helper = helper\n"
    text = npu("def m(self):\n    return helper(1, 2, 3)")
    assert symbols(find(world(npu=text))) == [("RS302", "helper()")]
    assert symbols(find(world(npu=text, ascend_patch=patch))) == []


def test_a_patched_method_and_attribute_count_as_defined() -> None:
    patch = (
        "from vllm.runner import GPUModelRunner\ndef late(self): ...\n"
        "GPUModelRunner.late = late\nsetattr(GPUModelRunner, 'flag', 1)\n"
    )
    text = npu("def m(self):\n    return self.late(), self.flag")
    assert symbols(find(world(npu=text))) == [("RS304", "late"), ("RS304", "flag")]
    assert symbols(find(world(npu=text, ascend_patch=patch))) == []


@pytest.mark.parametrize(
    ("call", "adds"),
    [
        ("extend_enum(Status, 'LATE', -1)", True),
        ("extend_enum(Status, 'LATE')", True),
        ("aenum.extend_enum(Status, 'LATE', -1)", True),
        ("note(Status, 'LATE', -1)", False),
        ("aenum.note(Status, 'LATE')", False),
        ("setattr(Status, 'LATE')", False),
        ("extend_enum(Status, name)", False),
    ],
)
def test_a_member_that_a_patch_adds_to_an_enum_exists(call: str, adds: bool) -> None:
    """``patch.py`` of vllm-omni adds statuses to vLLM's ``RequestStatus``."""
    runner = "import enum\nclass Status(enum.IntEnum):\n    FIRST = 1\n"
    text = npu(
        "def m(self):\n    return Status.FIRST, Status.LATE, Status.__members__", head="from vllm.status import Status"
    )
    patch = f"import aenum\nfrom aenum import extend_enum\nfrom vllm.status import Status\n{call}\n"
    new = world(npu=text, ascend_patch=patch, **{"vllm/status.py": runner})
    old = world(npu=text, **{"vllm/status.py": f"{runner}    LATE = 2\n"})
    assert symbols(find(new, old)) == ([] if adds else [("RS308", "Status.LATE")])


def test_a_name_that_a_patch_adds_exists() -> None:
    text = npu("pass", head="from vllm.runner import added")
    patch = "import vllm.runner\nvllm.runner.added = lambda: None\n"
    assert symbols(find(world(npu=text))) == [("RS301", "vllm.runner.added")]
    assert symbols(find(world(npu=text, ascend_patch=patch))) == []


FOR_TYPING = {
    "a definition": ("if TYPE_CHECKING:\n    Size = int", ["Size"]),
    "an import": ("if typing.TYPE_CHECKING:\n    from vllm.runner import Batch as Size", ["Size"]),
    "a definition in both branches": ("if TYPE_CHECKING:\n    Size = int\nelse:\n    Size = None", []),
    "a definition elsewhere, too": ("if TYPE_CHECKING:\n    Size = int\nSize = make()", []),
    "a definition in passing, too": ("if TYPE_CHECKING:\n    Size = int\nif (Size := make()): ...", []),
    "a definition in a comprehension, too": ("if TYPE_CHECKING:\n    Size = int\nany(Size := n for n in rows)", []),
    "a definition by a pattern, too": (
        "if TYPE_CHECKING:\n    Size = int\nmatch make():\n    case [Size, *_]: ...",
        [],
    ),
    "a definition in passing in a function": (
        "if TYPE_CHECKING:\n    Size = int\ndef f():\n    if (Size := make()): ...\ng = lambda: (Size := 1)",
        ["Size"],
    ),
    "a name that is only defined in passing": ("if (Size := make()): ...", []),
    "a name that is only defined by a pattern": ("match make():\n    case {**Size}: ...", []),
    "a definition where nobody checks types": ("if not TYPE_CHECKING:\n    Size = int", []),
    "a definition that may be wanted otherwise": ("if TYPE_CHECKING or debug:\n    Size = int", []),
    "a name that is made when it is asked for": ("if TYPE_CHECKING:\n    Size = int\ndef __getattr__(name): ...", []),
    "a name that a star may bring": ("from vllm.runner import *\nif TYPE_CHECKING:\n    Size = int", []),
}


@pytest.mark.parametrize("name", FOR_TYPING)
def test_a_name_that_only_type_checkers_see(name: str) -> None:
    text, expected = FOR_TYPING[name]
    trees = world(npu=npu("pass", head="from vllm.size import Size"), **{"vllm/size.py": text})
    assert symbols(find(trees)) == [("RS301", f"vllm.size.{size}") for size in expected]
    quoted = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from vllm.size import Size"
    assert find(world(npu=npu("pass", head=quoted), **{"vllm/size.py": text})) == []


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param("Size = int", "Import it below `if TYPE_CHECKING:` as well, if only annotations use it", id="it"),
        pytest.param("from vllm.runner import Batch as Size", "Import it from where the target", id="another module"),
    ],
)
def test_the_fix_for_such_a_name_does_not_name_the_same_import(text: str, fix: str) -> None:
    files = {"vllm/size.py": f"if TYPE_CHECKING:\n    {text}"}
    [found] = find(world(npu=npu("pass", head="from vllm.size import Size"), **files))
    assert found.fix.startswith(fix)


def test_a_submodule_that_its_package_names_for_type_checkers() -> None:
    package = "if TYPE_CHECKING:\n    from vllm.sizes import small"
    files = {"vllm/sizes/__init__.py": package, "vllm/sizes/small.py": ""}
    assert find(world(npu=npu("pass", head="from vllm.sizes import small"), **files)) == []


def test_a_function_that_is_newly_patched() -> None:
    patch = "import vllm.runner\ndef other(a, b=1, *, key=None): ...\nvllm.runner.helper = other\n"
    text = npu("pass")
    new, old = world(npu=text, ascend_patch=patch), world(npu=text)
    assert symbols(find(new, old)) == [("RS310", "vllm.runner.helper")]
    assert symbols(find(new)) == []
    assert symbols(find(new, new)) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("runner.helper(1)", [("RS310", "vllm.runner.helper")]),
        ("self.runner.helpers(1)", []),
        ("helper(1)", []),
    ],
)
def test_a_patched_function_that_vllm_ascend_calls_through_its_module(
    call: str, expected: list[tuple[str, str]]
) -> None:
    patch = "import vllm.runner\ndef other(a, b=1, *, key=None): ...\nvllm.runner.helper = other\n"
    trees = {
        "ascend_patch": patch,
        "vllm_ascend/runner.py": "from vllm import runner\n" + ascend(f"def own(self):\n    {call}"),
    }
    assert symbols(find(world(npu=npu("pass"), **trees))) == expected
