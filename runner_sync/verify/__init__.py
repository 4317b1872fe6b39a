"""Do the NPU runners fit the trees they are to run on? Values in, findings out; reads only.

Comes in: trees of vllm-omni, vllm-ascend and vLLM. Goes out: `Finding`s (`breakage.find`, `typecheck.run`). May
touch: the trees, by reading; `typecheck` also a scratch directory and the type checker's process.
"""
