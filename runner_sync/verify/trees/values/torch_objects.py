"""What torch and numpy make: tensors and arrays, streams and events, of which none can be called.

Comes in: an expression or an annotation. Goes out: which special methods such an object lacks. May touch: nothing.
"""

from __future__ import annotations

import ast
import re

from runner_sync.syntax import dotted_name

_TENSOR_MAKER = re.compile(r"torch\.(zeros|ones|empty|full|arange|tensor|from_numpy|zeros_like|empty_like|ones_like)")
_ARRAY_MAKER = re.compile(r"(np|numpy)\.(zeros|ones|empty|full|arange|array|zeros_like|empty_like|ones_like)")
_DEVICE_OBJECT = re.compile(r"(torch|torch_npu)\.(\w+\.)?(Stream|Event)")
_LACKED_BY_ALL = frozenset({"__call__", "__await__", "__aenter__"})
_LACKED_BY_DEVICE_OBJECTS = _LACKED_BY_ALL | {"__iter__", "__getitem__"}
_LACKED_BY_TENSORS = _LACKED_BY_ALL | {"__enter__"}


def is_new_tensor(value: ast.expr | None) -> bool:
    """Whether an expression makes a tensor: ``torch.zeros(…)``."""
    return _TENSOR_MAKER.fullmatch(_name_called(value)) is not None


def made_lacks(value: ast.expr | None, name: str) -> bool:
    """Whether an expression makes a tensor, an array, a stream or an event, which has no method ``name``."""
    called = _name_called(value)
    if _DEVICE_OBJECT.fullmatch(called):
        return name in _LACKED_BY_DEVICE_OBJECTS
    return name in _LACKED_BY_TENSORS and bool(_TENSOR_MAKER.fullmatch(called) or _ARRAY_MAKER.fullmatch(called))


def annotated_lacks(annotation: ast.expr, name: str) -> bool:
    """Whether an annotation is the class of a stream or an event, which has no method ``name``."""
    return name in _LACKED_BY_DEVICE_OBJECTS and bool(_DEVICE_OBJECT.fullmatch(dotted_name(annotation) or ""))


def _name_called(value: ast.expr | None) -> str:
    return (dotted_name(value.func) or "") if isinstance(value, ast.Call) else ""
