"""`tf.feature_column`."""
