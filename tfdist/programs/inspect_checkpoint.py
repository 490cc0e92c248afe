"""tensorflow.python.tools.inspect_checkpoint: what a checkpoint holds, printed.

It is also a command: `tfdist run -m tensorflow.python.tools.inspect_checkpoint --file_name=F`.

Source: TF 1.15 API documentation, the module's functions; its command's help, the lines by
experiment.
"""

from __future__ import annotations

import argparse
import ast
import math
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfdist.errors import OpError
from tfdist.training.saving.checkpoint_utils import load_checkpoint

__all__ = ["print_tensors_in_checkpoint_file"]

_USAGE = "inspect_checkpoint needs --file_name: the prefix that the files of a checkpoint share"


def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: str | None,
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Print the tensors of a checkpoint: all, all names, or one.

    Args:
      file_name: of the checkpoint.
      tensor_name: of one tensor; "" or None to print what the others say.
      all_tensors: whether all are printed with their values.
      all_tensor_names: whether all are printed without them.
      count_exclude_pattern: regular expression; tensors whose names have a part that fits are not
        counted among the parameters.

    Raises:
      NotFoundError: there is no such checkpoint or tensor.
    """
    reader = load_checkpoint(file_name)
    if all_tensors or all_tensor_names:
        for name in sorted(reader.get_variable_to_shape_map()):
            print("tensor_name: ", name)
            if all_tensors:
                print(reader.get_tensor(name))
    elif not tensor_name:
        print(reader.debug_string().decode("utf-8"))
    else:
        print("tensor_name: ", tensor_name)
        print(np.asarray(reader.get_tensor(tensor_name)))
    shapes = reader.get_variable_to_shape_map()
    print(f"# Total number of params: {_count(shapes, count_exclude_pattern)}")


def _count(shapes: Mapping[str, Sequence[int]], excluded: str) -> int:
    """Return how many elements tensors of these names and shapes have."""
    counted = [
        shape for name, shape in shapes.items() if not (excluded and re.search(excluded, name))
    ]
    return sum(math.prod(shape) for shape in counted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what a checkpoint holds; return 1 if no checkpoint is named.

    Args:
      arguments: of the command; those of the process by default.
    """
    asked = _parser().parse_args(arguments)
    if not asked.file_name:
        print(_USAGE)
        return 1
    np.set_printoptions(**dict(asked.printoptions))
    chosen = (asked.all_tensors, asked.all_tensor_names, asked.count_exclude_pattern)
    try:
        print_tensors_in_checkpoint_file(asked.file_name, asked.tensor_name, *chosen)
    except OpError as error:
        print(error.message)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="inspect_checkpoint")
    parser.add_argument("--file_name", default="", help="prefix of a checkpoint's files")
    parser.add_argument("--tensor_name", default="", help="the tensor to print")
    parser.add_argument("--count_exclude_pattern", default="", help="names that are not counted")
    for name, what in (("all_tensors", "names and values"), ("all_tensor_names", "names")):
        parser.add_argument(
            f"--{name}", nargs="?", const=True, default=False, type=_truth,
            help=f"print the {what} of all tensors",
        )  # fmt: skip
    parser.add_argument("--printoptions", nargs="*", default=[], type=_option, help="k=v for numpy")
    return parser


def _truth(text: str) -> bool:
    return text.lower() == "true"


def _option(text: str) -> tuple[str, Any]:
    """Return (name, value) of "name=value", the value as a literal if it is one."""
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


if __name__ == "__main__":
    sys.exit(main())
