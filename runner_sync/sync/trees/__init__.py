"""Open the trees of a run, which options and configuration name.

Comes in: options. Goes out: trees, their modules and the history of their files. May touch: what ``sources`` touches.

- ``inputs`` opens the trees, with ``namesakes`` of classes, and ``runners`` finds their derived modules, with
  ``class_heads`` also in ``moved_files``;
- ``pairs`` has the two upstreams that ``check`` and ``verify`` compare, ``branches`` the start of a branch;
- ``patched_tree`` replaces files of a tree, and ``history`` reads the revisions of a file once.
"""
