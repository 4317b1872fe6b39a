"""The first upstream: carry what vllm-ascend changed into the copied units.

Comes in: drafts and a ``ModuleJob``. Goes out: the same drafts with one more stage, their base and their doubts.
May touch: nothing.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Sequence
from dataclasses import replace

from runner_sync import lineage, merge
from runner_sync.compose.assignment import locals_of
from runner_sync.compose.members import canonical
from runner_sync.compose.names import used_names
from runner_sync.compose.overrides import accepts, follow_signature, takes_the_same
from runner_sync.lock import digest
from runner_sync.merge.confidence import INFERRED
from runner_sync.model import BaseRef, ReviewItem, Triple
from runner_sync.statements import Node, as_module, flatten
from runner_sync.units import texts
from runner_sync.upgrade import splitting
from runner_sync.upgrade.base import Base, closest, find_base, upstream_name
from runner_sync.upgrade.doubts import review, review_of, unmerged
from runner_sync.upgrade.job import Draft, Inherited, ModuleJob, Stage, winner
from runner_sync.upgrade.moved import statements_of_given_up
from runner_sync.upgrade.spelling import as_upstream_calls


def follow(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Find the base of every draft and merge the new upstream text of those that are copies.

    Returns new drafts: methods that upstream split off copied ones.
    """
    added: list[Draft] = []
    if job.upstream.new is None:
        return added
    new = texts.unit_texts(job.upstream.new.text, job.upstream.new.path)
    for draft in drafts:
        name = upstream_name(draft.name, job.module)
        locked = job.upstream.locked.get(draft.name)
        base = find_base(
            draft.name, draft.text, job.module, job.upstream.bases, locked=locked, infer=job.upstream.infer or closest
        )
        draft.kind = base.kind if base is not None else "own"
        draft.upstream = new.get(name)
        if base is None:
            continue
        origin = base.origin
        if draft.kind != "copy":
            if draft.kind == "override" and draft.upstream is not None:
                _touch_up(draft, job, base)
                _follow_signature(draft, job, base)
            continue
        draft.base = base.ref
        if draft.upstream is not None:
            anchor = job.module.upstreams[0]
            draft.base_now = BaseRef(
                anchor.project, job.upstream.new.ref, anchor.path, name, "lock", 1.0, digest(draft.upstream)
            )
        if base.ref.ref != job.upstream.new.ref:
            # Not on its own base: there nothing is new.
            origin = replace(origin, text=base.copied, heritage=origin.heritage | _given_up(draft, job, origin))
        draft.own = _own(draft.text, origin)
        if draft.upstream is not None:
            second = _second_half(draft, job, origin)
            rest = _merge_divided(draft, *second, job, origin) if second is not None else None
            if rest is not None:
                added.append(rest)
            else:
                _merge(draft, job, origin)
            _ask_about_unsynced(draft, job, base)
    return added


