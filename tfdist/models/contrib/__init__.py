"""What `tf.contrib` adds to models, by TensorFlow's own folders; small ones are modules here."""
