"""`tf.debugging`: assertions, `tf.Print`, and checks for NaN."""
