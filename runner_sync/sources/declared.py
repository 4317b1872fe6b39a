"""Tell from a tree itself which vLLM it was made for.

Comes in: a ``Tree``. Goes out: a version, or ``None``. May touch: nothing but the tree. Texts are matched, never run.
"""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from runner_sync.sources import layout, version
from runner_sync.sources.folder import FolderTree
from runner_sync.trees import Tree

_TAG = re.compile(r"^\s*ARG\s+(?:VLLM_TAG|VLLM_VERSION|VLLM_BASE_TAG)=[\"']?(v?\d[\w.]*)", re.MULTILINE)
_COMMIT = re.compile(r"^\s*ARG\s+VLLM_COMMIT=[\"']?([0-9a-f]{10,40})\b", re.MULTILINE)
_REQUIRES = re.compile(r"^Requires-Dist:[ \t]*(.+)$", re.MULTILINE)
_DOCKERFILES = ("Dockerfile", "docker/Dockerfile.ci", "docker/Dockerfile.cuda", "docker/Dockerfile.rocm")


def declared_vllm(tree: Tree) -> str | None:
    """Return the vLLM version that ``tree`` is for; ``None`` if the tree does not say.

    - vllm: its own version.
    - vllm-ascend: the ``VLLM_TAG`` that its image is built on, which is exact even where the numbers differ (0.14.0rc1
      is for 0.14.1). A tree without Dockerfile (a wheel) is for the vLLM of its own number, by that project's policy.
    - vllm-omni: release X.Y.Z is for vLLM X.Y.0, as its own start-up check requires; a commit without a version names
      its vLLM in its Dockerfiles.
    """
    own = tree.source.version
    if tree.source.project == "vllm":
        return own
    if tree.source.project == "vllm-omni" and own and not Version(own).is_devrelease:
        return _get_final_release(own, 2)
    parts = 2 if tree.source.project == "vllm-omni" else 3
    return _read_dockerfiles(tree) or _read_requirement(tree) or (_get_final_release(own, parts) if own else None)


def vllm_remedy(tree: Tree, *, is_base: bool = False) -> str:
    """Return what a user can do if a tree names no vLLM version: ``"name it with --vllm-version or --vllm-path"``.

    The main branch of vllm-ascend is sometimes built on a vLLM commit (``ARG VLLM_COMMIT=…``), which is on no index.
    ``is_base`` means that the runners were made for the tree and may follow a newer one.
    """
    match = _COMMIT.search(tree.read("Dockerfile") or "")
    if match is None:
        return "name it with --vllm-base" if is_base else "name it with --vllm-version or --vllm-path"
    commit = match[1][:10]
    if is_base:
        return (
            f"it is built on its commit {commit}: name it with --vllm-base {commit} and a checkout that has it with "
            "--vllm-path, or name the next release with --vllm-base"
        )
    return (
        f"it is built on its commit {commit}: name a checkout that has it with --vllm-path and --vllm-ref {commit}, "
        "or the next release with --vllm-version"
    )


def metadata(tree: Tree) -> str | None:
    """Return the text of a tree's core metadata (``PKG-INFO`` or ``METADATA``), if any."""
    return tree.metadata() if isinstance(tree, FolderTree) else tree.read(layout.METADATA)


def _read_dockerfiles(tree: Tree) -> str | None:
    for path in _DOCKERFILES:
        match = _TAG.search(tree.read(path) or "")
        found = version.normalize(match[1]) if match else None
        if found:
            # vLLM publishes no release candidates: 0.11.0rc0 was built on v0.11.0rc3.
            return Version(found).base_version if Version(found).is_prerelease else found
    return None


def _read_requirement(tree: Tree) -> str | None:
    headers = (metadata(tree) or "").split("\n\n", 1)[0]
    for text in _REQUIRES.findall(headers):
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        pins = [pin.version for pin in requirement.specifier if pin.operator in ("==", "===", "~=")]
        if requirement.name.lower() == "vllm" and pins:
            return version.normalize(pins[0])
    return None


def _get_final_release(own: str, parts: int) -> str:
    """Return the first ``parts`` numbers of ``own``, padded with zeros to three numbers (2: 0.18.2 → 0.18.0)."""
    numbers = (*Version(own).release, 0, 0, 0)[:parts]
    return ".".join(str(number) for number in (*numbers, 0, 0, 0)[:3])
