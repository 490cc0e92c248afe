"""What models are made of: layers, losses and metrics, and the scopes that hand arguments on.

Floor 7: it imports the session's floor and all below, nothing of training, datasets or launch. Its
namespaces are `tf.layers`, `tf.losses`, `tf.metrics`, `tf.contrib.layers` and `tf.contrib.slim`; an
inner folder has the name of no public namespace.
"""
