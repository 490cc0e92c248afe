"""tensorflow.python.tools.inspect_checkpoint: what a checkpoint holds, printed.

Source: TF 1.15 API documentation, the module's functions; the lines by experiment.
"""

from __future__ import annotations

import numpy as np

from tfdist.training.saving.checkpoint_utils import load_checkpoint

__all__ = ["print_tensors_in_checkpoint_file"]


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
      count_exclude_pattern: taken and not needed.

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
