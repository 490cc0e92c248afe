"""tf.keras.Model: a network that can be trained.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

from tfdist.keras_impl.engine.network import Network
from tfdist.keras_impl.engine.training import Training

__all__ = ["Model"]


class Model(Training, Network):
    """A network that can be trained, evaluated and used.

    Args:
      inputs: tensors of `Input`: one, or a list or dict of them. None in subclasses, which make
        their layers in `__init__` and call them in `call`.
      outputs: tensors that layers gave for them.
      name: of the network.

    Raises:
      ValueError: an output is not computed from the inputs, or two layers have one name.

    Example:
      >>> x = keras.Input([4])
      >>> model = keras.Model(x, keras.layers.Dense(2)(x))
      >>> [layer.name for layer in model.layers], model(zeros([3, 4])).shape.as_list()
      (['input_1', 'dense'], [3, 2])
    """
