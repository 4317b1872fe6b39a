"""Give a local that one side renamed the same name on all sides.

Comes in: base, omni and upstream texts. Goes out: the texts in the names of the result. May touch: nothing.

If a copy says ``model_output`` throughout where the original says ``hidden_states``, every statement with the name
would conflict, and upstream's new statements would come in under the wrong name.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import lru_cache

from runner_sync.edits import Edit, Places, apply
from runner_sync.merge.matching.align import align
from runner_sync.merge.matching.pairs import index_unique
from runner_sync.merge.preparing.differences import find_differences
from runner_sync.model import Triple
from runner_sync.statements import (
    Mention,
    Node,
    UnparsableText,
    bound_in,
    flatten,
    flatten_sides,
    mentions,
    parameters,
    parse_function,
    parse_unit,
)
from runner_sync.statements.dataflow import binds, reads
from runner_sync.syntax import names_in, parameter_names
from runner_sync.thresholds import SEEN_RENAMED


def with_omni_names(triple: Triple) -> Triple:
    """Rename locals of base and upstream to omni's names for them."""
    found = find_renamed_locals(triple.base, triple.omni)
    found = {old: new for old, new in found.items() if can_rename((triple.base, triple.upstream), old, new)}
    if not found:
        return triple
    return Triple(rename(triple.base, found), triple.omni, rename(triple.upstream, found))


def with_omni_names_of_values(triple: Triple) -> Triple:
    """Rename the only value that all three texts make of a class to omni's name, in base and upstream.

    Handles a local that is bound several times, of which omni renamed only one value::

        base, upstream   output = copy(EMPTY) … return output   …   output = Output(rows)
        omni             output = copy(EMPTY) … return output   …   runner_output = Output(rows)
    """
    base, omni, upstream = (_find_values_made(text) for text in (triple.base, triple.omni, triple.upstream))
    for made, (name, line) in base.items():
        if made not in omni or made not in upstream:
            continue
        new, (same, there) = omni[made][0], upstream[made]
        if name == same != new and can_rename((triple.base, triple.upstream), name, new):
            triple = _rename_values(triple, name, new, (line, there))
    return triple


def _find_values_made(text: str) -> dict[str, tuple[str, int]]:
    """Return ``{class: (local, line)}`` of the classes of which a method makes and binds exactly one value."""
    makers = (
        node
        for node in flatten(text)
        if node.facts.called[:1].isupper() and "." not in node.facts.called
        if len(node.facts.targets) == len(binds(node)) == 1
    )
    return index_unique((node.facts.called, (node.facts.targets[0], node.start)) for node in makers)


def with_omni_names_of_new_values(triple: Triple) -> Triple:
    """Rename in upstream the further values that both sides newly unpack from one function to omni's names.

    Merged under two names, they would count as two values, more than the function returns::

        base      nans, lists = self.sync(rows)
        omni      nans, count, lists = self.sync(rows)
        upstream  nans, nans_device, lists = self.sync(rows)
    """
    base, omni, upstream = (_find_unpacked(text) for text in (triple.base, triple.omni, triple.upstream))
    for called in base.keys() & omni.keys() & upstream.keys():
        old, omni_values, new_values = base[called], omni[called], upstream[called]
        if len(old) < len(omni_values) == len(new_values):
            pairs = [(name, own) for name, own in zip(new_values, omni_values, strict=True) if name != own]
            if all({*pair}.isdisjoint(old) and can_rename((triple.upstream,), *pair) for pair in pairs):
                triple = Triple(triple.base, triple.omni, rename(triple.upstream, dict(pairs)))
    return triple


def _find_unpacked(text: str) -> dict[str, tuple[str, ...]]:
    """Return ``{function: locals}`` of the methods of ``self`` whose values a text unpacks exactly once."""
    unpacking = (
        node
        for node in flatten(text)
        if len(node.facts.targets) > 1 and node.facts.called.startswith("self.")
        if binds(node) == {*node.canon.partition(" = ")[0].split(", ")}
    )
    return index_unique((node.facts.called, node.facts.targets) for node in unpacking)


def rename_locals_alike(text: str, others: Sequence[str]) -> list[str]:
    """Rename the locals of ``others``, revisions of one text, to those of ``text``; skips what does not parse.

    Revisions that differ from ``text`` in the same names share one comparison, that of the longest, to save time.
    """
    longest: dict[tuple[frozenset[str], frozenset[str]], str] = {}
    unshared = {}
    for other in sorted(others, key=len):
        with contextlib.suppress(UnparsableText):
            unshared[other] = find_unshared_locals(other, text)
            longest[unshared[other]] = other
    renamings = {names: find_renamed_locals(other, text) for names, other in longest.items()}
    found = {other: renamings[names] for other, names in unshared.items()}
    return [rename(other, found[other]) if found.get(other) else other for other in others]


