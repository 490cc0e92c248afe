"""Floor 0: TensorFlow's messages and services, in a descriptor pool of our own.

May import the standard library and google.protobuf, and is the only folder that imports the
latter. The pool is our own because protobuf's default pool admits a name only once: real
TensorFlow, imported in the same process, must find its names free. The messages come from
`tensorflow.desc`, which `proto/regenerate.py` compiles from `proto/*.proto`: data, so that no
generated code ties us to one version of protobuf. Two services are not TensorFlow's: what tfdist
servers tell of themselves (`tfdist.Inspection`), and gRPC's health check.
"""
