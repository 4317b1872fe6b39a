"""An NPU runner that has in place what its GPU twin keeps in helpers."""

from __future__ import annotations

NPU = """\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _output(self, rows):
        ids = self.order(rows)
        hidden = self.on_host(rows.hidden)
        payloads = []
        for row in rows:
            payloads.append(self.flatten(row.payload))
        self.accumulate(ids, payloads)
        return self.pack(ids, hidden, payloads)
"""
