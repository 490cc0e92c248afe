"""`tf.keras.losses`, as functions and as objects."""
