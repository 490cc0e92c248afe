"""What models are made of: layers, losses, metrics, recurrent networks, and most of tf.contrib.

Floor 7: it imports the session's floor and all below, nothing of training, datasets or launch. The
folders are floors themselves, `contrib` the highest. `tf.layers` is in `layers`, `tf.contrib.NAME`
in `contrib.NAME`, except for cells (`rnn`), decoders (`seq2seq`) and the graph editor.

Layers, losses and metrics are tested beside TensorFlow by `tests/models/test_programs.py` and
`test_nodes.py`, the graph editor by `tests/models/contrib/test_contrib_graphs.py`.
"""