def _given_up(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> frozenset[str]:
    """What the copy has of methods that upstream gave up, in the place of statements of its base."""
    owner = job.module.upstreams[0].name
    if not draft.owner:
        return frozenset()
    return statements_of_given_up(draft.text, origin.text, owner, sides=job.upstream.bases, ref=origin.ref)


def _second_half(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> tuple[str, str] | None:
    """Name and text of the method that upstream split off this one, where the module does not have it yet."""
    owner = job.module.upstreams[0].name
    old = next((side for side in job.upstream.bases if side.ref == origin.ref), None)
    if not draft.owner or old is None or job.upstream.new is None:
        return None
    new = texts.members(job.upstream.new.text, owner, job.upstream.new.path)
    member = splitting.split_off(
        draft.member,
        base=origin.text,
        copy=draft.text,
        old=texts.members(old.text, owner, old.path),
        new=new,
    )
    if not member or f"{draft.owner}.{member}" in texts.unit_texts(job.text, job.path):
        return None
    return member, new[member]


def _merge_divided(draft: Draft, member: str, text: str, job: ModuleJob, origin: lineage.Origin) -> Draft | None:
    """Merge a copy with the two methods that upstream made of it. Returns the second one.

    ``None`` where the two cannot be told apart, or nothing of omni's is in the second: it is inherited then.
    """
    assert draft.upstream is not None
    policy = merge.settled_for(merge.FOLLOW, winner(job, draft.name))
    sides = Triple(origin.text, draft.text, splitting.joined(draft.upstream, text))
    result = merge.merge(sides, policy=policy, heritage=origin.heritage)
    halves = splitting.cut(result.text, text)
    if halves is None or not set(draft.own) & set(canonical(halves[1])):
        return None
    rest = Draft(
        f"{draft.owner}.{member}",
        [Stage(""), Stage(halves[1], "upstream")],
        "copy",
        "added",
        after=draft.name,
        split_from=draft.name,
    )
    rest.base, rest.own, rest.upstream = draft.base, draft.own, text
    if draft.base_now is not None:
        qualname = f"{job.module.upstreams[0].name}.{member}"
        rest.base_now = replace(draft.base_now, qualname=qualname, digest=digest(text))
    draft.stages.append(Stage(halves[0], "upstream"))
    reason = f"upstream split it off {draft.member}: what omni had added to this part of {draft.member} came along"
    rest.reviews.append(
        review(rest, job.path, reason=reason, confidence=INFERRED, omni=draft.before, upstream=text, chosen=rest.text)
    )
    row, start = splitting.row_of_cut(result.text), splitting.first_row(rest.text)
    for item in result.decisions:
        half, line = (rest, item.line - row + start) if item.line > row else (draft, item.line)
        half.reviews.append(review_of(item, half, job.path, line=line))
    return rest


def _ask_about_unsynced(draft: Draft, job: ModuleJob, base: Base) -> None:
    """One question for each condition that came in although the revision named as base has it and omni has not."""
    made, before = (set(lineage.fingerprint(text)) for text in (draft.text, draft.before))
    for text in base.unsynced:
        news = set(lineage.fingerprint(text)) - before
        if news and news <= made:
            reason = (
                f"new in {base.ref.project} {base.ref.ref} and not in omni's copy: taken to be newer than the copy; "
                "leave it out if omni had removed it"
            )
            shown = textwrap.dedent(text)
            draft.reviews.append(
                review(draft, job.path, reason=reason, confidence=INFERRED, base=shown, upstream=shown, chosen=shown)
            )


def _own(text: str, origin: lineage.Origin) -> tuple[str, ...]:
    """Statements of a copy that are omni's: in no upstream revision at hand, and not the signature."""
    known = set(lineage.fingerprint(origin.text)) | origin.heritage
    return tuple(c for c in canonical(text)[1:] if c not in known and not c.startswith("return"))


def _touch_up(draft: Draft, job: ModuleJob, base: Base) -> None:
    """Bring the statements that an own method shares with its namesake up to date (unpackings, calls)."""
    assert draft.upstream is not None
    result = merge.merge(Triple(base.origin.text, draft.text, draft.upstream), policy=merge.TOUCH_UP)
    if result.parses and canonical(result.text) != canonical(draft.text) and not result.decisions:
        draft.reviews += _touched(draft, job, Triple(base.origin.text, draft.text, draft.upstream), result.text)
        draft.stages.append(Stage(result.text, "upstream"))
        draft.base = base.ref


def _touched(draft: Draft, job: ModuleJob, sides: Triple, text: str) -> list[ReviewItem]:
    """One question for each run of statements that were brought up to date, with what upstream had and has there."""
    reason = "a method of omni's own, brought up to date in a statement that it shares with upstream's"
    base, omni, upstream, made = (
        [node for node in flatten(side) if not node.is_comment]
        for side in (sides.base, sides.omni, sides.upstream, text)
    )
    rows = difflib.SequenceMatcher(None, [n.canon for n in omni], [n.canon for n in made], autojunk=False).get_opcodes()
    items = []
    for tag, i1, i2, j1, j2 in rows:
        if tag != "equal":
            was, now = omni[i1:i2], made[j1:j2]
            item = review(
                draft,
                job.path,
                reason=reason,
                confidence=INFERRED,
                base=_closest(was, base),
                omni=_text(was),
                upstream=_closest(now, upstream),
                chosen=_text(now),
                line=(now or made[j1 - 1 :])[0].start,
            )
            items.append(item)
    return items


def _closest(nodes: Sequence[Node], side: Sequence[Node]) -> str:
    """The statements of a side that are most like ``nodes``."""
    canons = {node.canon: node for node in side}
    found = [difflib.get_close_matches(node.canon, canons, n=1) for node in nodes]
    return _text([canons[canon] for match in found for canon in match])


def _text(nodes: Sequence[Node]) -> str:
    return "\n".join(node.text for node in nodes)


def _follow_signature(draft: Draft, job: ModuleJob, base: Base) -> None:
    """Take the parameters that upstream's callers pass from now on, and pass them on to the overridden method.

    An override that takes what vLLM's method takes was written when vllm-ascend had no version of its own.
    """
    assert draft.upstream is not None
    hierarchy, nothing = job.hierarchy, Inherited()
    vllm = hierarchy.inherited.get(draft.owner, nothing).vllm.get(draft.member)
    before = vllm if vllm is not None and takes_the_same(draft.text, vllm) else base.origin.text
    grown = follow_signature(draft.text, before, draft.upstream)
    parents = (hierarchy.with_twin.get(draft.owner), hierarchy.inherited.get(draft.owner, nothing))
    inherited = next(parent for parent in parents if parent is not None).members.get(draft.member)
    if grown is None or (grown.passed and inherited is not None and not accepts(inherited, grown.added)):
        return
    said = ", ".join(grown.added)
    done = "taken here and passed on" if grown.passed else "taken here, used nowhere yet"
    reason = f"upstream passes {said} from now on: {done}"
    item = review(
        draft,
        job.path,
        reason=reason,
        confidence=INFERRED,
        base=before,
        omni=draft.text,
        upstream=draft.upstream,
        chosen=grown.text,
    )
    draft.reviews.append(item)
    draft.stages.append(Stage(grown.text, "upstream"))
    draft.base = base.ref


def _merge(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> None:
    assert job.upstream.new is not None
    assert draft.upstream is not None
    # Fields of a record are positional: upstream's code builds it in upstream's order, so omni's fields come last.
    policy = merge.RECORD if not draft.owner else merge.FOLLOW
    policy = merge.settled_for(policy, winner(job, draft.name))
    mine = draft.text
    if draft.upstream != origin.text:
        mine = as_upstream_calls(mine, job.text, upstream=draft.upstream, upstream_module=job.upstream.new.text)
    result = _merged(Triple(origin.text, mine, draft.upstream), policy, origin)
    if not result.parses:
        reason = f"the merge with {job.upstream.new.ref} did not parse, so omni's text stands"
        draft.reviews.append(unmerged(draft, job.path, reason=reason, base=origin.text, upstream=draft.upstream))
        draft.outcome = "review"
        return
    draft.stages.append(Stage(result.text, "upstream"))
    draft.reviews += [review_of(item, draft, job.path, line=item.line) for item in result.decisions]


def _merged(sides: Triple, policy: merge.Policy, origin: lineage.Origin) -> merge.Merged:
    """The merge; anew where a local that omni does not set, and that upstream newly reads, is one that omni calls
    otherwise.

    Only where that leaves less to ask: omni may do with its own local what upstream newly does.
    """
    result = merge.merge(sides, policy=policy, heritage=origin.heritage)
    unset = {name for item in result.decisions if item.reason.kind == UNSET_BY_OMNI for name in item.reason.names}
    free = _free_locals(result.text, sides)
    named = merge.with_omni_names_behind(sides, sorted({name for name in unset if name.isidentifier()} | free))
    if named == sides:
        return result
    other = merge.merge(named, policy=policy, heritage=origin.heritage)
    asked, asked_before = (len(one.decisions) + len(_free_locals(one.text, sides)) for one in (other, result))
    return other if other.parses and asked < asked_before else result


def _free_locals(text: str, sides: Triple) -> frozenset[str]:
    """Locals of upstream that the merged ``text`` reads, nothing in it binds, and omni's text did not read."""
    try:
        return (used_names(as_module(text)) & locals_of(sides.upstream)) - used_names(as_module(sides.omni))
    except SyntaxError:
        return frozenset()


UNSET_BY_OMNI: merge.Kind = "addition reads what omni does not set"
"""The reason of a decision about an addition of upstream's that stays out."""
