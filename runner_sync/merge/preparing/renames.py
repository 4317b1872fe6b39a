"""Give locals that one side has renamed the same name on all sides.

Comes in: base, omni and upstream texts. Goes out: the texts in the names that the result has. May touch: nothing.

A copy that says ``model_output`` throughout where the original says ``hidden_states`` would otherwise conflict in every
statement with the name, and upstream's new statements would come in under the wrong one.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import lru_cache

from runner_sync.edits import Places, apply
from runner_sync.merge.matching.align import align
from runner_sync.merge.phrases.phrase import is_part_of
from runner_sync.model import Triple
from runner_sync.statements import Mention, Node, UnparsableText, bound_in, flatten, mentions, parse_unit
from runner_sync.statements.dataflow import binds, reads
from runner_sync.syntax import parameter_names, walk

SEEN = 2
"""The fewest statements that must show a renaming; in a single one it could be a change of meaning."""

_WORD = re.compile(r"[A-Za-z_]\w*|\W")


def with_omni_names(triple: Triple) -> Triple:
    """The triple with base and upstream in omni's names for locals that omni has renamed."""
    found = renamed_locals(triple.base, triple.omni)
    found = {old: new for old, new in found.items() if _can_rename((triple.base, triple.upstream), old, new)}
    if not found:
        return triple
    return Triple(_rename(triple.base, found), triple.omni, _rename(triple.upstream, found))


def with_omni_names_of_values(triple: Triple) -> Triple:
    """The triple with base and upstream in omni's name for the only value that all three make of a class.

    For a local that is bound several times, of which omni renamed only one of its values::

        base, upstream   output = copy(EMPTY) … return output   …   output = Output(rows)
        omni             output = copy(EMPTY) … return output   …   runner_output = Output(rows)
    """
    base, omni, upstream = (_values_made(text) for text in (triple.base, triple.omni, triple.upstream))
    for made, (name, line) in base.items():
        if made not in omni or made not in upstream:
            continue
        new, (same, there) = omni[made][0], upstream[made]
        if name == same != new and _can_rename((triple.base, triple.upstream), name, new):
            triple = _named_behind(triple, name, new, (line, there))
    return triple


def _values_made(text: str) -> dict[str, tuple[str, int]]:
    """``{class: (local, line)}`` of the classes of which a method makes and binds exactly one value."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for node in flatten(text):
        called, targets = node.facts.called, node.facts.targets
        if called[:1].isupper() and "." not in called and len(targets) == len(binds(node)) == 1:
            found[called].append((targets[0], node.start))
    return {name: places[0] for name, places in found.items() if len(places) == 1}


def with_omni_names_of_new_values(triple: Triple) -> Triple:
    """The triple with upstream in omni's names for the further values that both newly unpack from one function.

    Merged under two names, they would count as two values, more than the function returns::

        base      nans, lists = self.sync(rows)
        omni      nans, count, lists = self.sync(rows)
        upstream  nans, nans_device, lists = self.sync(rows)
    """
    base, omni, upstream = (_unpacked(text) for text in (triple.base, triple.omni, triple.upstream))
    for called in base.keys() & omni.keys() & upstream.keys():
        old, mine, theirs = base[called], omni[called], upstream[called]
        if len(old) < len(mine) == len(theirs):
            pairs = [(name, own) for name, own in zip(theirs, mine, strict=True) if name != own]
            if all({*pair}.isdisjoint(old) and _can_rename((triple.upstream,), *pair) for pair in pairs):
                triple = Triple(triple.base, triple.omni, _rename(triple.upstream, dict(pairs)))
    return triple


def _unpacked(text: str) -> dict[str, tuple[str, ...]]:
    """``{function: locals}`` of the methods of ``self`` whose values a text unpacks into locals, exactly once."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for node in flatten(text):
        if (
            len(node.facts.targets) > 1
            and node.facts.called.startswith("self.")
            and binds(node) == {*node.facts.targets}
        ):
            found[node.facts.called].append(node.facts.targets)
    return {called: places[0] for called, places in found.items() if len(places) == 1}


def with_upstream_names(
    triple: Triple, heritage: Collection[str], versions: Collection[str]
) -> tuple[Triple, Collection[str], Collection[str]]:
    """The triple with base and omni in upstream's new names for locals, so that what omni added uses them; and
    ``heritage`` and ``versions``, statements of other revisions of upstream, in the same names.

    Only if every statement that binds the local is the same but for the names. Otherwise it may be another value: what
    omni does with ``kv_cache`` it would not do with ``k_cache``, the first of two (vllm-ascend 0.11.0rc0).
    """
    found = renamed_locals(triple.base, triple.upstream, whole=True)
    found = {old: new for old, new in found.items() if _can_rename((triple.base, triple.omni), old, new)}
    if not found:
        return triple, heritage, versions
    names = re.compile(rf"(?<![\w.])(?:{'|'.join(found)})\b(?!=[^=])")
    older, parts = (
        frozenset(names.sub(lambda match: found[match[0]], c) for c in all_) for all_ in (heritage, versions)
    )
    return Triple(_rename(triple.base, found), _rename(triple.omni, found), triple.upstream), older, parts


