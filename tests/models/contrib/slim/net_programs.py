"""The image classifiers of tf.contrib.slim.nets: what their graphs hold, case by case.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 says:

    cd tests/models/contrib/slim && PYTHON_OF_1.15 net_programs.py > expected_nets_1_15.json
"""

import hashlib
import json
import os
import sys

# Name -> height and width of the images, and what is called with them; `plain` is without an
# arg_scope. A class of few channels keeps resnets small where only the wiring matters.
CASES = {
    "alexnet": (224, "nets.alexnet.alexnet_v2(x)"),
    "alexnet, not trained": (224, "nets.alexnet.alexnet_v2(x, 10, is_training=False)"),
    "alexnet, over a larger image": (
        (300, 400), "nets.alexnet.alexnet_v2(x, 5, spatial_squeeze=False, scope='mine')"),
    "overfeat": (231, "nets.overfeat.overfeat(x)"),
    "overfeat, over a larger image": (
        281, "nets.overfeat.overfeat(x, 7, False, 0.7, False)"),
    "vgg_a": (224, "nets.vgg.vgg_a(x)"),
    "vgg_16": (224, "nets.vgg.vgg_16(x, 10, is_training=False)"),
    "vgg_19": (224, "nets.vgg.vgg_19(x, dropout_keep_prob=0.8)"),
    "inception_v1": (224, "nets.inception.inception_v1(x)"),
    "inception_v1, not trained": (
        224, "nets.inception.inception_v1(x, 11, False, spatial_squeeze=False, scope='mine')"),
    "inception_v1, up to Mixed_3c": (
        224, "nets.inception.inception_v1_base(x, 'Mixed_3c')"),
    "inception_v2": (224, "nets.inception.inception_v2(x)"),
    "inception_v2, half as deep": (
        192, "nets.inception.inception_v2(x, 11, False, depth_multiplier=0.5, min_depth=24)"),
    "inception_v2, up to MaxPool_3a_3x3": (
        224, "nets.inception.inception_v2_base(x, 'MaxPool_3a_3x3')"),
    "inception_v2, up to Mixed_4a": (
        224, "nets.inception.inception_v2_base(x, 'Mixed_4a', scope='mine')"),
    "inception_v2, of no depth": (224, "nets.inception.inception_v2_base(x, depth_multiplier=0)"),
    "inception_v3": (299, "nets.inception.inception_v3(x)"),
    "inception_v3, half as deep": (
        224, "nets.inception.inception_v3(x, 11, False, depth_multiplier=0.5)"),
    "inception_v3, up to Mixed_6a": (299, "nets.inception.inception_v3_base(x, 'Mixed_6a')"),
    "inception_v3, up to a block that there is not": (
        299, "nets.inception.inception_v3_base(x, 'Mixed_8a')"),
    "resnet_v1_50": (224, "nets.resnet_v1.resnet_v1_50(x, 10)"),
    "resnet_v1_50, dense": (
        (97, 65), "nets.resnet_v1.resnet_v1_50(x, None, False, False, output_stride=8)"),
    "resnet_v1_152": (64, "nets.resnet_v1.resnet_v1_152(x, 3, False, output_stride=16)"),
    "resnet_v1, of blocks": (
        32, "nets.resnet_v1.resnet_v1(x, [nets.resnet_v1.resnet_v1_block('a', 2, 3, 2), "
        "nets.resnet_v1.resnet_v1_block('b', 4, 2, 1)], 5, include_root_block=False, scope='r')"),
    "resnet_v2_50": (224, "nets.resnet_v2.resnet_v2_50(x, 10)"),
    "resnet_v2_50, dense": (
        (97, 65), "nets.resnet_v2.resnet_v2_50(x, None, False, False, output_stride=8)"),
    "resnet_v2_101": (64, "nets.resnet_v2.resnet_v2_101(x, 3, False, output_stride=16)"),
    "resnet_v2, of blocks": (
        32, "nets.resnet_v2.resnet_v2(x, [nets.resnet_v2.resnet_v2_block('a', 2, 3, 2), "
        "nets.resnet_v2.resnet_v2_block('b', 4, 2, 1)], 5, include_root_block=False, scope='r')"),
    "resnet, of a stride that cannot be": (
        64, "nets.resnet_v1.resnet_v1_50(x, 3, output_stride=6)"),
    "resnet, of too small a stride": (
        64, "nets.resnet_v1.resnet_v1(x, [nets.resnet_v1.resnet_v1_block('a', 2, 3, 8)], "
        "output_stride=24, scope='r')"),
    "conv2d_same": (17, "nets.resnet_utils.conv2d_same(x, 4, 3, 2, scope='s'), "
                    "nets.resnet_utils.conv2d_same(x, 4, 6, 3, scope='t'), "
                    "nets.resnet_utils.conv2d_same(x, 4, 5, 1, 2, scope='u')"),
    "conv2d_same, of steps and rates": (
        17, "nets.resnet_utils.conv2d_same(x, 4, 5, 3, 2, scope='t')"),
    "subsample": (17, "nets.resnet_utils.subsample(x, 1), nets.resnet_utils.subsample(x, 3, 's')"),
    "bottlenecks": (16, "nets.resnet_v1.bottleneck(x, 3, 2, 1), "
                    "nets.resnet_v1.bottleneck(x, 8, 2, 1, 2, 'c', 'mine'), "
                    "nets.resnet_v2.bottleneck(x, 3, 2, 2), "
                    "nets.resnet_v2.bottleneck(x, 8, 2, 2, outputs_collections='c')"),
}  # fmt: skip

