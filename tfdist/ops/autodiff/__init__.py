"""`tf.gradients` and `tf.GradientTape`: reverse-mode differentiation of graphs.

The gradient of an op stands beside the op; here is the walk that calls them, and what leads it
through branches, loops and functions.
"""
