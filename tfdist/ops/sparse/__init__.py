"""`tf.sparse` and `tf.sets`: tensors of which only some elements are there.

`sparse_tensor` has the class, `components` what the ops share.
"""