def named_alike(text: str, others: Sequence[str]) -> list[str]:
    """``others``, revisions of one text, in the local names of ``text``; one that is no Python stays as it is.

    Revisions that differ from ``text`` in the same names share one comparison, that of the longest, to save time.
    """
    longest: dict[tuple[frozenset[str], frozenset[str]], str] = {}
    unshared = {}
    for other in sorted(others, key=len):
        with contextlib.suppress(UnparsableText):
            unshared[other] = _unshared_locals(other, text)
            longest[unshared[other]] = other
    renamings = {names: renamed_locals(other, text) for names, other in longest.items()}
    found = {other: renamings[names] for other, names in unshared.items()}
    return [_rename(other, found[other]) if found.get(other) else other for other in others]


def with_omni_names_behind(triple: Triple, names: Collection[str]) -> Triple:
    """The triple with base and upstream in omni's name for one value of a local, from the statement that binds it to
    the next that does.

    For ``names`` that are bound several times (``output = …`` in a branch that returns it, and again at the end), of
    which omni renamed one value. Also for a value that omni computes differently, under a name that upstream uses for
    something else further up.
    """
    for name in names:
        found = _renamed_binding(triple, name) or _renamed_value(triple, name)
        if found is not None:
            new, *lines = found
            triple = _named_behind(triple, name, new, lines)
    return triple


def _named_behind(triple: Triple, name: str, new: str, lines: Sequence[int]) -> Triple:
    """The triple with the values that base and upstream bind to ``name`` at the two ``lines`` renamed to ``new``."""
    base, upstream = (
        _rename(text, {name: new}, within=_lines_of_value(text, name, line))
        for text, line in zip((triple.base, triple.upstream), lines, strict=True)
    )
    return Triple(base, triple.omni, upstream)


def _renamed_binding(triple: Triple, name: str) -> tuple[str, int, int] | None:
    """``(omni's name, line in base, line in upstream)`` of a statement of all three texts that binds ``name``, and in
    omni another one."""
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    theirs = {pair.left: pair.right for pair in align(base, upstream)}
    for pair in align(base, omni):
        new = binds(omni[pair.right])
        if binds(base[pair.left]) != {name} or len(new) != 1 or pair.left not in theirs:
            continue
        other = next(iter(new))
        if other != name and _can_rename((triple.base, triple.upstream), name, other):
            return other, base[pair.left].start, upstream[theirs[pair.left]].start
    return None


def _renamed_value(triple: Triple, name: str) -> tuple[str, int, int] | None:
    """The same for a value that base and upstream bind to ``name`` once, and omni in a statement that is not paired.

    It is recognised by the statements that use the value: all must have the same other name in omni.
    """
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    made = [[node.start for node in side if name in binds(node)] for side in (base, upstream)]
    if any(len(lines) != 1 for lines in made):
        return None
    bound = {other for node in omni for other in binds(node)}
    votes: Counter[str] = Counter()
    for pair in align(base, omni):
        node = base[pair.left]
        if node.start >= made[0][0] and name in reads(node) | binds(node):
            changed = dict(_differences(node.canon, omni[pair.right].canon))
            votes[changed.get(name, name)] += 1
    other, count = next(iter(votes.items()), (name, 0))
    later = {word for side, lines in zip((base, upstream), made, strict=True) for word in _used_behind(side, lines[0])}
    if len(votes) > 1 or count < SEEN or other not in bound - later:
        return None
    if not _can_rename((triple.base, triple.upstream), name):
        return None
    return other, made[0][0], made[1][0]


def _used_behind(nodes: Sequence[Node], line: int) -> set[str]:
    """The locals that statements read or bind from a line on."""
    return {word for node in nodes if node.start >= line for word in reads(node) | binds(node)}


def _lines_of_value(text: str, name: str, line: int) -> range:
    """The lines from a statement that binds ``name`` up to the next one that does."""
    later = [node.start for node in flatten(text) if node.start > line and name in binds(node)]
    return range(line, min(later, default=text.count("\n") + 2))


def with_old_reads_renamed(before: str, text: str, names: Collection[str]) -> str:
    """``text`` with reads of unbound locals renamed to what they are called now.

    ``text`` was made from ``before``. One of ``names`` that only ``before`` binds is renamed if every statement that
    bound it is in ``text`` and binds another name, otherwise unchanged.
    """
    for name in sorted(set(names) - _bound(text)):
        new = _bound_instead(before, text, name)
        if new and not _mentions(before, new) and _can_rename((text,), name):
            text = _rename(text, {name: new})
    return text


def _bound_instead(before: str, text: str, name: str) -> str:
    """The name that ``text`` binds wherever ``before`` binds ``name``; empty if that is not clear."""
    left, right = flatten(before), flatten(text)
    pairs = {pair.left: right[pair.right] for pair in align(left, right)}
    found = set()
    for k, node in enumerate(left):
        if name in binds(node):
            new = next(iter(binds(pairs[k]) - binds(node)), "") if k in pairs else ""
            found.add(new if new and re.sub(rf"(?<![\w.]){name}\b", new, node.canon) == pairs[k].canon else "")
    return found.pop() if len(found) == 1 else ""


