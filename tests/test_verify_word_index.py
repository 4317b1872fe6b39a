"""Which texts may have a word: none that has it is left out, and hardly another one is named."""

from __future__ import annotations

import zlib

import pytest

from runner_sync.verify.trees.word_index import KIND, WordIndex, make_filter

TEXTS = {f"m{number}.py": f"def name_{number}(self):\n    return self.common.é_{number}\n" for number in range(200)}
QUOTED = {"q.py": 'item["num tokens"] = item["a-b"]  # “curled” and —dashed—: não_dito\n'}


def index_of(texts: dict[str, str]) -> WordIndex:
    return WordIndex({path: make_filter(text) for path, text in texts.items()})


@pytest.mark.parametrize("text", ["num tokens", "a-b", "curled", "dashed", "não_dito", "", "-"])
def test_a_text_is_named_for_what_it_has_whatever_stands_around_it(text: str) -> None:
    assert index_of(QUOTED).may_have(text) == ["q.py"]


def test_texts_are_named_in_their_order() -> None:
    index = index_of(TEXTS)
    assert index.may_have("common") == list(TEXTS)
    assert "m7.py" in index.may_have("name_7")


@pytest.mark.parametrize("text", ["absent_word", "name", "common absent_word"])
def test_hardly_another_text_is_named(text: str) -> None:
    assert len(index_of(TEXTS).may_have(text)) < len(TEXTS) / 10


def test_filters_of_an_earlier_process_are_asked_as_new_ones() -> None:
    # They are kept on disk under KIND, and Python's own `hash` of a word differs from run to run.
    (place,) = [place for place in range(1 << 13) if make_filter("late")[place >> 3] & 1 << (place & 7)]
    assert (KIND, place) == ("words-1", zlib.crc32(b"late") % (1 << 13))
