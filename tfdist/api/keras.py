"""tf.keras: networks made of layers; its namespaces are loaded when first asked for."""

from importlib import import_module
from typing import Any

from tfdist.programs.missing import told

_NAMES = {
    "Input": "tfdist.networks.inputs",
    "Model": "tfdist.networks.model",
    "Sequential": "tfdist.networks.sequential",
}

# Namespace, or name -> the module that is it, or gives it.
ON_DEMAND = {
    "activations": "tfdist.api.keras_activations",
    "backend": "tfdist.api.keras_backend",
    "callbacks": "tfdist.api.keras_callbacks",
    "constraints": "tfdist.api.keras_constraints",
    "datasets": "tfdist.api.keras_datasets",
    "initializers": "tfdist.api.keras_initializers",
    "layers": "tfdist.api.keras_layers",
    "losses": "tfdist.api.keras_losses",
    "metrics": "tfdist.api.keras_metrics",
    "models": "tfdist.api.keras_models",
    "optimizers": "tfdist.api.keras_optimizers",
    "preprocessing": "tfdist.api.keras_preprocessing",
    "regularizers": "tfdist.api.keras_regularizers",
    "utils": "tfdist.api.keras_utils",
    "wrappers": "tfdist.api.keras_wrappers",
    **_NAMES,
}

__version__ = "2.2.4-tf"

_missing = told("tf.keras")


def __getattr__(name: str) -> Any:
    """Return what is loaded when first asked for."""
    if name not in ON_DEMAND:
        return _missing(name)
    import_module("tfdist.networks.layers")  # configurations find all of them
    module = import_module(ON_DEMAND[name])
    found = globals()[name] = getattr(module, name) if name in _NAMES else module
    return found


def __dir__() -> list[str]:
    return sorted(ON_DEMAND)
