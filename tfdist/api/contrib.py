"""tf.contrib: what of it is here."""

from importlib import import_module
from typing import Any

from tfdist.api import contrib_data as data
from tfdist.ops.staging import MapStagingArea, StagingArea
from tfdist.programs.missing import space, told

staging = space("tf.contrib.staging", MapStagingArea=MapStagingArea, StagingArea=StagingArea)

# Namespaces that are loaded when first asked for.
ON_DEMAND = {
    "autograph": "tfdist.api.contrib_autograph",
    "cluster_resolver": "tfdist.api.contrib_cluster_resolver",
    "crf": "tfdist.api.contrib_crf",
    "cudnn_rnn": "tfdist.api.contrib_cudnn_rnn",
    "deprecated": "tfdist.api.contrib_deprecated",
    "distributions": "tfdist.api.contrib_distributions",
    "eager": "tfdist.api.contrib_eager",
    "framework": "tfdist.api.contrib_framework",
    "graph_editor": "tfdist.api.contrib_graph_editor",
    "image": "tfdist.api.contrib_image",
    "layers": "tfdist.api.contrib_layers",
    "learn": "tfdist.api.contrib_learn",
    "legacy_seq2seq": "tfdist.api.contrib_legacy_seq2seq",
    "lookup": "tfdist.api.contrib_lookup",
    "losses": "tfdist.api.contrib_losses",
    "metrics": "tfdist.api.contrib_metrics",
    "nn": "tfdist.api.contrib_nn",
    "opt": "tfdist.api.contrib_opt",
    "predictor": "tfdist.api.contrib_predictor",
    "resampler": "tfdist.api.contrib_resampler",
    "rnn": "tfdist.api.contrib_rnn",
    "seq2seq": "tfdist.api.contrib_seq2seq",
    "signal": "tfdist.api.contrib_signal",
    "slim": "tfdist.api.contrib_slim",
    "solvers": "tfdist.api.contrib_solvers",
    "sparsemax": "tfdist.api.contrib_sparsemax",
    "stateless": "tfdist.api.contrib_stateless",
    "summary": "tfdist.api.contrib_summary",
    "tensorboard": "tfdist.api.contrib_tensorboard",
    "tpu": "tfdist.api.contrib_tpu",
    "training": "tfdist.api.contrib_training",
    "util": "tfdist.api.contrib_util",
}

_missing = told("tf.contrib")


def __getattr__(name: str) -> Any:
    """Return a namespace that is loaded when first asked for."""
    if name not in ON_DEMAND:
        return _missing(name)
    found = globals()[name] = import_module(ON_DEMAND[name])
    return found
