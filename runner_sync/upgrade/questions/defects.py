"""Questions about defects in the text of a method after all merges, whatever the merges decided.

Comes in: drafts. Goes out: the drafts with review items. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from runner_sync.compose.assignment import locals_of, read_too_early, read_unless_set
from runner_sync.compose.handing_over import bare_before, handing_methods, method_called, returns
from runner_sync.compose.member_text import self_names
from runner_sync.compose.names import used_names
from runner_sync.compose.soundness import unreachable, uses_of
from runner_sync.confidence import DEFECT
from runner_sync.merge import are_branches
from runner_sync.model import ReviewItem
from runner_sync.statements import as_module, flatten, parse_unit
from runner_sync.syntax import is_name, self_attributes_set, walk
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review


def ask_about_order(draft: Draft, path: str) -> Draft:
    """The draft with questions about locals read before anything sets them, and about unreachable statements."""
    return _asking(draft, _about_order(draft, path)) if _is_changed(draft) else draft


def _asking(draft: Draft, items: Iterable[ReviewItem]) -> Draft:
    """The draft with further questions.

    If a question of the merge shows the same statement as chosen, the reason is added to that one instead: whoever
    settles one settles both.
    """
    for item in items:
        same = next((asked for asked in draft.reviews if _is_about(asked, item)), None)
        if same is None:
            draft = draft.asking(item)
            continue
        joined = replace(same, reason=f"{same.reason}; {item.reason}", confidence=item.confidence)
        draft = replace(draft, reviews=tuple(joined if asked is same else asked for asked in draft.reviews))
    return draft


def _is_about(asked: ReviewItem, item: ReviewItem) -> bool:
    """Whether a question of the merge is about the line of ``item``, as the first line of what was chosen."""
    chosen = asked.chosen.strip().split("\n")[0].strip()
    return asked.confidence > DEFECT and asked.line == item.line and chosen == item.chosen.strip()


def _about_order(draft: Draft, path: str) -> Iterator[ReviewItem]:
    """The questions of ``ask_about_order``; only about defects that the unit did not have before."""
    known = read_too_early(draft.before)
    for name, line in read_too_early(draft.text).items():
        if name not in known:
            yield _about(draft, path, reason=f"{name} is read here before anything sets it", line=line)
            known[name] = line
    # Only names that one of these texts always set: elsewhere two branches may test the same condition.
    sources = [text for text in (draft.before, draft.upstream or "") if text]
    certain = {name for text in sources for name in locals_of(text)} - known.keys()
    certain -= {name for text in sources for name in read_unless_set(text)}
    for name, line in read_unless_set(draft.text).items():
        if name in certain:
            yield _about(draft, path, reason=f"not every path to here sets {name} any more", line=line)
    lines = draft.before.split("\n")
    idle = {lines[line - 1].strip() for line in unreachable(draft.before)}
    for line in unreachable(draft.text):
        if draft.text.split("\n")[line - 1].strip() not in idle:
            reason = "this can never run: the statement above it always returns, raises, breaks or continues"
            yield _about(draft, path, reason=reason, line=line)


def ask_about_repeated(draft: Draft, twin: str, path: str) -> Draft:
    """The draft with questions about statements that stand more often than in omni's, vllm-ascend's or the ``twin``'s
    text.

    Two sides may have added the same work at two places. One in each branch of a condition counts once.
    """
    if not _is_changed(draft):
        return draft
    most: Counter[str] = Counter()
    for text in (draft.before, draft.upstream or "", twin):
        most |= Counter(canon for canon, places in _distinctive_statements(text).items() for _ in places)
    nodes, work, again = flatten(draft.text), _distinctive_statements(draft.text), dict[int, int]()
    for canon, (*others, last) in work.items():
        count = 1 + sum(not are_branches(nodes, other, last) for other in others)
        if count > max(most[canon], 1):
            again[last] = count
    items = []
    for before, index in pairwise([-1, *sorted(place for places in work.values() for place in places)]):
        if index in again and again.get(before) != again[index]:  # one question for several in a row
            times = "twice" if again[index] == 2 else f"{again[index]} times"
            reason = f"this stands {times} here now, and no side has it so often: is it done once too much?"
            items.append(_about(draft, path, reason=reason, line=nodes[index].start))
    return _asking(draft, items)


def _distinctive_statements(text: str) -> dict[str, list[int]]:
    """``{statement: positions}`` of a unit's distinctive simple statements, without returns, raises and imports."""
    found: dict[str, list[int]] = {}
    for index, node in enumerate(flatten(text) if text.strip() else ()):
        if node.is_telling and not node.compound and node.keyword not in ("return", "raise", "import", "from"):
            found.setdefault(node.canon, []).append(index)
    return found


