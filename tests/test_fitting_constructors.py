"""Keywords that a constructor does not take: which are set on the record, and which calls are left as they are."""

from __future__ import annotations

import pytest

from runner_sync.fitting.constructors import find_added_fields, move_keyword_to_attribute

KNOWN = {"Output": frozenset({"ids", "tokens"})}


def body(*lines: str) -> str:
    return "".join(f"        {line}\n" if line else "\n" for line in ("", *lines)).lstrip("\n")


def method(*lines: str) -> str:
    return "    def run(self):\n" + body(*lines)


BEFORE = method("made = Output(ids=ids)", "return made")


@pytest.mark.parametrize(
    ("now", "expected", "line"),
    [
        pytest.param(
            method("made = Output(ids=ids, drafts=self.drafts[0])", "return made"),
            method("made = Output(ids=ids)", "made.drafts = self.drafts[0]", "return made"),
            3,
            id="the last argument",
        ),
        pytest.param(
            method("made = Output(drafts=drafts, ids=ids)", "return made"),
            method("made = Output(ids=ids)", "made.drafts = drafts", "return made"),
            3,
            id="the first argument",
        ),
        pytest.param(
            method("made = Output(", "    ids=ids,", "    drafts='é' + drafts,", ")", "return made"),
            method("made = Output(", "    ids=ids,", ")", "made.drafts = 'é' + drafts", "return made"),
            5,
            id="an argument on a line of its own",
        ),
        pytest.param(
            method("note = 'a\u2028b\x0cc'", "made = Output(ids=ids, drafts=drafts)"),
            method("note = 'a\u2028b\x0cc'", "made = Output(ids=ids)", "made.drafts = drafts"),
            4,
            id="below characters that end a line for str.splitlines only",
        ),
        pytest.param(
            "\tdef run(self):\n\t\tmade = Output(ids=ids, drafts=drafts)\n",
            "\tdef run(self):\n\t\tmade = Output(ids=ids)\n\t\tmade.drafts = drafts\n",
            3,
            id="indented by tabs",
        ),
    ],
)
def test_a_keyword_that_upstreams_record_takes_is_set_on_omnis(now: str, expected: str, line: int) -> None:
    found = move_keyword_to_attribute(BEFORE, now, KNOWN)
    assert found is not None
    assert (found.text, found.line) == (expected, line)
    assert found.text.split("\n")[line - 1].strip() == found.statement
    assert move_keyword_to_attribute(BEFORE, found.text, KNOWN) is None


@pytest.mark.parametrize(
    ("before", "now"),
    [
        pytest.param(BEFORE, method("made = Output(ids=ids, tokens=tokens)"), id="a field that it has"),
        pytest.param(BEFORE, method("made = Other(ids=ids, drafts=drafts)"), id="a class that nobody knows"),
        pytest.param(BEFORE, method("return Output(drafts=drafts)"), id="a record without a name"),
        pytest.param(BEFORE, method("self.made = Output(drafts=drafts)"), id="a record that is no local"),
        pytest.param(BEFORE, method("made = Output(**fields)"), id="fields that cannot be seen"),
        pytest.param(
            BEFORE, method("if ids: made = Output(drafts=drafts)"), id="a record behind something on its line"
        ),
        pytest.param(BEFORE, method("made = finish(Output(drafts=drafts))"), id="a record inside another call"),
        pytest.param(
            method("made = Output(drafts=1)"), method("made = Output(drafts=2)"), id="what omni gave it before, too"
        ),
    ],
)
def test_other_calls_stay(before: str, now: str) -> None:
    assert move_keyword_to_attribute(before, now, KNOWN) is None


MODULE = """\
@dataclass
class Base:
    ids: list

@dataclasses.dataclass(frozen=False, order=True)
class Open(Base):
    tokens: list = None

@dataclasses.dataclass(frozen=True)
class Frozen(Base):
    tokens: list = None

@dataclass(slots=True)
class Slots:
    tokens: list = None

@dataclass
class OwnSlots:
    __slots__ = ("tokens",)
    tokens: list

@dataclass
class Refusing:
    tokens: list = None

    def __setattr__(self, name, value): ...

@dataclass
class Partial:
    ids: list
    _: KW_ONLY
    tokens: list = None
    made: int = field(init=False)
    kind: ClassVar[str] = ""

class Row(typing.NamedTuple):
    tokens: list

class Struct(msgspec.Struct, frozen=True):
    tokens: list

class Plain(Base):
    modality: str = ""

class Own:
    def __init__(self, ids): ...
"""


@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("Base", ("ids",)),
        ("Open", ("tokens",)),
        ("Plain", ()),
        ("Partial", ("ids", "tokens")),
        ("Own", None),
        ("Gone", None),
        *((name, None) for name in ("Frozen", "Slots", "OwnSlots", "Refusing", "Row", "Struct")),
    ],
)
def test_what_a_class_adds_to_the_generated_constructor(name: str, added: tuple[str, ...] | None) -> None:
    assert find_added_fields(MODULE, name) == added
