"""tf.keras.layers.Lambda: a function as a layer.

Source: TF 1.15 API documentation, tf.keras.layers.Lambda.
"""

from __future__ import annotations

import base64
import inspect
import marshal
import types
from collections.abc import Callable, Mapping
from typing import Any

from tfdist.base.shapes import TensorShape
from tfdist.keras_impl.engine.layer import Layer
from tfdist.keras_impl.serialization import deserialize_keras_object

__all__ = ["Lambda"]


class Lambda(Layer):
    """A layer that does what a function does.

    Args:
      function: from the input to the output; it may also take `mask` and `training`.
      output_shape: of an example of the output, or a function from the input's shape; not needed.
      mask: of the output, or a function from input and mask.
      arguments: more of the function, by name.
      **options: those of `Layer`.

    Example:
      >>> keras.backend.eval(keras.layers.Lambda(lambda x: 2 * x)(constant([3.0])))
      array([6.], dtype=float32)
    """

    def __init__(
        self,
        function: Callable[..., Any],
        output_shape: Any = None,
        mask: Any = None,
        arguments: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.function, self.mask = function, mask
        self.arguments = dict(arguments or {})
        self._output_shape = output_shape
        self.supports_masking = mask is not None
        self._taken = frozenset(inspect.signature(function).parameters)

    def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
        """Return what the function gives for `inputs`."""
        more = {"mask": mask, "training": training}
        found = {name: value for name, value in more.items() if name in self._taken}
        return self.function(inputs, **{**found, **self.arguments})

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the output."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the output, as it was told.

        Raises:
          NotImplementedError: it was not.
        """
        if self._output_shape is None:
            raise NotImplementedError(
                "We could not automatically infer the static shape of the Lambda's output. Please "
                "specify the `output_shape` for this Lambda."
            )
        if callable(self._output_shape):
            return TensorShape(self._output_shape(input_shape))
        return TensorShape([next(iter(input_shape)), *self._output_shape])

    def get_config(self) -> dict[str, Any]:
        """Return what makes such a layer; code for functions without a name of their own."""
        function, kind = _told(self.function)
        shape, shape_kind = self._output_shape, "raw"
        if callable(shape):
            shape, shape_kind = _told(shape)
        return {
            **super().get_config(), "function": function, "function_type": kind,
            "module": self.function.__module__, "output_shape": shape,
            "output_shape_type": shape_kind, "output_shape_module": None,
            "arguments": self.arguments,
        }  # fmt: skip

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
    ) -> Any:
        """Return a layer with these settings."""
        kept = {
            key: value
            for key, value in config.items()
            if not key.endswith(("_type", "module")) and key != "mask"
        }
        kept["function"] = _made(config["function"], config["function_type"], custom_objects)
        if config["output_shape_type"] != "raw":
            kind = config["output_shape_type"]
            kept["output_shape"] = _made(config["output_shape"], kind, custom_objects)
        return cls(**kept)


def _told(function: Any) -> tuple[Any, str]:
    """Return a named function's name; for a lambda its code, defaults and closure."""
    if not isinstance(function, types.LambdaType) or function.__name__ != "<lambda>":
        return function.__name__, "function"
    code = base64.b64encode(marshal.dumps(function.__code__)).decode()
    closure = tuple(cell.cell_contents for cell in function.__closure__ or ()) or None
    return (code, function.__defaults__, closure), "lambda"


def _made(told: Any, kind: str, custom_objects: Any) -> Any:
    if kind == "function":
        return deserialize_keras_object(told, {}, custom_objects, "function in Lambda layer")
    code, defaults, closure = told
    made = marshal.loads(base64.b64decode(code))
    cells = tuple(types.CellType(each) for each in closure or ())
    return types.FunctionType(made, globals(), None, _tuple(defaults), cells or None)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
