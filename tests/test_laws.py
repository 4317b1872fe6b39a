"""The laws of the merge (three-way merge: Khanna, Kunal and Pierce 2007), over units made at random and real ones."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from code_samples import Block, bodies, triples, unit
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from runner_sync.merge import FOLLOW, PORT, RECORD, Merged, merge
from runner_sync.model import Project, Triple
from runner_sync.profile import ASCEND_RUNNER
from runner_sync.statements import ROOT, Node, flatten
from runner_sync.trees import Tree
from runner_sync.units.texts import unit_texts

Sides = tuple[str, str, str]
LAW = settings(
    max_examples=40 if os.environ.get("CI") else 15,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
"""More in CI. Without shrinking, which takes minutes on trees: a failing example is small enough to read."""


def merged(base: str, omni: str, upstream: str) -> Merged:
    return merge(Triple(base, omni, upstream))


def syntax(text: str) -> str:
    """What the text does: its syntax tree, where layout and comments do not count."""
    return ast.dump(ast.parse("class _:\n" + text if text[:1] == " " else text))


def tokens(text: str, side: str) -> set[str]:
    return set(re.findall(rf"\b{side}_\d+\b", text))


def asked(result: Merged) -> str:
    """Everything that the decisions show to a person."""
    return "\n".join(text for d in result.decisions for text in (d.base, d.omni, d.upstream, d.chosen))


def with_air(text: str) -> str:
    """The same code in another layout: a blank line more and a comment less."""
    head, _, rest = text.partition("\n")
    return f"{head}\n\n" + "".join(f"{line}\n" for line in rest.split("\n")[:-1] if not line.strip().startswith("#"))


@LAW
@given(bodies)
def test_flatten_has_every_line_once_and_in_order(block: Block) -> None:
    text = unit(block)
    lines = [line.strip() for node in flatten(text) for line in node.lines]
    assert [line for line in lines if line] == [line.strip() for line in text.split("\n") if line.strip()]


@LAW
@given(bodies)
def test_what_is_taken_apart_is_put_together_again(block: Block) -> None:
    first, last = "        upstream_first = 1\n", "        omni_last = 1\n"
    head, _, rest = unit(block).partition("\n")
    base, omni, upstream = (f"{head}\n{before}{rest}{after}" for before, after in (("", ""), ("", last), (first, "")))
    result = merged(base, omni, upstream)
    assert syntax(result.text) == syntax(f"{head}\n{first}{rest}{last}")
    assert result.decisions == ()


@LAW
@given(triples())
def test_one_changed_side_wins_byte_for_byte(sides: Sides) -> None:
    base, omni, upstream = sides
    assert merged(base, base, upstream).text == upstream
    assert merged(base, omni, base).text == omni
    assert merged(base, omni, omni).text == omni


@LAW
@given(triples())
def test_one_changed_side_wins_over_another_layout(sides: Sides) -> None:
    base, omni, upstream = sides
    assert syntax(merged(base, with_air(base), upstream).text) == syntax(upstream)
    assert syntax(merged(base, omni, with_air(base)).text) == syntax(omni)
    assert syntax(merged(base, omni, with_air(omni)).text) == syntax(omni)


@LAW
@given(triples())
def test_every_merge_parses(sides: Sides) -> None:
    for policy in (FOLLOW, PORT, RECORD):
        result = merge(Triple(*sides), policy=policy)
        assert result.parses
        syntax(result.text)


@LAW
@given(triples())
def test_nothing_of_omni_is_lost_unasked(sides: Sides) -> None:
    result = merged(*sides)
    assert tokens(sides[1], "omni") <= tokens(result.text, "omni") | tokens(asked(result), "omni")


@LAW
@given(triples())
def test_nothing_new_of_upstream_is_lost_unasked(sides: Sides) -> None:
    result = merged(*sides)
    assert tokens(sides[2], "upstream") <= tokens(result.text, "upstream") | tokens(asked(result), "upstream")


@LAW
@given(triples())
def test_no_addition_stands_twice(sides: Sides) -> None:
    _, omni, upstream = sides
    made = Counter(re.findall(r"\b(?:omni|upstream)_\d+\b", merged(*sides).text))
    once = Counter(re.findall(r"\b(?:omni|upstream)_\d+\b", omni + upstream))
    assert not made - once


@LAW
@given(triples(), st.permutations(("self.both_1(a)", "added = f(both_2)", "self.x.both_3(a)")))
def test_what_both_add_stands_once_in_whatever_order(sides: Sides, other: list[str]) -> None:
    base, omni, upstream = sides
    added = [sorted(other), other]
    texts = (
        text + "".join(f"        {line}\n" for line in lines)
        for text, lines in zip((omni, upstream), added, strict=True)
    )
    made = Counter(re.findall(r"\bboth_\d\b", merged(base, *texts).text))
    assert made == Counter({f"both_{k}": 1 for k in (1, 2, 3)})


@LAW
@given(bodies)
def test_a_suite_of_which_each_side_keeps_another_half_is_asked_about(block: Block) -> None:
    rest = "".join(f"{line}\n" for line in unit(block).split("\n")[1:-1])
    clauses = "        finally:\n            self.close()\n"
    for head, behind in (("if a:", ""), ("try:", clauses), ("for a in self.rows:", "")):
        first, last = "            self.first(a)\n", "            self.last(b)\n"
        texts = [
            f"    def run(self, a, b):\n        {head}\n{inside}{behind}{rest}"
            for inside in (first + last, first, last)
        ]
        result = merged(*texts)
        assert [d.reason.kind for d in result.decisions] == ["both emptied"]
        assert f"        {head}\n            pass\n" in result.text


@LAW
@given(triples())
def test_a_second_run_changes_nothing(sides: Sides) -> None:
    base, omni, upstream = sides
    first = merged(base, omni, upstream).text
    assert merged(upstream, first, upstream).text == first
    assert syntax(merged(with_air(upstream), first, upstream).text) == syntax(first)


REPEATED = ("self.a()", "self.b()", "self.c()")


@LAW
@given(st.lists(st.sampled_from(REPEATED), min_size=1, max_size=6), st.data())
def test_what_omni_has_of_upstream_already_comes_no_more_however_often_it_stands(
    body: list[str], data: st.DataObject
) -> None:
    upstream = _with_more(body, data, REPEATED, at_most=3)
    omni = _with_more(upstream, data, ("self.omni_1()", "self.omni_2()"), at_most=2)
    texts = ["def run(self):\n" + "".join(f"    {line}\n" for line in lines) for lines in (body, omni, upstream)]
    for policy in (FOLLOW, PORT):
        assert merge(Triple(*texts), policy=policy).text == texts[1]


def _with_more(lines: list[str], data: st.DataObject, more: Sequence[str], *, at_most: int) -> list[str]:
    """The lines with one to ``at_most`` others at any place."""
    made = list(lines)
    for _ in range(data.draw(st.integers(1, at_most))):
        made.insert(data.draw(st.integers(0, len(made))), data.draw(st.sampled_from(more)))
    return made


@LAW
@given(st.data())
def test_insertions_stay_inside_a_new_suite_around_their_neighbours(data: st.DataObject) -> None:
    size = data.draw(st.integers(3, 7))
    start = data.draw(st.integers(0, size - 2))
    end = data.draw(st.integers(start + 2, size))
    place = data.draw(st.integers(start + 1, end - 1))
    lines = [f"        self.step_{k}(a, b, {k})" for k in range(size)]
    wrapped = ["        with context(a):", *(f"    {line}" for line in lines[start:end])]
    omni = [*lines[:place], "        self.omni_1(a)", *lines[place:]]
    upstream = [*lines[:start], *wrapped, *lines[end:]]
    head = "    def run(self, a, b):"
    base, omni_text, upstream_text = ("\n".join([head, *body]) + "\n" for body in (lines, omni, upstream))
    inside = [line for line in merged(base, omni_text, upstream_text).text.split("\n") if "omni_1" in line]
    assert inside == ["            self.omni_1(a)"]


def test_two_new_suites_never_enclose_each_other() -> None:
    head = "    def run(self, a):\n"
    last = "        log(a)\n"
    omni = f"{head}        a = f(key=b)\n        with omni_1():\n    {last}"
    upstream = f"{head}        with upstream_1():\n            a = f(key=a)\n{last}"
    result = merged(head + last, omni, upstream)
    assert result.parses
    assert tokens(result.text, "omni") == {"omni_1"}
    assert tokens(result.text, "upstream") == {"upstream_1"}


REAL = [
    ("0.14.0", "0.14.0rc1", "0.15.0rc1"),
    pytest.param("0.18.0", "0.17.0rc1", "0.19.1rc1", marks=pytest.mark.slow),
    pytest.param("0.26.0", "0.25.1rc1", "0.28.0rc1", marks=pytest.mark.slow),
]
"""vllm-omni, the vllm-ascend that most of it was copied from, and a newer one."""
FILES = ("npu_model_runner", "npu_ar_model_runner", "npu_generation_model_runner")


def real_triples(release: Callable[[Project, str], Tree], omni: str, base: str, upstream: str) -> list[Triple]:
    """Every method of the runners that has a namesake in both vllm-ascend releases."""
    old, new = (
        {
            name.rpartition(".")[2]: text
            for name, text in unit_texts(release("vllm-ascend", v).read(ASCEND_RUNNER), ASCEND_RUNNER).items()
        }
        for v in (base, upstream)
    )
    tree = release("vllm-omni", omni)
    mine = [
        (name.rpartition(".")[2], text)
        for file in FILES
        for name, text in unit_texts(tree.read(f"vllm_omni/platforms/npu/worker/{file}.py"), file).items()
    ]
    return [Triple(old[name], text, new[name]) for name, text in mine if name in old and name in new]


def is_code(node: Node) -> bool:
    return not node.is_comment and node.kind != "docstring"


def statements(text: str) -> list[Node]:
    return [node for node in flatten(text) if is_code(node)]


def meaning(text: str) -> list[tuple[str, str]]:
    """The statements with what encloses them: ``syntax``, but for type hints in another spelling."""
    nodes = flatten(text)
    return [(node.canon, nodes[node.parent].canon if node.parent != ROOT else "") for node in nodes if is_code(node)]


def is_told(node: Node, base: list[Node], made: list[Node], shown: str) -> bool:
    """Whether a statement of omni's stands in the result or in a decision.

    What omni had edited in a statement of the base may also stand in upstream's version of that statement: what it had
    added is there, or what it had taken out is not.
    """
    nearest = max(base, key=lambda other: (node.words & other.words).total())
    added, gone = node.words - nearest.words, {word for word in nearest.words - node.words if word.isidentifier()}
    if node.text in shown:
        return True
    return any(
        node.canon == m.canon
        or (added and added <= m.words)
        or (gone and node.words <= m.words and not gone & m.words.keys())
        for m in made
    )


def without_names(node: Node) -> str:
    """The statement with its local names masked: one that only has another name is no statement of omni's."""
    return re.sub(r"(?<![.\w])[a-z_]\w*(?![\w(=])", "_", node.canon)


@pytest.mark.corpus
@pytest.mark.parametrize(("omni", "base", "upstream"), REAL)
def test_laws_hold_for_released_methods(
    omni: str, base: str, upstream: str, corpus_release: Callable[[Project, str], Tree]
) -> None:
    triples = real_triples(corpus_release, omni, base, upstream)
    assert len(triples) >= 5
    lost = []
    for t in triples:
        result = merge(t)
        assert result.parses
        assert merge(Triple(t.base, t.base, t.upstream)).text == t.upstream
        assert merge(Triple(t.base, t.omni, t.base)).text == t.omni
        assert meaning(merged(t.base, t.omni, with_air(t.base)).text) == meaning(t.omni)
        assert meaning(merged(t.base, with_air(t.base), t.upstream).text) == meaning(t.upstream)
        assert meaning(merged(with_air(t.upstream), result.text, t.upstream).text) == meaning(result.text)
        base, made = statements(t.base), statements(result.text)
        known = {without_names(node) for node in base}
        own = [node for node in statements(t.omni) if without_names(node) not in known]
        lost += [node.canon for node in own if not is_told(node, base, made, asked(result))]
    assert lost == []
