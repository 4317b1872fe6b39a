"""The values that rooms exchange.

Comes in and goes out: ``str``, numbers and the frozen dataclasses below. May touch: the standard library.

Vocabulary (standard three-way-merge terms, never "ours" and "theirs"): *base* is the revision a copy was taken from,
*omni* the runner file as it is, *upstream* the revision to follow. Line numbers are 1-based and inclusive. All texts
have LF newlines; ``write`` restores the newlines of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Project = Literal["vllm-omni", "vllm-ascend", "vllm"]
PACKAGES: Mapping[Project, str] = {"vllm-omni": "vllm_omni", "vllm-ascend": "vllm_ascend", "vllm": "vllm"}
"""The package in each project's tree."""
TITLES: Mapping[Project, str] = {"vllm-omni": "vllm-omni", "vllm-ascend": "vllm-ascend", "vllm": "vLLM"}
"""The name of each project in messages."""
Provenance = Literal["upstream", "gpu", "omni"]
"""The origin of a statement: vllm-ascend or vLLM itself, a port from the GPU twin, or omni."""
UnitKind = Literal["method", "function", "class", "field", "statement", "import"]
Lineage = Literal["copy", "override", "own"]
"""How a unit relates to the upstream unit of the same name: an edited copy, omni's own version in its place, or
upstream has none."""
Outcome = Literal["unchanged", "updated", "added", "removed", "review"]
"""What an upgrade did to a unit; ``review``: nothing, because a person has to decide."""
Severity = Literal["error", "warning", "info"]
How = Literal["lock", "inferred", "composite", "twin", "namesake"]
"""How a reference was found: ``lock``: named by the lock; ``inferred``: the closest text of one revision;
``composite``: the closest parts of several revisions; ``twin``: the unit's GPU twin; ``namesake``: the unit of the same
name in vLLM's class."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a tree was read from. ``revision`` is a full commit hash if the tree is a git revision."""

    project: Project
    kind: Literal["path", "git", "release", "installed"]
    location: str
    version: str | None = None
    revision: str | None = None

    @property
    def is_known_elsewhere(self) -> bool:
        """Whether ``ref`` identifies the tree on other machines too, because it is not a local folder."""
        return bool(self.version or self.revision)

    @property
    def ref(self) -> str:
        """The shortest usual name: version, short commit, or path."""
        if self.kind in ("release", "installed") and self.version:
            return self.version
        if self.revision:
            return self.revision[:10]
        return self.version or self.location


@dataclass(frozen=True, slots=True)
class Unit:
    """A method, class-level field, module-level definition, statement or import of one module.

    ``text`` is the exact source of lines ``start`` … ``end``, including decorators and leading comments. ``qualname``
    is ``Class.method`` for members, the bare name for module-level definitions.
    """

    path: str
    qualname: str
    kind: UnitKind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """Omni code inside a unit. ``marked`` is whether Omni-new markers enclose it."""

    path: str
    unit: str
    start: int
    end: int
    marked: bool
    label: str
    text: str
    names_used: tuple[str, ...] = ()
    names_defined: tuple[str, ...] = ()
    twin: str | None = None


@dataclass(frozen=True, slots=True)
class Triple:
    """The three texts of one unit. An empty text means that the unit does not exist there."""

    base: str
    omni: str
    upstream: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """A changed region of a written file, with its cause (a version, a commit, a GPU unit)."""

    line: int
    end_line: int
    provenance: Provenance
    cause: str


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A decision that a person must check. ``chosen`` is the text that the tool took; ``confidence`` is in 0…1.

    If not ``in_file``, nothing was written, so the file has no comment for the item. ``upstream`` is the text of the
    side with the new code: vllm-ascend or, with ``from_gpu``, the GPU twin. ``part_of`` is the id of an earlier item
    with the same question; settling that one settles this one.
    """

    id: str
    unit: str
    path: str
    line: int
    end_line: int
    reason: str
    confidence: float
    base: str
    omni: str
    upstream: str
    chosen: str
    in_file: bool = True
    from_gpu: bool = False
    part_of: str = ""

    @property
    def keeps_omni(self) -> bool:
        """Whether omni's text stands: the new code is not there."""
        return self.chosen.strip() == self.omni.strip()

    @property
    def newer(self) -> str:
        """How reports name the side ``upstream``."""
        return "GPU twin" if self.from_gpu else "upstream"


