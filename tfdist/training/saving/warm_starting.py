"""Variables that begin with those of another model, whose vocabulary may have been another.

Source: TF 1.15 API documentation, tf.train.warm_start, tf.train.VocabInfo.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from tfdist.graph import scopes
from tfdist.ops.variables.collections import GraphKeys
from tfdist.ops.variables.partitioned_variables import PartitionInfo
from tfdist.training.saving.checkpoint_initializers import by_name, init_from_checkpoint, parts_of
from tfdist.training.saving.remapping_initializers import load_and_remap_matrix_initializer

__all__ = ["VocabInfo", "warm_start"]

Parts = list[Any]  # variables that are one tensor of a checkpoint


class _VocabInfo(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int
    backup_initializer: Any
    axis: int


class VocabInfo(_VocabInfo):
    """The vocabularies of a variable now, and in a checkpoint: files with a word in each line.

    Args:
      new_vocab: the new file.
      new_vocab_size: how many words of it count.
      num_oov_buckets: rows for words that are not in it, which come last.
      old_vocab: the old file.
      old_vocab_size: how many words of it counted; -1 for all.
      backup_initializer: of what the old one had not; zeros by default.
      axis: 0 if rows have words, 1 if columns have.

    Raises:
      ValueError: the axis is another one.

    Example:
      >>> train.VocabInfo("new.txt", 100, 1, "old.txt").axis
      0
    """

    def __new__(
        cls,
        new_vocab: str,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str,
        old_vocab_size: int = -1,
        backup_initializer: Any = None,
        axis: int = 0,
    ) -> VocabInfo:
        """Return a tuple of them all."""
        if axis not in (0, 1):
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  Provided axis: "
                f"{axis}"
            )
        return super().__new__(
            cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size,
            backup_initializer, axis,
        )  # fmt: skip


def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Let trainable variables begin with what a checkpoint says; see `init_from_checkpoint`.

    Args:
      ckpt_to_initialize_from: what `Saver.save` returned, or a folder.
      vars_to_warm_start: a regular expression of names, or a list of such or of variables; None
        for those of `var_name_to_vocab_info` only.
      var_name_to_vocab_info: vocabularies of variables whose rows or columns have words.
      var_name_to_prev_var_name: names in the checkpoint of variables that had another name.

    Raises:
      ValueError: a name is not in the checkpoint, or is not among those that are warm-started.
    """
    infos = dict(var_name_to_vocab_info or {})
    names = dict(var_name_to_prev_var_name or {})
    chosen = _chosen(vars_to_warm_start, names.keys() | infos.keys())
    _check_used("var_name_to_prev_var_name", names, chosen)
    _check_used("var_name_to_vocab_info", infos, chosen)
    for name, parts in chosen.items():
        stored = names.get(name, name)
        if name in infos:
            _remap(parts, ckpt_to_initialize_from, stored, infos[name])
        else:
            init_from_checkpoint(ckpt_to_initialize_from, {stored: parts})


def _check_used(what: str, given: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
    unused = sorted(given.keys() - chosen.keys())
    if unused:
        raise ValueError(
            f"You provided the following variables in {what} that were not used: {unused}. "
            "Perhaps you misspelled them? Here are the variables that are warm-started: "
            f"{sorted(chosen)}"
        )


def _chosen(wanted: Any, named: Any) -> dict[str, Parts]:
    patterns = [wanted] if isinstance(wanted, str) else list(wanted or ())
    everything = by_name()
    if not all(isinstance(each, str) for each in patterns):
        listed = {id(part) for each in patterns for part in parts_of(each)}
        return {name: parts for name, parts in everything.items() if id(parts[0]) in listed}
    trainable = {id(each) for each in scopes.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    return {
        name: parts
        for name, parts in everything.items()
        if (name in named and wanted is None)
        or (id(parts[0]) in trainable and any(re.match(each, name) for each in patterns))
    }


def _remap(parts: Parts, path: str, stored: str, info: VocabInfo) -> None:
    """Let the initializers of a variable, or of its parts, read rows by their words."""
    for part in parts:
        shape = part.shape.as_list()
        slice_info = part._save_slice_info
        whole = shape if slice_info is None else list(slice_info.full_shape)
        begin = [0] * len(shape) if slice_info is None else list(slice_info.var_offset)
        with scopes.init_scope() as graph, graph.name_scope(None):
            initializer = _initializer(path, stored, info, whole)
            value = initializer(shape, part.dtype.base_dtype, PartitionInfo(whole, begin))
            assigned = part.assign(value)
        part._initializer = getattr(assigned, "op", assigned)
        part._initial_value = value


def _initializer(path: str, stored: str, info: VocabInfo, whole: list[int]) -> Any:
    if info.axis == 0:
        return load_and_remap_matrix_initializer(
            path, stored, info.new_vocab_size, whole[1], info.old_vocab_size, info.old_vocab,
            info.new_vocab, num_row_oov_buckets=info.num_oov_buckets,
            initializer=info.backup_initializer,
        )  # fmt: skip
    return load_and_remap_matrix_initializer(
        path, stored, whole[0], info.new_vocab_size, old_col_vocab_file=info.old_vocab,
        new_col_vocab_file=info.new_vocab, num_col_oov_buckets=info.num_oov_buckets,
        initializer=info.backup_initializer,
    )  # fmt: skip
