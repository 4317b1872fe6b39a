"""Find helper classes whose names on GPU and NPU differ only by the word ``NPU``.

For example, ``_HostCopyBatch`` of vllm-omni 0.32.0rc1's GPU generation runner is ``_NPUHostCopyBatch`` in the NPU one.
As with the classes that the profile names, uses of the GPU name are translated, and the methods have twins.

Comes in: a profile, the omni tree. Goes out: the profile with a row for each such class. May touch: the tree, by
reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from runner_sync.naming import module_name
from runner_sync.profile import NameRewrite, Profile
from runner_sync.trees import Tree

_CLASS = re.compile(r"\nclass (\w+)")


def add_namesakes(profile: Profile, omni: Tree) -> Profile:
    """Add a row to ``profile`` for each GPU class that the NPU module has with the platform's word in its name.

    Skips pairs if one module defines both names, and classes that the profile names already.
    """
    known = {row.name for row in profile.names} | {gpu for gpu, _ in profile.classes}
    rows = [row for row in _find_namesakes(profile, omni) if row.name not in known]
    return replace(profile, names=(*profile.names, *rows)) if rows else profile


def _find_namesakes(profile: Profile, omni: Tree) -> Iterator[NameRewrite]:
    word = profile.device[1].upper()
    for module in profile.modules:
        twin = omni.read(module.gpu.path) if module.gpu is not None else None
        path, text = next(((path, text) for path in module.paths if (text := omni.read(path))), ("", ""))
        if module.gpu is None or not twin or not text:
            continue
        npu_names, gpu_names = _find_class_names(text), _find_class_names(twin)
        for name in sorted(npu_names - gpu_names):
            namesake = name.replace(word, "", 1)
            if namesake != name and namesake in gpu_names - npu_names:
                yield NameRewrite(namesake, module_name(module.gpu.path), name, module_name(path))


def _find_class_names(text: str) -> set[str]:
    # Searching for a literal "\n" at the front is many times faster than "^" with re.MULTILINE.
    return set(_CLASS.findall(f"\n{text}"))
