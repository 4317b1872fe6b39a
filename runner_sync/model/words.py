"""Define the words that the values of rooms are described in.

Goes out: types and names. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Project = Literal["vllm-omni", "vllm-ascend", "vllm"]
PACKAGES: Mapping[Project, str] = {"vllm-omni": "vllm_omni", "vllm-ascend": "vllm_ascend", "vllm": "vllm"}
"""The package in each project's tree."""
TITLES: Mapping[Project, str] = {"vllm-omni": "vllm-omni", "vllm-ascend": "vllm-ascend", "vllm": "vLLM"}
"""The name of each project in messages."""
Provenance = Literal["upstream", "gpu", "omni"]
"""The origin of a statement: vllm-ascend or vLLM itself, a port from the GPU twin, or omni."""
UnitKind = Literal["method", "function", "class", "field", "statement", "import"]
Lineage = Literal["copy", "override", "own"]
"""How a unit relates to the upstream unit of the same name: an edited copy, omni's own version in its place, or
upstream has none."""
Outcome = Literal["unchanged", "updated", "added", "removed", "review"]
"""What an upgrade did to a unit; ``review``: nothing, because a person has to decide."""
Severity = Literal["error", "warning", "info"]
How = Literal["lock", "inferred", "composite", "twin", "namesake"]
"""How a reference was found: ``lock``: named by the lock; ``inferred``: the closest text of one revision;
``composite``: the closest parts of several revisions; ``twin``: the unit's GPU twin; ``namesake``: the unit of the same
name in vLLM's class."""

Side = Literal["chosen", "omni", "upstream"]
"""A text of a review item. ``upstream`` is the new code, of the followed project or of the GPU twin."""
