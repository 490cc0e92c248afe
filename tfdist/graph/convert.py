"""Python values to arrays, and anything to tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfdist.base import dtypes, shapes
from tfdist.base.aliases import TensorLike
from tfdist.base.dtypes import DType, DTypeLike
from tfdist.base.tensor_shape import Dimension, ShapeLike, TensorShape, as_shape
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Tensor
from tfdist.graph.scopes import name_scope

Array = np.ndarray[Any, Any]

# the kinds of values that a type takes without loss of meaning
_ACCEPTS = {
    "floating": "biuf", "integer": "biu", "complex": "biufc", "bool": "b", "other": "O",
    "quantized": "biuV",
}  # fmt: skip


def to_array(value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike = None) -> Array:
    """Return `value` as an array of a type that tensors have.

    Args:
      value: a number, string, nested list, array, NumPy scalar or TensorShape.
      dtype: wanted type; by default float32 for Python floats, int32 for Python ints, and
        an array's own type for arrays.
      shape: wanted shape; a single value is repeated, fewer values repeat the last.

    Raises:
      TypeError: the values are not of that type, or are no values.
      ValueError: they are ragged, or more than `shape` holds, or None.
    """
    wanted = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    plain = None if shape is None else as_shape(shape)
    if plain and 0 in plain and not isinstance(value, np.ndarray | np.generic):
        # TensorFlow does not look at values of which it needs none, not even for their type
        return np.empty(plain, (wanted or dtypes.float32).as_numpy_dtype)
    array = _plain_array(value, wanted)
    return array if shape is None else _filled(array, plain)


def _plain_array(value: TensorLike, wanted: DType | None) -> Array:
    if isinstance(value, TensorShape):
        value = value.as_list()
        wanted = dtypes.int32 if wanted is None and not value else wanted
    if isinstance(value, np.ndarray) and value.dtype == object and _has_numbers(value):
        value = value.tolist()  # Python's numbers, of no type yet
    is_numpy = isinstance(value, np.ndarray | np.generic)
    array = np.asarray(value) if is_numpy else _nested(value)
    if wanted is dtypes.string or (wanted is None and array.dtype.kind in "USO"):
        elements = array if is_numpy else _nested(value, object)
        return _strings(elements, value, wanted is not None)
    if wanted is None:
        return array if is_numpy else _default_type(array)
    if not is_numpy:
        _check_kind(array, wanted, value)
    return array.astype(wanted.as_numpy_dtype, copy=False)


def _has_numbers(array: Array) -> bool:
    return array.size > 0 and isinstance(array.flat[0], int | float | complex | np.generic)


def _nested(value: TensorLike, dtype: type | None = None) -> Array:
    if value is None:
        raise ValueError("None values not supported.")
    try:
        return np.array(value, dtype)
    except UnicodeDecodeError:  # text beside bytes that are no ASCII
        return np.array(value, object)
    except (ValueError, TypeError):
        wanted = list(_leading(value))
        raise ValueError(
            f"Argument must be a dense tensor: {_brief(value)} - got shape {wanted[:1]}, but "
            f"wanted {wanted}."
        ) from None


def _leading(value: TensorLike) -> Iterator[int]:
    """Yield the lengths of nested lists along their first elements."""
    while isinstance(value, list | tuple):
        yield len(value)
        value = value[0] if value else None


def _default_type(array: Array) -> Array:
    """Return Python's numbers as TensorFlow takes them: float32, and int32 if they fit."""
    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64 and (array == array.astype(np.int32)).all():
        return array.astype(np.int32)
    return array


def _check_kind(array: Array, wanted: DType, value: TensorLike) -> None:
    accepted = _ACCEPTS[wanted._kind]
    if array.dtype.kind in accepted or not array.size or array.dtype == wanted.as_numpy_dtype:
        return
    if array.dtype.kind == "V" and wanted.is_floating:  # bfloat16 to another float
        return
    wrong = next((each for each in _elements(value) if not _is_accepted(each, accepted)), value)
    raise TypeError(
        f"Expected {wanted.name}, got {_brief(wrong)} of type {type(wrong).__name__!r} instead."
    )


def _elements(value: TensorLike) -> Iterator[TensorLike]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _elements(each)
    else:
        yield value


def _is_accepted(value: TensorLike, accepted: str) -> bool:
    return np.asarray(value).dtype.kind in accepted


