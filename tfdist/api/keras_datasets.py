"""tf.keras.datasets: data sets from files that are there."""

from tfdist.api import keras_datasets_boston_housing as boston_housing
from tfdist.api import keras_datasets_cifar10 as cifar10
from tfdist.api import keras_datasets_cifar100 as cifar100
from tfdist.api import keras_datasets_fashion_mnist as fashion_mnist
from tfdist.api import keras_datasets_imdb as imdb
from tfdist.api import keras_datasets_mnist as mnist
from tfdist.api import keras_datasets_reuters as reuters
from tfdist.programs.missing import told

__getattr__ = told("tf.keras.datasets")
