"""The lock: round trip, merging, and clear errors for what people and git do to it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from runner_sync.errors import InputError, UnknownFormat
from runner_sync.lock import Entry, Lock, dump, is_lock, load, merge
from runner_sync.model import BaseRef

DIGEST = "0123456789abcdef" * 4
OTHER = "f" * 64


def ref(version: str, *, project: str = "vllm-ascend", digest: str = DIGEST) -> BaseRef:
    return BaseRef(project, version, "up/runner.py", "Up.run", "lock", 1.0, digest)  # type: ignore[arg-type]


UPSTREAM = ref("0.2.0")
GPU = ref("0.3.0", project="vllm-omni", digest=OTHER)
LOCK = Lock(
    entries=(Entry("b/r.py", "R.own"), Entry("b/r.py", "R.run", UPSTREAM, GPU)),
    inputs={"vllm": "0.2.1", "vllm-ascend": "0.2.0"},
)
TEXT = f"""\
format_version = 1

[inputs]
vllm = "0.2.1"

[[unit]]
path = "b/r.py"
name = "R.run"

[unit.upstream]
project = "vllm-ascend"
ref = "0.2.0"
path = "up/runner.py"
name = "Up.run"
digest = "{DIGEST}"
"""


def test_dump_and_load_are_inverse() -> None:
    assert load(dump(LOCK)) == LOCK
    composite = Lock((Entry("b/r.py", "R.run", replace(ref("0.3.0"), also=("0.1.0", "0.2.0"))),))
    assert load(dump(composite)) == composite
    assert load(dump(Lock())) == Lock()


def test_dump_is_sorted_and_stable() -> None:
    turned = Lock(tuple(reversed(LOCK.entries)), dict(reversed(LOCK.inputs.items())))
    assert dump(turned) == dump(LOCK)
    assert dump(load(dump(LOCK))) == dump(LOCK)


def test_load_reads_what_people_see() -> None:
    lock = load(TEXT)
    assert lock.by_key().get(("b/r.py", "R.run")) == Entry("b/r.py", "R.run", UPSTREAM)
    assert lock.by_key().get(("b/r.py", "R.other")) is None
    assert lock.inputs == {"vllm": "0.2.1"}


def test_unknown_keys_are_kept() -> None:
    text = TEXT.replace('name = "R.run"', 'name = "R.run"\nowner = "ü \\"x\\""\nrank = [1, 2]', 1)
    text = text.replace("[inputs]", "tool = { since = 2030-01-02 }\n[inputs]")
    kept = load(dump(merge(load(text), [Entry("b/r.py", "R.run", ref("0.3.0"))])))
    entry = kept.by_key().get(("b/r.py", "R.run"))
    assert entry is not None
    assert entry.extra == {"owner": 'ü "x"', "rank": [1, 2]}
    assert str(kept.extra["tool"]["since"]) == "2030-01-02"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (("[inputs]", "[inputs"), r"x\.lock: is no valid TOML \(.*line 3"),
        (("format_version = 1\n", ""), "has no format_version where this runner-sync reads 1"),
        (("format_version = 1", "format_version = 2"), "has format_version 2 where"),
        (("format_version = 1", "format_version = true"), "has format_version True where"),
        (('vllm = "0.2.1"', "vllm = 2"), r"x\.lock: has vllm = 2 where a string belongs"),
        (('name = "R.run"\n', ""), r"x\.lock:6: lacks the key 'name'"),
        (('path = "b/r.py"', "path = 3"), r"x\.lock:6: has path = 3 where a string belongs"),
        (('ref = "0.2.0"\n', ""), r"x\.lock:6: lacks the key 'ref'"),
        (('project = "vllm-ascend"', 'project = "vllm-cuda"'), r"x\.lock:6: names the unknown project 'vllm-cuda'"),
        ((DIGEST, DIGEST[:-1]), r"x\.lock:6: has the malformed digest '0123456789abcdef0123' for Up\.run"),
        ((DIGEST, DIGEST.upper()), r"x\.lock:6: has the malformed digest"),
        (("[[unit]]", "[unit]"), "where a list of tables belongs"),
        (("[unit.upstream]", "upstream = 1\n[unit.gone]"), r"x\.lock:6: has a upstream that is no table"),
        (("[unit.upstream]", "[unit.upstream]\nhelpers = ['_a@0123456789abcdeg']"), r"has the malformed helper '_a@01"),
        (("[unit.upstream]", "[unit.upstream]\nhelpers = ['_a']"), r":6: has the malformed helper '_a' for Up\.run"),
        ((DIGEST, f"g{DIGEST[1:]}"), r"x\.lock:6: has the malformed digest 'g123456789abcdef0123' for Up\.run"),
        (("[unit.upstream]", "[unit.upstream]\nalso = [1]"), r"x\.lock:6: has also = \[1\] where a list of strings"),
        (("[unit.upstream]", "digest = 12\n[unit.upstream]"), r":6: has digest = 12 where a string belongs"),
        (("[unit.upstream]", "gpu_code_hash = 'x'\n[unit.upstream]"), r":6: has the malformed gpu_code_hash 'x' for R"),
        (("[inputs]", "<<<<<<< HEAD\n[inputs]"), r"x\.lock:3: holds an unresolved merge conflict"),
        (("[[unit]]", "=======\n[[unit]]"), r"x\.lock:6: holds an unresolved merge conflict"),
        (("[[unit]]", '[[unit]]\npath = "b/r.py"\nname = "R.run"\n\n[[unit]]'), r":10: lists R\.run of b/r\.py twice"),
    ],
)  # fmt: skip
def test_a_damaged_lock_is_refused_with_line_and_remedy(edit: tuple[str, str], message: str) -> None:
    assert edit[0] in TEXT
    with pytest.raises(InputError, match=message) as error:
        load(TEXT.replace(edit[0], edit[1], 1), path="x.lock")
    assert "runner-sync lock" in str(error.value)


@pytest.mark.parametrize("version", ["2", "0", "true", '"1"'])
def test_a_lock_of_another_format_is_told_from_a_damaged_one(version: str) -> None:
    with pytest.raises(UnknownFormat, match="upgrade runner-sync, or delete the file and write it anew"):
        load(TEXT.replace("format_version = 1", f"format_version = {version}"))
    with pytest.raises(InputError) as error:
        load(TEXT.replace("format_version = 1\n", ""))
    assert not isinstance(error.value, UnknownFormat)


INPUTS = 'vllm = "0.30.0"\nvllm-ascend = "0.30.0rc1"\n'


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        pytest.param(INPUTS, " --ascend-version 0.30.0rc1", id="a release"),
        pytest.param('vllm = "0.30.0"\n', " --vllm-version 0.30.0", id="runners that follow vLLM"),
        pytest.param(INPUTS.replace("0.30.0rc1", "7c8ee98378"), "", id="a commit"),
        pytest.param(f"<<<<<<< HEAD\n{INPUTS}=======\n{INPUTS.replace('rc1', 'rc2')}>>>>>>> a\n", "", id="two"),
        pytest.param(f"{INPUTS}<<<<<<< HEAD\n", " --ascend-version 0.30.0rc1", id="a merge elsewhere"),
    ],
)
@pytest.mark.parametrize("head", ["format_version = 9\n", ""])
def test_the_command_for_a_new_lock_names_the_release_of_the_old_one(head: str, inputs: str, expected: str) -> None:
    """Without the file, or if it cannot be read, nothing else may name it."""
    with pytest.raises(InputError, match=f"write it anew with `runner-sync lock{expected}`"):
        load(f"{head}[inputs]\n{inputs}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, True),
        (dump(load(TEXT)).replace("format_version = 1\n", ""), True),
        (TEXT.replace("[inputs]", "<<<<<<< HEAD\n[inputs"), True),
        ("\n", True),
        ("# A runner\nNo format_version = 1 here.\n", False),
        ('lock-file = "a.lock"\n', False),
        ("format_versions = 2\n", False),
    ],
    ids=["whole", "no version", "damaged", "empty", "prose", "configuration", "another key"],
)
def test_a_lock_is_told_from_other_files(text: str, *, expected: bool) -> None:
    assert is_lock(text) == expected


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_lock_is_said_to_be_empty(text: str) -> None:
    with pytest.raises(InputError, match=r"^x\.lock: is empty; restore it from git or write it anew"):
        load(text, path="x.lock")


def test_a_unit_that_is_no_table() -> None:
    with pytest.raises(InputError, match="has a unit that is no table"):
        load("format_version = 1\nunit = [3]\n")


def test_conflict_markers_inside_values_are_text() -> None:
    assert load(TEXT.replace('"0.2.1"', '"<<<<<<< a"')).inputs == {"vllm": "<<<<<<< a"}


def test_merge_replaces_keeps_and_drops() -> None:
    new = Entry("b/r.py", "R.run", ref("0.3.0"))
    merged = merge(LOCK, [new, Entry("a/r.py", "A.f")], inputs={"vllm": "0.3.1"})
    assert [entry.key for entry in merged.entries] == [("a/r.py", "A.f"), ("b/r.py", "R.own"), ("b/r.py", "R.run")]
    run = merged.by_key().get(("b/r.py", "R.run"))
    assert run is not None
    assert (run.upstream, run.gpu) == (ref("0.3.0"), GPU)
    assert merged.inputs == {"vllm": "0.3.1", "vllm-ascend": "0.2.0"}
    assert [entry.qualname for entry in merge(LOCK, [new], gone=["b/r.py"]).entries] == ["R.run"]
    assert merge(LOCK, []) == LOCK


def test_loading_imports_neither_tomlkit_nor_libcst() -> None:
    heavy = "{'tomlkit', 'libcst', 'msgspec'}"
    code = f"import sys, runner_sync.lock as l; l.load('format_version = 1'); print(*{heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
