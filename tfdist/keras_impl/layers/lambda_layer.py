"""tf.keras.layers.Lambda: a function as a layer.

Source: TF 1.15 API documentation, tf.keras.layers.Lambda.
"""

from __future__ import annotations

import base64
import importlib
import inspect
import marshal
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any
from warnings import warn

from tfdist.base.tensor_shape import TensorShape
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
        """Return what makes such a layer: code for a program's functions, names for tfdist's."""
        function, kind, module = _told(self.function)
        shape, shape_kind, shape_module = self._output_shape, "raw", None
        if callable(shape):
            shape, shape_kind, shape_module = _told(shape)
        return {
            **super().get_config(), "function": function, "function_type": kind,
            "module": module, "output_shape": shape,
            "output_shape_type": shape_kind, "output_shape_module": shape_module,
            "arguments": self.arguments,
        }  # fmt: skip

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None = None
    ) -> Any:
        """Return a layer with these settings.

        A function's code finds the names of the module that it was written in, if that is loaded,
        and those of `custom_objects`.
        """
        kept = {
            key: value
            for key, value in config.items()
            if not key.endswith(("_type", "module")) and key != "mask"
        }
        for key, told_by in (("function", ""), ("output_shape", "output_shape_")):
            kind = config[f"{key}_type"]
            if kind != "raw":
                names = _names_of(config.get(f"{told_by}module"), custom_objects)
                kept[key] = _made(config[key], kind, names)
        return cls(**kept)


def _told(function: Any) -> tuple[Any, str, Any]:
    """Return a function's code, defaults and closure, or its name; of which kind; its module."""
    module = getattr(function, "__module__", None)
    if not isinstance(function, types.FunctionType) or _is_ours(module):
        return function.__name__, "function", module
    code = base64.b64encode(marshal.dumps(function.__code__)).decode()
    closure = tuple(cell.cell_contents for cell in function.__closure__ or ()) or None
    return (code, function.__defaults__, closure), "lambda", module


def _is_ours(module: Any) -> bool:
    return str(module).partition(".")[0] == __name__.partition(".")[0]


def _names_of(module: Any, custom_objects: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what a function of a module finds by name; of a program's only if it is loaded."""
    found = importlib.import_module(module) if _is_ours(module) else sys.modules.get(module)
    if found is None and module is not None:
        warn(
            f"{module} is not loaded, but a Lambda layer uses it. It may cause errors.",
            stacklevel=2,
        )
    return {**(vars(found) if found else globals()), **(custom_objects or {})}


def _made(told: Any, kind: str, names: dict[str, Any]) -> Any:
    if kind == "function":
        return deserialize_keras_object(told, names, None, "function in Lambda layer")
    code, defaults, closure = told
    made = marshal.loads(base64.b64decode(code))
    cells = tuple(types.CellType(each) for each in closure or ())
    return types.FunctionType(made, names, None, _tuple(defaults), cells or None)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
