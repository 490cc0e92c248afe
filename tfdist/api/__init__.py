"""Floor 8: the public namespaces, one short file each: names only.

`root` is `tf` itself, and `tf.compat.v1`. A family file of ops lists what it gives to `root` in its
`__all__`, so that a new op touches that file alone.
"""
