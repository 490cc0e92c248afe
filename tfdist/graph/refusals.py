"""What an op has against inputs, when its kernel could not work on them.

A shape rule knows what its op takes, and says so in words that name it; a kernel would have to
check the same things again in every step. So kernels leave to the rule what they cannot compute
anyhow, and who catches what they raised asks here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfdist.base import dtypes, shapes
from tfdist.errors import InvalidArgumentError
from tfdist.graph.op_def import Arg, OpDef, Rule

_SHOWN = 8  # inputs


def refusal(op_def: OpDef, attrs: Mapping[str, Any], values: Sequence[Any]) -> str:
    """Return what the shape rule of an op says against inputs, "" if nothing.

    Args:
      op_def: the op.
      attrs: of the node.
      values: one per input tensor; arrays, NumPy scalars, `bytes`, or what a handle stands for.
    """
    rule = op_def.shape_rule
    if rule is None:
        return ""
    try:
        grouped = _grouped(op_def.signature.inputs, attrs, list(values))
        keywords = _keywords(rule, op_def.signature.inputs, attrs, grouped)
        rule.function(*[_shape(each) for each in grouped], **keywords)
    except InvalidArgumentError as error:
        return error.message
    except Exception:  # the rule is for what is built, and need not stand everything
        return ""
    return ""


def _grouped(args: Sequence[Arg], attrs: Mapping[str, Any], values: list[Any]) -> list[Any]:
    """Return one value per input of the signature, a list of them for a list input."""
    found: list[Any] = []
    for arg in args:
        count = arg.count(attrs)
        part, values = values[:count], values[count:]
        found.append(part if arg.is_list else part[0])
    return found


def _keywords(
    rule: Rule, args: Sequence[Arg], attrs: Mapping[str, Any], grouped: Sequence[Any]
) -> dict[str, Any]:
    known = {**attrs, **{f"{arg.name}_handle": None for arg in args}}
    for arg, value in zip(args, grouped, strict=True):
        known[f"{arg.name}_value"] = None if arg.is_list else value
    return {key: known[key] for key in rule.keywords}


def _shape(value: Any) -> Any:
    if isinstance(value, list):
        return [_shape(each) for each in value]
    return tuple(getattr(value, "shape", ()))


def described(values: Sequence[Any]) -> str:
    """Return the types and shapes of inputs, for messages."""
    shown = [_described(each) for each in values[:_SHOWN]]
    return ", ".join([*shown, "..."] if len(values) > _SHOWN else shown) or "nothing"


def _described(value: Any) -> str:
    if isinstance(value, bytes):
        return "string of shape ()"
    if not hasattr(value, "dtype"):
        return "a handle"
    return f"{dtypes.as_dtype(value.dtype).name} of shape {shapes.show(value.shape)}"
