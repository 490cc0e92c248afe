"""GGT: Adagrad with a full matrix, seen through a window of the newest gradients.

Source: TF 1.15 API documentation, tf.contrib.opt.GGTOptimizer; nodes and variables by experiment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tfdist.base import dtypes
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.ops.array.cast import cast
from tfdist.ops.array.constants import constant
from tfdist.ops.array.fill import eye, zeros
from tfdist.ops.array.range import range
from tfdist.ops.array.transpose import transpose
from tfdist.ops.control_flow.cond import cond
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.variables.state_ops import assign, assign_add, assign_sub
from tfdist.ops.variables.variable import Variable
from tfdist.training.optimizers.optimizer import GradientAndVariable, Optimizer

__all__ = ["GGTOptimizer"]


class GGTOptimizer(Optimizer):
    """Steps along the mean gradient, divided by the root of what the newest gradients span.

    All gradients stand in one vector. Its running mean m goes into a row of a buffer of `window`
    rows; M is that buffer, transposed, over the root of how many rows are filled. With the
    singular values s and vectors U of M'M + svd_eps, the step is M U (sqrt(s) + sigma_eps)^-3
    U'M'm, and what is left of m beside M U s^-1 U'M'm counts, too, over the least sqrt(s),
    if that is more than `eps`.

    Args:
      learning_rate: float, float tensor, or a function that returns one.
      beta1: the part of the mean gradient that stays in a step.
      use_locking: kept for TensorFlow's sake; updates are always whole here.
      name: of the nodes it makes.
      window: how many mean gradients are kept.
      eps: least root of a singular value for which what the window does not span counts.
      svd_eps: added to the diagonal of M'M.
      sigma_eps: added to the roots of singular values.

    Example:
      >>> w = Variable([5.0, 1.0])
      >>> descend = contrib.opt.GGTOptimizer(0.5, window=2).minimize(w * w, var_list=[w])
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     session.run(descend)
      ...     print(session.run(w).round(2))
      [4.52 0.9 ]

    Source: Agarwal, Bullins, Chen, Hazan, Singh, Zhang and Zhang 2018, arXiv 1806.02958.
    """

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        use_locking: bool = False,
        name: str = "GGT",
        window: Any = 10,
        eps: Any = 1e-4,
        svd_eps: Any = 1e-6,
        sigma_eps: Any = 1e-2,
    ) -> None:
        super().__init__(use_locking, name)
        self._given = {
            "beta1": beta1, "eps": eps, "lr": learning_rate, "sigma_eps": sigma_eps,
            "svd_eps": svd_eps, "window": window,
        }  # fmt: skip
        self._hyper: dict[str, Any] = {}
        self._places: dict[Any, tuple[int, int]] = {}  # variable -> first and last place in vectors

    def apply_gradients(
        self,
        grads_and_vars: Iterable[GradientAndVariable],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """Return an operation that changes each variable, once; see `tf.train.Optimizer`."""
        with scopes.name_scope(name, self._name) as scope:
            self._hyper = {
                key: convert_to_tensor(self._call_if_callable(each), name=key)
                for key, each in self._given.items()
            }
        return super().apply_gradients(grads_and_vars, global_step, scope)

    def _create_slots(self, var_list: Any) -> None:
        first = min(var_list, key=_name)
        self._dtype, self._variables = var_list[0].dtype.base_dtype, list(var_list)
        size = self._placed(var_list)
        window = self._hyper["window"]
        begins = {
            "global_step": lambda: cast(0.0, self._dtype),
            "grad_buffer": lambda: zeros((window, size), self._dtype),
            "moment1": lambda: zeros((size,), self._dtype),
            "flat_grad": lambda: zeros((size,), self._dtype),
        }
        for name, begin in begins.items():
            self._kept(name, begin, first)

    def _placed(self, var_list: Any) -> int:
        """Give variables their places in vectors, by name; returns how many places there are."""
        end = 0
        for variable in sorted(var_list, key=_name):
            begin, end = end, end + math.prod(variable.get_shape().as_list())
            self._places[variable] = begin, end
        return end

    def _kept(self, name: str, begin: Any, beside: Any) -> Any:
        """Make a variable that stands for all of them: one by reference, whatever those are."""
        key = name, beside.graph
        if key not in self._non_slot_dict:
            with scopes.colocate_with(beside.op):
                self._non_slot_dict[key] = Variable(
                    begin(), name=name, trainable=False, use_resource=False
                )
        return self._non_slot_dict[key]

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        return self._resource_apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        flat_grad = self._get_non_slot_variable("flat_grad", handle.graph)
        flat = raw.Reshape(grad, [-1])
        return raw.ScatterUpdate(flat_grad, range(*self._places[handle]), flat)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """Return an operation that changes all variables, after their gradients are gathered."""
        gathered = group(*update_ops)
        with scopes.control_dependencies([gathered]):
            step = self._step()
            moves = [self._moved(variable, step) for variable in self._variables]
        return group(*moves, gathered, name=name_scope if name_scope != "update" else None)

    def _step(self) -> Any:
        """Return the direction in which all variables move, [places, 1]."""
        moment, rows, count = self._averaged()
        filled = raw.Minimum(count, self._number("window"))
        spanned = transpose(rows / raw.Sqrt(filled), [1, 0])
        added = eye(self._hyper["window"], dtype=self._dtype) * self._number("svd_eps")
        values, vectors, _ = raw.Svd(raw.MatMul(spanned, spanned, transpose_a=True) + added)
        roots = raw.Sqrt(values)
        least = raw.Min(roots, constant([0]))
        cubes = cast(1.0, self._dtype) / raw.Pow(roots + self._number("sigma_eps"), 3.0)
        nothing = raw.ExpandDims(zeros(moment.plain_shape[:1], self._dtype), -1)
        inside = _scaled(spanned, vectors, cubes, moment)
        inverses = cast(1.0, self._dtype) / values
        beside = (moment - _scaled(spanned, vectors, inverses, moment)) / least
        return cond(
            raw.Greater(least, self._number("eps")),
            lambda: raw.Add(inside, beside),
            lambda: raw.Add(nothing, inside),
        )

    def _number(self, key: str) -> Any:
        return cast(self._hyper[key], self._dtype)

    def _averaged(self) -> tuple[Any, Any, Any]:
        """Return the mean gradient [places, 1], the buffer that has it, and the steps so far."""
        step, buffer, mean, flat = (
            self._get_non_slot_variable(name)
            for name in ("global_step", "grad_buffer", "moment1", "flat_grad")
        )
        beta1 = self._number("beta1")
        count = assign_add(step, 1.0)
        moment = assign(mean, beta1 * mean + (1.0 - beta1) * flat)
        row = raw.FloorMod(cast(count - 1.0, dtypes.int32), self._hyper["window"])
        rows = raw.ScatterUpdate(buffer, row, moment)
        return raw.ExpandDims(moment, -1), rows, count

    def _moved(self, variable: Any, step: Any) -> Any:
        start, limit = self._places[variable]
        part = raw.Reshape(step[start:limit], variable.get_shape().as_list())
        return assign_sub(variable, self._number("lr") * part)


def _name(variable: Any) -> str:
    return variable.op.name  # type: ignore[no-any-return]


def _scaled(spanned: Any, vectors: Any, scales: Any, moment: Any) -> Any:
    """Return M U diag(scales) U'M'm."""
    seen = raw.MatMul(vectors, raw.MatMul(spanned, moment, transpose_a=True), transpose_a=True)
    return raw.MatMul(spanned, raw.MatMul(vectors, raw.MatMul(raw.Diag(scales), seen)))
