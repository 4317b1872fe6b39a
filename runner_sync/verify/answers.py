"""Caches answers on the object that they are about, so they live as long as it does.

Comes in: methods and functions, or keys with functions that compute the values. Goes out: values. May touch: nothing.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

_Answer = TypeVar("_Answer")
_Asked = ParamSpec("_Asked")


class Answers:
    """Answers by question, for questions that the modules around an object ask about it."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, question: Hashable, find: Callable[[], _Answer]) -> _Answer:
        """Return the value for ``question``; ``find`` computes it the first time."""
        if question not in self._known:
            self._known[question] = find()
        known: _Answer = self._known[question]
        return known


class _Holder(Protocol):
    """An object that holds answers about itself."""

    answers: Answers


_Held = TypeVar("_Held", bound=_Holder)


def answered_once(
    find: Callable[Concatenate[_Held, _Asked], _Answer],
) -> Callable[Concatenate[_Held, _Asked], _Answer]:
    """Make a function compute its answer once for each set of arguments: the first holds the answers, the others have
    to be hashable."""

    @functools.wraps(find)
    def answer(holder: _Held, /, *args: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        return holder.answers.once((find, *args, *named.items()), lambda: find(holder, *args, **named))

    return answer


def remembered(find: Callable[Concatenate[Any, _Asked], _Answer]) -> Callable[Concatenate[Any, _Asked], _Answer]:
    """Make a method compute its answer once for each object and arguments, which have to be hashable."""
    place = f"{find.__name__} remembered"
    parameters = inspect.signature(find).parameters.values()
    _, *defaults = (one.default for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD)
    count = len(defaults)

    @functools.wraps(find)
    def answer(self: Any, /, *args: _Asked.args, **named: _Asked.kwargs) -> _Answer:
        known: dict[Hashable, _Answer] | None = self.__dict__.get(place)
        if known is None:
            known = self.__dict__[place] = {}
        key: Hashable = args
        if named or len(args) < count:
            key = (*args, *defaults[len(args) :], *named.items())
        if key not in known:
            known[key] = find(self, *args, **named)
        return known[key]

    return answer
