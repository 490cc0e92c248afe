"""`tf.contrib.slim`'s training loop, evaluation and data."""
