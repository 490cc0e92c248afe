"""Branches of tf.contrib.framework that are taken at once where their condition is known.

Source: TF 1.15 API documentation, tf.contrib.framework.smart_cond, smart_case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfdist.graph.constant_values import evaluated
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope
from tfdist.ops.control_flow.case import case
from tfdist.ops.control_flow.cond import cond

__all__ = ["is_tensor", "smart_case", "smart_cond", "smart_constant_value"]


def is_tensor(x: Any) -> bool:
    """Return whether `x` is a tensor, a variable, or several tensors, as a SparseTensor is.

    Example:
      >>> contrib.framework.is_tensor(constant(1)), contrib.framework.is_tensor(1)
      (True, False)
    """
    return hasattr(x, "_as_tensor") or hasattr(x, "dense_shape")


def smart_constant_value(pred: Any) -> Any:
    """Return whether a condition is true; None if that is not known before it runs.

    Args:
      pred: a bool, 0 or 1, or a tensor.

    Raises:
      TypeError: it is something else.

    Example:
      >>> contrib.framework.smart_constant_value(constant(True))
      array(True)
    """
    if isinstance(pred, Tensor):
        return evaluated(pred)
    if isinstance(pred, bool) or (isinstance(pred, int) and pred in (0, 1)):
        return bool(pred)
    if hasattr(pred, "_as_tensor"):
        return None
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}"
    )


def smart_cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return what one function returns; both are in the graph only if `pred` is not known yet.

    Args:
      pred: a bool, 0 or 1, or a scalar tensor.
      true_fn: function without arguments.
      false_fn: function without arguments.
      name: of the scope of `tf.cond`.

    Raises:
      TypeError: a function cannot be called, or `pred` is something else.

    Example:
      >>> contrib.framework.smart_cond(True, lambda: 3, lambda: 4)
      3
    """
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"`{argument}` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name=name)
    return true_fn() if known else false_fn()  # type: ignore[misc]


def smart_case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    name: str = "smart_case",
) -> Any:
    """Return what the function of the first true condition returns; see `tf.case`.

    Conditions that are known when the graph is built leave no nodes.

    Args:
      pred_fn_pairs: list of (scalar bool or tensor, function without arguments), or a dict.
      default: the function for the case that none is true.
      exclusive: whether two true conditions are an error.
      name: of the scope.

    Raises:
      TypeError: it is no list or dict, a pair is none, or a function cannot be called.

    Example:
      >>> contrib.framework.smart_case([(False, lambda: 3), (True, lambda: 4)])
      4
    """
    pairs = _pairs(pred_fn_pairs)
    left = []
    for pred, function in pairs:
        known = smart_constant_value(pred)
        if known is None:
            left.append((pred, function))
        elif known and not left:
            with name_scope(name):
                return function()
        elif known:  # all that come after it can never run
            default = function
            break
    if not left and default is not None:
        with name_scope(name):
            return default()
    return case(left, default, exclusive, name=name)


def _pairs(given: Any) -> list[Any]:
    if isinstance(given, dict):
        given = sorted(given.items(), key=lambda pair: getattr(pair[0], "name", ""))
    if not isinstance(given, list | tuple):
        raise TypeError("fns must be a list, tuple, or dict")
    for each in given:
        if not isinstance(each, tuple) or len(each) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple (pred, function)")
        if not callable(each[1]):
            raise TypeError(f"fn for pred {getattr(each[0], 'name', each[0])} must be callable.")
    return list(given)
