"""`tf.lookup` and `tf.contrib.lookup`: tables from keys to values, and vocabularies."""