def with_omni_names_behind(triple: Triple, names: Collection[str]) -> Triple:
    """Rename one value of each local in ``names`` to omni's name, in base and upstream, up to the next binding.

    Handles a local that is bound several times, of which omni renamed one value, and a value that omni computes
    differently under a name that upstream uses for something else further up.
    """
    for name in names:
        found = _find_renamed_binding(triple, name) or _find_renamed_value(triple, name)
        if found is not None:
            new, *lines = found
            triple = _rename_values(triple, name, new, lines)
    return triple


def _rename_values(triple: Triple, name: str, new: str, lines: Sequence[int]) -> Triple:
    """Rename the values that base and upstream bind to ``name`` at the two ``lines`` to ``new``."""
    base, upstream = (
        rename(text, {name: new}, within=_find_lines_of_value(text, name, line))
        for text, line in zip((triple.base, triple.upstream), lines, strict=True)
    )
    return Triple(base, triple.omni, upstream)


def _find_renamed_binding(triple: Triple, name: str) -> tuple[str, int, int] | None:
    """Return omni's name for ``name``, and the lines in base and upstream of a shared statement that binds it."""
    base, omni, upstream = flatten_sides(triple)
    in_upstream = {pair.left: pair.right for pair in align(base, upstream)}
    for pair in align(base, omni):
        new = binds(omni[pair.right])
        if binds(base[pair.left]) != {name} or len(new) != 1 or pair.left not in in_upstream:
            continue
        other = next(iter(new))
        if other != name and can_rename((triple.base, triple.upstream), name, other):
            return other, base[pair.left].start, upstream[in_upstream[pair.left]].start
    return None


def _find_renamed_value(triple: Triple, name: str) -> tuple[str, int, int] | None:
    """Find the same for a value that omni binds in an unpaired statement: all its uses must have one other name."""
    base, omni, upstream = flatten_sides(triple)
    made = [[node.start for node in side if name in binds(node)] for side in (base, upstream)]
    if any(len(lines) != 1 for lines in made):
        return None
    bound = {other for node in omni for other in binds(node)}
    votes: Counter[str] = Counter()
    for pair in align(base, omni):
        node = base[pair.left]
        if node.start >= made[0][0] and name in reads(node) | binds(node):
            changed = dict(find_differences(node.canon, omni[pair.right].canon))
            votes[changed.get(name, name)] += 1
    other, count = next(iter(votes.items()), (name, 0))
    later = {word for side, lines in zip((base, upstream), made, strict=True) for word in _find_used(side, lines[0])}
    if len(votes) > 1 or count < SEEN_RENAMED or other not in bound - later:
        return None
    if not can_rename((triple.base, triple.upstream), name):
        return None
    return other, made[0][0], made[1][0]


def _find_used(nodes: Sequence[Node], line: int) -> set[str]:
    """Return the locals that statements read or bind from a line on."""
    return {word for node in nodes if node.start >= line for word in reads(node) | binds(node)}


def _find_lines_of_value(text: str, name: str, line: int) -> range:
    """Return the lines from a statement that binds ``name`` up to the next such statement."""
    later = [node.start for node in flatten(text) if node.start > line and name in binds(node)]
    return range(line, min(later, default=text.count("\n") + 2))


def with_old_reads_renamed(before: str, text: str, names: Collection[str]) -> str:
    """Rename reads in ``text``, made from ``before``, of locals in ``names`` that only ``before`` binds.

    A name is renamed only if every statement that bound it is in ``text`` and binds another name.
    """
    for name in sorted(set(names) - _find_bound(text)):
        new = _find_bound_instead(before, text, name)
        if new and not _mentions(before, new) and can_rename((text,), name):
            text = rename(text, {name: new})
    return text


def _find_bound_instead(before: str, text: str, name: str) -> str:
    """Return the name that ``text`` binds wherever ``before`` binds ``name``; empty if that is not clear."""
    left, right = flatten(before), flatten(text)
    pairs = {pair.left: right[pair.right] for pair in align(left, right)}
    found = set()
    for k, node in enumerate(left):
        if name in binds(node):
            new = next(iter(binds(pairs[k]) - binds(node)), "") if k in pairs else ""
            found.add(new if new and re.sub(rf"(?<![\w.]){name}\b", new, node.canon) == pairs[k].canon else "")
    return found.pop() if len(found) == 1 else ""


