"""RS490 untranslated: ported GPU code holds a name that has no NPU form.

What: a GPU statement that `upgrade` ported uses a name that has no translation in the profile and cannot run on the NPU
(`torch.cuda.nvtx`, `torch.backends.cudnn`, …), or a name that could not be translated safely. It is a review item of
the upgrade.

Example:

    torch.cuda.nvtx.range_push("talker")      # torch_npu has no nvtx

Why: a wrong translation costs more than a missed one, so the name stays as it is and a person decides.

Fix: delete the statement, or replace it by the NPU's equivalent, and teach the profile (`extend-names`,
`extend-attributes`) if it will come again.

Leaves alone: code that was not ported in this run.
"""

from __future__ import annotations

from runner_sync.model import Severity

CODE = "RS490"
NAME = "untranslated"
SEVERITY: Severity = "warning"
