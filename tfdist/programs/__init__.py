"""What programs of TensorFlow 1.x find around graphs: flags, files, logs, data of the tutorials.

`modules` says which of TensorFlow's many module paths leads where, `stand_in` answers imports with
it, and `script` runs a program so.
"""
