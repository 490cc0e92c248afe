"""What programs of TensorFlow 1.x find around graphs: flags, files, logs, data of the tutorials.

`modules` says which of TensorFlow's many module paths leads where, `stand_in` answers imports with
it, and `script` runs a program so. What NumPy and Python dropped since then is in `numpy1`,
`python37` and `rewritten`; `advice` tells of it.
"""
