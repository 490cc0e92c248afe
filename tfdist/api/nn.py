"""tf.nn: what neural networks are made of."""

# ruff: noqa: F401, F403
from tfdist.ops.elementwise import sigmoid, tanh
from tfdist.ops.nn import *
