"""SavedModels, written: graphs with their variables and files, in a folder that TensorFlow reads.

Source: TF 1.15 API documentation, tf.saved_model.builder.SavedModelBuilder; SavedModel in
saved_model.proto.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tfdist.base import dtypes
from tfdist.formats.files import file_errors
from tfdist.graph import scopes
from tfdist.graph.constant_values import constant_value
from tfdist.graph.operation import Operation, Tensor
from tfdist.ops.control_flow.identity_group import group
from tfdist.ops.lookup.table_initializers import tables_initializer
from tfdist.ops.variables.collections import (
    global_variables_initializer,
    local_variables_initializer,
)
from tfdist.protos import pb
from tfdist.training.saved_model import names
from tfdist.training.saved_model.signatures import predict_signature_def
from tfdist.training.saving.meta_graph import create_meta_graph_def, unplace
from tfdist.training.saving.saver import Saver

_ANY = "type.googleapis.com/tensorflow.AssetFileDef"


class SavedModelBuilder:
    """Writes a SavedModel: first a graph with its variables, then perhaps others that share them.

    Args:
      export_dir: the model's folder, new or empty.

    Raises:
      AssertionError: there is something in the folder.

    Example:
      >>> import tempfile
      >>> folder = f"{tempfile.mkdtemp()}/model"
      >>> x = placeholder(float32, [], name="x")
      >>> y = multiply(x, Variable(3.0), name="y")
      >>> signature = saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": y})
      >>> builder = saved_model.builder.SavedModelBuilder(folder)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     builder.add_meta_graph_and_variables(
      ...         session, ["serve"], {"serving_default": signature}
      ...     )
      ...     _ = builder.save()
      >>> with Session(graph=Graph()) as session:
      ...     _ = saved_model.loader.load(session, ["serve"], folder)
      ...     session.run("y:0", {"x:0": 2.0})
      np.float32(6.0)
    """

    def __init__(self, export_dir: Any) -> None:
        self._folder = Path(os.fsdecode(export_dir))
        if self._folder.is_dir() and any(self._folder.iterdir()):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different export"
                " directory, or delete all the contents of the specified directory: "
                f"{self._folder}"
            )
        with file_errors(str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
        self._model = pb.SavedModel(saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False
        self._assets: list[Any] = []  # AssetFileDef

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Add the session's graph, and write its variables and files.

        Args:
          sess: the session, in which the variables have values.
          tags: what the graph is for, such as `tag_constants.SERVING`.
          signature_def_map: SignatureDefs by name.
          assets_collection: constants that are names of files, which are copied into the model.
          legacy_init_op: an older name of `main_op`.
          clear_devices: whether the nodes ask for no device.
          main_op: what runs when the model was loaded.
          strip_default_attrs: whether attributes that have their default value are left out.
          saver: what writes the variables, instead of a new one of all.

        Raises:
          AssertionError: variables were written before; or a signature's TensorInfo lacks its name
            or type.
          TypeError: an argument is of the wrong type.
          NotFoundError: a file is not there.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map)
        main_op = _main_op(main_op, legacy_init_op)
        self._copy_assets(assets_collection)
        with sess.graph.as_default():
            saver = saver or _saver()
            path = self._folder / names.VARIABLES_DIRECTORY / names.VARIABLES_FILENAME
            path.parent.mkdir(exist_ok=True)
            saver.save(sess, str(path), write_meta_graph=False, write_state=False)
            self._add(saver, tags, signature_def_map, main_op, clear_devices, strip_default_attrs)
        self._has_variables = True

    def add_meta_graph(
        self,
        tags: Sequence[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Add the default graph, whose variables are some of those that were written.

        Args:
          tags: see `add_meta_graph_and_variables`, as all others.
          signature_def_map: SignatureDefs by name.
          assets_collection: constants that are names of files.
          legacy_init_op: an older name of `main_op`.
          clear_devices: whether the nodes ask for no device.
          main_op: what runs when the model was loaded.
          strip_default_attrs: whether attributes that have their default value are left out.
          saver: what reads the variables, instead of a new one of all.

        Raises:
          AssertionError: no variables were written before; or a signature's TensorInfo lacks its
            name or type.
          TypeError: an argument is of the wrong type.
          NotFoundError: a file is not there.
        """
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map)
        main_op = _main_op(main_op, legacy_init_op)
        self._copy_assets(assets_collection)
        saver = saver or _saver()
        self._add(saver, tags, signature_def_map, main_op, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Write the model's file, and return its name.

        Args:
          as_text: whether it is written in protobuf's text format.
        """
        name = names.SAVED_MODEL_FILENAME_PBTXT if as_text else names.SAVED_MODEL_FILENAME_PB
        path = self._folder / name
        data = pb.to_text(self._model).encode() if as_text else self._model.SerializeToString()
        with file_errors(str(path)):
            path.write_bytes(data)
        return os.fsencode(path)

    def _add(
        self, saver: Any, tags: Sequence[str], signatures: Mapping[str, Any] | None,
        main_op: Operation | None, clear: bool, strip: bool,
    ) -> None:  # fmt: skip
        graph = scopes.get_default_graph()
        if main_op is not None:
            graph.get_collection_ref(names.MAIN_OP_KEY)[:] = [main_op]
        keys = [key for key in graph.get_all_collection_keys() if key != names.ASSETS_KEY]
        meta = create_meta_graph_def(
            pb.MetaGraphDef.MetaInfoDef(tags=tags), saver_def=saver.as_saver_def(),
            collection_list=keys, strip_default_attrs=strip,
        )  # fmt: skip
        if clear:
            unplace(meta.graph_def)
        for key, signature in (signatures or {}).items():
            meta.signature_def[key].CopyFrom(pb.reparse(signature))
        for asset in self._assets:
            each = meta.collection_def[names.ASSETS_KEY].any_list.value.add()
            each.type_url, each.value = _ANY, asset.SerializeToString()
        self._model.meta_graphs.append(meta)

    def _copy_assets(self, tensors: Iterable[Tensor] | None) -> None:
        """Copy files into the model; two files of one name get different ones."""
        given = [(tensor, _path_in(tensor)) for tensor in tensors or ()]
        taken: dict[str, str] = {}
        for tensor, path in given:
            name, number = os.path.basename(path), 0
            while taken.setdefault(name, path) != path:
                number += 1
                name = f"{os.path.basename(path)}_{number}"
            info = pb.TensorInfo(name=tensor.name)
            self._assets.append(pb.AssetFileDef(tensor_info=info, filename=name))
        folder = self._folder / names.ASSETS_DIRECTORY
        for name, path in taken.items():
            with file_errors(path):
                folder.mkdir(exist_ok=True)
                shutil.copyfile(path, folder / name)


def _saver() -> Saver:
    return Saver(sharded=True, allow_empty=True)


def _path_in(tensor: Any) -> str:
    if not isinstance(tensor, Tensor) or tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = constant_value(tensor)
    if value is None:
        raise TypeError("Asset path tensor must be a Tensor of a constant.")
    path = os.fsdecode(value.item())
    if not path:
        raise ValueError("Asset file path cannot be empty.")
    return path


def _main_op(main_op: Any, legacy_init_op: Any) -> Any:
    for name, op in (("main_op", main_op), ("legacy_init_op", legacy_init_op)):
        if op is not None and not isinstance(op, Operation):
            raise TypeError(f"{name} needs to be an Operation: {op!r}")
    return main_op if main_op is not None else legacy_init_op


def _check_signatures(signatures: Mapping[str, Any] | None) -> None:
    """Raise AssertionError unless each TensorInfo has a type and names its tensors."""
    for signature in (signatures or {}).values():
        for infos in (signature.inputs, signature.outputs):
            for name, info in infos.items():
                if not info.dtype:
                    raise AssertionError(f"dtype must be specified for TensorInfo {name!r}: {info}")
                if info.WhichOneof("encoding") is None:
                    raise AssertionError(
                        "All TensorInfo protos used in the SignatureDefs must have one of the "
                        f"'encoding' fields (e.g., name or coo_sparse) set: {name!r} has not"
                    )


def main_op() -> Operation:
    """Return an op that initialises all variables and tables, for `main_op` of a builder.

    Example:
      >>> saved_model.main_op.main_op().type
      'NoOp'
    """
    made = (global_variables_initializer(), local_variables_initializer(), tables_initializer())
    return group(*made)


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """Return `main_op()`, with an op that is run after it.

    Args:
      restore_op_name: the op.
    """
    with scopes.control_dependencies([main_op()]):
        return group(restore_op_name)


def simple_save(
    session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
    legacy_init_op: Operation | None = None,
) -> None:  # fmt: skip
    """Write a SavedModel of a session's graph, for serving.

    Args:
      session: the session, in which the variables have values.
      export_dir: the model's folder, new or empty.
      inputs: tensors by name.
      outputs: tensors by name.
      legacy_init_op: what runs when the model was loaded.

    Raises:
      AssertionError: there is something in the folder.

    Example:
      >>> import tempfile
      >>> folder = f"{tempfile.mkdtemp()}/model"
      >>> x = placeholder(float32, [], name="x")
      >>> y = x * Variable(3.0)
      >>> with Session() as session:
      ...     session.run(global_variables_initializer())
      ...     saved_model.simple_save(session, folder, {"x": x}, {"y": y})
      >>> print(contrib.predictor.from_saved_model(folder)({"x": 2.0}))
      {'y': np.float32(6.0)}
    """
    builder = SavedModelBuilder(export_dir)
    signature = predict_signature_def(inputs, outputs)
    builder.add_meta_graph_and_variables(
        session, [names.SERVING], {names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=session.graph.get_collection("asset_filepaths"),
        main_op=legacy_init_op, clear_devices=True,
    )  # fmt: skip
    builder.save()
