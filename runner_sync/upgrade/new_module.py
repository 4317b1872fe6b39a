"""Makes a new derived module: a skeleton filled with the GPU twin's methods, based on vllm-ascend's versions of them.

Comes in: a ``StartJob``. Goes out: a ``ModuleResult`` of a new module. May touch: nothing.

A GPU method that is an edited vLLM method becomes vllm-ascend's version with the same edits: a three-way merge with
vLLM's text as the base. Any other method is only translated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jinja2 import Environment, StrictUndefined

from runner_sync import lineage, merge
from runner_sync.compose.guarded import import_conditionally, import_from_provider
from runner_sync.compose.imports import Provider, settle_imports
from runner_sync.confidence import DOUBTFUL
from runner_sync.model import UnitReport
from runner_sync.naming import module_name
from runner_sync.profile import NameRewrite, Profile, RunnerModule
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.vllm_step import merge_change
from runner_sync.upgrade.job import ModuleResult
from runner_sync.upgrade.npu_words import TRANSLATION
from runner_sync.upgrade.questions.reviews import Shown, make_review
from runner_sync.upgrade.revision import ModuleRevision


@dataclass(frozen=True, slots=True)
class StartJob:
    """The sources of a new module at ``path``.

    ``skeleton`` is a Jinja2 template. ``vllm`` is the module that the GPU class derives from, if known.
    """

    profile: Profile
    module: RunnerModule
    path: str
    gpu: ModuleRevision
    upstream: ModuleRevision
    skeleton: str
    vllm: ModuleRevision | None = None


def start_module(job: StartJob) -> ModuleResult:
    """Return the new module with one question about all of it. Raises ``InputError`` if a source does not parse."""
    text, name = _compose_module_text(job), job.module.name
    rows = len(text.split("\n")) - 1
    reason = f"a new module, started from {job.gpu.path}: no line of it has ever run"
    draft, shown = Draft.for_question(name), Shown(upstream=job.gpu.text, chosen=text)
    item = make_review(draft, job.path, reason=reason, confidence=DOUBTFUL, shown=shown, from_gpu=True)
    unit = UnitReport(name, job.path, "own", "added", ported=lineage.fingerprint(text).total())
    return ModuleResult(job.path, "", text, (unit,), (replace(item, line=1, end_line=rows),))


def _compose_module_text(job: StartJob) -> str:
    """Fill the skeleton with the twin's members, its base classes, and the imports that they need."""
    assert job.module.gpu is not None
    translated = TRANSLATION.module(job.gpu.text, job.profile, path=job.gpu.path, with_findings=False).text
    name, anchor = job.module.name, job.module.anchor
    members = _make_members(job, texts.members(translated, name, job.gpu.path))
    bases, base_imports = _make_bases(job, translated)
    # No HTML: the values are parsed Python, and the result is parsed again.
    environment = Environment(autoescape=False, undefined=StrictUndefined, trim_blocks=True)
    skeleton = environment.from_string(job.skeleton).render(
        name=name,
        twin=f"{job.module.gpu.name} ({job.gpu.path})",
        upstream=f"{anchor.name} ({anchor.path})",
        imports=base_imports,
        bases=bases,
        members="\n".join(members) or "    pass",
    )
    twin_name = module_name(job.gpu.path)
    import_lines = "\n".join(_write_import(row, job) for row in job.profile.names)
    providers = [
        Provider(import_lines, ""),
        Provider(job.upstream.text, module_name(job.upstream.path)),
        Provider(translated, twin_name),
    ]
    settled = settle_imports("", f"{skeleton}\n", providers, first_party=job.profile.package)
    settled = import_conditionally(settled, providers[1], first_party=job.profile.package)
    return import_from_provider(settled, Provider(job.gpu.text, twin_name), first_party=job.profile.package).text


def _write_import(row: NameRewrite, job: StartJob) -> str:
    """Return the import of a translated name.

    Imports it from the twin if the new module is meant to define it (`ExecuteModelState`).
    """
    if row.new_module == module_name(job.path):
        return f"from {row.module} import {row.name} as {row.new_name}"
    return f"from {row.new_module} import {row.new_name}"


def _make_members(job: StartJob, gpu: Mapping[str, str]) -> list[str]:
    upstream = job.upstream.members(job.module.anchor.name)
    vllm = job.vllm.members(job.profile.vllm_of(job.module).name) if job.vllm is not None else {}
    return [
        _make_member(job, text, vllm=vllm.get(name, ""), upstream=upstream.get(name, "")) for name, text in gpu.items()
    ]


def _make_member(job: StartJob, text: str, *, vllm: str, upstream: str) -> str:
    """Return a translated GPU method, or vllm-ascend's version with the same edits if it is an edited vLLM method."""
    if not vllm or not upstream:
        return text
    base = TRANSLATION.unit(vllm, job.profile)
    if lineage.similarity(text, base) < lineage.COPY:
        return text
    return merge_change(text, base=base, upstream=upstream, policy=merge.FOLLOW)


def _make_bases(job: StartJob, translated: str) -> tuple[list[str], list[str]]:
    """Return base class expressions and their imports, with vllm-ascend's class in place of a vLLM class."""
    anchor = job.module.anchor
    names, lines = [], []
    for base in texts.bases_of(translated, job.module.name, job.gpu.path):
        origin = base.origins[0] if base.origins else None
        if origin is not None and origin.module.split(".")[0] == "vllm":
            names.append(anchor.name)
            lines.append(f"from {module_name(anchor.path)} import {anchor.name}")
        else:
            names.append(base.expression)
            if origin is not None and origin.module:
                lines.append(f"from {origin.module} import {origin.name}")
    return names, lines