# What is called inside of: the function of the module that gives arguments.
SCOPES = {
    "alexnet": "nets.alexnet.alexnet_v2_arg_scope()",
    "overfeat": "nets.overfeat.overfeat_arg_scope()",
    "vgg": "nets.vgg.vgg_arg_scope(weight_decay=0.001)",
    "vgg_19": "{}",
    "inception_v1": "nets.inception.inception_v1_arg_scope()",
    "inception_v1, not": "nets.inception.inception_v1_arg_scope(use_batch_norm=False)",
    "inception_v2": "nets.inception.inception_v2_arg_scope()",
    "inception_v3": "nets.inception.inception_v3_arg_scope()",
    "inception_v3, half": "nets.inception.inception_v3_arg_scope(0.001, 'mine', 0.9, 0.01, "
    "None, False)",
    "resnet": "nets.resnet_utils.resnet_arg_scope()",
    "resnet_v1_152": "{}",
    "resnet_v2_101": "nets.resnet_v2.resnet_arg_scope(0.1, 0.9, 0.01, False)",
    "bottlenecks": "nets.resnet_utils.resnet_arg_scope()",
}
SIZES = "alexnet.alexnet_v2 overfeat.overfeat vgg.vgg_a vgg.vgg_16 vgg.vgg_19 \
inception.inception_v1 inception.inception_v2 inception.inception_v3 resnet_v1.resnet_v1 \
resnet_v2.resnet_v2".split()

# Small ones that are run, with weights that do not come from chance.
RUN = {
    name: CASES[name] for name in ("resnet_v1, of blocks", "resnet_v2, of blocks", "bottlenecks")
}  # fmt: skip
RUN["inception_v1, up to Mixed_3b"] = (24, "nets.inception.inception_v1_base(x, 'Mixed_3b')")
RUN["inception_v2"] = (64, "nets.inception.inception_v2(x, 3, False, depth_multiplier=0.1)")
RUN["inception_v3"] = (107, "nets.inception.inception_v3(x, 3, False, depth_multiplier=0.1)")


def scope_of(name):
    """Return the expression of a case's arg_scope."""
    known = [start for start in SCOPES if name.startswith(start)]
    return SCOPES[max(known, key=len)] if known else "{}"


def built(tf, size, call, scope):
    """Return what a call gives, in the default graph, for two images."""
    height, width = size if isinstance(size, tuple) else (size, size)
    nets = tf.contrib.slim.nets
    names = {"tf": tf, "nets": nets, "x": tf.placeholder(tf.float32, [2, height, width, 3], "x")}
    with tf.contrib.slim.arg_scope(eval(scope, names)):
        return names["x"], eval(call, names)


def parts_of(found):
    """Yield name -> tensor of what a network gives: outputs, and end points by their keys."""
    for place, each in enumerate(found if isinstance(found, tuple) else (found,)):
        if isinstance(each, dict):
            for key in each:
                yield key, each[key]
        elif each is not None:
            yield str(place), each


