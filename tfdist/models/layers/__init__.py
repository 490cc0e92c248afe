"""`tf.layers`: objects and functions that make variables and nodes."""
