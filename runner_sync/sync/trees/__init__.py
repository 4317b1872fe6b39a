"""The trees of a run: what options and configuration name, opened.

Comes in: options. Goes out: trees, their modules and the history of their files. May touch: what ``sources`` touches.

- ``inputs`` opens them, with ``namesakes`` of classes; ``runners`` says which derived modules they have; ``pairs`` are
  the two upstreams that ``check`` and ``verify`` compare; ``patched_tree`` has some files replaced;
- ``history`` reads the revisions of a file once.
"""
