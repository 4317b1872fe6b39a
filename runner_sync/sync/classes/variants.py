"""Find the upstream classes that a conditional base of a runner may be, besides the class it copies from.

    if is_310p():
        from vllm_ascend._310p.model_runner_310p import NPUModelRunner310 as NPUModelRunner  # the variant
    else:
        from vllm_ascend.worker.model_runner_v1 import NPUModelRunner                        # the one that is copied

Comes in: a module, the texts of all modules, its bases. Goes out: ``Variant`` values for a revision. May touch: what
``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner_sync.naming import module_name, project_of
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.synced.bases import Bases
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.units import texts
from runner_sync.upgrade import Variant


def make_variant_finder(
    derived: DerivedModule, module_texts: ModuleTexts, bases: Bases
) -> Callable[[str], Sequence[Variant]]:
    """Make a function that returns the variants of the module's class, with their methods at a base revision and now.

    Skips a variant that did not exist at that revision: whoever made it a base later has seen its methods.
    """
    anchor, dotted = derived.module.anchor, module_name(derived.path)

    def find_variants(ref: str) -> list[Variant]:
        known = []
        for base, origin, owner in module_texts.find_branches(derived.text, derived.module.name, dotted):
            source = module_texts.find_module(owner.module)
            if source is None or project_of(owner.module) != anchor.project or owner.name == anchor.name:
                continue
            path, text = source
            old = texts.members(bases.revisions.read_locked(anchor.project, ref, path).text, owner.name, path)
            if old:
                new = texts.members(text, owner.name, path)
                known.append(
                    Variant(name=owner.name, alias=base.expression, condition=origin.condition, old=old, new=new)
                )
        return known

    return find_variants
