"""tf.keras.datasets.reuters: a data set from a file that is there."""

# mypy: implicit-reexport

from typing import TYPE_CHECKING

from tfdist.base.namespace import lazy
from tfdist.keras_impl.utils.local_datasets import word_index

get_word_index = word_index("reuters_word_index.json")

if TYPE_CHECKING:
    from tfdist.keras_impl.utils.local_datasets import reuters as load_data

__getattr__, __dir__ = lazy(__name__, "tf.keras.datasets.reuters")
