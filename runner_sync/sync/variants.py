"""The classes of vllm-ascend that a runner has as its base in other branches than the one whose methods it copies.

Comes in: a module, the texts of all modules, its bases. Goes out: ``Variant`` values for a revision. May touch: what
``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner_sync.naming import module_name, project_of
from runner_sync.sync.bases import Bases
from runner_sync.sync.module_texts import ModuleTexts
from runner_sync.sync.runners import DerivedModule
from runner_sync.units import texts
from runner_sync.upgrade import Variant


def variants(found: DerivedModule, module_texts: ModuleTexts, bases: Bases) -> Callable[[str], Sequence[Variant]]:
    """What the module's class has in place of the class that it follows, as it was at a revision and as it is.

    A class that was not there yet is left out: who made it a base has read it as it is.
    """
    anchor, dotted = found.module.upstreams[0], module_name(found.path)

    def since(ref: str) -> list[Variant]:
        known = []
        for base, origin, owner in module_texts.branches(found.text, found.module.name, dotted):
            source = module_texts.module(owner.module)
            if source is None or project_of(owner.module) != anchor.project or owner.name == anchor.name:
                continue
            path, text = source
            old = texts.members(bases.revisions.locked(anchor.project, ref, path).text, owner.name, path)
            if old:
                new = texts.members(text, owner.name, path)
                known.append(
                    Variant(name=owner.name, alias=base.expression, condition=origin.condition, old=old, new=new)
                )
        return known

    return since
