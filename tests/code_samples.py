"""Small Python units made at random, and random edits of them, for the laws of the merge.

A unit is a tree of ``Code``. Names come from a pool of five, so that equal statements occur often, as they do in the
runners; what an edit adds carries a token of its own (``omni_3``, ``upstream_1``), so that its fate can be followed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from hypothesis import strategies as st


@dataclass(frozen=True)
class Code:
    """Head lines, the suite below them, and the clauses (``else:``) behind it, at no indentation."""

    lines: tuple[str, ...]
    body: tuple[Code, ...] = ()
    clauses: tuple[Code, ...] = ()

    def text(self, column: int = 0) -> Iterator[str]:
        for line in self.lines:
            yield f"{' ' * column}{line}" if line else ""
        for inner in self.body:
            yield from inner.text(column + 4)
        for clause in self.clauses:
            yield from clause.text(column)


Block = tuple[Code, ...]
NAMES = ("a", "b", "c", "out", "self.x")
SIMPLE = (
    "{n} = f({m})",
    "{n} = {m}",
    "{n} += 1",
    "g({n}, {m})",
    "self.h({n})",
    'log("{m}")',
    "{n} = f({m}); g({n})",
    "if {m}: g({n})",
    "assert {n} is not {m}",
    "# about {m}",
    "",
)
MULTILINE = (
    ("{n} = f(", "    {m},", "    key={n},", ")"),
    ('{n} = """one', "  two {m}", '"""'),
    ("{n} = [  # why", "    {m},", "]"),
    ("{n} = {m} + \\", "    1"),
)
HEADS = ("if {m}:", "for i in f({m}):", "while {m}:", "with ctx({n}):", "with ctx({n}) as c, ctx({m}):")


def _filled(lines: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    names = st.sampled_from(NAMES)
    return st.builds(lambda n, m: tuple(line.format(n=n, m=m) for line in lines), names, names)


simple = st.one_of(
    st.sampled_from(SIMPLE).flatmap(lambda line: _filled((line,))), st.sampled_from(MULTILINE).flatmap(_filled)
).map(Code)


def _suites(inner: st.SearchStrategy[Code]) -> st.SearchStrategy[Code]:
    body = st.lists(inner, min_size=1, max_size=3).map(_suite)

    def clause(head: str) -> st.SearchStrategy[Code]:
        return body.map(lambda b: Code((head,), b))

    plain = st.builds(Code, st.sampled_from(HEADS).flatmap(lambda h: _filled((h,))), body)
    either = st.builds(
        lambda head, b, more: Code(head, b, tuple(more)),
        _filled(("if {n}:",)),
        body,
        st.one_of(st.tuples(clause("else:")), st.tuples(clause("elif b:"), clause("else:"))),
    )
    tried = st.builds(
        lambda b, more: Code(("try:",), b, tuple(more)),
        body,
        st.sampled_from(
            (("except KeyError:",), ("finally:",), ("except E as e:", "else:", "finally:"), ("except E:", "except:"))
        ).flatmap(lambda heads: st.tuples(*map(clause, heads))),
    )
    nested = st.builds(Code, st.sampled_from((("def inner(a):",), ("@cached", "async def inner(a, *, b=1):"))), body)
    return st.one_of(plain, either, tried, nested)


def _suite(block: Sequence[Code]) -> Block:
    """A suite needs a statement."""
    if all(line.startswith("#") or not line for code in block for line in code.lines):
        return (*block, Code(("pass",)))
    return tuple(block)


statements = st.recursive(simple, _suites, max_leaves=6)
bodies = st.lists(statements, min_size=1, max_size=6).map(_suite)


def unit(block: Block, *, head: str = "    def run(self, a, b):") -> str:
    """The text of a method with ``block`` as its body."""
    column = len(head) - len(head.lstrip()) + 4
    return "\n".join([head, *(line for code in block for line in code.text(column))]) + "\n"


@st.composite
def edits(draw: Callable[..., object], block: Block, side: str) -> Block:
    """``block`` as ``side`` might have changed it: insertions, added arguments, deletions, new suites around."""
    tokens = count(1)
    # What upstream puts around a statement that omni has removed may go with it; what omni puts around may not.
    wrapper = "omni" if side == "omni" else f"{side}_suite"

    def fresh() -> Code:
        token = f"{side}_{next(tokens)}"
        shape = draw(st.sampled_from(("{t} = f(a)", "self.h({t})", "if {t}:")))
        line = str(shape).format(t=token)
        return Code((line,), (Code((f"g({token})",)),) if line.endswith(":") else ())

    def edit(code: Code) -> Block:
        inner = replace(code, body=walk(code.body), clauses=tuple(clause(c) for c in code.clauses))
        match draw(st.sampled_from(("keep",) * 6 + ("argument", "delete", "wrap"))):
            case "delete":
                return ()
            case "argument" if (
                re.search(r"\w\):?$", code.lines[0]) and len(code.lines) == 1 and "; " not in code.lines[0]
            ):
                head, closing, tail = code.lines[0].rpartition(")")
                return (replace(inner, lines=(f"{head}, {side}_{next(tokens)}{closing}{tail}",)),)
            case "wrap":
                return (Code((f"with {wrapper}_{next(tokens)}():",), _suite((inner,))),)
            case _:
                return (inner,)

    def clause(code: Code) -> Code:
        return replace(code, body=walk(code.body))

    def walk(old: Block) -> Block:
        if not old:
            return ()
        new: list[Code] = []
        for code in old:
            if draw(st.integers(0, 5)) == 0:
                new.append(fresh())
            new += edit(code)
        if draw(st.integers(0, 5)) == 0:
            new.append(fresh())
        return _suite(new)

    return walk(block)


@st.composite
def triples(draw: Callable[..., Block]) -> tuple[str, str, str]:
    """Base, omni and upstream of one method."""
    base = draw(bodies)
    return unit(base), unit(draw(edits(base, "omni"))), unit(draw(edits(base, "upstream")))