def ask_about_unknown(name: str, drafts: Iterable[Draft], path: str, *, conditional_in: str = "") -> list[Draft]:
    """The drafts with questions where ``name`` is read and neither the module nor any import at hand defines it.

    ``conditional_in`` is the module that imports it under a condition. No question in a unit that binds the name
    itself.
    """
    why = f": {conditional_in} imports it under a condition" if conditional_in else ""
    return [_asking(draft, _about_unknown(name, draft, path, why)) for draft in drafts]


def _about_unknown(name: str, draft: Draft, path: str, why: str) -> Iterator[ReviewItem]:
    yield from _at_first(_read_in(draft, name), draft, path, reason=f"{name} is neither defined nor imported here{why}")


def ask_about_meaning(name: str, here: str, there: str, source: str, drafts: Iterable[Draft], path: str) -> list[Draft]:
    """The drafts with questions where a line from ``source`` reads a name that is imported as something else there.

    ``here`` and ``there`` are the two import statements.
    """
    asked, said = [], {line.strip() for line in source.split("\n")}
    for draft in drafts:
        before, lines = {line.strip() for line in draft.before.split("\n")}, draft.text.split("\n")
        came = [k for k in _read_in(draft, name) if lines[k - 1].strip() in said - before]
        reason = f"{name} is what `{here}` imports here, and this line was written for `{there}`"
        asked.append(draft.asking(*_at_first(came, draft, path, reason=reason)))
    return asked


def _read_in(draft: Draft, name: str) -> Sequence[int]:
    """The lines of a changed unit that read ``name`` as a global; none for an unchanged unit."""
    is_read = _is_changed(draft) and name in used_names(as_module(draft.text))
    return uses_of(draft.text, name) if is_read else ()


def _at_first(lines: Sequence[int], draft: Draft, path: str, *, reason: str) -> Iterator[ReviewItem]:
    """A question at the first of ``lines`` that also counts the others; its id does not depend on that count."""
    others = len({*lines}) - 1
    if lines:
        item = _about(draft, path, reason=reason, line=lines[0])
        more = f" ({others} more {'lines' if others > 1 else 'line'} below)" if others else ""
        yield replace(item, reason=item.reason + more)


def ask_about_unset(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """The drafts with questions where an attribute is read that nothing sets any more since this upgrade.

    Also where it is only tested for (``hasattr(self, "x")``): the code behind that test is dead now.
    """
    lost = {
        owner: _attributes_lost(owner, drafts, job)
        for owner in dict.fromkeys(draft.owner for draft in drafts if draft.owner)
    }
    return [
        draft if draft.removed else _asking(draft, _about_unset(draft, lost.get(draft.owner, ()), job.path))
        for draft in drafts
    ]


def _attributes_lost(owner: str, drafts: Sequence[Draft], job: ModuleJob) -> list[str]:
    """Attributes that methods of a class set before this upgrade and that nothing sets now."""
    mine = [draft for draft in drafts if draft.owner == owner]
    before = {name for draft in mine for name in _set_by(draft.before)}
    lost = before - {name for draft in mine if not draft.removed for name in _set_by(draft.text)}
    lost -= {name for text in _other_texts(owner, job) for name in _set_by(text)} if lost else set()
    return sorted(lost)


def _about_unset(draft: Draft, lost: Iterable[str], path: str) -> Iterator[ReviewItem]:
    for name in lost:
        reason = f"nothing sets self.{name} any more, which is read here"
        yield from _at_first(_lines_reading(draft.text, name), draft, path, reason=reason)


def ask_about_never_set(drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]) -> list[Draft]:
    """The drafts with questions where an attribute is read only now which, of all that runs here and in the ``twin``'s
    class, the latter alone sets: what sets it there was not ported.

    Another NPU class may well set one of that name. None where the unit asks whether there is one.
    """
    asked = []
    for draft in drafts:
        for name, setters in _set_by_twin_alone(draft, drafts, job, twin).items():
            reason = f"nothing that runs in this class sets self.{name}; the GPU class does in {' and '.join(setters)}"
            items = _at_first(_lines_reading(draft.text, name), draft, job.path, reason=reason)
            draft = _asking(draft, items)
        asked.append(draft)
    return asked


