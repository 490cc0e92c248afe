"""Floor 0: what can be observed of a step, and how it is told.

`rows` turns step statistics into plain rows, `chrome` into events of the Chrome trace format, and
`timeline` has TensorFlow's class of that name. Messages are duck-typed. May import the standard
library and numpy, nothing else of this package.
"""
