"""`tf.contrib.session_bundle`: exports for the first releases of TensorFlow Serving."""
