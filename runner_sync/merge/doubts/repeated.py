"""Find new upstream statements that repeat one which omni changed, put into a block of its own, or added itself.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.

    base      logits = self.compute(rows)            upstream   if not self.sends:
    omni      logits = self.compute(rows, marks)                    logits = self.compute(rows)
                                                                else:
                                                                    logits = self.send(rows)
                                                                    logits = self.compute(rows)

Only one of the two gets omni's form. The same holds for a new call ``self.compute(rows[-1:])``, with other values.
`exits` asks about each new ``return``. Where upstream changed the call itself, omni's own call for the same value may
need the change, too.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence, Set

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, heads_around, pick_node
from runner_sync.statements import Node, tree_of
from runner_sync.statements.calls import names_called
from runner_sync.syntax import calls_in, dotted_name
from runner_sync.thresholds import DISTINCT


def find_repeated_without_edit(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about statements that upstream has more often now, where they lack what omni did to each old one.

    Omni edited the old statement, or put it into a block (``try``, ``if`` …) that is not around the new one.
    """
    more = Counter(node.canon for node in weave.upstream) - Counter(node.canon for node in weave.base)
    olds = _find_changed_by_omni(weave, kept, more)
    doubts = []
    for strand in kept:
        if strand.sides == "u" and (own := olds.get(pick_node(weave, strand).canon)):
            around = {*strand.around()}
            if all(blocks.isdisjoint(around) for blocks in own):
                doubts.append(Doubt(strand, Reason("repeated without omni's change"), CONTESTED))
    return doubts


