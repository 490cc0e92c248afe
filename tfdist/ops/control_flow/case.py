"""`case`: one of several subgraphs runs, that of the first predicate which is true.

Source: TF 1.15 API documentation, tf.case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from tfdist.base.dtypes import bool_, int32
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.checks.print_assert import Assert
from tfdist.ops.control_flow.cond import cond

__all__ = ["case"]


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Return what the function of the first true predicate builds.

    Args:
      pred_fn_pairs: list of (scalar bool tensor, function without arguments), or a dict of them;
        a dict's predicates are asked in the order of their names.
      default: the function for the case that none is true; without it that case is an error in
        the step, for the nodes that the last function builds wait for a check.
      exclusive: whether two true predicates are an error in the step. Without a default the last
        one is not among those that are looked at, as in TensorFlow 1.15.
      strict: whether a list of one tensor stays a list.
      name: of the scope.

    Returns:
      Tensors in the structure that the functions return; a shape is what all of them share.

    Raises:
      TypeError: a pair is none, a predicate no bool tensor, or a function cannot be called.
      ValueError: there are no pairs and no default, or results differ in structure or type.
      InvalidArgumentError: when it runs and no predicate is true without a default, or two are
        true with `exclusive`.

    Example:
      >>> x = constant(2)
      >>> int(Session().run(case([(x < 1, lambda: x), (x < 3, lambda: x * 10)], lambda: -x)))
      20
    """
    return _case_helper(cond, pred_fn_pairs, default, exclusive, name, strict=strict)


def _case_helper(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: str,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """Return what `case` returns; libraries have their own `cond_fn` choose between two functions.

    Args:
      cond_fn: takes a predicate and two functions, as `cond` does.
      pred_fn_pairs: see `case`.
      default: see `case`.
      exclusive: see `case`.
      name: of the scope.
      allow_python_preds: whether predicates may be Python's bools.
      **cond_kwargs: handed on to `cond_fn`.
    """
    pairs = _pairs(pred_fn_pairs, default, allow_python_preds)
    choose = partial(cond_fn, **cond_kwargs)
    with scopes.name_scope(name, "case", [pred for pred, _ in pairs]):
        if default is None:
            default, pairs = _checked_last(pairs)
        if exclusive and pairs:
            with scopes.control_dependencies([_at_most_one([pred for pred, _ in pairs])]):
                return _chain(choose, pairs, default)
        return _chain(choose, pairs, default)


def _pairs(given: Any, default: Any, allow_bools: bool) -> list[tuple[Any, Callable[[], Any]]]:
    if isinstance(given, dict):
        given = sorted(given.items(), key=lambda pair: str(pair[0].name))
    if not isinstance(given, list | tuple):
        raise TypeError("fns must be a list, tuple, or dict")
    if default is not None and not callable(default):
        raise TypeError("default must be callable")
    if not given and default is None:
        raise ValueError("case needs a pair of predicate and function, or a default")
    return [_pair(each, allow_bools) for each in given]


def _pair(pair: Any, allow_bools: bool) -> tuple[Any, Callable[[], Any]]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple (pred, function)")
    pred, function = pair
    if not (allow_bools and isinstance(pred, bool)):
        _check_pred(pred)
    if not callable(function):
        raise TypeError(f"fn for pred {_names([pred])} must be callable.")
    return pred, function


def _check_pred(pred: Any) -> None:
    if not isinstance(pred, Tensor):
        raise TypeError(f"pred must be a Tensor, got: {pred!r}")
    if pred.dtype.base_dtype is not bool_:
        raise TypeError(f"pred must be Tensor of type bool: {pred.name} is {pred.dtype.name}")


def _chain(choose: Callable[..., Any], pairs: list[Any], default: Callable[[], Any]) -> Any:
    if not pairs:
        return default()
    (pred, function), *rest = pairs
    return choose(pred, function, lambda: _chain(choose, rest, default))


def _checked_last(pairs: list[Any]) -> tuple[Callable[[], Any], list[Any]]:
    """Return the last function, which runs if its predicate holds, and the pairs before it."""
    *rest, (pred, function) = pairs
    preds = [each for each, _ in pairs]
    message = f"Input error: None of conditions evaluated as True: ({_names(preds)}):"

    def last() -> Any:
        with scopes.control_dependencies([raw.Assert(pred, [message, raw.Pack(preds)])]):
            return function()

    return last, rest


def _at_most_one(preds: list[Any]) -> Operation:
    stacked = raw.Pack(preds, name="preds_c")
    count = raw.Sum(raw.Cast(stacked, DstT=int32), [0], name="num_true_conds")
    message = (
        f"Input error: exclusive=True: more than 1 conditions ({_names(preds)}) evaluated as True:"
    )
    most = convert_to_tensor(1, name="n_true_conds")
    return Assert(raw.LessEqual(count, most), [message, stacked], summarize=len(preds))


def _names(preds: Iterable[Any]) -> str:
    return ", ".join(str(getattr(pred, "name", pred)) for pred in preds)
