"""`tf.keras.utils`, `tf.keras.datasets` from local files, and the wrappers for scikit-learn."""
