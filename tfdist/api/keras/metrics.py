"""tf.keras.metrics: metrics as functions and as objects."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.losses.losses import (
        KLD,
        MAE,
        MAPE,
        MSE,
        MSLE,
        binary_crossentropy,
        categorical_crossentropy,
        cosine,
        cosine_proximity,
        hinge,
        kld,
        kullback_leibler_divergence,
        mae,
        mape,
        mean_absolute_error,
        mean_absolute_percentage_error,
        mean_squared_error,
        mean_squared_logarithmic_error,
        mse,
        msle,
        poisson,
        sparse_categorical_crossentropy,
        squared_hinge,
    )  # fmt: skip
    from tfdist.keras_impl.metrics.counts import *
    from tfdist.keras_impl.metrics.curves import *
    from tfdist.keras_impl.metrics.functions import *
    from tfdist.keras_impl.metrics.means import *
    from tfdist.keras_impl.metrics.metrics import *
    from tfdist.keras_impl.metrics.wrapped import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.metrics")
