"""tf.contrib.slim.model_analyzer: how large a model's variables and outputs are.

Source: TF 1.15 API documentation, tf.contrib.slim.model_analyzer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]

_RULE = "---------"


def tensor_description(var: Any) -> str:
    """Return a tensor's type and sizes.

    Raises:
      ValueError: its rank is not known.

    Example:
      >>> contrib.slim.model_analyzer.tensor_description(zeros([2, 3]))
      '(float32 2x3)'
    """
    shape = var.get_shape()
    if shape.ndims is None:
        raise ValueError("Cannot iterate over a shape with unknown rank.")
    sizes = "x".join("?" if size is None else str(size) for size in shape.as_list())
    return f"({var.dtype.name} {sizes})"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """Return how many elements all outputs of a graph's operations have, where that is known.

    Args:
      graph: the graph.
      print_info: whether a line on each operation is printed.

    Example:
      >>> _ = zeros([2, 3]) + 1.0
      >>> contrib.slim.model_analyzer.analyze_ops(get_default_graph())
      13
    """
    lines, total = [], 0
    for op in graph.get_operations():
        size = 0
        described = []
        for output in op.outputs:
            count = output.get_shape().num_elements() or 0
            if output.get_shape().ndims is not None:
                described.append(tensor_description(output))
            size += count
        lines.append(f"{op.name} \t-> {', '.join(described)} [{size}]")
        total += size
    if print_info:
        _print("Operations: name -> (type shapes) [size]", lines)
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """Return how many elements variables have, and how many bytes.

    Args:
      variables: as `tf.global_variables()` gives them.
      print_info: whether a line on each variable is printed.

    Example:
      >>> contrib.slim.model_analyzer.analyze_vars([Variable(zeros([2, 3]))], print_info=True)
      ---------
      Variables: name (type shape) [size]
      ---------
      Variable:0 (float32_ref 2x3) [6, bytes: 24]
      Total size of variables: 6
      Total bytes of variables: 24
      (6, 24)
    """
    lines, elements, total = [], 0, 0
    for variable in variables:
        size = math.prod(variable.get_shape().as_list())
        count = size * variable.dtype.size
        lines.append(f"{variable.name} {tensor_description(variable)} [{size}, bytes: {count}]")
        elements, total = elements + size, total + count
    if print_info:
        _print("Variables: name (type shape) [size]", lines)
        print("Total size of variables:", elements)
        print("Total bytes of variables:", total)
    return elements, total


def _print(title: str, lines: Iterable[str]) -> None:
    print(_RULE, title, _RULE, *lines, sep="\n")
