"""What a module gets by `from x import *`, and what it no longer gets (RS301)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

PLAIN = "def f(): ...\ndef g(): ...\ndef _h(): ...\n"
GONE = {
    "it is not defined any more": ("g", "def f(): ...\n"),
    "it has got an underscore": ("g", PLAIN.replace("def g", "def _g")),
    "it begins with one": ("_h", PLAIN),
    "a list leaves it out": ("g", "__all__ = ['f']\n" + PLAIN),
    "a tuple does": ("g", "__all__ = ('f',)\n" + PLAIN),
    "a list with an annotation does": ("g", "__all__: list[str] = ['f']\n" + PLAIN),
    "so it does in every branch": ("g", "if size:\n    __all__ = ['f']\nelse:\n    __all__ = ['k']\n" + PLAIN),
    "a list names it that is not defined": ("g", "__all__ = ['f', 'g']\ndef f(): ...\n"),
    "a star behind the star leaves it out": ("g", "__all__ = ['f']\nfrom vllm.third import *\n"),
    "and so does a third module": ("_h", "from vllm.third import *\n"),
}
THERE = {
    "without a list": ("g", PLAIN),
    "the list names it": ("_h", "__all__ = ['_h']\n" + PLAIN),
    "another branch names it": ("g", "if size:\n    __all__ = ['f']\nelse:\n    __all__ = ['g']\n" + PLAIN),
    "it is added": ("g", "__all__ = ['f']\n__all__ += ['g']\n" + PLAIN),
    "added with others": ("g", "__all__ = ['f']\n__all__.extend(('g', 'k'))\n" + PLAIN),
    "and by itself": ("g", "__all__ = ['f']\n__all__.append('g')\n" + PLAIN),
    "the list is worked out": ("g", "__all__ = [name for name in dir() if name != 'f']\n" + PLAIN),
    "it is a sum": ("g", "__all__ = ['f'] + ['k']\nk = 1\n" + PLAIN),
    "a part of it is": ("g", "import vllm.third\n__all__ = ['f'] + vllm.third.__all__\n" + PLAIN),
    "a name in it is": ("g", "__all__ = ['f', name]\n" + PLAIN),
    "something changes it": ("g", "__all__ = ['f']\nregister(__all__)\n" + PLAIN),
    "it is another module's": ("g", "from vllm.third import __all__\n" + PLAIN),
    "a function makes names": ("g", "__all__ = ['f']\ndef __getattr__(name): ...\n"),
    "through two stars": ("f", "from vllm.third import *\n"),
    "what is imported there": ("f", "from vllm.third import f\n"),
    "a star out of the trees": ("g", "from torch import *\ndef f(): ...\n"),
}


def imported(name: str, text: str, use: str = "from vllm.second import {name}", body: str = "pass") -> list[str]:
    files = {"vllm/first.py": text, "vllm/second.py": "from vllm.first import *\n", "vllm/third.py": PLAIN}
    trees = world(npu=npu(body.format(name=name), head=use.format(name=name)), **files)
    return [symbol for code, symbol in symbols(find(trees)) if code == "RS301"]


@pytest.mark.parametrize("case", GONE)
def test_a_star_that_does_not_bring_a_name(case: str) -> None:
    assert imported(*GONE[case]) == [f"vllm.second.{GONE[case][0]}"]


@pytest.mark.parametrize("case", THERE)
def test_a_star_that_may_bring_it(case: str) -> None:
    assert imported(*THERE[case]) == []


def test_the_module_itself_has_what_its_list_leaves_out() -> None:
    assert imported("g", "__all__ = ['f']\n" + PLAIN, use="from vllm.first import {name}") == []


def test_a_member_of_the_module_that_a_star_does_not_bring() -> None:
    use, body = "import vllm.second", "def m(self):\n    return vllm.second.{name}()"
    assert imported("g", "__all__ = ['f']\n" + PLAIN, use, body) == ["vllm.second.g"]
    assert imported("g", PLAIN, use, body) == []


def test_a_package_has_its_modules_whatever_its_list_says() -> None:
    files = {"vllm/part/__init__.py": "__all__ = ['f']\ndef f(): ...\n", "vllm/part/g.py": ""}
    assert find(world(npu=npu("pass", head="from vllm.part import f, g"), **files)) == []
    files["vllm/second.py"] = "from vllm.part import *\n"
    assert symbols(find(world(npu=npu("pass", head="from vllm.second import f, g"), **files))) == [
        ("RS301", "vllm.second.g")
    ]
    files["vllm/part/__init__.py"] = "__all__ = ['f', 'g']\ndef f(): ...\n"
    assert find(world(npu=npu("pass", head="from vllm.second import f, g"), **files)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("g = 1\ndel g\n", ["vllm.second.g"]),
        ("def f(): ...\ng = f()\ndel f, g\n", ["vllm.second.g"]),
        ("g = 1\ndel g\ng = 2\n", []),
        ("g = 1\nif size:\n    del g\n", []),
        ("g = {}\ndel g['a'], g.b\n", []),
        ("g = 1\ndef f():\n    del g\n", []),
    ],
)
def test_a_name_that_the_module_deletes(text: str, expected: list[str]) -> None:
    trees = world(npu=npu("pass", head="from vllm.second import g"), **{"vllm/second.py": text})
    assert [symbol for code, symbol in symbols(find(trees)) if code == "RS301"] == expected


@pytest.mark.parametrize(
    ("head", "files", "where"),
    [
        pytest.param("from vllm.runner import capture", {"capture": "def capture(): ..."}, "vllm.capture", id="moved"),
        pytest.param("from vllm.runner import capture", {"late": "capture = 1"}, "vllm.late", id="a value"),
        pytest.param("from vllm.gone import capture", {"late": "class capture: ..."}, "vllm.late", id="a lost module"),
        pytest.param(
            "from vllm.runner import capture",
            {"late": "def capture(): ...", "user": "from vllm.late import capture"},
            "vllm.late",
            id="another imports it",
        ),
        pytest.param(
            "from vllm.runner import capture", {"a": "def capture(): ...", "b": "capture = 1"}, "", id="two modules"
        ),
        pytest.param("from vllm.runner import capture", {"late": "class A:\n    capture = 1"}, "", id="a member"),
        pytest.param(
            "from vllm_ascend.runner import capture", {"late": "def capture(): ..."}, "", id="of another tree"
        ),
        pytest.param("from vllm.runner import capture", {}, "", id="nowhere"),
        pytest.param("import vllm.gone", {"gone_now": "gone = 1"}, "", id="a module"),
    ],
)
def test_the_fix_names_the_only_module_that_defines_the_name(head: str, files: dict[str, str], where: str) -> None:
    trees = world(npu=npu("pass", head=head), **{f"vllm/{name}.py": f"{text}\n" for name, text in files.items()})
    (found,) = find(trees)
    assert found.code == "RS301"
    expected = f"Import it from `{where}`, where the target" if where else "Import it from where the target"
    assert (found.fix or "").startswith(expected)


CUDA_ONLY = {
    "an import": "if current_platform.is_cuda():\n    from vllm.third import g\n",
    "a definition": "if current_platform.is_cuda_alike():\n    def g(): ...\n",
    "one of several": "if current_platform.is_cuda():\n    def g(): ...\nelif current_platform.is_rocm():\n    g = 1\n",
    "with another condition": "if current_platform.is_xpu() and size:\n    def g(): ...\n",
    "in the other branch": "if not current_platform.is_cuda():\n    pass\nelse:\n    def g(): ...\n",
    "in vLLM's own tree": "if current_platform.is_out_of_tree():\n    pass\nelse:\n    def g(): ...\n",
}
ON_NPU = {
    "in both branches": "if current_platform.is_cuda():\n    def g(): ...\nelse:\n    def g(n): ...\n",
    "elsewhere, too": "def g(): ...\nif current_platform.is_cuda():\n    from vllm.third import g\n",
    "out of vLLM's tree": "if current_platform.is_out_of_tree():\n    def g(): ...\n",
    "not on CUDA": "if not current_platform.is_cuda():\n    def g(): ...\n",
    "or elsewhere": "if current_platform.is_cuda() or size:\n    def g(): ...\n",
    "another question": "if current_platform.has_graphs():\n    def g(): ...\n",
    "with an argument": "if current_platform.is_cuda(0):\n    def g(): ...\n",
    "another object": "if self.is_cuda():\n    def g(): ...\n",
}


def from_first(text: str, **rest: object) -> list[str]:
    """What is missing of ``from vllm.first import g``."""
    head = "from vllm.platforms import current_platform\n"
    files = {"vllm/first.py": head + text, "vllm/third.py": PLAIN, **rest}
    trees = world(npu=npu("pass", head="from vllm.first import g"), **files)  # type: ignore[arg-type]
    return [symbol for code, symbol in symbols(find(trees)) if code == "RS301"]


@pytest.mark.parametrize("case", CUDA_ONLY)
def test_a_name_that_only_other_platforms_have(case: str) -> None:
    assert from_first(CUDA_ONLY[case]) == ["vllm.first.g"]
    assert from_first(CUDA_ONLY[case], without=["vllm-ascend"]) == [], "a runner for the GPU may have it"


@pytest.mark.parametrize("case", ON_NPU)
def test_a_name_that_this_platform_may_have(case: str) -> None:
    assert from_first(ON_NPU[case]) == []
