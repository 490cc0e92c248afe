"""tf.keras.Model: a network that can be trained.

Source: TF 1.15 API documentation, tf.keras.Model.
"""

from __future__ import annotations

from typing import Any

from tfdist.keras_impl.engine import saving
from tfdist.keras_impl.engine.network import Network
from tfdist.keras_impl.engine.training.fit import Training

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

    def save(
        self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True,
        save_format: str | None = None, signatures: Any = None,
    ) -> None:  # fmt: skip
        """Write the model into a file: see `tf.keras.models.save_model`."""
        saving.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures)

    def save_weights(
        self, filepath: Any, overwrite: bool = True, save_format: str | None = None
    ) -> None:
        """Write the weights: as a checkpoint of TensorFlow, or as HDF5.

        Args:
          filepath: of the file; what ends in .h5, .keras or .hdf5 is HDF5.
          overwrite: whether a file that is there is replaced.
          save_format: "tf" or "h5", where the name does not tell.

        Raises:
          ValueError: there is no such format, or the weights are not there yet.
        """
        saving.save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath: Any, by_name: bool = False) -> Any:
        """Read the weights that `save_weights` wrote.

        Args:
          filepath: of the file.
          by_name: whether layers of the same name get them, for HDF5; others by their order.
        """
        return saving.load_weights(self, filepath, by_name)
