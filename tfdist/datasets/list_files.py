"""The names of files that fit patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfdist.base import dtypes
from tfdist.datasets import inputs, sources, take_skip_repeat
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.scopes import control_dependencies, name_scope


def list_files(file_pattern: Any, shuffle: bool | None, seed: Any) -> Any:
    """See `Dataset.list_files`."""
    with name_scope("list_files"):
        pattern = convert_to_tensor(file_pattern, dtypes.string, name="file_pattern")
        matching = raw.MatchingFiles(pattern)
        count = raw.Shape(matching)[0]
        is_some = raw.Greater(count, 0, name="match_not_empty")
        joined = raw.ReduceJoin(
            pattern, _axes(pattern), separator=", ", name="ReduceJoin/ReduceJoin"
        )
        message = raw.Add("No files matched pattern: ", joined, name="message")
        checked = raw.Assert(is_some, [message], summarize=1, name="assert_not_empty/Assert")
        with control_dependencies([checked]):
            matching = raw.Identity(matching)
        found = sources.from_tensor_slices(matching)
        if shuffle is not False:
            shape = raw.Shape(matching, out_type=dtypes.int64)
            size = raw.Maximum(shape[0], inputs.int64(1, "Maximum/y"))
            found = take_skip_repeat.shuffle(found, size, seed, None)
    return found


def _axes(pattern: Any) -> Any:
    axes = np.arange(pattern.shape.ndims or 0, dtype=np.int32)
    return convert_to_tensor(axes, name="ReduceJoin/Const")
