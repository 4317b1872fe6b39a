"""List the files beside the sources that a run reads, which no report may replace.

Comes in: options. Goes out: paths. May touch: what ``sources`` touches, and the configuration, by reading.
"""

from __future__ import annotations

from pathlib import Path

from runner_sync import config as configuration
from runner_sync.sync.options import CheckOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import UpgradeOptions


def kept_files(options: CheckOptions | UpgradeOptions) -> list[Path]:
    """Return configuration, lock and baseline of a run, whether an option or the configuration names them.

    Raises ``InputError``, as the run would, for a tree or a configuration that cannot be read.
    """
    if options.omni.version is not None:
        settings, lock = configuration.load(None, explicit=options.config, profile=options.profile), None
    else:
        given = inputs.open_omni(options, with_lock=False)
        settings, lock = given.config, given.root / given.lock_file if given.root is not None else None
    accepted = options.baseline if isinstance(options, CheckOptions) else None
    return [file for file in (settings.source, lock, accepted, settings.baseline) if file is not None]
