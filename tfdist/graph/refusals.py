"""What an op has against inputs, when its kernel could not work on them.

A shape rule knows what its op takes, and says so in words that name it; a kernel would have to
check the same things again in every step. So kernels leave to the rule what they cannot compute
anyhow, and who catches what they raised asks here.

Some kernels would compute what the rule refuses, and raise nothing. They are `checked` where shapes
are not known before the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from tfdist.base import dtypes, shapes
from tfdist.base.aliases import AttrValue, TensorValue
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import OpDef, Rule
from tfdist.graph.signatures import Arg

_SHOWN = 8  # inputs
_MOST = 1000  # tuples of shapes that a node remembers


def refusal(op_def: OpDef, attrs: Mapping[str, AttrValue], values: Sequence[TensorValue]) -> str:
    """Return what the shape rule of an op says against inputs, "" if nothing.

    Args:
      op_def: the op.
      attrs: of the node.
      values: one per input tensor; arrays, NumPy scalars, `bytes`, or what a handle stands for.
    """
    return objection(op_def, attrs, [_shape(each) for each in values], values)


def objection(
    op_def: OpDef,
    attrs: Mapping[str, AttrValue],
    found: list[TensorValue],
    values: Sequence[TensorValue],
) -> str:
    """Return what the shape rule of an op says against shapes, "" if nothing.

    Args:
      op_def: the op.
      attrs: of the node.
      found: one shape per input tensor.
      values: of the same, None for those that the rule may not see.
    """
    rule, args = op_def.shape_rule, op_def.signature.inputs
    if rule is None:
        return ""
    try:
        keywords = _keywords(rule, args, attrs, _grouped(args, attrs, list(values)))
        rule.function(*_grouped(args, attrs, found), **keywords)
    except InvalidArgumentError as error:
        return error.message
    except Exception:  # the rule is for what is built, and need not stand everything
        return ""
    return ""


def checked(
    kernel: Callable[..., TensorValue],
    op_def: OpDef,
    attrs: Mapping[str, AttrValue],
    takes_context: bool,
) -> Callable[..., TensorValue]:
    """Return a kernel that asks the shape rule before it runs, once for each tuple of shapes.

    Args:
      kernel: of the op.
      op_def: the op.
      attrs: of the node.
      takes_context: whether the kernel's first argument is its context.

    Raises:
      InvalidArgumentError: by the kernel, where the rule refuses the shapes.
    """
    first, shape_of = int(takes_context), _shapes if _needs_care(op_def, attrs) else _plain_shape
    allowed: set[Any] = set()

    def run(*arguments: TensorValue) -> TensorValue:
        found = tuple(map(shape_of, arguments[first:]))
        if found not in allowed:
            _allow(found)
        return kernel(*arguments)

    def _allow(found: tuple[TensorValue, ...]) -> None:
        flat = _flat(op_def.signature.inputs, found)
        text = objection(op_def, attrs, flat, [None] * len(flat))
        if text:
            raise InvalidArgumentError(text)
        if len(allowed) >= _MOST:
            allowed.clear()
        allowed.add(found)

    return run


_plain_shape = attrgetter("shape")  # quick, for it runs in each step


def _needs_care(op_def: OpDef, attrs: Mapping[str, AttrValue]) -> bool:
    """Return whether an input may be a list or a single string, which have no attribute `shape`."""
    args = op_def.signature.inputs
    return any(arg.is_list or dtypes.string in arg.dtypes(attrs) for arg in args)


def _shapes(value: TensorValue) -> TensorValue:
    """Return the shape of an input of a kernel, those of all for a list."""
    return tuple(map(_shape, value)) if isinstance(value, list) else _shape(value)


def _flat(args: Sequence[Arg], found: Sequence[TensorValue]) -> list[TensorValue]:
    """Return one shape per input tensor."""
    return [
        shape
        for arg, part in zip(args, found, strict=True)
        for shape in (part if arg.is_list else [part])
    ]


def _grouped(
    args: Sequence[Arg], attrs: Mapping[str, AttrValue], values: list[TensorValue]
) -> list[TensorValue]:
    """Return one value per input of the signature, a list of them for a list input."""
    found: list[Any] = []
    for arg in args:
        count = arg.count(attrs)
        part, values = values[:count], values[count:]
        found.append(part if arg.is_list else part[0])
    return found


def _keywords(
    rule: Rule, args: Sequence[Arg], attrs: Mapping[str, AttrValue], grouped: Sequence[TensorValue]
) -> dict[str, TensorValue]:
    known = {**attrs, **{f"{arg.name}_handle": None for arg in args}}
    for arg, value in zip(args, grouped, strict=True):
        known[f"{arg.name}_value"] = known[f"{arg.name}_partial"] = None if arg.is_list else value
    return {key: known[key] for key in rule.keywords}


def _shape(value: TensorValue) -> TensorValue:
    return getattr(value, "shape", ())


def described(values: Sequence[TensorValue]) -> str:
    """Return the types and shapes of inputs, for messages."""
    shown = [_described(each) for each in values[:_SHOWN]]
    return ", ".join([*shown, "..."] if len(values) > _SHOWN else shown) or "nothing"


def _described(value: TensorValue) -> str:
    if isinstance(value, bytes):
        return "string of shape ()"
    if not hasattr(value, "dtype"):
        return "a handle"
    return f"{dtypes.as_dtype(value.dtype).name} of shape {shapes.show(value.shape)}"
