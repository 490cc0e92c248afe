"""`tf.contrib.metrics`: metrics that `tf.metrics` lacks."""
