"""`tf.contrib.slim.nets`: networks of published papers, and the model analyzer."""
