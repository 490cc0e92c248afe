"""`tf.distributions`; those of `tf.contrib` are in `models.contrib.distributions`."""
