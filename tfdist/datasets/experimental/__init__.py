"""`tf.data.experimental`: stages to be applied, and datasets that came later."""
