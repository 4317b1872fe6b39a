"""The page as a browser's parser sees it: self-contained, inert, complete."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from render_samples import AR, EXECUTE, FINDINGS, HOSTILE, INPUTS, REPORTS, UNITS, poison

import runner_sync
from runner_sync.errors import InputError
from runner_sync.model import Report
from runner_sync.render import render
from runner_sync.render import templates as template_room
from runner_sync.render.escape import visible

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Page(HTMLParser):
    """Collects elements, attributes and text; refuses tags that do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


@pytest.mark.parametrize("command", REPORTS)
def test_pages_nest_and_load_nothing(command: str) -> None:
    for report in (REPORTS[command], poison(REPORTS[command]), Report(command)):
        page = Page(render(report, "html"))
        assert not {"script", "img", "link", "iframe", "a", "form", "base"} & set(page.tags)
        names = {name for name, _ in page.attributes}
        assert not {name for name in names if name.startswith("on") or name in ("src", "href", "srcset", "action")}


def test_hostile_text_adds_no_element() -> None:
    def tags(report: Report) -> set[str]:
        return set(Page(render(report, "html")).tags)

    assert tags(poison(REPORTS["upgrade"])) == tags(REPORTS["upgrade"])
    assert visible(HOSTILE) in Page(render(poison(REPORTS["upgrade"]), "html")).text, "shown as text, whole"


def test_template_syntax_in_sources_is_not_evaluated() -> None:
    report = replace(REPORTS["check"], findings=(replace(FINDINGS[0], message="{{ 7 * 7 }}{% raw %}"),))
    text = Page(render(report, "html")).text
    assert "{{ 7 * 7 }}{% raw %}" in text


def test_page_forbids_itself_to_load_anything() -> None:
    text = render(REPORTS["upgrade"], "html")
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|https?://", text)


def test_page_has_light_and_dark() -> None:
    text = render(REPORTS["upgrade"], "html")
    assert "prefers-color-scheme: dark" in text
    assert "color-scheme: light dark" in text


def test_review_items_stand_side_by_side() -> None:
    text = Page(render(REPORTS["upgrade"], "html")).text
    for word in ("base", "omni", "upstream", "chosen", "a, b, c = self.g(x)", "confidence 0.62", "(nothing)"):
        assert word in text


def test_only_lines_that_differ_from_the_base_are_marked() -> None:
    item = replace(REPORTS["upgrade"].reviews[0], base="a\nb\n", omni="a\nc\n", upstream="b\n", chosen="a\nb\n")
    html = render(Report("upgrade", reviews=(item,)), "html")
    assert re.findall(r'<span class="changed">(.*?)</span>', html) == ["c"]


def test_provenance_bar_adds_up() -> None:
    html = render(Report("upgrade", INPUTS, UNITS[:1]), "html")
    widths = [float(width) for width in re.findall(r'class="bg-\w+" style="width:([\d.]+)%"', html)]
    assert len(widths) == 4
    assert sum(widths) == pytest.approx(100, abs=0.05)


def test_findings_show_line_and_caret() -> None:
    html = render(REPORTS["check"], "html")
    assert "3 |         a, b = self.g(x, mode=1)" in html
    assert f"{AR}:3" in html
    assert EXECUTE in html


def test_templates_are_found_in_a_wheel_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "runner_sync"
    for folder in (package / "templates", tmp_path / "templates"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(runner_sync, "__file__", str(package / "__init__.py"))
    with pytest.raises(InputError, match="install the package again"):
        template_room.find_template_folder()
    (tmp_path / "templates" / "report.html.j2").touch()
    assert template_room.find_template_folder() == tmp_path / "templates"
    (package / "templates" / "report.html.j2").touch()
    assert template_room.find_template_folder() == package / "templates"