def find_called_without_edit(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about new upstream calls of a function of which omni changed each old call.

    Omni added arguments to the old call that the new one lacks, or calls another function instead, also in statements
    of its own that set the same names. Upstream must call it more often now. A statement that the base has, too, is for
    `find_repeated_without_edit`. Loggers, built-in functions and short statements do not count, as many calls of theirs
    have nothing to do with each other.
    """
    more = Counter(node.facts.called for node in weave.upstream) - Counter(node.facts.called for node in weave.base)
    edited: dict[str, list[Set[str] | None]] = defaultdict(list)
    for node, strand in zip(weave.base, weave.of_base, strict=True):
        called = node.facts.called
        if called in more and called not in _BUILTINS and not _LOGGER.search(called):
            is_alive = strand.kept and node.weight >= DISTINCT and weave.is_edited(strand, "o")
            if node.weight >= DISTINCT and _calls_another(weave, strand, called):
                edited[called].append(frozenset())
            else:
                edited[called].append(_find_added(node, weave.omni[strand.in_omni]) if is_alive else None)
    known = {node.canon for node in weave.base}
    doubts = []
    for strand in kept:
        node = pick_node(weave, strand)
        called = node.facts.called if strand.sides == "u" and node.canon not in known else ""
        given = _list_arguments(node, called) if called in edited else set()
        if called in edited and all(added is not None and not (added and added <= given) for added in edited[called]):
            doubts.append(Doubt(strand, Reason("called without omni's change", (called,)), CONTESTED))
    return doubts


_BUILTINS = frozenset({"", *dir(builtins)})
_LOGGER = re.compile(r"(?:^|[._])log(?:ger|ging)?\.")


def find_called_by_both(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about new upstream calls, for their effect, of what a new statement of omni's calls for it, too.

    The result must make the call more often than either side does: the work may be done twice now. Two branches of one
    condition exclude each other.
    """
    own: dict[str, list[Strand]] = defaultdict(list)
    for strand in kept:
        if strand.sides == "o":
            own[_find_effect(weave.omni[strand.in_omni])].append(strand)
    of_upstream, of_omni = (Counter(map(_find_effect, nodes)) for nodes in (weave.upstream, weave.omni))
    now = Counter(_find_effect(pick_node(weave, strand)) for strand in kept)
    often = {called for called in now if called and now[called] > max(of_upstream[called], of_omni[called])}
    doubts = []
    for strand in kept:
        called = _find_effect(weave.upstream[strand.in_upstream]) if strand.sides == "u" else ""
        if called in often and any(not _exclude_each_other(weave, strand, s) for s in own[called]):
            doubts.append(Doubt(strand, Reason("called by both", (called,)), CONTESTED))
    return doubts


def find_beside_changed_call(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about omni's own calls of a function for a value for which upstream changed its call.

    Both set the same names, and share an argument; omni's has another one, too. For example, omni first calls
    ``compute(rows, meta=meta)``, and in ``except TypeError:`` upstream's ``compute(rows)``, which became
    ``compute(rows, step=0)``, or ``compute(rows).float()``. Another function is for `find_calls_of_replaced`.
    """
    own = [strand for strand in kept if strand.sides == "o" and weave.omni[strand.in_omni].facts.targets]
    doubts = []
    for strand in kept:
        if strand.sides != "bou" or weave.is_edited(strand, "o") or weave.is_unedited(strand, "u"):
            continue
        before, now = weave.base[strand.in_base], weave.upstream[strand.in_upstream]
        called = before.facts.called
        old, new = (_list_arguments(node, called) for node in (before, now))
        around = _is_put_into_more(before, now)
        is_changed = before.made_by and before.facts.targets == now.facts.targets and (new - old or around)
        for other in own if is_changed and called in names_called(now.canon) else ():
            node = weave.omni[other.in_omni]
            given = _list_arguments(node, called)
            is_own_form = node.made_by == before.made_by and given & old and given - old
            if is_own_form and (around or not new - old <= given):
                reason = Reason("call beside a changed one", (called,))
                doubts.append(Doubt(other, reason, CONTESTED))
    return doubts


def _is_put_into_more(before: Node, now: Node) -> bool:
    """Whether a statement that was only a call for a value now does more with it, or under a condition."""
    called = before.facts.called
    return _is_only_a_call(before, called) and not _is_only_a_call(now, called)


def _is_only_a_call(node: Node, called: str) -> bool:
    match tree_of(node.canon).body:
        case [ast.Assign(value=ast.Call(func=func))]:
            return dotted_name(func) == called
    return False


def _find_effect(node: Node) -> str:
    """Return what a statement that is nothing but a call calls, by its dotted name; empty for loggers and builtins."""
    called = node.facts.called
    if called in _BUILTINS or _LOGGER.search(called) or not node.canon.startswith(f"{called}("):
        return ""
    match tree_of(node.canon).body:
        case [ast.Expr(value=ast.Call(func=func))] if dotted_name(func) == called:
            return called
    return ""


def _exclude_each_other(weave: Weave, one: Strand, other: Strand) -> bool:
    """Whether two statements stand in different branches of one ``if``."""
    around, around_other = [*one.around()], [*other.around()]
    apart = [head for head in around if head not in around_other], [s for s in around_other if s not in around]
    if not all(apart):
        return False
    statement, other_statement = (_find_statement(weave, heads[-1]) for heads in apart)
    return statement is other_statement and pick_node(weave, statement).keyword == "if"


def _find_statement(weave: Weave, head: Strand) -> Strand:
    """Return the head of the statement that a clause belongs to; another head is returned as it is."""
    node = pick_node(weave, head)
    strands = weave.of_omni if head.omni is not None else weave.of_upstream
    return strands[node.owner] if node.is_clause else head


def _calls_another(weave: Weave, strand: Strand, called: str) -> bool:
    """Whether omni calls other functions of its own for all values of an upstream call, and nowhere this one."""
    names = weave.base[strand.in_base].facts.targets if strand.omni is None else ()
    own = all(any(other.sides == "o" for other in weave.omni_calls.get(name, ())) for name in names)
    return bool(names) and own and not any(called in names_called(node.canon) for node in weave.omni)


def _find_added(old: Node, own: Node) -> Set[str] | None:
    """Return the arguments that omni added to the call of a statement; none if it calls another function instead.

    ``None`` if omni did neither.
    """
    called = old.facts.called
    before, now = _count_arguments(old, called), _count_arguments(own, called)
    if now is None or before is None:
        return frozenset() if own.facts.called else None
    return _list_arguments(own, called) - _list_arguments(old, called) if now > before else None


def _count_arguments(node: Node, called: str) -> int | None:
    """Return the most arguments that a statement gives to a function; ``None`` if it does not call it."""
    return max((len(call.args) + len(call.keywords) for call in _find_calls(node, called)), default=None)


def _list_arguments(node: Node, called: str) -> set[str]:
    return {ast.unparse(one) for call in _find_calls(node, called) for one in (*call.args, *call.keywords)}


def _find_calls(node: Node, called: str) -> list[ast.Call]:
    return [call for call in calls_in(tree_of(node.canon)) if dotted_name(call.func) == called]


def _find_changed_by_omni(
    weave: Weave, kept: Sequence[Strand], texts: Collection[str]
) -> Mapping[str, list[frozenset[Strand]]]:
    """Map the texts of simple base statements, all of which omni changed, to omni's own blocks around each.

    A statement that omni edited counts without its blocks: a copy lacks the edit anywhere.
    """
    found: dict[str, list[frozenset[Strand]]] = defaultdict(list)
    untouched = set()
    alive = set(kept)
    for node, strand in zip(weave.base, weave.of_base, strict=True):
        is_simple = not (node.compound or node.is_clause or node.is_comment) and node.keyword != "return"
        if node.canon not in texts or not is_simple or node.weight < DISTINCT or strand not in alive:
            continue
        is_edited = weave.is_edited(strand, "o") and not _has_only_annotation(weave, strand)
        own = frozenset(head for head in heads_around(weave, strand, "o") if head.sides == "o" and not is_edited)
        found[node.canon].append(own)
        if not (own or is_edited):
            untouched.add(node.canon)
    return {canon: own for canon, own in found.items() if canon not in untouched}


def _has_only_annotation(weave: Weave, strand: Strand) -> bool:
    """Whether omni only annotated the assigned name."""
    own = tree_of(weave.omni[strand.in_omni].canon).body
    if len(own) != 1 or not isinstance(own[0], ast.AnnAssign) or own[0].value is None:
        return False
    return f"{ast.unparse(own[0].target)} = {ast.unparse(own[0].value)}" == ast.unparse(
        tree_of(weave.base[strand.in_base].canon)
    )
