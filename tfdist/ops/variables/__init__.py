"""`tf.Variable` of both kinds, `tf.get_variable` and its scopes, and what initializes them."""