def digest(lines):
    """Return how many lines there are, and a number that stands for them."""
    return [len(lines), hashlib.sha1("\n".join(lines).encode()).hexdigest()[:12]]


def described(op):
    """Return a line on a node: its name, type, and what it does to sizes or numbers."""
    if op.type in ("Conv2D", "MaxPool", "AvgPool"):
        keys = ("strides", "padding", "dilations" if op.type == "Conv2D" else "ksize")
        return " ".join(map(str, [op.name, op.type, *map(op.get_attr, keys)]))
    if op.type == "Const":
        value = op.node_def.attr["value"].tensor
        numbers = [] if value.tensor_shape.dim else value.float_val
        return " ".join([op.name, op.type, *(f"{number:.5g}" for number in numbers)])
    return f"{op.name} {op.type} {[each.name for each in op.inputs]}"


def lists(tf, name):
    """Return what the graph of a case holds, in full: end points, variables, nodes, collections."""
    size, call = CASES[name]
    with tf.Graph().as_default() as graph:
        try:
            _, found = built(tf, size, call, scope_of(name))
        except (ValueError, TypeError) as error:
            return {"error": [type(error).__name__, str(error)]}
        points = [[key, each.name, each.shape.as_list()] for key, each in parts_of(found)]
        variables = [
            f"{each.name} {each.shape.as_list()} {each in tf.trainable_variables()}"
            for each in tf.global_variables()
        ]
        nodes = [described(op) for op in graph.get_operations()]
        keys = sorted(
            key
            for key in graph.get_all_collection_keys()
            if key not in ("variables", "trainable_variables")
        )
        collections = {
            key: [getattr(each, "name", str(each)) for each in tf.get_collection(key)]
            for key in keys
            if isinstance(key, str)
        }
    return {
        "end_points": points, "variables": variables, "nodes": nodes, "collections": collections,
    }  # fmt: skip


def told(tf, name):
    """Return what is compared of a case: end points in full, the rest by number."""
    found = lists(tf, name)
    for key in ("variables", "nodes"):
        if key in found:
            found[key] = digest(found[key])
    for key, names in found.get("collections", {}).items():
        found["collections"][key] = digest(names)
    return found


def weights(numpy, shape):
    """Return numbers for a variable, which do not come from chance."""
    size = int(numpy.prod(shape))
    scale = (2.0 / max(1, size // (shape[-1] if len(shape) else 1))) ** 0.5
    waves = numpy.sin(numpy.arange(size) * 1.7 + len(shape)) * 1.4
    return (waves * scale).reshape(shape).astype("float32")


def values(tf, name):
    """Return sums of what a case's outputs hold: of the numbers, and of what they are far from."""
    import numpy

    size, call = RUN[name]
    with tf.Graph().as_default(), tf.Session() as session:
        x, found = built(tf, size, call, scope_of(name))
        session.run(tf.global_variables_initializer())
        for each in tf.trainable_variables():
            if each.op.name.endswith("weights"):
                each.load(weights(numpy, each.shape.as_list()), session)
        shape = x.shape.as_list()
        images = numpy.cos(numpy.arange(numpy.prod(shape)) * 0.37).reshape(shape)
        got = session.run(dict(parts_of(found)), {x: images})
    return {key: [float(got[key].mean()), float(abs(got[key]).mean())] for key in got}


def everything(tf):
    """Return what is stored."""
    nets = tf.contrib.slim.nets
    sizes = {}
    for path in SIZES:
        module, function = path.split(".")
        sizes[path] = getattr(getattr(getattr(nets, module), function), "default_image_size", None)
    return {
        "sizes": sizes, "graphs": {name: told(tf, name) for name in CASES},
        "values": {name: values(tf, name) for name in RUN},
    }  # fmt: skip


if __name__ == "__main__":
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow
    import tensorflow.contrib.slim.nets  # not loaded with slim itself there

    tensorflow.compat.v1.logging.set_verbosity("FATAL")
    if sys.argv[1:] == ["full"]:
        found = {name: lists(tensorflow, name) for name in CASES}
    else:
        found = everything(tensorflow)
    json.dump(found, sys.stdout, indent=0)
