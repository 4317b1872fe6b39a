"""RS390 type-checker: ty (or mypy) newly says that code cannot work as it is written.

What: a diagnostic of the type checker about an NPU runner that occurs on the new trees and not on the old ones, such as
a property that is called, a coroutine that nobody awaits, a `with` over an object that is no context manager. The
checker runs on a scratch copy with conditional bases settled (`if is_310p(): … else: …` counts as its `else` branch).

Example: `unknown-argument: Argument "input_ids" does not match any known parameter`.

Why: a second opinion by somebody else's inference. For omni 0.26.0 on vllm-ascend 0.30.0rc2 the checker names the same
six new breaks as the rules do; its additional findings lie behind types that the rules do not follow (generics,
narrowing, overloads).

Fix: read the target's own code at this place; if the checker is wrong, `# runner-sync: ignore[RS390] why`.

Leaves alone: diagnostics that the old trees give as well, statements with a finding of another rule (silenced or not),
attributes of `self` that RS304 has reasons to leave alone, pure matters of annotations (`| None` among them, and values
that fit one type of a union), members that only `hasattr` knows, conditions that test for what they call, and code that
depends on packages outside the three trees (torch, numpy and CANN count as unknown).
"""

from __future__ import annotations

from runner_sync.model import Severity

CODE = "RS390"
NAME = "type-checker"
SEVERITY: Severity = "warning"
