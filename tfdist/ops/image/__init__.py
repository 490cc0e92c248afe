"""`tf.image`: files, colours, sizes, boxes."""
