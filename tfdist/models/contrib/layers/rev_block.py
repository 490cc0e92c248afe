"""Blocks of tf.contrib.layers whose gradients are computed from results, and scaled gradients.

What TensorFlow recomputes to save memory is kept here: values and gradients are the same, for
tensors are released as soon as nothing needs them.

Source: TF 1.15 API documentation, tf.contrib.layers.rev_block; Gomez et al. 2017, arXiv 1707.04585.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import get_default_graph
from tfdist.models.layers.base import Layer
from tfdist.ops.autodiff.gradients import RegisterGradient
from tfdist.ops.variables.variable_scope import variable_scope

__all__ = ["RevBlock", "recompute_grad", "rev_block", "scale_gradient"]

_SCALED = "ScaledGradient"


@RegisterGradient(_SCALED)
def _scaled_gradient(op: Any, d_x: Any, _: Any) -> Any:
    return raw.Mul(d_x, op.inputs[1]), None


def scale_gradient(inputs: Any, gradient_multiplier: Any) -> Any:
    """Return the inputs, whose gradient is multiplied.

    Args:
      inputs: float tensor.
      gradient_multiplier: scalar.

    Example:
      >>> x = constant(2.0)
      >>> Session().run(gradients(contrib.layers.scale_gradient(x, 3.0), x))
      [np.float32(3.0)]
    """
    inputs = convert_to_tensor(inputs)
    multiplier = convert_to_tensor(gradient_multiplier, inputs.dtype.base_dtype)
    with get_default_graph().gradient_override_map({"IdentityN": _SCALED}):
        return raw.IdentityN([inputs, multiplier], name="scale_gradient")[0]


def recompute_grad(
    fn: Callable[..., Any], use_data_dep: Any = None, tupleize_grads: bool = False
) -> Callable[..., Any]:
    """Return a function that does as `fn`, with the gradient of `fn`.

    Args:
      fn: takes tensors; if it takes `is_recomputing`, that is False.
      use_data_dep: taken and not needed: nothing is computed twice.
      tupleize_grads: taken and not needed.

    Example:
      >>> x = constant(2.0)
      >>> Session().run(gradients(contrib.layers.recompute_grad(square)(x), x))
      [np.float32(4.0)]
    """

    @functools.wraps(fn)
    def wrapped(*args: Any) -> Any:
        tells = "is_recomputing" in inspect.signature(fn).parameters
        return fn(*args, **({"is_recomputing": False} if tells else {}))

    return wrapped


class RevBlock(Layer):
    """A block of reversible residual layers: y1 = x1 + f(x2), y2 = x2 + g(y1).

    Args:
      f: function from a tensor, and side inputs if there are any, to one of the same shape; or a
        list with one for each layer.
      g: function from a tensor, and side inputs if there are any, to one of the same shape; or a
        list with one for each layer.
      num_layers: how many layers there are, with variables of their own.
      f_side_input: list of tensors for `f`.
      g_side_input: list of tensors for `g`.
      use_efficient_backprop: whether it is trained; gradients are the same.
      name: of the block.

    Raises:
      ValueError: there are not as many functions as layers.
    """

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: Sequence[Any] | None = None,
        g_side_input: Sequence[Any] | None = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **options: Any,
    ) -> None:
        super().__init__(name=name, **options)
        self._is_training = use_efficient_backprop
        self._f = _each_layer(f, num_layers)
        self._g = _each_layer(g, num_layers)
        self._f_side, self._g_side = (
            [list(side)] if side else [] for side in (f_side_input, g_side_input)
        )

    def call(self, inputs: Any, forward: bool = True) -> Any:
        """Return (y1, y2) of (x1, x2); or the inputs of these outputs, if not `forward`."""
        return self.forward(*inputs) if forward else self.backward(*inputs)

    def forward(self, x1: Any, x2: Any) -> tuple[Any, Any]:
        """Return the outputs of all layers."""
        with variable_scope(self.name, use_resource=True):
            for index in range(len(self._f)):
                x1 = x1 + self._residual(index, "f", x2)
                x2 = x2 + self._residual(index, "g", x1)
            return tuple(raw.IdentityN([x1, x2])) if self._is_training else (x1, x2)

    def backward(self, y1: Any, y2: Any) -> tuple[Any, Any]:
        """Return the inputs that gave these outputs."""
        with variable_scope(self.name, use_resource=True, reuse=True):
            for index in reversed(range(len(self._f))):
                y2 = y2 - self._residual(index, "g", y1)
                y1 = y1 - self._residual(index, "f", y2)
        return y1, y2

    def _residual(self, index: int, which: str, x: Any) -> Any:
        functions, side = (self._f, self._f_side) if which == "f" else (self._g, self._g_side)
        with variable_scope(f"revlayer_{index}"), variable_scope(which):
            return functions[index](x, *side)


def _each_layer(functions: Any, count: int) -> list[Any]:
    listed = list(functions) if isinstance(functions, list | tuple) else [functions] * count
    if len(listed) != count:
        raise ValueError(f"{len(listed)} functions are given for {count} layers")
    return listed


def rev_block(
    x1: Any,
    x2: Any,
    f: Any,
    g: Any,
    num_layers: int = 1,
    f_side_input: Sequence[Any] | None = None,
    g_side_input: Sequence[Any] | None = None,
    is_training: bool = True,
) -> Any:
    """Return y1 = x1 + f(x2) and y2 = x2 + g(y1), so many times; see `RevBlock`.

    Example:
      >>> y1, y2 = contrib.layers.rev_block(constant(1.0), constant(2.0), square, square)
      >>> Session().run([y1, y2])
      [np.float32(5.0), np.float32(27.0)]
    """
    block = RevBlock(f, g, num_layers, f_side_input, g_side_input, is_training)
    return block.forward(x1, x2)
