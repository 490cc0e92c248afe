"""tf.keras.metrics: metrics as functions and as objects."""

from tfdist.networks.losses import (
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
from tfdist.networks.metrics import *
from tfdist.networks.metrics_counts import *
from tfdist.networks.metrics_curves import *
from tfdist.networks.metrics_functions import *
from tfdist.networks.metrics_means import *
from tfdist.networks.metrics_wrapped import *
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.metrics")
