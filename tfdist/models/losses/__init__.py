"""`tf.losses`: weighted losses, and their collection."""
