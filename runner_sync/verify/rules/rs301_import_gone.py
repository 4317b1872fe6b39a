"""RS301 import-gone: an imported name or module does not exist in the target trees.

What: `from vllm.x import y` (or `import vllm.x`) in an NPU runner where the target tree has no module `vllm.x`, or the
module does not define, re-export or contain `y`, or has it only below `if TYPE_CHECKING:`, or only for other platforms
(`if current_platform.is_cuda():`); also `x.y` in a function where `x` is such a module. A star import brings what the
other module lists in `__all__`, or else every name without a leading underscore. With the old trees also a name of such
a module that `getattr`, `setattr` or an assignment (`x.y = mine`) still uses: always the default, or a patch without
effect. Imports at the top of the other omni modules that are imported with a runner count as well: if
OmniGPUModelRunner's module fails, no NPU worker starts; and so do imports from vllm-ascend, and such uses of its
modules, anywhere in omni: in models and layers that no runner imports, and below `if current_platform.is_npu():`. The
rule also reports a base class that the module neither imports nor defines, because no other rule can check such a
class.

Example: `from vllm.v1.attention.backends.utils import CommonAttentionMetadata` after vLLM moved the class to
`vllm.v1.attention.backend`.

Why: the worker process dies at import, before the first log line that names the model; a model's module fails when the
model is loaded, as `AscendFusedMoE` did for omni 0.22.0 on vllm-ascend 0.26.0rc1. Six of the 156 breakages
recorded in nine months were of this kind.

Fix: import from where the target defines it now; the fix names that module if only one of the package does.
`runner-sync upgrade` recomputes imports.

Leaves alone: imports whose failure is handled (`try`, `suppress(ImportError)`), `TYPE_CHECKING` blocks, the branches of
a version switch that do not run (`if vllm_version_is("0.24.0"):`, where the version of vLLM is known), conditional
imports from vLLM in other modules, packages outside the three trees, compiled modules, modules with `__getattr__`, with
an unreadable star import or with a computed `__all__`, names that a start-up patch adds. Several names of one missing
module are one finding, at the first.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from runner_sync.model import Finding, Project, Severity
from runner_sync.naming import module_name, project_of
from runner_sync.profile.vllm import PLATFORM
from runner_sync.syntax import dotted_name, for_typing, generic_of, walk
from runner_sync.verify.trees import modules
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame, class_finding, place_at_import
from runner_sync.verify.trees.module_names import find_lost_names
from runner_sync.verify.trees.modules import Module, PlacedImport
from runner_sync.verify.trees.other_platforms import for_other_platforms
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.world import Definition

CODE = "RS301"
NAME = "import-gone"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield imports and uses of modules that the target trees cannot satisfy."""
    yield from find_imports(program, module)
    yield from find_names(program, module, old)
    for info in program.own_classes(module):
        yield from _check_bases(module, info)
    for frame in program.frames(module):
        for node in frame.nodes():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                yield from _check_member(program, frame, node)


def find_imports(program: Program, module: Module, *, package: str = "") -> Iterable[Finding]:
    """Yield imports that the target trees cannot satisfy, at the top of ``module`` or in a function.

    With ``package``, other imports are not resolved, which would read the modules that they name.
    """
    for _, imported in modules.imports_of(module):
        if not imported.guarded and (not package or f"{imported.module}.".startswith(f"{package}.")):
            for finding in _check_import(program, module, imported):
                unit, cause = modules.unit_at(module, imported.line), finding.cause
                yield replace(finding, unit=unit, cause=replace(cause, unit=unit) if cause else None)


def find_names(
    program: Program, module: Module, old: Program | None, *, project: Project | None = None
) -> Iterable[Finding]:
    """Yield uses by ``getattr``, ``setattr`` and assignment of names that upstream modules have in ``old`` only."""
    for lost in find_lost_names(program, module, old, project=project) if old is not None else ():
        full, text = f"{lost.owner}.{lost.name}", ast.unparse(lost.node)
        says = {
            "read": f"`{text}` fails",
            "default": f"`{text}` always gives its default",
            "set": f"this sets `{lost.name}` where nothing reads it any more",
        }
        definer = _find_definer(program, full, lost.name)
        yield lost.frame.finding(
            (CODE, SEVERITY if lost.use == "read" else "warning"),
            lost.node,
            symbol=full,
            message=f"`{full}` does not exist {_name_tree(full)}: {says[lost.use]}.",
            fix=f"Name {f'`{definer}`, which defines it' if definer else 'what the target has in its place'} now.",
        )


def find_at_start(program: Program, module: Module) -> Iterable[Finding]:
    """Yield imports that the target trees cannot satisfy and that run whenever ``module`` is imported."""
    for imported in modules.imports_at_start(module):
        yield from _check_import(program, module, imported)


def _check_bases(module: Module, info: ClassInfo) -> Iterator[Finding]:
    """Yield bases that the module neither imports nor defines. timid: a star import may bring anything."""
    if module.stars or module.dynamic:
        return
    for base in info.node.bases:
        dotted = dotted_name(generic_of(base)) or ""
        head = dotted.partition(".")[0]
        if head and head not in module.bindings and not hasattr(builtins, head):
            yield class_finding(
                (CODE, SEVERITY),
                info,
                symbol=dotted,
                message=f"`{info.name}` derives from `{dotted}`, and the module neither imports nor defines `{head}`: "
                "it cannot be imported.",
                fix=f"Import `{head}`.",
            )


