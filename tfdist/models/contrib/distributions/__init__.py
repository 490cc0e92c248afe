"""`tf.contrib.distributions`: bijectors, mixtures and other distributions."""
