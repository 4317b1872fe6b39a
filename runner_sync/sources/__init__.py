"""Where trees come from: a path, a git revision, a release on the package index, an installed distribution.

Comes in: a project name and a place, revision or version. Goes out: ``Tree`` values that give file texts.
May touch: files (read only), git, the network, and the cache folder; no other room does. Nothing read is ever executed.
"""

from runner_sync.sources.folder import open_path

__all__ = ["open_path"]
