"""Keep vllm-omni's Ascend NPU model runners in step with their two upstreams."""

__version__ = "0.1.0"
