"""`tf.keras.metrics`, as functions and as objects."""
