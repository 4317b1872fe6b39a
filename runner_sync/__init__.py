"""Keep vllm-omni's Ascend NPU model runners in step with their two upstreams."""

__version__ = "0.2.0"
