"""`tf.contrib.training.HParams`, and its messages."""