def _set_by_twin_alone(
    draft: Draft, drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]
) -> dict[str, list[str]]:
    """``{attribute: methods of the twin's class that set it}``: what a draft reads only now and nothing here sets."""
    if not draft.owner or not _is_changed(draft):
        return {}
    theirs = {name.rpartition(".")[2]: text for name, text in twin.items() if name.startswith(f"{draft.owner}.")}
    news = self_names(draft.text) - self_names(draft.before) - _asked_for(draft.text)
    found = {
        name: [member for member, text in theirs.items() if name in _set_by(text)]
        for name in sorted(news - theirs.keys())
    }
    found = {name: setters for name, setters in found.items() if setters}
    if not found:
        return {}
    mine = [other for other in drafts if other.owner == draft.owner and not other.removed]
    have = {other.member for other in mine}.union(job.hierarchy.from_mixins(draft.owner))
    inherited = job.hierarchy.inherited.get(draft.owner)
    texts = [*(other.text for other in mine), *_other_texts(draft.owner, job)]
    if inherited is not None:
        have |= inherited.members.keys()
        texts += inherited.vllm.values()
    have |= {name for text in texts if text.strip() for name in _set_by(text)}
    return {name: setters for name, setters in found.items() if name not in have}


def _asked_for(text: str) -> set[str]:
    """Attributes of ``self`` that a text asks for by name."""
    calls = [node for node in walk(parse_unit(text)) if isinstance(node, ast.Call) and len(node.args) > 1]
    names = [call.args[1] for call in calls if is_name(call.args[0], "self")]
    return {str(name.value) for name in names if isinstance(name, ast.Constant)}


def ask_about_returns(draft: Draft, job: ModuleJob) -> Draft:
    """The draft with questions about new returns that do not go through the method which other returns go through.

    If several returns are ``return self.attach(output)``, with a method that upstream does not know, callers rely on
    it. No question if another one is already about that very return.
    """
    if not _is_changed(draft) or job.upstream.new is None:
        return draft
    common = handing_methods(draft.text, job.upstream.new.text)
    if not common:
        return draft
    known = bare_before(draft.before, draft.text, common)
    items = []
    asked = {line for item in draft.reviews for line in _lines_asked_about(item)}
    for line, value in returns(draft.text):
        is_new = ast.dump(value) not in known and method_called(value) not in common
        if is_new and draft.text.split("\n")[line - 1].strip() not in asked:
            said = f"other returns of this method go through self.{common[0]}, and this new one does not"
            items.append(_about(draft, job.path, reason=said, line=line, is_new=True))
    return draft.asking(*items)


def _lines_asked_about(item: ReviewItem) -> set[str]:
    """The lines that a question is about, at any indentation: those chosen as upstream has them, or all that it chose
    in another form than the GPU runner's."""
    chosen, theirs = ({line.strip() for line in text.split("\n")} for text in (item.chosen, item.upstream))
    if item.from_gpu:
        return chosen if not chosen & theirs else set()
    return chosen & theirs


def _other_texts(owner: str, job: ModuleJob) -> Iterator[str]:
    """Other texts that may set an attribute of a class: what it inherits from omni, and upstream's module."""
    inherited = job.hierarchy.inherited.get(owner)
    yield from (text for text in inherited.members.values() if text) if inherited is not None else ()
    if job.upstream.new is not None:
        yield job.upstream.new.text


@lru_cache(maxsize=1024)
def _set_by(text: str) -> frozenset[str]:
    """Attributes of ``self`` that a text assigns, ``setattr`` with a literal name included."""
    tree = parse_unit(text)
    found = self_attributes_set(tree)
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name)), _]):
                found.add(name)
    return frozenset(found)


def _lines_reading(text: str, name: str) -> list[int]:
    """Lines that read an attribute of ``self`` or ask for it by name, as ``getattr`` and ``hasattr`` do."""
    found = []
    for node in walk(parse_unit(text)):
        if isinstance(node, ast.Attribute) and node.attr == name and is_name(node.value, "self"):
            found.append(node.lineno)
        elif isinstance(node, ast.Call) and len(node.args) > 1 and is_name(node.args[0], "self"):
            asked = node.args[1]
            if isinstance(asked, ast.Constant) and asked.value == name:
                found.append(node.lineno)
    return sorted(found)


def _is_changed(draft: Draft) -> bool:
    return not draft.removed and draft.text != draft.before and bool(draft.text.strip())


def _about(draft: Draft, path: str, *, reason: str, line: int, is_new: bool = False) -> ReviewItem:
    """The question about a line of a draft; ``is_new`` if it is upstream's, though omni has the same line elsewhere."""
    here = draft.text.split("\n")[line - 1]
    is_own = not is_new and here.strip() in {own.strip() for own in draft.before.split("\n")}
    shown = Shown(omni=here, chosen=here) if is_own else Shown(upstream=here, chosen=here)
    return review(draft, path, reason=reason, confidence=DEFECT, shown=shown, line=line)