def renamed_locals(base: str, omni: str, *, whole: bool = False) -> dict[str, str]:
    """``{base name: omni name}`` of locals that omni renamed consistently.

    At least ``SEEN`` statements must show it, and one of them bind the local. With ``whole``, every statement that
    binds it must be the same but for the names.
    """
    gone, come = _unshared_locals(base, omni)
    if not gone or not come:
        return {}

    def may_rename(left: Sequence[Node], right: Sequence[Node]) -> bool:
        return any(gone & node.names for node in left) and any(come & node.names for node in right)

    left, right = flatten(base), flatten(omni)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    pairs = {pair.left: right[pair.right] for pair in align(left, right, wanted=may_rename)}
    for at, node in pairs.items():
        for old, new in _differences(left[at].canon, node.canon):
            votes[old][new] += 1
    found = {
        old: new
        for old, counts in votes.items()
        if old in gone and len(counts) == 1 and (new := next(iter(counts))) in come and counts[new] >= SEEN
    }
    is_shown = _is_renamed_throughout if whole else _is_bound_instead
    while wrong := [old for old in found if not is_shown(left, pairs, old, found)]:
        found = {old: new for old, new in found.items() if old not in wrong}
    return found


def _is_renamed_throughout(
    left: Sequence[Node], pairs: Mapping[int, Node], name: str, renamed: Mapping[str, str]
) -> bool:
    """Whether every statement that binds a local is the same in the other text but for the names, or for more
    arguments there."""
    binding = [at for at, node in enumerate(left) if name in binds(node)]
    said = {at: "".join(renamed.get(word, word) for word in _WORD.findall(left[at].canon)) for at in binding}
    return all(at in pairs and is_part_of(said[at], pairs[at].canon) for at in binding)


def _is_bound_instead(left: Sequence[Node], pairs: Mapping[int, Node], name: str, renamed: Mapping[str, str]) -> bool:
    """Whether a statement that binds a local has a partner that binds the new name."""
    return any(name in binds(left[at]) and renamed[name] in binds(node) for at, node in pairs.items())


def _unshared_locals(base: str, omni: str) -> tuple[frozenset[str], frozenset[str]]:
    """The locals of each text that the other one does not mention."""
    return _bound(base) - _names(omni), _bound(omni) - _names(base)


def _differences(a: str, b: str) -> set[tuple[str, str]]:
    """The ``(old, new)`` names in which two texts differ, word by word up to the first difference that is no name."""
    left, right = _WORD.findall(a), _WORD.findall(b)
    pairs = set()
    for x, y in zip(left, right, strict=False):
        if x != y:
            if not (x.isidentifier() and y.isidentifier()):
                break
            pairs.add((x, y))
    return pairs


def _names(text: str) -> frozenset[str]:
    return _names_and_locals(text)[0]


def _bound(text: str) -> frozenset[str]:
    return _names_and_locals(text)[1]


@lru_cache(maxsize=1024)
def _names_and_locals(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """All names in a text, and its locals; parameters do not count as locals, because callers may pass them by name."""
    tree = _parsed(text)
    names = {node.id for node in walk(tree) if isinstance(node, ast.Name)} | parameter_names(tree)
    said = {mention.name for mention in mentions(body_of(tree))}
    return frozenset(names | said), bound_in(body_of(tree)) - parameter_names(tree)


def _mentions(text: str, name: str) -> bool:
    return name in _names(text)


def _can_rename(texts: Iterable[str], old: str, new: str | None = None) -> bool:
    """Whether a local can be renamed in each of the texts.

    The new name must not be in use, and the old one must only stand as a plain name: in no ``except … as old``,
    ``nonlocal``, pattern or import.
    """
    return all(
        (new is None or not _mentions(text, new))
        and all(isinstance(mention.node, ast.Name) for mention in _scope(text) if mention.name == old)
        for text in texts
    )


def _rename(text: str, names: Mapping[str, str], *, within: Container[int] | None = None) -> str:
    """The text with locals renamed, with ``within`` only on these lines. Names that belong to a lambda, comprehension
    or function inside are left alone."""
    places = Places(text)
    found = [(said.node, names[said.name]) for said in _scope(text) if said.name in names]
    plain = [(node, new) for node, new in found if isinstance(node, ast.Name)]
    return apply(text, [places.instead_of(node, new) for node, new in plain if within is None or node.lineno in within])


def _scope(text: str) -> list[Mention]:
    """The names in a unit's own scope, where they stand."""
    return mentions(body_of(_parsed(text)))


def _parsed(text: str) -> ast.Module:
    try:
        return parse_unit(text)
    except SyntaxError as error:
        raise UnparsableText(str(error), error.lineno or 1) from None


def body_of(tree: ast.Module) -> Sequence[ast.stmt]:
    """The body of a method; of any other unit all statements."""
    match tree.body:
        case [ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body)]:
            return body
    return tree.body
