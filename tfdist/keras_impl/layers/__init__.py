"""`tf.keras.layers`, a family a file; `all_layers` is what configurations find them by."""
