"""`tf.contrib.layers`: layers as functions of tensors, each in a scope of its own."""
