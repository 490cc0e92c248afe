"""The types that real TensorFlow's CPU kernels take, as its registry tells them.

Real TensorFlow's own Python (3.7) runs this file by its path, and stores what it says:

    cd tests/ops && PYTHON_OF_1_15 kernel_types.py > kernel_types_1_15.json
"""

import json
import os
from collections import defaultdict


def kernel_types(tf):
    """Return the types of each attribute of each op, "OP.ATTRIBUTE" by their names in a line."""
    from tensorflow.core.framework import kernel_def_pb2, op_def_pb2
    from tensorflow.python import pywrap_tensorflow as library

    kernels = library.TF_GetBuffer(library.TF_GetAllRegisteredKernels())
    ops = library.TF_GetBuffer(library.TF_GetAllOpList())
    allowed = {
        (op.name, attr.name): set(attr.allowed_values.list.type)
        for op in op_def_pb2.OpList.FromString(ops).op
        for attr in op.attr
        if attr.type == "type" and attr.allowed_values.list.type
    }
    by_op = defaultdict(list)
    for kernel in kernel_def_pb2.KernelList.FromString(kernels).kernel:
        if kernel.device_type == "CPU":
            by_op[kernel.op].append({c.name: c.allowed_values.list.type for c in kernel.constraint})
    found = defaultdict(list)
    for (op, attr), types in sorted(allowed.items()):
        taken = [set(kernel.get(attr, types)) & types for kernel in by_op[op]]
        names = sorted(tf.as_dtype(each).name for each in set().union(*taken))
        found[" ".join(names)].append(op + "." + attr)
    return {names: " ".join(attrs) for names, attrs in sorted(found.items()) if names}


def main():
    """Print what this Python's TensorFlow says."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    print(json.dumps(kernel_types(tf), indent=1))


if __name__ == "__main__":
    main()
