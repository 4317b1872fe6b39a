"""Which texts may have a word: none that has it is left out, and hardly another one is named."""

from __future__ import annotations

import pytest

from runner_sync.verify.trees.word_index import WordIndex

TEXTS = {f"m{number}.py": f"def name_{number}(self):\n    return self.common.é_{number}\n" for number in range(200)}
QUOTED = {"q.py": 'item["num tokens"] = item["a-b"]  # “curled” and —dashed—: não_dito\n'}


@pytest.mark.parametrize("text", ["num tokens", "a-b", "curled", "dashed", "não_dito", "", "-"])
def test_a_text_is_named_for_what_it_has_whatever_stands_around_it(text: str) -> None:
    assert list(WordIndex(QUOTED.items()).may_have(text)) == ["q.py"]


def test_texts_are_named_in_their_order() -> None:
    index = WordIndex(TEXTS.items())
    assert list(index.may_have("common")) == list(TEXTS)
    assert "m7.py" in index.may_have("name_7")


@pytest.mark.parametrize("text", ["absent_word", "name", "common absent_word"])
def test_hardly_another_text_is_named(text: str) -> None:
    assert len(list(WordIndex(TEXTS.items()).may_have(text))) < len(TEXTS) / 10
