"""`tf.TensorArray`: arrays of tensors that live for one step."""