@lru_cache(maxsize=1024)
def find_renamed_locals(base: str, omni: str) -> Mapping[str, str]:
    """Return ``{base name: omni name}`` of locals that omni renamed alike in at least ``SEEN_RENAMED`` statements.

    One of these statements must bind the local. No statement may read the value as a part of another one; an element or
    a result counts only if none reads it whole.
    """
    gone, come = find_unshared_locals(base, omni)
    if not gone or not come:
        return {}

    def may_rename(left: Sequence[Node], right: Sequence[Node]) -> bool:
        return any(gone & node.names for node in left) and any(come & node.names for node in right)

    left, right = flatten(base), flatten(omni)
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    read = set()
    pairs = {pair.left: right[pair.right] for pair in align(left, right, wanted=may_rename)}
    for at, node in pairs.items():
        for old, new in find_differences(left[at].canon, node.canon):
            votes[old][new] += 1
            if old not in binds(left[at]):
                read.add((old, new))
    for old, new in read:
        if new:
            votes[old].pop("", None)
    found = {
        old: new
        for old, counts in votes.items()
        if old in gone and len(counts) == 1 and (new := next(iter(counts))) in come and counts[new] >= SEEN_RENAMED
    }
    return {old: new for old, new in found.items() if _is_bound_instead(left, pairs, old, new)}


def _is_bound_instead(left: Sequence[Node], pairs: Mapping[int, Node], old: str, new: str) -> bool:
    """Whether a statement that binds a local has a partner that binds the new name."""
    return any(old in binds(left[at]) and new in binds(node) for at, node in pairs.items())


def find_unshared_locals(base: str, omni: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the locals of each text that the other text does not mention."""
    return _find_bound(base) - _find_names(omni), _find_bound(omni) - _find_names(base)


def _find_names(text: str) -> frozenset[str]:
    return _find_names_and_locals(text)[0]


def _find_bound(text: str) -> frozenset[str]:
    return _find_names_and_locals(text)[1]


@lru_cache(maxsize=1024)
def _find_names_and_locals(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return all names in a text, and its locals without parameters, because callers may pass those by name."""
    tree = _parse(text)
    names = names_in(tree) | parameter_names(tree)
    mentioned = {mention.name for mention in mentions(body_of(tree))}
    return frozenset(names | mentioned), bound_in(body_of(tree)) - parameter_names(tree)


def _mentions(text: str, name: str) -> bool:
    return name in _find_names(text)


def can_rename(texts: Iterable[str], old: str, new: str | None = None) -> bool:
    """Whether a local can be renamed in each of the texts.

    The new name must not be in use. The old one must occur only as a plain name, not in ``except … as old``,
    ``nonlocal``, a pattern or an import.
    """
    return all(
        (new is None or not _mentions(text, new))
        and all(isinstance(mention.node, ast.Name) for mention in find_mentions(text) if mention.name == old)
        for text in texts
    )


def rename(text: str, names: Mapping[str, str], *, within: Container[int] | None = None) -> str:
    """Rename locals and parameters in a text, or only locals on lines ``within``.

    Skips names of a nested lambda, comprehension or function.
    """
    places = Places(text)
    found = [(mention.node, names[mention.name]) for mention in find_mentions(text) if mention.name in names]
    plain = [(node, new) for node, new in found if isinstance(node, ast.Name)]
    edits = [places.instead_of(node, new) for node, new in plain if within is None or node.lineno in within]
    if within is None:
        found_here = [(places.start(one), one.arg) for one in _find_parameters(text) if one.arg in names]
        edits += [Edit(start, start + len(name), names[name]) for start, name in found_here]
    return apply(text, edits)


def _find_parameters(text: str) -> list[ast.arg]:
    function = parse_function(text)
    return parameters(function) if function is not None else []


def rename_in(canon: str, names: Mapping[str, str]) -> str:
    """Rename names, dotted ones too, in a canonical statement; skips other names' attributes, keywords of calls, and
    words behind a quote."""
    if not names:
        return canon
    words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![\w.'\"])(?:{words})\b(?!=[^=])", lambda match: names[match[0]], canon)


def rename_where_free(text: str, names: Mapping[str, str]) -> str:
    """Rename those locals in a text that it binds and whose new name it has for nothing else."""
    bound = _find_bound(text) if names else frozenset()
    found = {old: new for old, new in names.items() if old in bound and can_rename((text,), old, new)}
    return rename(text, found) if found else text


def find_mentions(text: str) -> list[Mention]:
    """Return the mentions of names in a unit's own scope."""
    return mentions(body_of(_parse(text)))


def _parse(text: str) -> ast.Module:
    try:
        return parse_unit(text)
    except SyntaxError as error:
        raise UnparsableText(str(error), error.lineno or 1) from None


def body_of(tree: ast.Module) -> Sequence[ast.stmt]:
    """Return the body of a method, or all statements of any other unit."""
    match tree.body:
        case [ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body)]:
            return body
    return tree.body
