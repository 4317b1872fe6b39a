"""Composes the module text: puts every draft in its place, sets base classes and settles imports.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the text, and the drafts with questions about
imports and undefined names. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from runner_sync.compose.guarded import follow_guards, import_conditionally, import_from_provider
from runner_sync.compose.imports import Provider, Settled, add_import, settle_imports
from runner_sync.compose.rulers import enclose_members, join_blocks
from runner_sync.confidence import INFERRED
from runner_sync.errors import InputError
from runner_sync.markers import read_markers, ruler_style
from runner_sync.naming import Import, imported_by, module_name
from runner_sync.statements import is_python
from runner_sync.syntax import module_of, walk
from runner_sync.texts.bindings import read_bindings
from runner_sync.texts.import_entries import import_statements, read_imports
from runner_sync.units import (
    Module,
    class_bases,
    insert_member,
    join,
    record_classes,
    replace_units,
    set_bases,
    texts,
    units,
)
from runner_sync.upgrade.draft import MODULE, Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.defects import ask_about_meaning, ask_about_unknown
from runner_sync.upgrade.questions.reviews import Shown, make_review
from runner_sync.upgrade.revision import ModuleRevision


def compose(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> tuple[str, list[Draft]]:
    """Return the module text with all drafts, base classes and imports in place, and the drafts with further questions.

    The questions are about moved imports, undefined names, and names that mean something else here. Raises
    ``InputError`` if the composed text is not valid Python.
    """
    text = join(_add_bases(_insert_drafts(drafts, job), job))
    moves = _find_moved_imports(drafts, job) if drafts else {}
    gone = _find_gone_imports(job, moves) if drafts else {}
    if text == job.text and not gone:
        return text, [*drafts]
    text = _follow_conditional_imports(_import_twins(text, job), drafts, job)
    settled = _settle_imports(text, job, side, moves=moves | gone)
    settled = _add_conditional_imports(settled, job)
    asked = [*drafts]
    for name in settled.unknown:
        asked = ask_about_unknown(name, asked, job.path, conditional_in=_find_conditional_import(name, job))
    asked = _ask_about_meanings(asked, settled.text, job, side)
    return settled.text, [*_ask_about_gone(settled.text, job, gone), *asked]


def _ask_about_meanings(drafts: list[Draft], text: str, job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Ask where merged code reads a name that this module imports as something else."""
    here = read_imports(text, job.path)
    twin = replace(job.twin.new, text=side.module_text) if job.twin.new is not None else None
    for source in [one for one in (job.upstream.new, twin) if one is not None]:
        for name, there in read_imports(source.text, source.path).items():
            if name in here and here[name].means_other(there):
                own, their = here[name].statement(), there.statement()
                drafts = ask_about_meaning(name, own, their, source.text, drafts, job.path)
    return drafts


def _follow_conditional_imports(text: str, drafts: Sequence[Draft], job: ModuleJob) -> str:
    """Replace imports under a condition that upstream had where units were copied, as it imports their names now."""
    if job.upstream.new is None:
        return text
    olds = [base.text for base in _list_followed(drafts, job)]
    return follow_guards(text, olds, _provide(job.upstream.new), first_party=job.profile.package)


def _provide(side: ModuleRevision) -> Provider:
    """Return a module whose code was merged in as a provider of imports."""
    return Provider(side.text, module_name(side.path))


def _list_followed(drafts: Sequence[Draft], job: ModuleJob) -> list[ModuleRevision]:
    """Return the upstream module at the revisions that units were copied from."""
    followed = {ref for draft in drafts if draft.base is not None for ref in (draft.base.ref, *draft.base.also)}
    return [base for base in job.upstream.bases if base.ref in followed]


def _add_conditional_imports(settled: Settled, job: ModuleJob) -> Settled:
    """Add imports of unknown names that upstream or the GPU twin imports under a condition.

    Does not take over a condition of the GPU twin (timid), because it may test the device and has no NPU names.
    """
    if settled.unknown and job.upstream.new is not None:
        settled = import_conditionally(settled, _provide(job.upstream.new), first_party=job.profile.package)
    if settled.unknown and job.twin.new is not None:
        settled = import_from_provider(settled, _provide(job.twin.new), first_party=job.profile.package)
    return settled


def _find_conditional_import(name: str, job: ModuleJob) -> str:
    """Return the path of the upstream or GPU module that imports ``name`` under a condition; empty if there is none."""
    sources = [side.new for side in (job.upstream, job.twin) if side.new is not None]
    return next((side.path for side in sources if name in read_bindings(side.text).conditional), "")


