"""`tf.keras.preprocessing`: images, sequences and texts."""
