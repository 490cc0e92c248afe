"""Floor 8: the public namespaces: names only, and the path of a module is that of its namespace.

`tf.keras.layers` is `keras/layers.py`; `root` is `tf` itself, and `tf.compat.v1`. A family of ops
lists what it gives to `root` in its `__all__`, so that a new op touches that file alone; then
`python -m tfdist.api.index` writes the tables by which names and ops are found: a name is imported
when it is first asked for (`base.namespace`), and so is an op (`graph.op_registry`).
"""
