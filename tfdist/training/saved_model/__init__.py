"""`tf.saved_model`: written, read, and called."""
