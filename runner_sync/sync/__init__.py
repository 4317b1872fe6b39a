"""Offer one function per command, which calls the rooms in the order of docs/how-it-works.md.

Each function opens the trees that options, configuration and lock name, hands texts to the rooms, and makes a report.

Comes in: option values. Goes out: ``Upgrade`` and ``Report`` values. May touch: what the rooms touch; ``apply`` writes
the omni tree and ``check`` its baseline, both through ``write``.

The module of a command is imported at the first use of one of its names, because ``check`` runs in every pull request
and needs neither libcst nor git nor the network.

The commands:

- ``upgrading`` with ``planning`` (all modules), ``reporting``, ``result_check``, ``planned`` (the value) and
  ``applying`` (the writing); ``part_results`` for runners read from several files, ``port_status`` for GPU units;
- ``checking`` (``check``, ``verify``) with ``check_modules``, ``whole_modules``, ``recalled_checks``, ``selection`` of
  rules, ``baseline_file`` and ``typechecker``;
- ``locking``, ``listing`` (``blocks``, ``explain``) with ``origins``, ``settling`` with ``asked``, ``replaying``,
  ``rule_texts`` (``rule``), ``hoisting`` with ``hoist_target`` and ``hoist_remarks``, and ``completion`` for shells.

What they share:

- ``options`` and ``upgrade_options`` are the values that come in; ``latest``, ``unit_names`` and ``keeping_files``
  check them, and ``opening`` opens the trees of a run that upgrades;
- ``trees``, ``classes``, ``synced``, ``locks`` and ``notes`` are packages of their own;
- ``memo``, ``recalled`` and ``program`` keep answers on disk, ``forgetting`` frees memory, ``nested`` names a file that
  is too deep, and ``platform_words`` words texts for another platform.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader

if TYPE_CHECKING:
    from runner_sync.sync.applying import apply, require_place
    from runner_sync.sync.asked import explain_item
    from runner_sync.sync.checking import check, verify
    from runner_sync.sync.hoisting import hoist
    from runner_sync.sync.keeping_files import kept_files
    from runner_sync.sync.listing import blocks, explain
    from runner_sync.sync.locking import lock
    from runner_sync.sync.options import CheckOptions, TreeOptions
    from runner_sync.sync.planned import Upgrade
    from runner_sync.sync.replaying import replay
    from runner_sync.sync.rule_texts import rules
    from runner_sync.sync.settling import find_open, settle
    from runner_sync.sync.upgrade_options import ReplayOptions, UpgradeOptions
    from runner_sync.sync.upgrading import upgrade

__all__ = [
    "CheckOptions",
    "ReplayOptions",
    "TreeOptions",
    "Upgrade",
    "UpgradeOptions",
    "apply",
    "blocks",
    "check",
    "explain",
    "explain_item",
    "find_open",
    "hoist",
    "kept_files",
    "lock",
    "replay",
    "require_place",
    "rules",
    "settle",
    "upgrade",
    "verify",
]

_MODULES = {
    "applying": "apply require_place",
    "asked": "explain_item",
    "checking": "check verify",
    "hoisting": "hoist",
    "keeping_files": "kept_files",
    "listing": "blocks explain",
    "locking": "lock",
    "options": "CheckOptions TreeOptions",
    "planned": "Upgrade",
    "replaying": "replay",
    "rule_texts": "rules",
    "settling": "find_open settle",
    "upgrade_options": "ReplayOptions UpgradeOptions",
    "upgrading": "upgrade",
}

__getattr__ = part_loader(__name__, _MODULES)
