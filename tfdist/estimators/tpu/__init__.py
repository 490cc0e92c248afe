"""`tf.contrib.tpu.TPUEstimator`, which runs on CPUs as TensorFlow's does."""