def _check_import(program: Program, module: Module, imported: PlacedImport) -> Iterator[Finding]:
    missing = _find_missing_name(program, program.world.lookup(imported.module, imported.name.removeprefix("*")))
    if missing is not None:
        yield _make_finding(program, module, imported, missing)
    elif unseen := _find_unseen(program, imported):
        full = f"{imported.module}.{imported.name}"
        yield _make_finding(program, module, imported, full, how=f"only exists {unseen}")


def _find_missing_name(program: Program, found: Sequence[Definition]) -> str | None:
    """Return the missing name if all ``found`` definitions are missing and no patch adds one, else ``None``."""
    if not found or any(d.kind != "missing" or program.world.patches_of(d.name) for d in found):
        return None
    return found[0].name


def _find_unseen(program: Program, imported: PlacedImport) -> str:
    """Return below which condition, that never holds at run time, the imported module binds the name; empty if none."""
    module = program.world.module(imported.module)
    full = f"{imported.module}.{imported.name}"
    bindings = module.bindings.get(imported.name, []) if module is not None else []
    if module is None or not bindings or module.dynamic or module.stars or program.world.patches_of(full):
        return ""
    if module.is_package and program.world.module(full) is not None:
        return ""
    bound, unseen = {id(binding.node) for binding in bindings}, for_typing(module.node.body)
    if bound <= unseen:
        return "below `if TYPE_CHECKING:`"
    is_outside = "vllm-ascend" in program.world.trees and not module.is_omnis
    if is_outside and PLATFORM in module.text and bound <= unseen | for_other_platforms(module.node.body):
        return "for other platforms"
    return ""


def _check_member(program: Program, frame: Frame, node: ast.Attribute) -> Iterator[Finding]:
    dotted = dotted_name(node.value)
    owners = program.definitions(frame, dotted) if dotted else []
    if not owners or any(d.kind != "module" for d in owners) or frame.may_lack(node):
        return
    missing = _find_missing_name(program, [d for owner in owners for d in program.world.member(owner, node.attr)])
    if missing is not None and not _is_set_here(frame.module, node):
        yield frame.finding(
            (CODE, SEVERITY),
            node,
            symbol=missing,
            message=f"`{missing}` does not exist {_name_tree(missing)}, so `{ast.unparse(node)}` fails.",
            fix=f"Use what the target has in place of `{node.attr}`.",
        )


def _is_set_here(module: Module, read: ast.Attribute) -> bool:
    """Whether the same file puts the name into the other module: ``state.group = made``."""
    stores = (n for n in walk(module.node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    text = ast.unparse(read)
    return any(node.attr == read.attr and ast.unparse(node) == text for node in stores)


def _make_finding(
    program: Program, module: Module, imported: PlacedImport, missing: str, *, how: str = "does not exist"
) -> Finding:
    full = imported.source
    is_module = missing == imported.module
    what = f"module `{missing}`" if is_module else f"`{missing}`"
    definer = _find_definer(program, missing, imported.name if is_module else missing.rpartition(".")[2])
    place = f"`{definer}`, where" if definer else "where"
    drop, fix = f"drop what uses `{imported.bound}`", f"Import it from {place} {_name_definer(missing)} defines it now"
    if definer == imported.module and "TYPE_CHECKING" in how:
        fix = "Import it below `if TYPE_CHECKING:` as well, if only annotations use it"
    elif definer == imported.module:
        fix = "Use what the target has in its place on NPU"
    via = "" if is_module or missing == full else f" (which `{full}` re-exports)"
    found = place_at_import(
        (CODE, SEVERITY),
        module,
        imported,
        message=f"{what}{via} {how} {_name_tree(missing)}, so this import fails.",
        fix=f"{fix}, or {drop}.",
    )
    return replace(found, cause=_make_cause(found, missing)) if is_module and imported.name else found


def _find_definer(program: Program, missing: str, name: str) -> str:
    """Return the one module of the missing name's upstream that defines ``name`` itself; empty for none or several."""
    project = project_of(missing)
    if name in ("", "*") or project in (None, "vllm-omni"):
        return ""
    paths = program.world.surroundings.having(name, project)
    texts = (program.world.module(module_name(path)) for path in paths if path.endswith(".py"))
    found = [one for one in texts if one is not None and any(b.kind != "import" for b in one.bindings.get(name, ()))]
    return found[0].name if len(found) == 1 else ""


def _make_cause(found: Finding, missing: str) -> Finding:
    """Return the cause shared by all names that are imported from a missing module."""
    return replace(
        found,
        symbol=missing,
        message=f"module `{missing}` does not exist {_name_tree(missing)}, so the import of {{names}} fails.",
        fix=f"Import each from where {_name_definer(missing)} defines it now, or drop what uses it.",
    )


def _name_tree(missing: str) -> str:
    """Say where a name is missing: omni's own is missing whatever the target is, and was before."""
    return "in this vllm-omni, with any target" if project_of(missing) == "vllm-omni" else "in the target tree"


def _name_definer(missing: str) -> str:
    return "omni" if project_of(missing) == "vllm-omni" else "the target"
