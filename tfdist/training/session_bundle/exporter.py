"""Exports of graphs with their variables for serving, as before SavedModels.

Source: TF 1.15 API documentation, tensorflow.contrib.session_bundle.exporter; collections and files
are those that 1.15.5 writes.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tfdist.errors import NotFoundError
from tfdist.graph import scopes
from tfdist.graph.operation import Operation, Tensor
from tfdist.protos import pb
from tfdist.training.global_step import global_step
from tfdist.training.saving.collection_defs import packed
from tfdist.training.saving.meta_graph import unplace
from tfdist.training.session_bundle import constants, gc


def gfile_copy_callback(files_to_copy: Mapping[Any, Any], export_dir_path: Any) -> None:
    """Copy files into a folder, which is made if it is not there.

    Args:
      files_to_copy: names in the folder by paths.
      export_dir_path: the folder.

    Raises:
      NotFoundError: a file is not there.

    Example:
      >>> from tfdist.training.session_bundle.exporter import gfile_copy_callback
      >>> gfile_copy_callback({}, ".")
    """
    folder = os.fsdecode(export_dir_path)
    os.makedirs(folder, exist_ok=True)
    for source, name in files_to_copy.items():
        try:
            shutil.copyfile(os.fsdecode(source), os.path.join(folder, os.fsdecode(name)))
        except FileNotFoundError as error:
            raise NotFoundError(f"{error.filename}; No such file or directory") from None


def regression_signature(input_tensor: Tensor, output_tensor: Tensor) -> Any:
    """Return the Signature message of a graph that predicts numbers.

    Example:
      >>> from tfdist.training.session_bundle.exporter import regression_signature
      >>> made = regression_signature(constant(1.0, name="x"), constant(2.0, name="y"))
      >>> made.regression_signature.output.tensor_name
      'y:0'
    """
    signature = pb.Signature()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(
    input_tensor: Tensor, classes_tensor: Tensor | None = None, scores_tensor: Tensor | None = None
) -> Any:
    """Return the Signature message of a graph that predicts classes, their scores or both.

    Example:
      >>> from tfdist.training.session_bundle.exporter import classification_signature
      >>> x, y = constant(1.0, name="x"), constant(2.0, name="y")
      >>> made = classification_signature(x, scores_tensor=y)
      >>> made.classification_signature.scores.tensor_name
      'y:0'
    """
    signature = pb.Signature()
    signature.classification_signature.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        signature.classification_signature.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        signature.classification_signature.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map: Mapping[str, Tensor]) -> Any:
    """Return the Signature message of tensors by names.

    Example:
      >>> from tfdist.training.session_bundle.exporter import generic_signature
      >>> made = generic_signature({"images": constant(1.0, name="x")})
      >>> made.generic_signature.map["images"].tensor_name
      'x:0'
    """
    signature = pb.Signature()
    signature.generic_signature.SetInParent()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


class Exporter:
    """What writes a graph with its variables into folders of versions, for serving.

    Example:
      >>> from tempfile import mkdtemp
      >>> from tfdist.training.session_bundle.exporter import Exporter
      >>> count = Variable(7, name="count")
      >>> with Session() as session:
      ...     session.run(count.initializer)
      ...     exporter = Exporter(train.Saver())
      ...     exporter.init()
      ...     exporter.export(mkdtemp(), count, session)[-8:]
      b'00000007'
    """

    def __init__(self, saver: Any) -> None:
        self._saver = saver
        self._has_init = False
        self._assets: dict[bytes, bytes] = {}
        self._callback: Any = None

    def init(
        self,
        graph_def: Any = None,
        init_op: Operation | None = None,
        clear_devices: bool = False,
        default_graph_signature: Any = None,
        named_graph_signatures: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Tensor] | None = None,
        assets_callback: Callable[[Mapping[bytes, bytes], bytes], Any] = gfile_copy_callback,
    ) -> None:
        """Put what serving needs into collections of the default graph.

        Args:
          graph_def: to be served; by default the default graph as it is.
          init_op: that runs after variables are restored.
          clear_devices: whether nodes that are served ask for no device.
          default_graph_signature: a Signature.
          named_graph_signatures: Signatures by name.
          assets_collection: constants that hold paths of files, which are exported too.
          assets_callback: function of names by paths, and of the folder, that copies them.

        Raises:
          RuntimeError: it was called before.
          TypeError: `init_op` is no operation, an asset no constant string.
          ValueError: an asset is an empty path.
        """
        if self._has_init:
            raise RuntimeError("init should be called only once: make another Exporter")
        if init_op is not None and not isinstance(init_op, Operation):
            raise TypeError(f"init_op needs to be an Operation: {init_op}")
        graph = scopes.get_default_graph()
        served = pb.GraphDef()
        served.CopyFrom(graph.as_graph_def() if graph_def is None else pb.reparse(graph_def))
        if clear_devices:
            unplace(served)
        signatures = pb.Signatures()
        if default_graph_signature is not None:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        assets = [_asset(tensor) for tensor in assets_collection or ()]
        if init_op is not None:
            graph.get_collection_ref(constants.INIT_OP_KEY)[:] = [init_op]
        graph.get_collection_ref(constants.GRAPH_KEY)[:] = [packed(served)]
        graph.get_collection_ref(constants.SIGNATURES_KEY)[:] = [packed(signatures)]
        for path, asset in assets:
            graph.add_to_collection(constants.ASSETS_KEY, packed(asset))
            self._assets[path] = asset.filename.encode()
        self._callback = assets_callback
        self._has_init = True

    def export(
        self,
        export_dir_base: Any,
        global_step_tensor: Any,
        sess: Any = None,
        exports_to_keep: gc.Filter | None = None,
    ) -> bytes:
        """Write the graph and its variables; the folder has its name when all is in it.

        Args:
          export_dir_base: folder of the exports.
          global_step_tensor: a tensor or its name: its value is the version, with 8 digits.
          sess: that has the variables.
          exports_to_keep: filter of `gc` of the exports that stay; by default all do.

        Returns:
          The folder.

        Raises:
          RuntimeError: `init` was not called, or this version is there.
        """
        if not self._has_init:
            raise RuntimeError("init must be called first: what to serve is not known")
        base = os.fsdecode(export_dir_base)
        version = constants.VERSION_FORMAT_SPECIFIER % global_step(sess, global_step_tensor)
        folder = os.path.join(base, version)
        if os.path.exists(folder):
            raise RuntimeError(
                "Overwriting exports can cause corruption and are not allowed. Duplicate export "
                f"dir: {folder}"
            )
        unfinished = f"{folder}-tmp"
        os.makedirs(unfinished, exist_ok=True)
        self._saver.save(sess, os.path.join(unfinished, constants.EXPORT_BASE_NAME))
        if self._assets:
            place = os.path.join(unfinished, constants.ASSETS_DIRECTORY)
            self._callback(self._assets, os.fsencode(place))
        os.rename(unfinished, folder)
        if exports_to_keep is not None:
            for path, _ in gc.negation(exports_to_keep)(gc.get_paths(base, _versioned)):
                shutil.rmtree(path)
        return os.fsencode(folder)


def _versioned(path: gc.Path) -> gc.Path | None:
    found = re.fullmatch(r"\d{8,}", os.path.basename(path.path))
    return path._replace(export_version=int(found[0])) if found else None


def _asset(tensor: Any) -> tuple[bytes, Any]:
    """Return the path that a constant holds, and the AssetFile that tells where it goes."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor is not a Tensor: got {tensor!r}")
    if tensor.op.type != "Const":
        raise TypeError(f"Only constants tensor are supported: got {tensor.op.type} {tensor.name}")
    if tensor.dtype.base_dtype.name != "string":
        raise TypeError(f"File paths should be string: {tensor.name} is {tensor.dtype.name}")
    paths = tensor.op.get_attr("value").string_val
    if not paths or not paths[0]:
        raise ValueError(f"invalid asset filepath tensor {tensor}")
    asset = pb.AssetFile(filename=os.path.basename(paths[0]).decode())
    asset.tensor_binding.tensor_name = tensor.name
    return paths[0], asset
