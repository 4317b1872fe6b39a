"""Whatever both sides do to the suites of a method, nothing comes to stand in another one unasked.

Methods are made at random with a name of its own for every statement and suite, and edited at random on both sides:
statements and suites come, go, are edited, are put around others.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from textwrap import indent

import pytest

from runner_sync.merge import FOLLOW, PORT, merge
from runner_sync.merge.policy import Policy
from runner_sync.model import Triple

EXITS = ("break", "continue")
LEAST_COMPARED = 10
"""Merges out of twenty that ask nothing; there are 14 to 19."""


@dataclass(frozen=True)
class Statement:
    """A statement, and what stands below it where it is the head of a suite."""

    text: str
    body: tuple[Statement, ...] = ()

    @property
    def is_loop(self) -> bool:
        return self.text.startswith(("for", "while"))

    @property
    def has_exit(self) -> bool:
        return self.text in EXITS or any(inner.has_exit for inner in self.body)

    def lines(self, column: int) -> Iterator[str]:
        yield f"{' ' * column}{self.text}"
        for inner in self.body:
            yield from inner.lines(column + 4)


Body = tuple[Statement, ...]


class Maker:
    """Makes and edits methods; ``side`` is a part of all the names that it makes."""

    def __init__(self, seed: int, side: str) -> None:
        self._random = random.Random(f"{seed} {side}")
        self._names = (f"{side}{number}" for number in count(1))

    def body(self, depth: int = 0, *, in_loop: bool = False) -> Body:
        """A suite with suites in it, down to a depth of three."""
        return tuple(self._made(depth, in_loop=in_loop) for _ in range(self._random.randint(1, 4)))

    def _made(self, depth: int, *, in_loop: bool) -> Statement:
        name, luck = next(self._names), self._random.random()
        if depth < 3 and luck < 0.35:
            head = Statement(self._random.choice(("if {}(a):", "with {}(a):", "for i in {}(a):")).format(name))
            return replace(head, body=self.body(depth + 1, in_loop=in_loop or head.is_loop))
        if in_loop and luck < 0.45:
            return Statement(f"if {name}(a):", (Statement(self._random.choice(EXITS)),))
        return Statement(f"{name}(a)")

    def edited(self, body: Body, *, in_loop: bool = False) -> Body:
        """The suite as a side might have changed it."""
        rest, done = list(body), list[Statement]()
        while rest:
            one = rest.pop(0)
            if self._random.random() < 0.1:
                done.append(self._made(3, in_loop=in_loop))
            inner = replace(one, body=self.edited(one.body, in_loop=in_loop or one.is_loop) if one.body else ())
            match self._random.choices(("keep", "drop", "unwrap", "wrap", "edit"), (80, 4, 4, 6, 6))[0]:
                case "drop":
                    pass
                case "unwrap" if one.body and not inner.has_exit:
                    done += inner.body
                case "wrap":
                    around = [inner, *(rest.pop(0) for _ in range(self._random.randint(0, min(2, len(rest)))))]
                    head = self._random.choice(("with {}(a):", "if {}(a):")).format(next(self._names))
                    done.append(Statement(head, tuple(around)))
                case "edit":
                    done.append(replace(inner, text=inner.text.replace("(a)", f"(a, {next(self._names)})")))
                case _:
                    done.append(inner)
        return tuple(done) or (Statement("pass"),)


def method(body: Body) -> str:
    return "\n".join(["def run(self, a):", *(line for one in body for line in one.lines(4))]) + "\n"


def _suites(text: str) -> dict[str, set[str]]:
    """For every statement of a method the suites that it stands in, all by the names that they call."""
    found = dict[str, set[str]]()

    def visit(body: list[ast.stmt], above: set[str]) -> None:
        for one in body:
            named = re.search(r"\b[bou]\d+(?=\()", ast.unparse(one).split("\n")[0])
            name = named[0] if named else ""
            if name:
                found[name] = above
            visit(getattr(one, "body", []), above | {name})

    visit(ast.parse(text).body[:1], set())
    return found


def _is_in_place(base: set[str], omni: set[str], upstream: set[str], now: set[str]) -> bool:
    """Whether a statement is in what both sides have it in, and in what either has newly put around it, and in no suite
    that it was in on neither side."""
    due = (omni & upstream) | (omni - base) | (upstream - base)
    return due <= now <= omni | upstream


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("first", range(0, 160, 20))
def test_no_statement_changes_its_suites_unasked(first: int, policy: Policy) -> None:
    compared = 0
    for seed in range(first, first + 20):
        body = Maker(seed, "b").body()
        omni, upstream = (Maker(seed, side).edited(body) for side in "ou")
        triple = Triple(*map(method, (body, omni, upstream)))
        result = merge(triple, policy=policy)
        assert result.parses
        if result.decisions:
            continue
        compared += 1
        base, mine, theirs, now = map(_suites, (triple.base, triple.omni, triple.upstream, result.text))
        shared = base.keys() & mine.keys() & theirs.keys() & now.keys()
        wrong = {name for name in shared if not _is_in_place(base[name], mine[name], theirs[name], now[name])}
        assert wrong == set(), f"seed {seed}:\n{triple.base}\n{triple.omni}\n{triple.upstream}\n{result.text}"
    assert compared >= LEAST_COMPARED, "the law says nothing where everything is a question"


RULER = "# ------ Omni-new ------"


def _ruled(body: Body, chance: random.Random) -> Body:
    """The suite with rulers around some of its statements."""
    out: list[Statement] = []
    for one in body:
        inner = replace(one, body=_ruled(one.body, chance))
        out += [Statement(RULER), inner, Statement(RULER)] if chance.random() < 0.2 and not one.has_exit else [inner]
    return tuple(out)


@pytest.mark.parametrize("policy", [FOLLOW, PORT], ids=["follow", "port"])
@pytest.mark.parametrize("first", range(0, 160, 40))
def test_rulers_change_no_statement_and_stay_pairs(first: int, policy: Policy) -> None:
    """Also where nothing is left between two of them, and they go."""
    for seed in range(first, first + 40):
        body = Maker(seed, "b").body()
        omni, upstream = (Maker(seed, side).edited(body) for side in "ou")
        plain = merge(Triple(*map(method, (body, omni, upstream))), policy=policy).text
        text = merge(
            Triple(method(body), method(_ruled(omni, random.Random(seed))), method(upstream)), policy=policy
        ).text
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(plain)), f"seed {seed}:\n{text}"
        assert text.count(RULER) % 2 == 0, f"seed {seed}:\n{text}"


RUN = "out = self.run(rows)"
OWN_FORMS = {
    "the last resort": f"try:\n    out = self.run(rows, self.meta)\nexcept TypeError:\n    {RUN}",
    "another branch": f"if self.mine:\n    out = self.own(rows)\nelse:\n    {RUN}",
    "a third branch": f"if self.mine:\n    out = self.own(rows)\nelif self.two:\n    out = self.b\nelse:\n    {RUN}",
}
NEW_BLOCKS = {
    "if": f"if not self.skip:\n    {RUN}",
    "if-else": f"if self.skip:\n    out = None\nelse:\n    {RUN}",
    "for": f"for step in self.steps:\n    {RUN}",
    "while": f"while self.more():\n    {RUN}",
    "with": f"with self.guard():\n    {RUN}",
    "with-if": f"with self.guard():\n    if not self.skip:\n        {RUN}",
    "try": f"try:\n    {RUN}\nfinally:\n    self.close()",
}


@pytest.mark.parametrize("end", ["self.done(out)", "return out", "self.finish()"])
@pytest.mark.parametrize("new", NEW_BLOCKS.values(), ids=NEW_BLOCKS)
@pytest.mark.parametrize("own", OWN_FORMS.values(), ids=OWN_FORMS)
def test_a_new_block_goes_around_omnis_own_form_or_is_asked_about(own: str, new: str, end: str) -> None:
    """vllm-ascend may put a condition around ``compute_logits``, which omni calls once more in an ``except``."""
    base, omni, upstream = (
        "def f(self):\n" + indent("\n".join(["rows = self.take()", middle, end]), "    ") for middle in (RUN, own, new)
    )
    result = merge(Triple(base, omni, upstream))
    assert not any(isinstance(node, ast.Pass) for node in ast.walk(ast.parse(result.text)))
    blocks = [ast.unparse(node) for node in ast.walk(ast.parse(result.text)) if hasattr(node, "body")]
    head = ast.unparse(ast.parse(new).body[0]).split("\n")[0]
    is_around = any(block.startswith(head) and own.split("\n")[0] in block for block in blocks)
    assert result.decisions or is_around
