"""tf.keras.backend: functions of which layers, losses and programs are made."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy

if TYPE_CHECKING:
    from tfdist.keras_impl.backend.arrays import *
    from tfdist.keras_impl.backend.graph_states import *
    from tfdist.keras_impl.backend.images import *
    from tfdist.keras_impl.backend.learning_phase import *
    from tfdist.keras_impl.backend.math import *
    from tfdist.keras_impl.backend.rnn_loop import *
    from tfdist.keras_impl.backend.sessions import *
    from tfdist.keras_impl.losses.crossentropy import (
        binary_crossentropy,
        categorical_crossentropy,
        sparse_categorical_crossentropy,
    )
    from tfdist.keras_impl.settings import *

__getattr__, __dir__ = lazy(__name__, "tf.keras.backend")
