"""`tf.keras.callbacks`, and the progress bar."""
