"""Turn a ``Report`` into text: for people, for CI services and for programs.

Comes in: a ``Report``. Goes out: strings, each ending in one newline (an empty patch is empty). Never prints or reads a
source tree. A format's module is imported on demand, because ``check`` has to be quick.

- ``text`` (with ``tables``, ``fitting``, ``widths`` and ``ink``), ``markdown`` and ``html`` (with ``templates``) are
  for people, ``diff`` for ``git apply``;
- ``github``, ``gitlab``, ``junit`` and ``sarif`` are for CI services, ``json_report`` for programs;
- all share the ``order``, the ``summary``, ``escape``, and ``fingerprint``; ``excerpt``, ``patch`` and ``sides`` give
  the lines, edits and texts that belong to a finding or a review item.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from runner_sync.errors import InputError

if TYPE_CHECKING:
    from runner_sync.model import Report

__all__ = ["FORMATS", "github_summary", "render"]

FORMATS = ("text", "diff", "json", "markdown", "github", "gitlab", "junit", "sarif", "html")
IN_REPOSITORY = ("github", "gitlab", "junit", "sarif")
"""Formats for services that resolve paths against the repository."""


def render(report: Report, format: str, *, color: bool = False, width: int = 100) -> str:
    """Return ``report`` in one of ``FORMATS``.

    ``color`` (ANSI colours) and ``width`` (columns) concern ``text`` and ``diff``, the formats a terminal shows.
    Raises ``InputError`` for a format that does not exist.
    """
    if format == "text":
        from runner_sync.render.text import render_text

        return render_text(report, color=color, width=width)
    if format == "diff":
        from runner_sync.render.diff import render_diff

        return render_diff(report, color=color)
    return _load_renderer(format)(prefix_paths(report) if format in IN_REPOSITORY else report)


def prefix_paths(report: Report) -> Report:
    """Return ``report`` with the paths of findings, review items and units relative to the repository instead of the
    omni tree."""
    if not report.folder:
        return report
    return replace(
        report,
        findings=tuple(replace(finding, path=report.folder + finding.path) for finding in report.findings),
        reviews=tuple(replace(item, path=report.folder + item.path) for item in report.reviews),
        units=tuple(replace(unit, path=report.folder + unit.path) for unit in report.units),
        folder="",
    )


def github_summary(report: Report) -> str:
    """Return the Markdown for ``$GITHUB_STEP_SUMMARY``: everything, including what did not fit into annotations."""
    from runner_sync.render.markdown import STEP_SUMMARY_LIMIT, render_markdown

    return render_markdown(report, limit=STEP_SUMMARY_LIMIT)


def _load_renderer(format: str) -> Callable[[Report], str]:
    match format:
        case "json":
            from runner_sync.render.json_report import render_json

            return render_json
        case "markdown":
            from runner_sync.render.markdown import render_markdown

            return render_markdown
        case "sarif":
            from runner_sync.render.sarif import render_sarif

            return render_sarif
        case "html":
            from runner_sync.render.html import render_html

            return render_html
        case _:
            return _load_ci_renderer(format)


def _load_ci_renderer(format: str) -> Callable[[Report], str]:
    match format:
        case "github":
            from runner_sync.render.github import render_github

            return render_github
        case "gitlab":
            from runner_sync.render.gitlab import render_gitlab

            return render_gitlab
        case "junit":
            from runner_sync.render.junit import render_junit

            return render_junit
        case _:
            raise InputError(f"There is no output format {format!r}: choose one of {', '.join(FORMATS)}.")
