"""What is known about individual releases on the package index.

Goes out: names of files. May touch: nothing.
"""

from __future__ import annotations

from typing import Literal

from runner_sync.model import Project

NOT_ITS_TAG: frozenset[tuple[Project, str, Literal["wheel", "sdist"]]] = frozenset(
    {
        # Built from the main branch: 74 files differ from the tag, and its image is for vLLM 0.22.1. Its wheels match
        # the tag. Every other sdist of vllm-ascend since 0.7.1rc1 matches its tag, if it has one.
        ("vllm-ascend", "0.21.0rc1", "sdist"),
    }
)
"""Project, version and kind of files built from another commit than their tag: read only if there is no other file."""
