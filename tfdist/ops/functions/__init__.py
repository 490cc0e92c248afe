"""Functions of graphs: `tf.function`, `Defun`, `tf.map_fn` and `tf.py_func`."""
