"""`tf.contrib.framework`: `arg_scope`, variables of a model, nested structures, deprecation."""
