"""Read an attribute of a translated class under the name that its NPU class has for it.

    -entries = self.talker_mtp.concrete_cudagraph_entries
    +entries = self.talker_mtp.concrete_aclgraph_entries

Leaves alone: attributes of the runner itself (``self.concrete_cudagraph_entries``), a variable, a keyword or a string
of that name, and what is read from the result of a call.
Why: the object is an ``ACLGraphWrapper`` on NPU, which keeps the same entries under another name. Which object it is
cannot be told from the text, so the profile only lists names that no other class has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from runner_sync.transforms.job import Doubt, Job, NodeEdit

OWN = ("self", "cls")


def rewrite(job: Job) -> Iterator[NodeEdit | Doubt]:
    """Yield edits of the attributes that the profile's ``members`` list, whatever object they are read from."""
    table = {old.rpartition(".")[2]: new.rpartition(".")[2] for old, new in job.profile.members}
    for use in job.code.uses:
        for part in use.parts:
            if isinstance(part, cst.Attribute) and part.attr.value in table and not is_own(part):
                yield NodeEdit(part, partial(_replace_last_name, name=table[part.attr.value]))


def is_own(part: cst.Attribute) -> bool:
    """Whether an attribute is read directly from the object that the method belongs to."""
    return isinstance(part.value, cst.Name) and part.value.value in OWN


def _replace_last_name(node: cst.Attribute, *, name: str) -> cst.Attribute:
    return node.with_changes(attr=node.attr.with_changes(value=name))
