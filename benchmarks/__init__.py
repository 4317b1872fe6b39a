"""Benchmarks: the quality of upgrades and the speed of commands, compared with the tools that people would otherwise
use.

Comes in: released trees (read through ``runner_sync.sources``), optionally a vllm-ascend checkout. Goes out: Markdown
tables and SVG plots. May touch: the release cache, the compared programs, scratch folders, ``results/``.
"""
