"""Which settings of a local a read may get."""

from __future__ import annotations

from textwrap import indent

import pytest

from runner_sync.texts.reaching import Setting, find_settings


def settings_read(body: str, name: str = "n") -> set[str]:
    """The lines that set ``name`` for the calls of ``use``."""
    text = f"def run(self, rows, n):\n{indent(body, '    ')}\n"
    lines = text.split("\n")
    found = find_settings(text, {name}).read
    used = (one for one in found if "use(" in lines[one.line - 1])
    return {lines[setting.line - 1].strip() for one in used for setting in found[one]}


HEAD = "def run(self, rows, n):"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("use(n)", {HEAD}),
        ("n = 1\nn = 2\nuse(n)", {"n = 2"}),
        ("if rows:\n    n = 1\nuse(n)", {HEAD, "n = 1"}),
        ("if rows:\n    n = 1\nelse:\n    n = 2\nuse(n)", {"n = 1", "n = 2"}),
        ("if rows:\n    n = 1\n    return\nuse(n)", {HEAD}),
        ("if rows:\n    n = 1\n    raise E\nuse(n)", {HEAD}),
        ("n += 1\nuse(n)", {"n += 1"}),
        ("n: int\nuse(n)", {HEAD}),
        ("n: int = 1\nuse(n)", {"n: int = 1"}),
        ("m, (n, *k) = rows\nuse(n)", {"m, (n, *k) = rows"}),
        ("if (n := rows[0]):\n    pass\nuse(n)", {"if (n := rows[0]):"}),
        ("with rows as n:\n    use(n)", {"with rows as n:"}),
        ("with rows:\n    n = 1\nuse(n)", {"n = 1"}),
        ("with suppress(E):\n    n = 1\n    n = 2\nuse(n)", {HEAD, "n = 1", "n = 2"}),
        ("for n in rows:\n    pass\nuse(n)", {HEAD, "for n in rows:"}),
        ("for row in rows:\n    use(n)\n    n = row", {HEAD, "n = row"}),
        ("for row in rows:\n    n = 1\n    if row:\n        break\n    n = 2\nuse(n)", {HEAD, "n = 1", "n = 2"}),
        ("for row in rows:\n    if row:\n        n = 1\n        continue\n    n = 2\nuse(n)", {HEAD, "n = 1", "n = 2"}),
        ("for row in rows:\n    for k in row:\n        use(n)\n    n = k", {HEAD, "n = k"}),
        ("while n:\n    n = 1\nuse(n)", {HEAD, "n = 1"}),
        ("while True:\n    n = 1\n    if rows:\n        break\n    n = 2\nuse(n)", {"n = 1"}),
        ("for row in rows:\n    break\nelse:\n    n = 1\nuse(n)", {HEAD, "n = 1"}),
        ("try:\n    n = 1\n    n = 2\nexcept E:\n    use(n)", {HEAD, "n = 1", "n = 2"}),
        ("try:\n    n = 1\nexcept E:\n    n = 2\nelse:\n    n = 3\nuse(n)", {"n = 2", "n = 3"}),
        ("try:\n    n = 1\nexcept E as n:\n    use(n)", {"except E as n:"}),
        ("try:\n    n = 1\n    return\nfinally:\n    use(n)", {HEAD, "n = 1"}),
        ("try:\n    n = 1\nfinally:\n    n = 2\nuse(n)", {"n = 2"}),
        ("match rows:\n    case [n]:\n        pass\nuse(n)", {HEAD, "case [n]:"}),
        (
            "match rows:\n    case [n] if n:\n        pass\n    case _:\n        n = 1\nuse(n)",
            {"case [n] if n:", "n = 1"},
        ),
        ("del n\nuse(n)", set()),
        ("rows = [n for n in rows]\nuse(n)", {HEAD}),
        ("def late():\n    n = 1\n    return n\nuse(n)", {HEAD}),
        ("def late(n):\n    use(n)", {"def late(n):"}),
        ("n = 1\nuse(lambda: n)", {"n = 1"}),
        ("break\nuse(n)", set()),
    ],
)
def test_a_read_gets_what_no_later_setting_has_replaced(body: str, expected: set[str]) -> None:
    assert settings_read(body) == expected


def test_a_setting_replaces_what_arrives_there() -> None:
    text = "def run(n):\n    for k in n:\n        if k:\n            n = 1\n        n = 2\n"
    assert find_settings(text, {"n"}).replaced == {
        Setting("n", 4): {Setting("n", 1), Setting("n", 5)},
        Setting("n", 5): {Setting("n", 1), Setting("n", 4), Setting("n", 5)},
    }


@pytest.mark.parametrize("text", ["n = 1\nuse(n)\n", "def run(:\n", "def run():\n    n = 1\n    use(n)\n"])
def test_nothing_is_followed_outside_of_functions_or_for_other_names(text: str) -> None:
    assert find_settings(text, {"m"}) == ({}, {})
