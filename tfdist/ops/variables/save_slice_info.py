"""SaveSliceInfo: which part of a whole a variable holds, as savers write it.

Source: TF 1.15 API documentation, tf.Variable.SaveSliceInfo; the message SaveSliceInfoDef.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfdist.protos import pb


class SaveSliceInfo:
    """Which part of a whole a variable holds; a checkpoint has the whole under one name.

    Args:
      full_name: of the whole.
      full_shape: of the whole.
      var_offset: where the part begins, along each axis.
      var_shape: of the part.
      save_slice_info_def: a SaveSliceInfoDef message, instead of the four.
      import_scope: put before the name in the message.
    """

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int] | None = None,
        save_slice_info_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        told = save_slice_info_def
        if told is not None:
            full_name = f"{import_scope}/{told.full_name}" if import_scope else told.full_name
            full_shape, var_offset, var_shape = told.full_shape, told.var_offset, told.var_shape
        self.full_name = full_name
        self.full_shape = [int(dim) for dim in full_shape or ()]
        self.var_offset = [int(dim) for dim in var_offset or ()]
        self.var_shape = [int(dim) for dim in var_shape or ()]

    @property
    def spec(self) -> str:
        """Return shape and slice as savers write them: "5 3 0,2:0,3"."""
        shape = "".join(f"{dim} " for dim in self.full_shape)
        parts = zip(self.var_offset, self.var_shape, strict=True)
        return shape + ":".join(f"{offset},{length}" for offset, length in parts)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Return a SaveSliceInfoDef; None if the name is not within `export_scope`."""
        name = self.full_name or ""
        if export_scope and not name.startswith(export_scope):
            return None
        return pb.SaveSliceInfoDef(
            full_name=name.removeprefix(f"{export_scope}/"),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )
