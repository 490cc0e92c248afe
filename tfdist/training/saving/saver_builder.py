"""The nodes by which a saver writes and reads a checkpoint, as TensorFlow makes them.

Source: TF 1.15 API documentation, tf.train.Saver; SaverDef in saver.proto.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfdist.base.devices import parse
from tfdist.graph import scopes
from tfdist.graph.convert import convert_to_tensor
from tfdist.graph.op_def import raw
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.array.constants import placeholder_with_default
from tfdist.ops.control_flow.identity_group import group, with_dependencies
from tfdist.ops.strings.join_substr import string_join
from tfdist.protos import pb
from tfdist.training.saving import saveable_objects
from tfdist.training.saving.saveable_objects import SaveableObject as Saveable
from tfdist.training.saving.saveable_objects import saveables_of

V1, V2 = 1, 2  # pb.SaverDef.V1 and V2, which would load all messages

Group = tuple[str, list[Saveable]]  # a device and what is there


class BaseSaverBuilder:
    """Makes a saver's nodes; `save_op` and `bulk_restore` are there to be overridden.

    Args:
      write_version: the format: `tf.train.SaverDef.V2` or `V1`.
    """

    SaveSpec = saveable_objects.SaveSpec
    SaveableObject = saveable_objects.SaveableObject
    VariableSaveable = saveable_objects.VariableSaveable
    ResourceVariableSaveable = saveable_objects.ResourceVariableSaveable

    def __init__(self, write_version: int = V2) -> None:
        self._write_version = write_version

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: Any = "model",
    ) -> Any:
        """Add the nodes to the default graph, and return the SaverDef that names them.

        Args:
          names_to_saveables: a list or dict of variables and saveable objects.
          reshape: whether tensors of other shapes, but as many elements, are accepted.
          sharded: whether each device's tensors are written where they are.
          max_to_keep: for the SaverDef.
          keep_checkpoint_every_n_hours: for the SaverDef.
          name: of the scope of the nodes; "save" by default.
          restore_sequentially: accepted for TensorFlow's sake: reading is one after the other.
          filename: the name of the checkpoint when none is fed.

        Raises:
          TypeError: something cannot be saved.
          ValueError: two things have one name.
        """
        saveables = saveables_of(names_to_saveables)
        with scopes.name_scope(name, "save", [each.op for each in saveables]):
            default = placeholder_with_default(filename or "model", (), name="filename")
            prefix = placeholder_with_default(default, (), name="Const")
            how = restore_sequentially, reshape
            if sharded:
                groups = _by_device(saveables)
                save = self._sharded_save(prefix, groups)
                restore = self._sharded_restore(prefix, groups, *how)
            else:
                save = self._save(prefix, saveables)
                restore = self._restore(prefix, saveables, *how, "restore_all")
        return pb.SaverDef(
            filename_tensor_name=prefix.name, save_tensor_name=save.name,
            restore_op_name=restore.name, max_to_keep=max_to_keep, sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )  # fmt: skip

    # saving

    def save_op(self, filename_tensor: Tensor, saveables: Sequence[Saveable]) -> Operation:
        """Return an op that writes a file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names, slices = [each.name for each in specs], [each.slice_spec for each in specs]
        tensors = [each.tensor for each in specs]
        if self._write_version == V2:
            return raw.SaveV2(filename_tensor, names, slices, tensors)  # type: ignore[no-any-return]
        return raw.SaveSlices(filename_tensor, names, slices, tensors, name="save")  # type: ignore[no-any-return]

    def sharded_filename(self, filename_tensor: Tensor, shard: int, num_shards: Tensor) -> Tensor:
        """Return the name of a shard."""
        return raw.ShardedFilename(filename_tensor, shard, num_shards)  # type: ignore[no-any-return]

    def _save(self, filename: Tensor, saveables: Sequence[Saveable]) -> Tensor:
        tensor: Tensor = with_dependencies([self.save_op(filename, saveables)], filename)
        return tensor

    def _sharded_save(self, prefix: Tensor, groups: Sequence[Group]) -> Tensor:
        if self._write_version == V2:
            return self._sharded_save_v2(prefix, groups)
        count = _constant(len(groups), "num_shards")
        written = []
        for shard, (device, saveables) in enumerate(groups):
            with scopes.device(device or None):
                written.append(self._save(self.sharded_filename(prefix, shard, count), saveables))
        with scopes.control_dependencies([each.op for each in written]):
            return raw.ShardedFilespec(prefix, count)  # type: ignore[no-any-return]

    def _sharded_save_v2(self, prefix: Tensor, groups: Sequence[Group]) -> Tensor:
        """Let each device write a checkpoint of its own, and one make one of them."""
        base = string_join([prefix, f"_temp_{uuid.uuid4().hex}/part"])
        count = _constant(len(groups), "num_shards")
        names, written = [], []
        for shard, (device, saveables) in enumerate(groups):
            with scopes.device(_cpu(device)):
                names.append(self.sharded_filename(base, shard, count))
                written.append(self._save(names[-1], saveables))
        with scopes.control_dependencies([each.op for each in written]):
            with scopes.device(_cpu(groups[-1][0])):
                merged = raw.MergeV2Checkpoints(names, prefix, delete_old_dirs=True)
                with scopes.control_dependencies([merged]):
                    return raw.Identity(prefix)  # type: ignore[no-any-return]

    # restoring

    def restore_op(
        self, filename_tensor: Tensor, saveable: Saveable, preferred_shard: int
    ) -> list[Tensor]:
        """Return the tensors of one saveable object."""
        return _read(filename_tensor, [saveable])

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: Sequence[Saveable],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """Return the tensors of all specs of some saveable objects."""
        tensors: list[Tensor] = []
        for saveable in saveables:
            with scopes.device(_cpu(saveable.device) if saveable.device else None):
                tensors += self.restore_op(filename_tensor, saveable, preferred_shard)
        return tensors

    def _restore(
        self, prefix: Tensor, saveables: Sequence[Saveable], sequentially: bool,
        reshape: bool, name: str, preferred_shard: int = -1,
    ) -> Operation:  # fmt: skip
        tensors = self.bulk_restore(prefix, saveables, preferred_shard, sequentially)
        assigned, at = [], 0
        for saveable in saveables:
            shapes = [_shape_of(spec.tensor) for spec in saveable.specs] if reshape else None
            end = at + len(saveable.specs)
            assigned.append(saveable.restore(tensors[at:end], shapes))
            at = end
        return group(*assigned, name=name)

    def _sharded_restore(
        self, prefix: Tensor, groups: Sequence[Group], sequentially: bool, reshape: bool
    ) -> Operation:
        restored = []
        for shard, (device, saveables) in enumerate(groups):
            with scopes.device(device or None):
                restored.append(
                    self._restore(prefix, saveables, sequentially, reshape, "restore_shard", shard)
                )
        return group(*restored, name="restore_all")


class BulkSaverBuilder(BaseSaverBuilder):
    """Reads all tensors by one op."""

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: Sequence[Saveable],
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """See `BaseSaverBuilder`; it is one after the other anyway."""
        with scopes.device("cpu:0"):
            return _read(filename_tensor, saveables)


def _read(filename: Tensor, saveables: Sequence[Saveable]) -> list[Tensor]:
    specs = [spec for saveable in saveables for spec in saveable.specs]
    names, slices = [each.name for each in specs], [each.slice_spec for each in specs]
    types = [each.dtype.base_dtype for each in specs]
    return raw.RestoreV2(filename, names, slices, dtypes=types)  # type: ignore[no-any-return]


def _shape_of(tensor: Tensor) -> Any:
    if tensor.shape.is_fully_defined():
        return np.array(tensor.shape.as_list(), np.int32)
    return raw.Shape(tensor)


def _constant(value: int, name: str) -> Tensor:
    return convert_to_tensor(value, name=name)


def _cpu(device: str) -> str:
    """Return the first CPU of the task of a device."""
    return parse(device)._replace(device_type="CPU", device_index=0).to_string()


def _by_device(saveables: Sequence[Saveable]) -> list[Group]:
    """Return what is to be saved by device, sorted."""
    groups: dict[str, list[Saveable]] = {}
    for saveable in saveables:
        groups.setdefault(parse(saveable.device).to_string(), []).append(saveable)
    return sorted(groups.items())