def _insert_drafts(drafts: Sequence[Draft], job: ModuleJob) -> Module:
    """Return the module with its units as drafted.

    Encloses added class members in ruler comments, unless they land inside a marked block or are omni's own text under
    another name.
    """
    module = texts.parsed(job.text, job.path)
    whole = frozenset(record_classes(module))
    ruler = ruler_style(job.text, label=job.profile.marker)
    for group in _group_consecutive([d for d in drafts if d.outcome == "added" and d.owner]):
        plain = _insert_group(module, group, "\n".join(d.text.rstrip("\n") + "\n" for d in group))
        if _is_renamed(group, drafts) or _is_marked(plain, group[0].name, job.profile.marker):
            module = plain
        else:
            enclosed = _insert_group(module, group, enclose_members([d.text for d in group], ruler=ruler))
            module = _join_touching_blocks(plain, enclosed, job.profile.marker)
    # Done last, because a member may have been added after one that is removed here.
    edits: dict[str, str | None] = {
        d.name: None if d.removed else d.text for d in drafts if d.before and (d.removed or d.text != d.before)
    }
    return replace_units(module, edits, whole=whole) if edits else module


def _is_renamed(group: Sequence[Draft], drafts: Sequence[Draft]) -> bool:
    """Whether a group is one method that omni has under the name of a removed one."""
    draft, *others = group
    was = next((d for d in drafts if d.removed and d.name == draft.after), None)
    return was is not None and not others and was.before.replace(was.member, draft.member) == draft.text


def _insert_group(module: Module, group: Sequence[Draft], body: str) -> Module:
    """Insert ``body``, the text of a group of added members, into their class."""
    return insert_member(module, group[0].owner, body, before=group[0].ahead_of, after=group[0].after)


def _join_touching_blocks(plain: Module, enclosed: Module, label: str) -> Module:
    """Join the new marked block of added members with a marked block that it touches."""
    text = join(enclosed)
    sound = [region for region in read_markers(text, path=enclosed.path, label=label).regions if not region.problems]
    joined = join_blocks(join(plain), text, [(region.start, region.end) for region in sound])
    return enclosed if joined == text else texts.parsed(joined, enclosed.path)


def _is_marked(module: Module, name: str, label: str) -> bool:
    """Whether a unit stands between rulers; a second pair there would end the block and begin a new one."""
    start = next((unit.start for unit in units(module) if unit.qualname == name), 0)
    return start in read_markers(join(module), path=module.path, label=label).marked


def _add_bases(module: Module, job: ModuleJob) -> Module:
    """Put the bases that this upgrade adds in front of a class's bases, and the new mixins at the end."""
    front, mixins = job.hierarchy.bases_in_front, job.hierarchy.added_mixins
    for class_name in dict.fromkeys([*front, *mixins]):
        bases = [base.expression for base in class_bases(module, class_name)]
        wanted = [*front.get(class_name, ()), *bases, *mixins.get(class_name, ())]
        module = set_bases(module, class_name, list(dict.fromkeys(wanted)))
    return module


def _import_twins(text: str, job: ModuleJob) -> str:
    """Add an import of each GPU twin that becomes a base class."""
    if job.twin.new is None:
        return text
    for twin in dict.fromkeys(name for names in job.hierarchy.bases_in_front.values() for name in names):
        text = add_import(text, Import(module_name(job.twin.new.path), twin, twin))
    return text


def _group_consecutive(added: Sequence[Draft]) -> list[list[Draft]]:
    """Group added members that follow each other."""
    groups: list[list[Draft]] = []
    for draft in added:
        if groups and draft.after == groups[-1][-1].name:
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return groups


def _find_untranslated_imports(job: ModuleJob, side: GpuSide) -> str:
    """Return the GPU twin's original import of each name whose translated import would fail.

    An example is a helper of another GPU runner whose NPU twin lacks it.
    """
    assert job.twin.new is not None
    path = job.twin.new.path
    written = read_imports(job.twin.new.text, path)
    translated = read_imports(side.module_text, path)
    lacking = [bound for bound, entry in translated.items() if job.target.lacks(entry.module, entry.name)]
    kept = [
        written[bound] for bound in lacking if bound in written.keys() - read_bindings(job.twin.new.text).conditional
    ]
    return "\n".join(entry.statement() for entry in kept if not job.target.lacks(entry.module, entry.name))


def _find_gone_imports(job: ModuleJob, moves: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return ``{(module, name): new module}`` for imports that fail on the target.

    The new module is the one that defines the name, else the one from which the GPU twin imports it now. The twin is
    not consulted about an import that upstream ``moves``.
    """
    homes = {}
    for entry in read_imports(job.text).values():
        if job.target.lacks(entry.module, entry.name):
            key = (entry.module, entry.name)
            homes[key] = job.target.moved_to(*key) or ("" if key in moves else _find_twin_home(entry, job))
    return {key: home for key, home in homes.items() if home}


def _find_twin_home(entry: Import, job: ModuleJob) -> str:
    """Return the module from which the GPU twin now imports a name that it used to import as ``entry`` does.

    Returns an empty string if the twin imports the name under a condition or not at all, or if that module lacks it.
    """
    if job.twin.new is None or not any(entry in _list_imports(base.side) for base in job.twin.bases):
        return ""
    now = [one for one in _list_imports(job.twin.new) if (one.name, one.bound) == (entry.name, entry.bound)]
    is_conditional = entry.bound in read_bindings(job.twin.new.text).conditional
    return now[0].module if now and not is_conditional and not job.target.lacks(now[0].module, entry.name) else ""


def _list_imports(side: ModuleRevision) -> Collection[Import]:
    return read_imports(side.text, side.path).values()


def _ask_about_gone(text: str, job: ModuleJob, gone: Mapping[tuple[str, str], str]) -> list[Draft]:
    """Return a draft of the module's own statements that asks about each import which now comes from another module."""
    draft, items = Draft.for_question(MODULE), []
    for (module, name), home in gone.items():
        reason = f"{module} no longer has {name}, which is imported from {home} now"
        old, new = (f"from {place} import {name}" for place in (module, home))
        shown = Shown(base=old, omni=old, upstream=new, chosen=new)
        line = _find_import_line(text, job.path, home, name)
        item = make_review(draft, job.path, reason=reason, confidence=INFERRED, shown=shown, line=line)
        items.append(replace(item, in_file=False))
    return [draft.with_questions(*items)] if items else []


def _find_import_line(text: str, path: str, module: str, name: str) -> int:
    """Return the line of the statement that imports ``name`` from ``module``, or 1 if there is none."""
    statements = (node for node in walk(module_of(text)) if isinstance(node, ast.Import | ast.ImportFrom))
    places = (
        statement.lineno
        for statement in statements
        for entry in imported_by(statement, path)
        if (entry.module, entry.name) == (module, name)
    )
    return next(places, 1)


def _settle_imports(text: str, job: ModuleJob, side: GpuSide, *, moves: Mapping[tuple[str, str], str]) -> Settled:
    """Settle the imports of ``text`` from omni's module, the profile, upstream and the GPU twin, in this order."""
    rows = [row for row in job.profile.names if not job.target.lacks(row.new_module, row.new_name)]
    import_lines = "\n".join(f"from {row.new_module} import {row.new_name}" for row in rows)
    providers = [Provider(job.text, module_name(job.path)), Provider(import_lines, "")]
    if job.upstream.new is not None:
        providers.append(_provide(job.upstream.new))
    if job.twin.new is not None:
        twin_name = module_name(job.twin.new.path)
        providers += [Provider(_find_untranslated_imports(job, side), twin_name), Provider(side.module_text, twin_name)]

    def lacks(module: str, name: str) -> bool:
        """Whether an existing module lacks a name; a missing module only shows that the tree is incomplete."""
        return job.target.lacks(module, name) and not job.target.lacks(module, "")

    try:
        return settle_imports(job.text, text, providers, moves=moves, first_party=job.profile.package, lacks=lacks)
    except SyntaxError as error:
        # Only the compiler finds such an error, for example a repeated parameter; ast.parse does not.
        read = [(side.path, side.text) for side in (job.upstream.new, job.twin.new) if side is not None]
        path = next((path for path, text in read if not is_python(text)), job.path)
        raise InputError(f"{path} is no valid Python ({error.msg}); fix it and run again.") from error


def _find_moved_imports(drafts: Sequence[Draft], job: ModuleJob) -> dict[tuple[str, str], str]:
    """Return ``{(module, name): new module}`` for imports that moved.

    These are imports that upstream now takes from another module than at the revisions that units were copied from, and
    imports from derived modules, or from what they follow, that moved.
    """
    moves = {
        (entry.module, entry.name): job.target.relocated[entry.module]
        for statement in import_statements(module_of(job.text).body)
        for entry in imported_by(statement)
        if entry.module in job.target.relocated
    }
    if job.upstream.new is None:
        return moves
    now = read_imports(job.upstream.new.text, job.upstream.new.path)
    conditional = read_bindings(job.upstream.new.text).conditional
    kept = {(entry.module, entry.name) for entry in now.values()}
    for side in _list_followed(drafts, job):
        for bound, entry in read_imports(texts.outside_definitions(side.text, side.path), side.path).items():
            if (
                bound in now.keys() - conditional
                and (entry.module, entry.name) not in kept
                and now[bound].name == entry.name
                and not (entry.binds_package or now[bound].binds_package)
            ):
                moves[entry.module, entry.name] = now[bound].module
    return moves
