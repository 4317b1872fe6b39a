"""Keep vllm-omni's Ascend NPU model runners in step with their two upstreams.

A command comes in at ``cli`` (``__main__`` for ``python -m``), with ``terminal`` for options and output. It calls a
function of ``sync``, which calls the rooms in the order of docs/how-it-works.md:

- ``config`` and ``sources`` open the trees, ``lock`` reads what the last upgrade recorded;
- ``upgrade`` makes a new text of each runner, with ``lineage``, ``transforms``, ``merge``, ``fitting`` and ``compose``;
- ``verify`` finds what does not fit; ``blocks`` and ``markers`` read omni's blocks, ``score`` rates a replayed upgrade;
- ``render`` makes the output, ``write`` replaces the files.

All rooms share these modules and packages:

- ``model`` has the values that rooms exchange, ``profile`` what is known about a platform, ``thresholds`` and
  ``confidence`` the numbers that decide, ``errors`` the failures that a person reads;
- ``syntax``, ``statements``, ``texts``, ``units`` and ``edits`` read a text, from a node to a whole module; ``digests``
  hashes, ``rulers`` and ``unmerged`` recognise drawn lines and conflict markers;
- ``naming``, ``references``, ``mro`` and ``signatures`` answer what Python would: which module, definition or method a
  name means, and whether a call fits;
- ``trees``, ``user_paths``, ``listing`` and ``doors`` are small helpers: trees at hand, paths that a person wrote,
  lists in sentences, imports on first use.
"""

__version__ = "0.2.0"
