"""Floor 8: tf.keras, in folders named after its namespaces.

`backend` holds the session and functions of tensors; `losses`, `metrics`, `optimizers` and
`callbacks` stand on it; `engine` makes networks and models of called layers and trains them;
`layers` has the layers. What stands here is named by strings in configurations (`activations`,
`initializers`, ...) or makes objects of these (`serialization`, `cloning`, `loading`).

What is not of layers is tested by the networks and trainings of `tests/keras_impl/engine`, beside
TensorFlow.
"""
