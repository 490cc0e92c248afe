"""tf.keras.datasets.reuters: a data set from a file that is there."""

from tfdist.networks.datasets_local import reuters as load_data
from tfdist.networks.datasets_local import word_index
from tfdist.programs.missing import told

get_word_index = word_index("reuters_word_index.json")
__getattr__ = told("tf.keras.datasets.reuters")