Side = Literal["chosen", "omni", "upstream"]
"""A text of a review item. ``upstream`` is the new code, of the followed project or of the GPU twin."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What ``check`` and ``verify`` report, with a stable rule code (RS1xx … RS5xx).

    ``state`` is the digest of the text, so that accepting a finding does not accept it for the next version of the
    text. ``old_state`` is the digest in comments and baselines of earlier versions of this tool. ``cause`` is a finding
    that replaces all findings with the same cause; ``{}`` (attributes) or ``{names}`` in its message stands for their
    symbols: see `verify.causes`.
    """

    code: str
    severity: Severity
    path: str
    line: int
    end_line: int
    unit: str
    symbol: str
    message: str
    fix: str = ""
    column: int = 0
    end_column: int = 0
    state: str = ""
    old_state: str = ""
    cause: Finding | None = field(default=None, compare=False)

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What stays the same when lines move: code, path, unit and symbol."""
        return self.code, self.path, self.unit, self.symbol


@dataclass(frozen=True, slots=True)
class BaseRef:
    """The upstream text that a unit was copied from, and how it was determined.

    ``similarity`` is in 0…1. ``also`` are further refs that the statements of a composite copy, or passages of the GPU
    twin, come from. ``helpers`` are the twin's helpers that the unit has in place, as ``NAME@HASH``.
    """

    project: Project
    ref: str
    path: str
    qualname: str
    how: How
    similarity: float
    digest: str = ""
    also: tuple[str, ...] = ()
    helpers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitReport:
    """What ``upgrade`` did to one unit. ``taken``, ``ported``, ``kept`` and ``removed`` count statements.

    ``removed_for`` is the side whose change made a unit with the outcome "removed" needless.
    """

    unit: str
    path: str
    kind: Lineage
    outcome: Outcome
    base: BaseRef | None = None
    gpu: BaseRef | None = None
    taken: int = 0
    ported: int = 0
    kept: int = 0
    removed: int = 0
    blocks: int = 0
    hunks: tuple[Hunk, ...] = ()
    removed_for: Provenance = "upstream"


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after. ``before`` is ``None`` for a new file, ``after`` is ``None`` for a deleted file."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One replayed upgrade and its score, as docs/how-it-works.md defines it.

    ``work`` and ``left`` count changed lines of unparsed code: what people changed, and what the tool left to change.
    ``effort_left`` is ``left / work``, and ``kept`` is the same over methods that both sides have. ``recall`` and
    ``precision`` are in 0…1, ``silent`` counts lines changed wrongly outside any review item, ``seconds`` is wall time.
    """

    case: str
    work: int
    left: int
    effort_left: float
    kept: float
    recall: float
    precision: float
    silent: int
    parses: bool
    reviews: int
    seconds: float


RATIOS = ("effort_left", "kept", "recall", "precision")
"""The fields of a `ReplayRow` of which reports give the mean."""


def mean_ratios(rows: Sequence[ReplayRow]) -> dict[str, float]:
    """Return the mean of each of the `RATIOS`, by name; empty without rows."""
    return {name: sum(getattr(row, name) for row in rows) / len(rows) for name in RATIOS} if rows else {}


@dataclass(frozen=True, slots=True)
class ReplayHunk:
    """A run of lines in which a replayed file still differs from the released one.

    ``side`` is ``tool`` (only the tool wrote it) or ``truth`` (only people did); ``lines`` is the number of lines.
    """

    case: str
    path: str
    side: str
    lines: int
    text: str


@dataclass(frozen=True, slots=True)
class RuleText:
    """The documentation of one rule of ``check`` and ``verify``: code, short name, one sentence, the whole text."""

    code: str
    name: str
    summary: str
    text: str
    severity: Severity = "warning"


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run reports about the runners of a ``platform``, which follow the project ``followed``.

    ``profile`` contains the options that select the same profile in the next command, ``place`` those that name the
    omni tree, and ``fitted`` those that name the trees that the runners fitted before an upgrade. ``advice`` is a
    sentence for people. Findings below ``fail_on`` are reported, but do not change the exit code. Paths are relative
    to the omni tree. ``folder`` is the tree's path in the repository (``""`` or ``some/folder/``); services that show
    findings in repository files need both.
    """

    command: str
    inputs: tuple[Source, ...] = ()
    units: tuple[UnitReport, ...] = ()
    reviews: tuple[ReviewItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    changes: tuple[FileChange, ...] = ()
    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()
    advice: str = ""
    summary: dict[str, int | str] = field(default_factory=dict)
    replay: tuple[ReplayRow, ...] = ()
    replay_hunks: tuple[ReplayHunk, ...] = ()
    rules: tuple[RuleText, ...] = ()
    folder: str = ""
    platform: str = "NPU"
    followed: Project = "vllm-ascend"
    profile: str = ""
    place: str = ""
    fitted: str = ""
    fail_on: Severity = "info"
