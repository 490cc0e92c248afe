"""tf.keras: networks made of layers."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

__version__ = "2.2.4-tf"

if TYPE_CHECKING:
    from tfdist.api.keras import (
        activations,
        backend,
        callbacks,
        constraints,
        datasets,
        estimator,
        initializers,
        layers,
        losses,
        metrics,
        models,
        optimizers,
        preprocessing,
        regularizers,
        utils,
        wrappers,
    )
    from tfdist.keras_impl.engine.inputs import Input
    from tfdist.keras_impl.engine.model import Model
    from tfdist.keras_impl.engine.sequential import Sequential

__getattr__, __dir__ = lazy(__name__, "tf.keras")
