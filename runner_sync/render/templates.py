"""Find and fill the Jinja2 templates that ship with the tool.

Comes in: a template's name and values. Goes out: text. May touch: the template folder, read only.

A wheel has the templates inside the package; a source checkout (and an editable install) has them beside it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

import runner_sync
from runner_sync.errors import InputError
from runner_sync.render.escape import visible


def find_template_folder() -> Path:
    """Return the folder with the templates; raises ``InputError`` if the installation has none."""
    package = Path(runner_sync.__file__).parent
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / "report.html.j2").is_file():
            return folder
    raise InputError(f"The templates of runner-sync are missing beside {package}: install the package again.")


@cache
def _make_environment() -> Environment:
    # Every template makes HTML out of untrusted sources, so escaping does not depend on file names.
    environment = Environment(
        loader=FileSystemLoader(find_template_folder()),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    return environment


def fill_template(name: str, **values: object) -> str:
    """Return template ``name`` filled with ``values``; text is HTML-escaped unless it is ``Markup``."""
    return _make_environment().get_template(name).render(**values)
