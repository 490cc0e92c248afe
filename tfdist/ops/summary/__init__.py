"""`tf.summary`: ops that make Summary messages, and those of `tf.contrib.summary`."""
