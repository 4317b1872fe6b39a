"""RS390 type-checker: ty (or mypy) newly says that code cannot work as it is written.

What: a diagnostic of the type checker about an NPU runner on the new trees that it does not give on the old ones,
such as a property that is called, a coroutine that nobody awaits, a `with` over what is no context manager.
It runs on a scratch copy with conditional bases settled (`if is_310p(): … else: …` counts as its `else` branch).

Example: `unknown-argument: Argument "input_ids" does not match any known parameter`.

Why: a second opinion by somebody else's inference. For omni 0.26.0 on vllm-ascend 0.30.0rc2 it names the same six
new breaks as the rules do; what it alone finds lies behind types that those do not follow (generics, narrowing,
overloads).

Fix: read the target's own code at this place; if the checker is wrong, `# runner-sync: ignore[RS390] why`.

Leaves alone: diagnostics the old trees give as well, statements that another rule already speaks of (silenced or
not), attributes of `self` that RS304 has reasons to leave alone, everything that is a matter of annotations only
(`| None` among them, and what fits one type of a union), conditions that ask for what they call, what depends on
packages outside the three trees (torch, numpy and CANN count as unknown).
"""

from __future__ import annotations

from runner_sync.model import Severity

CODE = "RS390"
NAME = "type-checker"
SEVERITY: Severity = "warning"
