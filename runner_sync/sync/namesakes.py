"""Helper classes that the derived platform has under a name with a word of its own in it.

``_HostCopyBatch`` of vllm-omni 0.32.0rc1's GPU generation runner is ``_NPUHostCopyBatch`` beside the NPU one. What uses
it is translated, and its methods are units with a twin, as those of the runner classes that the profile names.

Comes in: a profile, the omni tree. Goes out: the profile with a row for each such class. May touch: the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from runner_sync.naming import module_name
from runner_sync.profile import NameRewrite, Profile
from runner_sync.trees import Tree

_CLASS = re.compile(r"\nclass (\w+)")


def with_namesakes(profile: Profile, omni: Tree) -> Profile:
    """``profile`` with the classes of the twin modules whose names are one but for the platform's word.

    Not a class that both modules have, or that the profile names already.
    """
    known = {row.name for row in profile.names} | {gpu for gpu, _ in profile.classes}
    rows = [row for row in _namesakes(profile, omni) if row.name not in known]
    return replace(profile, names=(*profile.names, *rows)) if rows else profile


def _namesakes(profile: Profile, omni: Tree) -> Iterator[NameRewrite]:
    word = profile.device[1].upper()
    for module in profile.modules:
        twin = omni.read(module.gpu.path) if module.gpu is not None else None
        path, text = next(((path, text) for path in module.paths if (text := omni.read(path))), ("", ""))
        if module.gpu is None or not twin or not text:
            continue
        mine, theirs = _classes(text), _classes(twin)
        for name in sorted(mine - theirs):
            namesake = name.replace(word, "", 1)
            if namesake != name and namesake in theirs - mine:
                yield NameRewrite(namesake, module_name(module.gpu.path), name, module_name(path))


def _classes(text: str) -> set[str]:
    # A plain beginning is found many times faster than the start of a line.
    return set(_CLASS.findall(f"\n{text}"))
