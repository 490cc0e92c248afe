"""A SavedModel of an estimator.

Source: TF 1.15 API documentation, tf.estimator.Estimator.export_savedmodel; messages by experiment.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from typing import Any

from tfdist.estimators.estimator_spec import EstimatorSpec, ModeKeys
from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.ops.random.random_ops import set_random_seed
from tfdist.ops.variables.collections import GraphKeys
from tfdist.session.session import Session
from tfdist.training.saved_model.builder import SavedModelBuilder
from tfdist.training.saved_model.names import SERVING
from tfdist.training.saving.saver import Saver
from tfdist.training.sessions.scaffold import Scaffold

__all__: list[str] = []

_LOG = logging.getLogger("tensorflow")


def export_model(
    estimator: Any, base: str, receiver_fn: Any, assets: Mapping[str, str] | None, as_text: bool,
    checkpoint: str, strip_default_attrs: bool,
) -> bytes:  # fmt: skip
    """Write a SavedModel into a new folder, whose name is the time; returns its path.

    Args:
      estimator: Estimator.
      base: folder for exports.
      receiver_fn: makes a `ServingInputReceiver`.
      assets: further files: paths inside the model's folder -> files.
      as_text: whether the model's file is text.
      checkpoint: path.
      strip_default_attrs: whether attributes that have their default are left out.
    """
    folder = timestamped(base)
    temporary = os.path.join(base, f"temp-{os.path.basename(folder)}")
    with Graph().as_default() as graph:
        set_random_seed(estimator.config.tf_random_seed)
        estimator._create_global_step(graph)
        receiver = receiver_fn()
        spec = estimator._call_model_fn(receiver.features, None, ModeKeys.PREDICT)
        signatures = dict(_signatures(receiver, spec.export_outputs))
        _write(estimator, temporary, checkpoint, spec, signatures, as_text, strip_default_attrs)
    for inside, path in (assets or {}).items():
        target = os.path.join(temporary, "assets.extra", inside)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(path, target)
    os.rename(temporary, folder)
    return os.fsencode(folder)


def timestamped(base: str) -> str:
    """Return the path of a new folder in `base`: the seconds since 1970, or the next free ones."""
    second = int(time.time())
    while any(os.path.exists(os.path.join(base, f"{begin}{second}")) for begin in ("", "temp-")):
        second += 1
    return os.path.join(base, str(second))


def _write(
    estimator: Any, folder: str, checkpoint: str, spec: EstimatorSpec,
    signatures: Mapping[str, Any], as_text: bool, strip: bool,
) -> None:  # fmt: skip
    with Session(config=estimator._session_config) as session:
        saver = spec.scaffold.saver or Saver(sharded=True)
        saver.restore(session, checkpoint)
        local = spec.scaffold.local_init_op
        builder = SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            session,
            [SERVING],
            signature_def_map=signatures,
            assets_collection=scopes.get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=Scaffold.default_local_init_op() if local is None else local,
            strip_default_attrs=strip,
        )
        builder.save(as_text)


def _signatures(receiver: Any, outputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (name, SignatureDef) of what can be taken and given together."""
    refused = {}
    alternatives = receiver.receiver_tensors_alternatives or {}
    for prefix, taken in [("", receiver.receiver_tensors), *alternatives.items()]:
        for name, output in outputs.items():
            full = f"{prefix}:{name}" if prefix else name
            try:
                yield full, output.as_signature_def(taken)
            except ValueError as error:
                refused[full] = str(error)
    for name, why in refused.items():
        _LOG.info("The signature %r is left out of the export: %s", name, why)
