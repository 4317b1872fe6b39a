"""Which texts may have a word: none that has it is left out, and hardly another one is named."""

from __future__ import annotations

from runner_sync.verify.word_index import WordIndex

TEXTS = {f"m{number}.py": f"def name_{number}(self):\n    return self.common.é_{number}\n" for number in range(200)}


def test_a_text_with_the_word_is_named_in_order() -> None:
    index = WordIndex(TEXTS.items())
    assert list(index.may_have("common")) == list(TEXTS)
    assert "m7.py" in index.may_have("name_7")


def test_hardly_another_text_is_named() -> None:
    index = WordIndex(TEXTS.items())
    assert len(list(index.may_have("absent_word"))) < len(TEXTS) / 10
    assert len(list(index.may_have("name"))) < len(TEXTS) / 10
