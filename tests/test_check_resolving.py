"""Which classes and methods `check` sees, however they are spelled: without one, a rule reports what is not so."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import pytest
from check_samples import EMPTY_AR, NPU_BASE, NPU_HEAD, dedent, found, job
from parity_samples import SAMPLE, gpu, npu

from runner_sync.profile import NPU
from runner_sync.sync.notes.check_notes import note_unfollowed
from runner_sync.verify import check
from runner_sync.verify.catalog import OF_WHOLE_CLASSES
from runner_sync.verify.check import run
from runner_sync.verify.check_job import CheckJob, CheckModule
from runner_sync.verify.codes import Codes
from runner_sync.verify.runners.ancestry import Ancestry, find_ancestry
from runner_sync.verify.runners.job import Library

MIXIN = f"class Mixin:\n{indent(SAMPLE.strip(), '    ')}\n"
HEAD = NPU_HEAD + "from vllm_omni.mix import Mixin\n"
MIXED = npu("pass", head=HEAD, bases="Mixin, OmniNPUModelRunner")
LATE = f"class Mixin:\n    if FLAG:\n{indent(SAMPLE.strip(), ' ' * 8)}\n"
MIXINS = {
    "at the margin": MIXIN,
    "in an if": f"if FLAG:\n{indent(MIXIN, '    ')}",
    "in a try": f"try:\n{indent(MIXIN, '    ')}except ImportError:\n    Mixin = object\n",
    "with two spaces": MIXIN.replace("    ", "  "),
    "with a method in an if": LATE,
    "with a blank before the parameters": MIXIN.replace("_sample(self", "_sample (self"),
    "with an expression at the margin": MIXIN.replace(":\n", ":\n    size = (1 +\nSIZE)\n", 1),
    "by another name": MIXIN.replace("Mixin", "_Impl") + "Mixin = _Impl\n",
    "by another name, or something else": MIXIN.replace("Mixin", "_Impl") + "Mixin = _Impl if FLAG else object\n",
    "with the method of another class": "class Mixin:\n    _sample = Other._sample\n",
    "re-exported": "from vllm_omni.deep import Mixin\n",
    "re-exported with a comment": "from vllm_omni.deep import (\n    Mixin,  # the mixin (see docs)\n)\n",
    "re-exported in a try": "try:\n    from vllm_omni.deep import Mixin\nexcept ImportError:\n    pass\n",
    "re-exported behind a backslash": "from vllm_omni.deep import \\\n    Mixin\n",
    "re-exported by a star": "from vllm_omni.deep import *\n",
    "re-exported by a star in a try": "try:\n    from vllm_omni.deep import *\nexcept ImportError:\n    pass\n",
    "re-exported as a member": "import vllm_omni.deep as deep\nMixin = deep.Mixin\n",
    "made by a call": "Mixin = make_mixin()\n",
    "made by nobody who could be followed": "def __getattr__(name):\n    return make(name)\n",
    "re-exported from what is not there": "from vllm_omni.nowhere import Mixin\n",
}


@pytest.mark.parametrize("kind", MIXINS)
def test_what_a_mixin_brings_is_not_called_skipped(kind: str) -> None:
    files = {"vllm_omni/mix.py": MIXINS[kind], "vllm_omni/deep.py": MIXIN}
    assert found(job(MIXED, gpu(SAMPLE), files=files), "RS203") == []


OPEN = ("made by a call", "made by nobody who could be followed", "re-exported from what is not there")


@pytest.mark.parametrize("kind", MIXINS)
def test_a_class_that_the_rules_are_silent_about_is_named(kind: str) -> None:
    files = {"vllm_omni/mix.py": MIXINS[kind], "vllm_omni/deep.py": MIXIN}
    result = run(job(MIXED, gpu(SAMPLE), files=files))
    assert result.unfollowed == (("NPUARModelRunner",) if kind in OPEN else ())
    assert len(note_unfollowed(result, Codes())) == (kind in OPEN)
    assert run(job(MIXED, gpu(SAMPLE), files=files), Codes(select=("RS404",))).unfollowed == ()


def test_the_rules_that_are_silent_about_such_a_class_are_named_if_wanted() -> None:
    texts = {path.name: path.read_text("utf-8") for path in (Path(check.__file__).parent / "rules").glob("rs*.py")}
    silent = {name[:5].upper() for name, text in texts.items() if re.search(r"whole_pairs\(|\.is_open\b", text)}
    assert {*OF_WHOLE_CLASSES} == silent
    files = {"vllm_omni/mix.py": MIXINS[OPEN[0]]}
    codes = Codes(select=("RS2",))
    (note,) = note_unfollowed(run(job(MIXED, gpu(SAMPLE), files=files), codes), codes)
    assert "(RS202, RS203, RS204, RS207)" in note


@pytest.mark.parametrize(
    ("mixin", "head"),
    [
        pytest.param("class Mixin:\n    def _sampler(self): pass\n", HEAD, id="a name that only begins so"),
        pytest.param("class Mixin:\n    def f(self):\n        _sample = 1\n", HEAD, id="a local of that name"),
        pytest.param(
            "class Mixin:\n    def f(self):\n        def _sample(): pass\n", HEAD, id="a function in a method"
        ),
        pytest.param("class Mixin:\n    pass\n\ndef _sample(self): pass\n", HEAD, id="a function behind the class"),
        pytest.param("class Mixin(ValueError):\n    pass\n", HEAD, id="with a built-in base"),
        pytest.param("import torch.nn as nn\nclass Mixin(nn.Module):\n    pass\n", HEAD, id="with a base of torch"),
        pytest.param("from vllm.mix import *\nclass Mixin(Base):\n    pass\n", HEAD, id="with a base of vLLM's"),
        pytest.param("", NPU_HEAD + "from vllm.mix import Mixin\n", id="a mixin of vLLM's"),
        pytest.param("", NPU_HEAD, id="a mixin that nothing binds"),
    ],
)
def test_a_mixin_without_the_method_hides_no_skipped_override(mixin: str, head: str) -> None:
    text = npu("pass", head=head, bases="Mixin, OmniNPUModelRunner")
    assert len(found(job(text, gpu(SAMPLE), files={"vllm_omni/mix.py": mixin}), "RS203")) == 1


def test_a_base_is_followed_as_a_member_of_its_module() -> None:
    base = NPU_BASE.replace("    pass\n", indent(SAMPLE, "    "))
    head = "from vllm_omni.platforms.npu.worker import npu_model_runner\n"
    text = npu("pass", head=head, bases="npu_model_runner.OmniNPUModelRunner")
    assert found(job(text, gpu(SAMPLE), npu_base=base), "RS203") == []
    assert len(found(job(text, gpu(SAMPLE)), "RS203")) == 1


def test_a_method_that_is_assigned_is_no_skipped_override() -> None:
    assert found(job(npu("_sample = Other._sample"), gpu(SAMPLE)), "RS203") == []
    assert len(found(job(npu("other = Other._sample"), gpu(SAMPLE)), "RS203")) == 1


SETTING = "def __init__(self):\n    "


@pytest.mark.parametrize("line", ["self._sample = make()", "self._sample, self.b = make()", "self._sample: F = make()"])
def test_a_method_that_an_instance_sets_is_no_skipped_override(line: str) -> None:
    assert found(job(npu(SETTING + line), gpu(SAMPLE)), "RS203") == []
    base = NPU_BASE.replace("pass", SETTING.replace("\n", "\n    ") + line)
    assert found(job(EMPTY_AR, gpu(SAMPLE), npu_base=base), "RS203") == []


@pytest.mark.parametrize(
    "body",
    [
        SETTING + "self.other = self._sample",
        SETTING + "self.model._sample = make()",
        SETTING + "_sample = make()",
        SETTING + "class A:\n        def __init__(self):\n            self._sample = make()",
    ],
)
def test_a_skipped_override_beside_what_sets_something_else(body: str) -> None:
    assert len(found(job(npu(body), gpu(SAMPLE)), "RS203")) == 1


def test_a_skipped_override_that_only_the_gpu_runner_sets() -> None:
    twin = gpu(f"{SAMPLE}\n{SETTING}self._sample = make()")
    assert len(found(job(EMPTY_AR, twin), "RS203")) == 1


FROM_MIX = "from vllm_omni.mix import Mixin"
NAMED = {
    "as its twin does": (f"{FROM_MIX} as M\n", "M", f"{FROM_MIX} as M\n", "M", []),
    "on GPU": (FROM_MIX + "\n", "Mixin", f"{FROM_MIX} as M\n", "M", []),
    "on NPU": (f"{FROM_MIX} as M\n", "M", FROM_MIX + "\n", "Mixin", []),
    "by its module on GPU": (FROM_MIX + "\n", "Mixin", "from vllm_omni import mix\n", "mix.Mixin", []),
    "differently": (f"{FROM_MIX} as A\n", "A", f"{FROM_MIX} as B\n", "B", []),
    "another under its name": ("from vllm_omni.mix import Other as M\n", "M", f"{FROM_MIX} as M\n", "M", ["Mixin"]),
    "another on NPU": ("from vllm_omni.mix import Other\n", "Other", f"{FROM_MIX} as M\n", "M", ["Mixin"]),
}


@pytest.mark.parametrize("name", NAMED)
def test_a_mixin_under_another_name(name: str) -> None:
    importing, base, gpu_importing, gpu_base, expected = NAMED[name]
    text = npu("pass", head=NPU_HEAD + importing, bases=f"{base}, OmniNPUModelRunner")
    twin = gpu("pass", head=gpu_importing, bases=f"OmniGPUModelRunner, {gpu_base}")
    given = job(text, twin, files={"vllm_omni/mix.py": MIXIN + "class Other:\n    pass\n"})
    assert [f.symbol for f in found(given, "RS204")] == expected


@pytest.mark.parametrize("base", ["make_base()", "vllm_omni.platforms.nowhere.Base", "platforms.nowhere.Base"])
def test_nothing_is_said_of_a_class_with_a_base_that_cannot_be_followed(base: str) -> None:
    head = "import vllm_omni.platforms\nfrom vllm_omni import platforms\n" + NPU_HEAD
    text = npu("pass", head=head, bases=f"{base}, OmniNPUModelRunner")
    assert found(job(text, gpu(SAMPLE)), "RS203") == []


def test_a_mixin_that_may_come_by_a_base_is_not_called_missing() -> None:
    importing = "from vllm_omni.mix import Mixin\n"
    twin = gpu("pass", head=importing, bases="OmniGPUModelRunner, Mixin")
    files = {"vllm_omni/mix.py": MIXIN, "vllm_omni/deep.py": "Base = make_base(Mixin)\n"}
    head = NPU_HEAD + "from vllm_omni.deep import Base\n"
    assert found(job(npu("pass", head=head, bases="Base, OmniNPUModelRunner"), twin, files=files), "RS204") == []
    assert [f.symbol for f in found(job(EMPTY_AR, twin, files=files), "RS204")] == ["Mixin"]


def test_a_circle_of_names_ends() -> None:
    assert not _mro("from vllm_omni.a import X\nclass A(X): pass\n", a="from vllm_omni.b import X\n", b="").classes[1:]
    circle = _mro("from vllm_omni.a import X\nclass A(X): pass\n", a="from vllm_omni.b import *\n", b=STAR_BACK)
    assert [c.name for c in circle.classes] == ["A", "X"]
    assert _mro("from vllm_omni.a import X\nclass A(X): pass\n", a="X = X\n").is_open


STAR_BACK = "from vllm_omni.a import *\nclass X: pass\n"


def _mro(text: str, **files: str) -> Ancestry:
    texts = {f"vllm_omni/{name}.py": dedent(file) for name, file in files.items()}
    library = Library(CheckJob(NPU, (CheckModule("vllm_omni/npu.py", text),), read=texts.get))
    reading = library.at("vllm_omni/npu.py")
    assert reading is not None
    return find_ancestry(library, reading.classes["A"])