def _raise_no_string(value: TensorLike, element: TensorLike, is_asked: bool) -> None:
    """Raise TypeError about an element that is no string, where one was asked for or found."""
    if isinstance(value, np.ndarray | np.generic):
        raise TypeError(f"Expected binary or unicode string, got {element!r}")
    if is_asked:
        kind = type(element).__name__
        raise TypeError(f"Expected string, got {_brief(element)} of type {kind!r} instead.")
    raise TypeError(
        f"Failed to convert object of type {type(value)} to Tensor. Contents: {_brief(value)}. "
        "Consider casting elements to a supported type."
    )


def _strings(array: Array, value: TensorLike, is_asked: bool) -> Array:
    out = np.empty(array.shape, object)
    flat = out.reshape(-1) if out.ndim else out[None]
    for position, element in enumerate(array.reshape(-1).tolist()):
        if not isinstance(element, str | bytes):
            _raise_no_string(value, element, is_asked)
        flat[position] = element.encode() if isinstance(element, str) else element
    return out


def _filled(array: Array, shape: shapes.Shape) -> Array:
    count = shapes.num_elements(shape)
    if count is None or shape is None:
        raise ValueError(f"a constant needs a full shape, not {shapes.show(shape)}")
    if array.size == count:
        return array.reshape(shape)
    if array.size > count:
        raise ValueError(
            f"Too many elements provided. Needed at most {count}, but received {array.size}"
        )
    if not array.size:  # as the kernel reads a message that has a shape, and no values
        return np.zeros(shape, array.dtype)
    flat = np.empty(count, array.dtype)
    flat[: array.size], flat[array.size :] = array.reshape(-1), array.reshape(-1)[-1]
    return flat.reshape(shape)


def _brief(value: TensorLike) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str = "Const"
) -> Tensor:
    """Return a tensor that always has `value`; see `to_array` for its arguments."""
    if isinstance(value, Tensor):
        raise TypeError(f"List of Tensors when single Tensor expected: {value!r} is one already")
    array = to_array(value, dtype, shape)
    fixed = dtypes.as_dtype(dtype).base_dtype if dtype is not None else dtypes.as_dtype(array.dtype)
    return raw.Const(value=array, dtype=fixed, name=name)  # type: ignore[no-any-return]


