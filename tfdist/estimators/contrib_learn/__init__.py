"""`tf.contrib.learn`: the estimators, data and experiments of the first releases."""
