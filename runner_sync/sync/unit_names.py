"""Check that a runner or its GPU twin has the units that options and configuration name.

Comes in: names and patterns, the runners, the inputs. Goes out: ``InputError`` for a misspelt name. May touch: the
trees, by reading.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from runner_sync.errors import InputError
from runner_sync.profile import BUILT_IN
from runner_sync.sync.classes.whole_classes import read_whole_twin
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.units import texts
from runner_sync.upgrade import is_selected


def refuse_misspelt(only: Sequence[str], modules: Sequence[DerivedModule], given: inputs.Inputs) -> None:
    """Raise ``InputError`` if an ``--only`` or a pattern of ``units`` in the configuration matches no NPU or GPU unit.

    A misspelt name would otherwise be ignored.
    """
    known = {name for derived in modules for name in texts.unit_texts(derived.text, derived.path)}
    for module in given.profile.modules:
        text = read_whole_twin(module, given)
        if module.gpu is not None and text:
            known |= {given.profile.npu_name(name) for name in texts.unit_texts(text, module.gpu.path)}
    of_others = _units_of_other_profiles(given) if given.config.units else set()
    for glob in given.config.units:
        if not any(fnmatchcase(name, glob) for name in (*known, *of_others)):
            close = difflib.get_close_matches(glob, known, n=1) or [n for n in sorted(known) if n.endswith(f".{glob}")]
            hint = f"did you mean {close[0]!r}?" if close else "name one as in 'Class.method', or take it out."
            raise InputError(f"{given.config.source}: units: no unit matches {glob!r}; {hint}")
    for glob in only:
        if not any(is_selected(name, (glob,)) for name in known):
            close = difflib.get_close_matches(glob, [*known, *(n.rpartition(".")[2] for n in known)], n=1)
            example = min((name for name in known if "." in name), default="Class.method")
            shape = f"; a pattern is for whole names, as in '*.{glob}'" if set(glob) & set("*?[") else ""
            hint = f"did you mean {close[0]}?" if close else f"name one as in {example}{shape}."
            raise InputError(f"no unit is called {glob!r}: {hint}")


def _units_of_other_profiles(given: inputs.Inputs) -> set[str]:
    """Return the units of all built-in profiles' runners, because ``units`` may serve several profiles."""
    paths = {path for profile in BUILT_IN.values() for module in profile.modules for path in module.paths}
    read = ((path, given.omni.read(path)) for path in sorted(paths))
    return {name for path, text in read if text is not None for name in texts.unit_texts(text, path)}
