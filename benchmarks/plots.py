"""Draw SVG plots without a library: bars by group, lines over numbers.

Comes in: numbers with names. Goes out: an SVG document. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#b8b8b8", "#7a9cc6", "#35618f", "#c7a35a", "#7d8f4e", "#a0669e", "#c0392b")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _LEGEND = 860, 380, 60, 44, 44, 250
_FONT = 'font-family="system-ui, sans-serif" font-size="12"'


@dataclass(frozen=True, slots=True)
class Frame:
    """The drawing area: values 0 … ``top`` upward, positions 0 … 1 to the right."""

    title: str
    unit: str
    top: float

    def x(self, position: float) -> float:
        return _LEFT + position * (_WIDTH - _LEFT - _LEGEND)

    def y(self, value: float) -> float:
        return _TOP + (1 - min(value, self.top) / self.top) * (_HEIGHT - _TOP - _BOTTOM)


def draw_bars(
    title: str, unit: str, groups: Mapping[str, Mapping[str, float]], *, top: float, line: float | None = None
) -> str:
    """Draw grouped bars, ``{group: {series: value}}``; a value above ``top`` is cut and labelled."""
    frame = Frame(title, unit, top)
    series = list(dict.fromkeys(name for values in groups.values() for name in values))
    width = 1 / len(groups)
    each = width * 0.84 / len(series)
    out = [_draw_axes(frame)]
    for g, (group, values) in enumerate(groups.items()):
        out.append(_draw_label(frame.x((g + 0.5) * width), _HEIGHT - _BOTTOM + 18, group))
        for s, name in enumerate(series):
            if name in values:
                left = frame.x(g * width + 0.08 * width + s * each)
                out.append(_draw_bar(frame, left, (frame.x(each) - frame.x(0)) * 0.92, values[name], COLOURS[s]))
    if line is not None:
        out.append(_draw_dashes(frame, line))
    return _make_document(frame, out, series)


def draw_lines(title: str, unit: str, points: Mapping[str, Sequence[tuple[float, float]]], *, label: str) -> str:
    """Draw one line per series over a common horizontal scale that starts at zero."""
    flat = [point for series in points.values() for point in series]
    right, top = max(x for x, _ in flat), 1.1 * max(y for _, y in flat)
    frame = Frame(title, unit, top)
    out = [_draw_axes(frame), _draw_label(frame.x(0.5), _HEIGHT - 6, label)]
    for x in sorted({x for x, _ in flat}):
        out.append(_draw_label(frame.x(x / right), _HEIGHT - _BOTTOM + 16, f"{x:g}"))
    for number, series in enumerate(points.values()):
        colour = COLOURS[-1 - number % len(COLOURS)]
        places = [(frame.x(x / right), frame.y(y)) for x, y in sorted(series)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
    return _make_document(frame, out, list(points), reverse=True)


def _draw_bar(frame: Frame, left: float, width: float, value: float, colour: str) -> str:
    y = frame.y(value)
    box = f'<rect x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{frame.y(0) - y:.1f}" fill="{colour}"/>'
    return box + (_draw_label(left + width / 2, _TOP - 4, f"{value:.1f}") if value > frame.top else "")


def _draw_axes(frame: Frame) -> str:
    out = []
    for k in range(5):
        value = frame.top * k / 4
        y = frame.y(value)
        out.append(f'<path d="M{_LEFT} {y:.1f}H{frame.x(1):.1f}" stroke="#e2e2e2"/>')
        out.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" {_FONT}>{value:.3g}</text>')
    out.append(f'<text x="{_LEFT}" y="20" {_FONT} font-weight="bold">{escape(frame.title)}</text>')
    out.append(f'<text x="{_LEFT}" y="36" {_FONT} fill="#555">{escape(frame.unit)}</text>')
    return "".join(out)


def _draw_dashes(frame: Frame, value: float) -> str:
    y = frame.y(value)
    return f'<path d="M{_LEFT} {y:.1f}H{frame.x(1):.1f}" stroke="#333" stroke-dasharray="4 3"/>'


def _draw_label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {_FONT}>{escape(text)}</text>'


def _make_document(frame: Frame, out: Sequence[str], series: Sequence[str], *, reverse: bool = False) -> str:
    keys = []
    for number, name in enumerate(series):
        colour = COLOURS[-1 - number % len(COLOURS)] if reverse else COLOURS[number]
        x, y = _WIDTH - _LEGEND + 16, _TOP + 20 * number
        keys.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{colour}"/>')
        keys.append(f'<text x="{x + 18}" y="{y + 10}" {_FONT}>{escape(name)}</text>')
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    body = "\n".join([*out, *keys])
    title = f"<title>{escape(frame.title)}</title>"
    paper = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">\n{title}{paper}\n{body}\n</svg>\n'
