"""Predictors: a SavedModel as a Python function, from arrays by name to arrays by name.

Source: TF 1.15 API documentation, tf.contrib.predictor.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from tfdist.graph import scopes
from tfdist.graph.graph import Graph
from tfdist.session.session import Session
from tfdist.training.saved_model import loader as saved_model_loader
from tfdist.training.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING
from tfdist.training.saved_model.signatures import get_tensor_from_tensor_info


class Predictor:
    """A function from inputs by name to outputs by name.

    Args:
      session: that runs it.
      feed_tensors: the inputs' tensors.
      fetch_tensors: the outputs' tensors.
    """

    def __init__(
        self, session: Any, feed_tensors: Mapping[str, Any], fetch_tensors: Mapping[str, Any]
    ) -> None:
        self._session = session
        self._feeds, self._fetches = dict(feed_tensors), dict(fetch_tensors)

    @property
    def session(self) -> Any:
        """Return the session that runs the model: close it when it is not needed any more."""
        return self._session

    @property
    def graph(self) -> Any:
        """Return the session's graph."""
        return self._session.graph

    @property
    def feed_tensors(self) -> dict[str, Any]:
        """Return the inputs' tensors by name."""
        return self._feeds

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        """Return the outputs' tensors by name."""
        return self._fetches

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feeds} and fetch_tensors "
            f"{self._fetches}"
        )

    def __call__(self, input_dict: Mapping[str, Any]) -> dict[str, Any]:
        """Return the outputs by name.

        Args:
          input_dict: the inputs by name.

        Raises:
          ValueError: there is no such input.
        """
        unknown = set(input_dict) - set(self._feeds)
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unknown}\nexpected: {set(self._feeds)}"
            )
        feeds = {self._feeds[key]: value for key, value in input_dict.items()}
        result: dict[str, Any] = self._session.run(self._fetches, feeds)
        return result


class SavedModelPredictor(Predictor):
    """A `Predictor` made of a SavedModel; see `from_saved_model`."""


def from_saved_model(
    export_dir: Any, signature_def_key: str | None = None, signature_def: Any = None,
    input_names: Mapping[str, str] | None = None, output_names: Mapping[str, str] | None = None,
    tags: str | None = None, graph: Any = None, config: Any = None,
) -> SavedModelPredictor:  # fmt: skip
    """Return a function that runs a SavedModel, in a session of its own.

    Args:
      export_dir: the model's folder.
      signature_def_key: name of a signature of the model; "serving_default" by default.
      signature_def: a SignatureDef, instead.
      input_names: names of tensors by names of inputs, instead; with `output_names`.
      output_names: names of tensors by names of outputs.
      tags: those of the graph, separated by commas; "serve" by default.
      graph: that the model's is put into; a new one by default.
      config: a ConfigProto for the session.

    Raises:
      OSError: there is no SavedModel.
      RuntimeError: it has no graph with these tags.
      ValueError: it has no such signature, or more than one way says what to run.

    Example:
      >>> import tempfile
      >>> folder = f"{tempfile.mkdtemp()}/model"
      >>> x = placeholder(float32, [None], name="x")
      >>> with Session() as session:
      ...     saved_model.simple_save(session, folder, {"x": x}, {"double": 2.0 * x})
      >>> predict = contrib.predictor.from_saved_model(folder)
      >>> predict({"x": [1.0, 4.0]})
      {'double': array([2., 8.], dtype=float32)}
    """
    _check_ways(signature_def_key, signature_def, input_names, output_names)
    graph = Graph() if graph is None else graph
    with graph.as_default():
        session = Session(config=config)
        chosen = tags.split(",") if tags else [SERVING]
        meta = saved_model_loader.load(session, chosen, export_dir)
        if input_names and output_names:
            feeds, fetches = (_by_names(names) for names in (input_names, output_names))
        else:
            signature = signature_def or _signature(meta, signature_def_key)
            feeds, fetches = _of(signature.inputs), _of(signature.outputs)
    return SavedModelPredictor(session, feeds, fetches)


def _check_ways(key: Any, signature: Any, inputs: Any, outputs: Any) -> None:
    if (inputs is None) != (outputs is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified."
        )
    if sum(each is not None for each in (key, signature, inputs)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names AND "
            "output_names)."
        )


def _signature(meta: Any, key: str | None) -> Any:
    if key is not None and key not in meta.signature_def:
        there = sorted(meta.signature_def)
        raise ValueError(f"the model has no signature {key!r}; it has {there}")
    return meta.signature_def[key or DEFAULT_SERVING_SIGNATURE_DEF_KEY]


def _of(infos: Mapping[str, Any]) -> dict[str, Any]:
    return {key: get_tensor_from_tensor_info(info) for key, info in infos.items()}


def _by_names(names: Mapping[str, str]) -> dict[str, Any]:
    graph = scopes.get_default_graph()
    return {key: graph.get_tensor_by_name(name) for key, name in names.items()}


def from_estimator(
    estimator: Any, serving_input_receiver_fn: Any, output_key: str | None = None,
    graph: Any = None, config: Any = None,
) -> SavedModelPredictor:  # fmt: skip
    """Return a function that runs a trained estimator, in a session of its own.

    Args:
      estimator: a `tf.estimator.Estimator` that has a checkpoint.
      serving_input_receiver_fn: gives its inputs, as for `export_saved_model`.
      output_key: which of its `export_outputs`; the default one by default.
      graph: that the model is put into; a new one by default.
      config: a ConfigProto for the session.

    Raises:
      ValueError: it is not trained, or has no such output.
    """
    with tempfile.TemporaryDirectory() as folder:
        model = estimator.export_saved_model(folder, serving_input_receiver_fn)
        return from_saved_model(os.fsdecode(model), output_key, graph=graph, config=config)
