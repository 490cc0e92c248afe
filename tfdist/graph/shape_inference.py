"""Shapes of a new node's outputs, by the shape rule of its op, and what is told of misfits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfdist.base.aliases import AttrValue, TensorLike, TensorValue
from tfdist.base.shapes import Shape, brackets
from tfdist.errors import InvalidArgumentError
from tfdist.graph.constant_values import constant_value
from tfdist.graph.handles import handled_by
from tfdist.graph.op_def import Rule
from tfdist.graph.operation import Operation, Tensor
from tfdist.graph.partial_values import outside, partial_value
from tfdist.graph.signatures import Signature


def infer_shapes(op: Operation) -> list[Shape]:
    """Return the shapes of the outputs of `op`, by its shape rule; unknown ones without a rule.

    Raises:
      ValueError: the rule finds the inputs' shapes unfit (TensorFlow's class while building).
    """
    op_def, attrs = op.op_def, op._attrs
    signature = op_def.signature
    rule = op_def.shape_rule
    if rule is None:
        return [None] * sum(arg.count(attrs) for arg in signature.outputs)
    if rule.keywords:
        keywords = {key: _rule_value(op, key, signature, attrs) for key in rule.keywords}
    else:
        keywords = {}
    try:
        result = rule.function(*_grouped(signature, attrs, op.inputs), **keywords)
    except InvalidArgumentError as error:
        raise ValueError(f"{error.message.rstrip()} {_whereabouts(op, rule)}") from None
    return [result] if op_def.has_one_output else list(result or ())


def _whereabouts(op: Operation, rule: Rule) -> str:
    """Return which node a shape rule complained of, in TensorFlow's words."""
    given = ", ".join(brackets(tensor.plain_shape) for tensor in op.inputs)
    values = [
        f"input[{position}] = <{' '.join(str(each) for each in np.ravel(value)[:10])}>"
        for position, value in _known_values(op, rule)
    ]
    known = f" and with computed input tensors: {', '.join(values)}" if values else ""
    return f"for {op.name!r} (op: {op.type!r}) with input shapes: {given}{known}."


def _known_values(op: Operation, rule: Rule) -> Iterator[tuple[int, TensorValue]]:
    """Yield position and value of the constant inputs that a shape rule asks for."""
    position = 0
    for arg in op.op_def.signature.inputs:
        if {f"{arg.name}_value", f"{arg.name}_partial"} & set(rule.keywords):
            value = constant_value(outside(op.inputs[position]))
            if value is not None:
                yield position, value
        position += arg.count(op._attrs)


def _rule_value(
    op: Operation, key: str, signature: Signature, attrs: Mapping[str, AttrValue]
) -> TensorValue:
    if key in attrs:
        return attrs[key]
    position = 0
    for arg in signature.inputs:
        if f"{arg.name}_value" == key:
            return constant_value(outside(op.inputs[position]))
        if f"{arg.name}_partial" == key:
            return partial_value(outside(op.inputs[position]))
        if f"{arg.name}_values" == key:  # of an input that is a list
            part = op.inputs[position : position + arg.count(attrs)]
            return [constant_value(outside(tensor)) for tensor in part]
        if f"{arg.name}_handle" == key:
            return handled_by(op.inputs[position])
        position += arg.count(attrs)
    raise TypeError(f"the shape rule of {op.type} asks for {key!r}, which it does not have")


def _grouped(
    signature: Signature, attrs: Mapping[str, AttrValue], inputs: tuple[Tensor, ...]
) -> list[TensorLike]:
    """Return one shape per input of the signature, a list of shapes for a list input."""
    if not any(arg.is_list for arg in signature.inputs):
        return [tensor._shape for tensor in inputs]
    grouped: list[Any] = []
    position = 0
    for arg in signature.inputs:
        count = arg.count(attrs)
        part = [tensor._shape for tensor in inputs[position : position + count]]
        grouped.append(part if arg.is_list else part[0])
        position += count
    return grouped
