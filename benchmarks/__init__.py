"""Benchmarks: the quality of upgrades and the speed of commands, beside what people would otherwise use.

Comes in: released trees (read through ``runner_sync.sources``), optionally a vllm-ascend checkout. Goes out: Markdown
tables and SVG plots. May touch: the release cache, the programs it compares with, scratch folders, ``results/``.
"""
