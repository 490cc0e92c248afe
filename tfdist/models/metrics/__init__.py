"""`tf.metrics`: values accumulated over steps in local variables."""
