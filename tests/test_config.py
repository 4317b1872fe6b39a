"""Configuration: which file counts, how the profile is overlaid, and errors that name file and key."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

from runner_sync.config import KEYS, Config, load
from runner_sync.errors import InputError
from runner_sync.profile import NPU, Anchor, KeywordRewrite, NameRewrite, Profile, RunnerModule
from runner_sync.transforms import translate


def loaded(tmp_path: Path, text: str) -> Config:
    (tmp_path / "runner-sync.toml").write_text(text, "utf-8")
    return load(tmp_path)


@pytest.mark.parametrize(
    "text", ["# runner_sync\n", "[tool.runner_syncing]\n", "[runner_sync]\n", "tool = 1 # runner_sync\n"]
)
def test_what_resembles_the_table_only_from_afar_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    assert load(tmp_path) == Config()


def test_a_table_with_an_underscore_in_its_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.runner_sync]\nbaseline = "b.json"\n', "utf-8")
    with pytest.raises(InputError, match=r"\[tool\.runner_sync\] is not read; write it as \[tool\.runner-sync\]\.$"):
        load(tmp_path)


def test_without_configuration_the_built_in_profile_holds(tmp_path: Path) -> None:
    assert load(tmp_path) == Config(profile=NPU, source=None)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    assert load(tmp_path) == Config()


def test_runner_sync_toml_wins_over_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.runner-sync]\nmarker = "A-new"\n')
    assert load(tmp_path).profile.marker == "A-new"
    assert load(tmp_path).source == tmp_path / "pyproject.toml"
    assert loaded(tmp_path, 'marker = "B-new"\n').profile.marker == "B-new"


def test_an_explicit_file_wins(tmp_path: Path) -> None:
    loaded(tmp_path, 'marker = "B-new"\n')
    other = tmp_path / "other" / "xpu.toml"
    other.parent.mkdir()
    other.write_text('marker = "C-new"\nascend-path = "tree"\n')
    config = load(tmp_path, explicit=other)
    assert config.profile.marker == "C-new"
    assert config.ascend_path == other.parent / "tree"


@pytest.mark.parametrize("explicit", [False, True])
def test_a_folder_in_the_place_of_the_configuration_is_refused(tmp_path: Path, explicit: bool) -> None:
    """Ignored, it would leave the run without the rules that somebody thinks are in force."""
    (tmp_path / "runner-sync.toml").mkdir()
    with pytest.raises(InputError, match=r"runner-sync\.toml: is a folder, not a configuration file; move it away"):
        load(tmp_path, explicit=tmp_path / "runner-sync.toml" if explicit else None)


def test_a_link_to_no_configuration_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runner-sync.toml").symlink_to("gone.toml")
    with pytest.raises(InputError, match=r"runner-sync\.toml: cannot be read \(No such file or directory\)"):
        load(tmp_path)


def test_every_option_is_read(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        """
        ascend-path = "../ascend"
        vllm-version = "0.30.0"
        select = ["RS2", "ALL"]
        ignore = ["RS203"]
        severity = "warning"
        fail-on = "error"
        baseline = "ci/baseline.json"
        [per-path-ignores]
        "tests/**" = ["RS4", "RS"]
        [units]
        "*.profile_run" = "upstream"
        "R.*" = "review"
        """,
    )
    assert config == Config(
        ascend_path=tmp_path.parent / "ascend",
        vllm_version="0.30.0",
        select=("RS2", "ALL"),
        ignore=("RS203",),
        severity="warning",
        fail_on="error",
        baseline=tmp_path / "ci" / "baseline.json",
        per_path_ignores={"tests/**": ("RS4", "RS")},
        units={"*.profile_run": "upstream", "R.*": "review"},
        source=tmp_path / "runner-sync.toml",
    )


def test_the_home_directory_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert loaded(tmp_path, 'vllm-path = "~/vllm"').vllm_path == tmp_path / "home" / "vllm"


MODULE = RunnerModule(
    ("vllm_omni/r.py",),
    "XRunner",
    (Anchor("vllm-ascend", "up/r.py", "Up"),),
    Anchor("vllm-omni", "gpu/r.py", "GPURunner"),
)
MODULE_TOML = """
[[{table}]]
paths = ["vllm_omni/r.py"]
name = "{name}"
upstreams = [{{ project = "vllm-ascend", path = "up/r.py", name = "Up" }}]
gpu = {{ project = "vllm-omni", path = "gpu/r.py", name = "GPURunner" }}
"""


def test_tables_replace_and_extend_tables_add(tmp_path: Path) -> None:
    assert loaded(tmp_path, MODULE_TOML.format(table="modules", name="XRunner")).profile.modules == (MODULE,)
    added = loaded(tmp_path, MODULE_TOML.format(table="extend-modules", name="XRunner")).profile.modules
    assert added == (MODULE, *NPU.modules)


@pytest.mark.parametrize(
    ("said", "path", "name"),
    [
        ("", "vllm/v1/worker/gpu_model_runner.py", "GPUModelRunner"),
        (', vllm = "v/w.py"', "v/w.py", "GPUModelRunner"),
        (', vllm = "v/w.py", vllm-class = "Worker"', "v/w.py", "Worker"),
    ],
)
def test_an_upstream_says_which_class_of_vllm_it_comes_from(tmp_path: Path, said: str, path: str, name: str) -> None:
    table = MODULE_TOML.format(table="modules", name="XRunner").replace(', name = "Up"', f', name = "Up"{said}')
    profile = loaded(tmp_path, table).profile
    assert profile.vllm_of(profile.modules[0]) == Anchor("vllm", path, name)


def test_workers_come_from_vllms_worker_and_runners_from_its_runner() -> None:
    origins = {module.name: NPU.vllm_of(module).name for module in NPU.modules}
    assert {name for name, origin in origins.items() if origin == "Worker"} == {
        name for name in origins if "Work" in name
    }
    assert set(origins.values()) == {"Worker", "GPUModelRunner"}


def test_the_runners_are_the_modules_that_come_from_vllms_runner() -> None:
    assert [module.name for module in NPU.runners] == [name for _, name in NPU.classes if name.endswith("Runner")]


def test_an_extension_wins_over_the_built_in_row_of_the_same_name(tmp_path: Path) -> None:
    profile = loaded(tmp_path, MODULE_TOML.format(table="extend-modules", name="NPUARWorker")).profile
    assert [module.paths for module in profile.modules if module.name == "NPUARWorker"] == [("vllm_omni/r.py",)]
    assert len(profile.modules) == len(NPU.modules)


@pytest.mark.parametrize(
    ("pair", "gpu"), [('GPUARModelRunner = "NPUARRunner"', "GPUARModelRunner"), ('GPUAR = "NPUARModelRunner"', "GPUAR")]
)
def test_a_class_that_was_renamed_takes_one_line(tmp_path: Path, pair: str, gpu: str) -> None:
    """Its module keeps its place, its upstream and its GPU twin."""
    profile = loaded(tmp_path, f"[extend-classes]\n{pair}\n").profile
    npu = pair.partition('"')[2].rstrip('"')
    known = next(module for module in NPU.modules if module.name == "NPUARModelRunner")
    assert known.gpu is not None
    (changed,) = set(profile.modules) - set(NPU.modules)
    assert changed == replace(known, name=npu, gpu=replace(known.gpu, name=gpu))
    assert (len(profile.modules), len(profile.classes)) == (len(NPU.modules), len(NPU.classes))
    assert (profile.npu_name(f"{gpu}.run"), profile.gpu_name(f"{npu}.run")) == (f"{npu}.run", f"{gpu}.run")
    assert profile.npu_name(f"{gpu}#2.run") == f"{npu}#2.run", "the second class of that name"


@pytest.mark.parametrize("profile", ["npu", "gpu"])
def test_a_module_needs_no_row_in_classes_for_its_twin(tmp_path: Path, profile: str) -> None:
    """The classes of built-in modules that are replaced go, because their names would stand in translated code."""
    text = f'profile = "{profile}"\n{MODULE_TOML.format(table="modules", name="XPURunner")}'
    assert loaded(tmp_path, text).profile.classes == (("GPURunner", "XPURunner"),)
    other = loaded(tmp_path, f'{text}[classes]\nGPURunner = "XPUOther"\nGPUX = "XPUX"\n').profile
    assert other.classes == (("GPURunner", "XPUOther"), ("GPUX", "XPUX"))
    assert loaded(tmp_path, text.replace("gpu = ", "# ")).profile.classes == (), "no twin"
    for key in ("classes", "extend-classes"):
        same = loaded(tmp_path, f'{text}[{key}]\nOmniGPUModelRunner = "OmniNPUModelRunner"\n').profile
        assert same.classes == (("OmniGPUModelRunner", "OmniNPUModelRunner"), ("GPURunner", "XPURunner"))


def test_the_documented_module_is_complete(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(\[\[extend-modules\]\].*?)```", text, re.DOTALL)
    profile = loaded(tmp_path, example).profile
    assert profile.classes == (("GPUDiffusionModelRunner", "NPUDiffusionModelRunner"), *NPU.classes)


def test_the_documented_platform_is_complete(tmp_path: Path) -> None:
    """It has no name of the NPU or of Ascend."""
    text = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n# runner-sync-xpu\.toml\n(.*?)```", text, re.DOTALL)
    profile = loaded(tmp_path, example).profile
    assert profile.classes == tuple((f"GPU{name}ModelRunner", f"XPU{name}ModelRunner") for name in ("AR", "Generation"))
    assert (profile.followed, profile.runners) == ("vllm", profile.modules)
    assert not re.search(r"npu(?!t)|ascend|acl", repr(profile), re.IGNORECASE)
    code = "import torch\n\n\ndef run(x):\n    torch.cuda.synchronize()\n    return x.to('cuda')\n"
    assert translate(code, profile, path="m.py").text == code.replace("cuda", "xpu")


def test_alternatives_of_one_name_stay_until_an_extension_speaks_of_it(tmp_path: Path) -> None:
    row = '[[extend-names]]\nname = "{}"\nmodule = "m"\nnew-name = "b"\nnew-module = "n"\n'
    twice = 'names = [{ name = "a", module = "m", new-name = "b", new-module = "n" }, '
    twice += '{ name = "a", module = "m", new-name = "c", new-module = "n" }]\n'
    other = loaded(tmp_path, twice + row.format("z")).profile.names
    assert [(rewrite.name, rewrite.new_name) for rewrite in other] == [("z", "b"), ("a", "b"), ("a", "c")]
    assert [rewrite.new_name for rewrite in loaded(tmp_path, twice + row.format("a")).profile.names] == ["b"]


def test_rewrite_tables(tmp_path: Path) -> None:
    profile = loaded(
        tmp_path,
        """
        device-only = ["pin"]
        extend-device-only = ["cuda_only"]
        names = [{ name = "a", module = "m", new-name = "b", new-module = "n" }]
        [[extend-keywords]]
        call = "f"
        name = "k"
        new-name = "l"
        [classes]
        GPUX = "NPUX"
        [extend-attributes]
        "torch.cuda.nvtx" = "torch.npu.mstx"
        "torch.cuda" = "torch.xpu"
        """,
    ).profile
    assert profile.device_only == ("cuda_only", "pin")
    assert profile.names == (NameRewrite("a", "m", "b", "n"),)
    assert profile.keywords == (KeywordRewrite("f", "k", "l"), *NPU.keywords)
    assert profile.classes == (("GPUX", "NPUX"), *NPU.classes)
    names = [old for old, _ in profile.attributes]
    assert ("torch.cuda", "torch.xpu") in profile.attributes
    assert names.index("torch.cuda.nvtx") < names.index("torch.cuda")
    assert len(names) == len(set(names)) == len(NPU.attributes) + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = [", r"runner-sync\.toml: is no valid TOML \(.*end of document"),
        ("selct = []", r"runner-sync\.toml: unknown key selct; did you mean select\?"),
        ("marker = 'a'\nselect [", r"is no valid TOML \(.*line 2"),
        ("device = ['cuda']", r"device: expected a list of 2, got 1; write 2 values\.$"),
        ("qqq = 1", r"unknown key qqq; known are ascend-path"),
        ("select = []", r'runner-sync\.toml: select is empty; write rule codes, \["ALL"\] for every rule, or leave'),
        ("select = 'RS2'", r'select is a list; write select = \["RS2"\]\.$'),
        ("extend-device-only = 'Stream'", r'extend-device-only is a list; write extend-device-only = \["Stream"\]\.$'),
        ("select = 2", r"select: expected a list, got an integer; write it in brackets\.$"),
        ("[tool.runner-sync]\nselect = ['RS2']", r"has the table .* pyproject\.toml; drop the heading"),
        ("[tool.other]\nselect = ['RS2']", "unknown key tool"),
        ("tool = 'runner-sync'", "unknown key tool"),
        ("select = [1]", r"select\[0\]: expected a string, got an integer; write it in quotes\.$"),
        ("ignore = ['RS2O3']", r"ignore has 'RS2O3', which is no rule code; write RS203"),
        ("ignore = ['rs203']", "ignore has 'rs203'"),
        ("per-path-ignores = { 'a/*' = ['E501'] }", r"per-path-ignores\.a/\* has 'E501'"),
        ("fail-on = 'fatal'", "fail-on is 'fatal'; write error, warning or info"),
        ("severity = 'fatal'", "severity is 'fatal'; write error, warning or info"),
        ("units = { 'R.*' = 'theirs' }", r"units has 'theirs' for 'R\.\*'; write upstream, omni or review\."),
        ("package = 'vllm_omni.platforms.xpu'", r"lies within a package; name the top one, vllm_omni\.$"),
        ("package = 'vllm_omni/platforms'", r"lies within a package; name the top one, vllm_omni\.$"),
        ("package = 'vllm'", r"the derived modules lie elsewhere"),
        ("marker = 3", "marker: expected a string, got an integer"),
        ("ascend-path = ''", "ascend-path is empty"),
        ("ascend-path = 'a'\nascend-version = '1'", "both ascend-path and ascend-version are set"),
        ("names = [{ name = 'a' }]", r"names\[0\]: has no module; add it\.$"),
        ("names = [{ nam = 'a' }]", r"names\[0\]: unknown key nam; known are name, module, new-name, new-module"),
        ("names = [{ new_name = 'a' }]", r"names\[0\]: unknown key new_name"),
        ("names = 'a'", "names: expected a list, got a string"),
        ("extend-names = ['a']", r"extend-names\[0\]: expected a table, got a string; write it as \{"),
        ("attributes = { GPU = 'torch.npu' }", r"attributes has 'GPU'; write a dotted name such as torch\.cuda\."),
        ("device-only = ['torch..cuda']", r"device-only has 'torch\.\.cuda'; write a name such as torch\.cuda\."),
        ("extend-device-only = ['torch.cuda', '(']", r"extend-device-only has '\('; write a name such"),
        ("attributes = { 'torch.cuda' = 'npu' }", "attributes has 'npu'; write a dotted name"),
        ("extend-attributes = { 'torch.' = 'torch.npu' }", r"extend-attributes has 'torch\.'; write a dotted name"),
        ("attributes = { a = 1 }", r"attributes\.a: expected a string, got an integer"),
        ("per-path-ignores = { 'b.py' = ['RS2'], 'a_b.py' = 'RS2' }",
         r"per-path-ignores\.a_b\.py: expected a list, got a str"),
        ("ascend-version = 0.30", r"ascend-version: expected a string, got a float; write it in quotes\.$"),
        ("baseline = 2026-01-01", r"baseline: expected a string, got a date"),
        ("extend-handovers = 'State'", r'extend-handovers is a list; write extend-handovers = \["State"\]\.$'),
        ("marker = ' '", r"marker is empty; write it or leave the key out\.$"),
        ("lock-file = 'a/b.py'", r"lock-file is 'a/b\.py', which is source code; name a file of its own"),
        ("package = 'vllm'", r"package is 'vllm', but the derived modules lie elsewhere \(vllm_omni/.*; name theirs"),
        ("modules = [{ paths = ['x/r.py'], name = 'A', upstreams = [{ project = 'vllm', path = 'b' }] }]",
         r"package is 'vllm_omni', but the derived modules lie elsewhere \(x/r\.py\)"),
        ("modules = [{ paths = ['a'], name = 'A', upstreams = [], inherits = 'yes' }]",
         r"modules\[0\]\.inherits: expected a boolean, got a string; write true or false\.$"),
        ("modules = [{ paths = ['a'], name = 'A', upstreams = [], gpu = 'B' }]",
         r"modules\[0\]\.gpu: expected a table, got a string"),
        ("modules = [{ paths = ['a'], name = 'A', upstreams = [{ project = 'vlm', path = 'b' }] }]",
         r"modules\[0\]\.upstreams\[0\]\.project: is 'vlm'; write vllm-omni, vllm-ascend or vllm\.$"),
        ("modules = [{ paths = ['a'], name = 'A', upstreams = [{ file = 'b' }] }]",
         r"modules\[0\]\.upstreams\[0\]: unknown key file; known are project, path, name"),
    ],
)  # fmt: skip
def test_errors_name_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        loaded(tmp_path, text)
    assert str(tmp_path / "runner-sync.toml") in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.toml", None, r"gone\.toml: cannot be read"),
        ("pyproject.toml", b"[project]\n", r"pyproject\.toml: has no table \[tool\.runner-sync\]"),
        ("pyproject.toml", b"tool = 1\n", r"has no table \[tool\.runner-sync\]"),
        ("pyproject.toml", b"tool.runner-sync = 1\n", r"tool\.runner-sync must be a table"),
        (
            "pyproject.toml",
            b"[tool.runner_sync]\n",
            r"\[tool\.runner_sync\] is not read; write it as \[tool\.runner-sync",
        ),
        ("x.toml", b"\xff", r"x\.toml: is not UTF-8"),
    ],
)
def test_an_explicit_file_that_says_nothing_is_an_error(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load(tmp_path, explicit=tmp_path / name)


def test_a_tree_that_is_on_no_disk_has_the_defaults() -> None:
    assert load(None) == Config()


def test_every_key_is_described_and_read() -> None:
    options = {field.name.replace("_", "-") for field in fields(Config)} - {"profile", "source"}
    rows = {field.name.replace("_", "-") for field in fields(Profile)}
    tables = rows - {
        *("name", "package", "platform", "lock-file", "marker", "device", "vllm-class", "sampler-hook", "output")
    }
    assert KEYS.keys() == options | rows | {"profile"} | {f"extend-{table}" for table in tables}
    assert all(KEYS.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("modules = []", "modules is empty"),
        ('[[extend-modules]]\nname = "X"\npaths = ["x.py"]\nupstreams = []', "the module 'X' has no upstreams"),
        (
            '[[modules]]\nname = "X"\npaths = []\nupstreams = [{ project = "vllm-ascend", path = "y.py", name = "Y" }]',
            "the module 'X' has no paths",
        ),
    ],
)
def test_a_module_that_names_nothing_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=rf"runner-sync\.toml: {said}"):
        loaded(tmp_path, text)


@pytest.mark.parametrize("path", ["../x.py", "/x.py", "a/../../x.py", "a/./x.py", "a//x.py", "a/", "a\\\\x.py"])
@pytest.mark.parametrize(
    "text",
    [
        'lock-file = "{}"',
        (
            '[[extend-modules]]\nname = "X"\npaths = ["vllm_omni/x.py", "{}"]\n'
            'upstreams = [{{ project = "vllm", path = "y.py" }}]'
        ),
        '[[extend-modules]]\nname = "X"\npaths = ["x.py"]\nupstreams = [{{ project = "vllm", path = "{}" }}]',
        (
            '[[extend-modules]]\nname = "X"\npaths = ["x.py"]\nupstreams = [{{ project = "vllm", path = "y.py" }}]\n'
            'gpu = {{ project = "vllm-omni", path = "{}" }}'
        ),
    ],
    ids=["lock", "module", "upstream", "twin"],
)
def test_a_path_outside_of_the_tree_is_refused(tmp_path: Path, text: str, path: str) -> None:
    with pytest.raises(InputError, match=r"runner-sync\.toml: .* is '.*', which names no file inside the tree; write"):
        loaded(tmp_path, text.format(path))


@pytest.mark.parametrize("path", ["x.lock", "./x.lock", "locks/npu.lock", ".ci/x.lock", "a..b.lock"])
def test_a_lock_may_stand_anywhere_in_the_tree(tmp_path: Path, path: str) -> None:
    assert loaded(tmp_path, f'lock-file = "{path}"').profile.lock_file == path


LISTS = ("device-only", "unported", "gpu-imports", "handovers", "surroundings")


@pytest.mark.parametrize(
    "text", ["", "  ", "\\n", "a\\u0007b"], ids=["empty", "blanks", "a newline", "a control character"]
)
@pytest.mark.parametrize(
    "line",
    [
        *(f'{prefix}{key} = ["talker", "TEXT"]' for prefix in ("", "extend-") for key in LISTS),
        'device = ["cuda", "TEXT"]',
        'extend-classes = { GPUNewRunner = "TEXT" }',
        'extend-names = [{ name = "TEXT", module = "a.b", new-name = "y", new-module = "c.d" }]',
        'sampler-hook = { flag = "TEXT" }',
        'per-path-ignores = { "*" = ["RS4", "TEXT"] }',
    ],
)
def test_a_text_that_says_nothing_is_refused(tmp_path: Path, line: str, text: str) -> None:
    """In a list it would be part of every text, so that rules that look for one find it everywhere."""
    key = line.partition(" ")[0]
    with pytest.raises(InputError, match=rf"runner-sync\.toml: {key} has .*(take it out)\.$"):
        loaded(tmp_path, line.replace("TEXT", text))


def test_what_may_be_left_empty_may_be_written_empty(tmp_path: Path) -> None:
    anchor = '{ project = "vllm-ascend", path = "a.py", name = "", vllm = "" }'
    config = loaded(
        tmp_path, f'modules = [{{ paths = ["vllm_omni/platforms/npu/x.py"], name = "X", upstreams = [{anchor}] }}]'
    )
    assert config.profile.modules[0].upstreams == (Anchor("vllm-ascend", "a.py"),)
    assert (
        loaded(tmp_path, 'extend-unported = [" self.talker"]\ndevice-only = []\n').profile.unported[0] == " self.talker"
    )


@pytest.mark.parametrize(("name", "head"), [("runner-sync.toml", ""), ("pyproject.toml", "[tool.runner-sync]\n")])
def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path, name: str, head: str) -> None:
    (tmp_path / name).write_text(f'\ufeff{head}marker = "A-new"\n', "utf-8")
    assert load(tmp_path).profile.marker == "A-new"
