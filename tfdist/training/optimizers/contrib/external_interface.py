"""Optimizers from outside, SciPy's above all, which ask a session for loss and gradients.

Source: TF 1.15 API documentation, tf.contrib.opt.ExternalOptimizerInterface.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from tfdist.graph.stacks import session_for
from tfdist.ops.array.concat import concat
from tfdist.ops.array.constants import placeholder
from tfdist.ops.array.fill import zeros_like
from tfdist.ops.array.reshape import reshape
from tfdist.ops.autodiff.gradients import gradients
from tfdist.ops.variables.collections import trainable_variables
from tfdist.ops.variables.state_ops import is_resource

__all__ = ["ExternalOptimizerInterface", "ScipyOptimizerInterface"]

_LOG = logging.getLogger("tensorflow")


class ExternalOptimizerInterface:
    """What drives an optimizer from outside: override `_minimize`.

    All variables together are one vector.

    Args:
      loss: float tensor [].
      var_list: variables that may be changed; all that are trained by default.
      equalities: list of tensors that shall be 0.
      inequalities: list of tensors that shall not be below 0.
      var_to_bounds: a dict from variables to pairs of least and greatest values.
      **optimizer_kwargs: for the optimizer.

    Example:
      >>> class Halving(contrib.opt.ExternalOptimizerInterface):
      ...     def _minimize(self, initial_val, loss_grad_func, **_):
      ...         loss, slope = loss_grad_func(initial_val)
      ...         return initial_val - slope / 2
      >>> v = Variable([3.0, 4.0])
      >>> halving = Halving(reduce_sum(v * v))
      >>> with Session() as session:
      ...     session.run(v.initializer)
      ...     halving.minimize(session)
      ...     session.run(v)
      array([0., 0.], dtype=float32)
    """

    def __init__(
        self,
        loss: Any,
        var_list: Sequence[Any] | None = None,
        equalities: Sequence[Any] | None = None,
        inequalities: Sequence[Any] | None = None,
        var_to_bounds: dict[Any, Any] | None = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities, self._inequalities = list(equalities or ()), list(inequalities or ())
        self._vars = list(trainable_variables() if var_list is None else var_list)
        self._packed_bounds = self._bounds(var_to_bounds) if var_to_bounds is not None else None
        self._update_placeholders = [placeholder(each.dtype.base_dtype) for each in self._vars]
        self._var_updates = [
            each.assign(reshape(given, each.get_shape().as_list()))
            for each, given in zip(self._vars, self._update_placeholders, strict=True)
        ]
        self._packed_var = self._packed(self._vars)
        self._packed_loss_grad = self._slope(loss)
        self._equality_slopes = [self._slope(each) for each in self._equalities]
        self._inequality_slopes = [self._slope(each) for each in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        self._slices = self._places()

    def _bounds(self, given: dict[Any, Any]) -> list[tuple[Any, Any]]:
        """Return the bounds of each element of all variables."""
        found: list[tuple[Any, Any]] = []
        for variable in self._vars:
            shape = variable.get_shape().as_list()
            bounds = given.get(variable, (-np.inf, np.inf))
            low, high = (np.broadcast_to(np.asarray(b), shape).reshape(-1) for b in bounds)
            found += zip(low.tolist(), high.tolist(), strict=True)
        return found

    def _packed(self, tensors: Sequence[Any]) -> Any:
        """Return all elements of tensors as one vector."""
        flat = [reshape(each, [-1]) for each in tensors]
        return flat[0] if len(flat) == 1 else concat(flat, 0)

    def _slope(self, tensor: Any) -> Any:
        slopes = gradients(tensor, self._vars)
        return self._packed(
            [zeros_like(v) if s is None else s for s, v in zip(slopes, self._vars, strict=True)]
        )

    def _places(self) -> list[slice]:
        ends = np.cumsum([0, *(each.get_shape().num_elements() for each in self._vars)]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]

    def minimize(
        self,
        session: Any = None,
        feed_dict: dict[Any, Any] | None = None,
        fetches: Sequence[Any] | None = None,
        step_callback: Callable[[Any], Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Give the variables the values for which the loss is least.

        Args:
          session: the default session by default.
          feed_dict: what is fed whenever loss and gradients are asked for.
          fetches: list of tensors whose values `loss_callback` gets then.
          step_callback: takes the vector of all variables after each step.
          loss_callback: takes the values of `fetches`.
          **run_kwargs: for `session.run`.
        """
        session = session_for(session, self._loss.graph)
        feed_dict, fetches = dict(feed_dict or {}), list(fetches or ())
        loss_callback = loss_callback or (lambda *values: None)
        step_callback = step_callback or (lambda vector: None)

        def asked(tensors: Sequence[Any]) -> list[Any]:
            def none(*values: Any) -> None:
                pass

            return [self._evaluation(session, [each], feed_dict, [], none) for each in tensors]

        least = self._minimize(
            initial_val=session.run(self._packed_var, feed_dict, **run_kwargs),
            loss_grad_func=self._evaluation(
                session, [self._loss, self._packed_loss_grad], feed_dict, fetches, loss_callback
            ),
            equality_funcs=asked(self._equalities),
            equality_grad_funcs=asked(self._equality_slopes),
            inequality_funcs=asked(self._inequalities),
            inequality_grad_funcs=asked(self._inequality_slopes),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )  # fmt: skip
        session.run(self._var_updates, self._updates(least), **run_kwargs)

    def _updates(self, vector: Any) -> dict[Any, Any]:
        pairs = zip(self._update_placeholders, self._slices, strict=True)
        return {given: vector[place] for given, place in pairs}

    def _evaluation(
        self,
        session: Any,
        tensors: list[Any],
        feeds: dict[Any, Any],
        fetches: list[Any],
        callback: Callable[..., Any],
    ) -> Callable[[Any], list[Any]]:
        """Return a function from the vector of all variables to the values of tensors."""
        # ops read a resource variable itself, whatever is fed for its value
        assigns = any(is_resource(each) for each in self._vars)

        def evaluate(vector: Any) -> list[Any]:
            given = dict(feeds)
            if assigns:
                session.run(self._var_updates, self._updates(vector))
            else:
                given |= {
                    v: vector[place].reshape(v.get_shape().as_list())
                    for v, place in zip(self._vars, self._slices, strict=True)
                }
            values, told = session.run([tensors, fetches], given)
            callback(*told)
            return values  # type: ignore[no-any-return]

        return evaluate

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Callable[[Any], Any],
        equality_funcs: list[Any],
        equality_grad_funcs: list[Any],
        inequality_funcs: list[Any],
        inequality_grad_funcs: list[Any],
        packed_bounds: Any,
        step_callback: Callable[[Any], Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        """Return the vector for which the loss is least: to be overridden.

        Args:
          initial_val: the vector with which to begin.
          loss_grad_func: from a vector to the loss and its gradient.
          equality_funcs: functions from a vector to a list of one value that shall be 0.
          equality_grad_funcs: functions from a vector to the gradient of that value.
          inequality_funcs: functions from a vector to a list of one value that shall not be below
            0.
          inequality_grad_funcs: functions from a vector to the gradient of that value.
          packed_bounds: list of pairs, one for each element; None for none.
          step_callback: to be called with the vector after each step.
          optimizer_kwargs: what the constructor was given.
        """
        raise NotImplementedError(
            "To use ExternalOptimizerInterface, subclass from it and implement the _minimize() "
            "method."
        )


class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """Has `scipy.optimize.minimize` find the least loss; SciPy must be installed.

    The other arguments are those of `ExternalOptimizerInterface`.

    Args:
      **optimizer_kwargs: `method`, "L-BFGS-B" by default, which takes bounds, but "SLSQP" takes
        equalities and inequalities; `options`; and others of `scipy.optimize.minimize`.

    Raises:
      ModuleNotFoundError: in `minimize`, without SciPy.
      ValueError: in `minimize`, an argument is set from elsewhere.
    """

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Callable[[Any], Any],
        equality_funcs: list[Any],
        equality_grad_funcs: list[Any],
        inequality_funcs: list[Any],
        inequality_grad_funcs: list[Any],
        packed_bounds: Any,
        step_callback: Callable[[Any], Any],
        optimizer_kwargs: dict[str, Any],
    ) -> Any:
        minimize = _scipy_minimize()
        options = dict(optimizer_kwargs)
        fixed = {
            "jac": True, "callback": step_callback, "bounds": packed_bounds,
            "constraints": _constraints("eq", equality_funcs, equality_grad_funcs)
            + _constraints("ineq", inequality_funcs, inequality_grad_funcs),
        }  # fmt: skip
        for name in fixed:
            if name in options:
                raise ValueError(
                    f"Optimizer keyword arg '{name}' is set automatically and cannot be injected "
                    "manually"
                )

        def loss_and_slope(vector: Any) -> tuple[float, Any]:
            loss, slope = loss_grad_func(vector)
            return float(loss), slope.astype("float64")  # what SciPy computes with

        start = initial_val.astype("float64")
        method = options.pop("method", self._DEFAULT_METHOD)
        result = minimize(loss_and_slope, start, method=method, **fixed, **options)
        told = {
            "Message": getattr(result, "message", ""),
            "Objective function value": result.fun,
            "Number of iterations": getattr(result, "nit", ""),
            "Number of functions evaluations": getattr(result, "nfev", ""),
        }
        _LOG.info(
            "Optimization terminated with:\n%s",
            "\n".join(f"  {key}: {value}" for key, value in told.items()),
        )
        return result.x


def _scipy_minimize() -> Callable[..., Any]:
    try:
        minimize = import_module("scipy.optimize").minimize
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "ScipyOptimizerInterface needs SciPy, which is not installed here: pip install scipy",
            name=error.name,
        ) from None
    return minimize  # type: ignore[no-any-return]


def _constraints(kind: str, functions: list[Any], slopes: list[Any]) -> list[dict[str, Any]]:
    def first(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda vector: np.asarray(function(vector)[0], "float64")

    return [
        {"type": kind, "fun": first(function), "jac": first(slope), "args": []}
        for function, slope in zip(functions, slopes, strict=True)
    ]