# (priority, types, function) of `register_tensor_conversion_function`, least priority first.
_CONVERSIONS: list[tuple[int, Any, Callable[..., Any]]] = []


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...],
    conversion_func: Callable[..., TensorLike],
    priority: int = 100,
) -> None:
    """Let objects of a class be used where tensors are wanted.

    Args:
      base_type: a class, or a tuple of classes.
      conversion_func: takes (value, dtype=None, name=None, as_ref=False); returns a tensor, or
        NotImplemented to leave it to others.
      priority: functions with smaller numbers are asked first.

    Raises:
      TypeError: `base_type` is no class, or `conversion_func` cannot be called.

    Example:
      >>> class Metres:
      ...     def __init__(self, number):
      ...         self.number = number
      >>> def converted(value, dtype=None, name=None, as_ref=False):
      ...     return constant(value.number, dtype, name=name or "metres")
      >>> register_tensor_conversion_function(Metres, converted)
      >>> Session().run(add(Metres(2.0), 1.0))
      np.float32(3.0)
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(each, type) for each in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _CONVERSIONS.append((priority, base_type, conversion_func))
    _CONVERSIONS.sort(key=lambda entry: entry[0])


def _converted(
    value: TensorLike, dtype: DTypeLike | None, name: str | None, as_ref: bool
) -> Tensor | None:
    """Return what a registered function makes of `value`, None if there is none for it."""
    for _, types, function in _CONVERSIONS:
        if not isinstance(value, types):
            continue
        found = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if found is NotImplemented:
            continue
        if not hasattr(found, "_as_tensor"):
            raise RuntimeError(
                f"Conversion function {function!r} for type {types} returned non-Tensor: {found!r}"
            )
        return found  # type: ignore[no-any-return]
    return None


def convert_to_tensor(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    as_ref: bool = False,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """Return `value` as a tensor of the default graph.

    Args:
      value: a Tensor, a Variable, anything `to_array` takes, or a list with tensors in it.
      dtype: wanted type; by default the value's own.
      name: name of the constant, if one is made.
      preferred_dtype: tried first where `dtype` is None and the value has no type itself.
      as_ref: whether a variable gives itself instead of its value.
      dtype_hint: the same as preferred_dtype.

    Raises:
      TypeError: no tensor can be made of it.
      ValueError: it is a tensor of another type.
    """
    if hasattr(value, "_as_tensor"):
        return _checked(value._as_tensor(as_ref), dtype)
    if _CONVERSIONS and not isinstance(value, list | tuple):
        found = _converted(value, dtype, name, as_ref)
        if found is not None:
            return _checked(found, dtype)
    hint = preferred_dtype or dtype_hint
    if dtype is None and hint is not None:
        if isinstance(value, list | tuple) and holds_tensor(value):
            return _packed(value, hint, name)
        try:
            return constant(value, hint, name=name or "Const")
        except TypeError:
            pass  # a hint is only a hint
    if isinstance(value, list | tuple) and holds_tensor(value):
        return _packed(value, dtype, name)
    if isinstance(value, list | tuple) and any(isinstance(each, Dimension) for each in value):
        value = _with_sizes(value)
    if isinstance(value, Dimension):
        value = int(value)
    return constant(value, dtype, name=name or "Const")


def _with_sizes(values: Sequence[TensorLike]) -> list[TensorLike]:
    """Return a list with numbers for its Dimensions; TypeError if one is not known."""
    if any(isinstance(each, Dimension) and each.value is None for each in values):
        raise TypeError(
            f"Failed to convert object of type {type(values)} to Tensor. Contents: {values}. "
            "A size that is not known is no number: tf.shape(x)[i] is one when it runs"
        )
    return [each.value if isinstance(each, Dimension) else each for each in values]


def _checked(tensor: Tensor, dtype: DTypeLike | None) -> Tensor:
    if dtype is not None and tensor.dtype.base_dtype is not dtypes.as_dtype(dtype).base_dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with "
            f"dtype {tensor.dtype.base_dtype.name}: {tensor!r}. tf.cast converts it"
        )
    return tensor


def holds_tensor(value: TensorLike) -> bool:
    """Return whether a value is a tensor, or converted as one, or a list with one in it."""
    if isinstance(value, list | tuple):
        return any(map(holds_tensor, value))
    if _CONVERSIONS and isinstance(value, tuple([types for _, types, _ in _CONVERSIONS])):
        return True
    return hasattr(value, "_as_tensor")


def _first_dtype(value: TensorLike) -> DType | None:
    if isinstance(value, list | tuple):
        return next(filter(None, map(_first_dtype, value)), None)
    return value.dtype.base_dtype if hasattr(value, "_as_tensor") else None


def _packed(value: TensorLike, dtype: DTypeLike | None, name: str | None) -> Tensor:
    """Return a list with tensors in it as one tensor, of `dtype` or of the first tensor's type."""
    if dtype is None:
        dtype = _first_dtype(value)
    else:
        value = _cast(value, dtypes.as_dtype(dtype).base_dtype)
    return _pack(value, dtype, name or "packed")


def _cast(value: TensorLike, dtype: DType) -> TensorLike:
    """Return `value` with the tensors in it cast to `dtype`."""
    if isinstance(value, list | tuple):
        return [_cast(each, dtype) for each in value]
    if not hasattr(value, "_as_tensor") or value.dtype.base_dtype is dtype:
        return value
    return raw.Cast(value, DstT=dtype)


def _pack(value: TensorLike, dtype: DTypeLike | None, name: str) -> Tensor:
    with name_scope(name) as scope:
        parts = [_part(each, dtype, str(i)) for i, each in enumerate(value)]
        return raw.Pack(parts, axis=0, name=scope)  # type: ignore[no-any-return]


def _part(value: TensorLike, dtype: DTypeLike | None, name: str) -> Tensor:
    if isinstance(value, list | tuple):
        if holds_tensor(value):
            return _pack(value, dtype, name)
        with name_scope(name):
            pass  # TensorFlow looks for tensors in the list under this name, so it is taken
    elif hasattr(value, "_as_tensor") and value.dtype.base_dtype is not dtypes.as_dtype(dtype):
        raise TypeError(
            f"Cannot convert a list containing a tensor of dtype {value.dtype.base_dtype} to "
            f"{dtypes.as_dtype(dtype)} (Tensor is: {value!r}); tf.cast converts it"
        )
    return convert_to_tensor(value, dtype, name)
