"""tf.contrib.all_reduce: sums over devices, in `python.all_reduce` as in TensorFlow."""

# mypy: implicit-reexport

from tfdist.models.contrib import all_reduce
from tfdist.programs.missing import space, told

python = space("tf.contrib.all_reduce.python", all_reduce=all_reduce)

__getattr__ = told("tf.contrib.all_reduce")
