"""What savers make of a graph, and keep in a folder: with TensorFlow 1.15.5, or with us.

    cd tests/training/saving && PYTHON_OF_TENSORFLOW saver_programs.py > expected_savers_1_15.json

(Read by Python 3.7, too, and imports nothing of ours.)
"""

from __future__ import annotations

import json
import os
import re
import tempfile


def both_kinds(tf, **options):
    tf.Variable([[1.0, 2.0]], name="b")
    tf.Variable(3, name="a", use_resource=True)
    return tf.train.Saver(**options)


def on_devices(tf, **options):
    with tf.device("/job:ps/task:0"):
        tf.Variable([1.0, 2.0], name="v")
    with tf.device("/job:ps/task:1"):
        tf.Variable(3, name="w")
        tf.Variable(3.0, name="r", use_resource=True)
    tf.Variable(4.0, name="a")
    return tf.train.Saver(**options)


def partitioned(tf, **options):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("x", [5, 2])
        tf.get_variable("r", [5], use_resource=True)
    return tf.train.Saver(**options)


def renamed(tf, **options):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    return tf.train.Saver({"z": v, "a": w}, **options)


def of_a_programs_own(tf, builder):
    """Save something that is two tensors of a checkpoint."""
    v = tf.Variable([1.0, 2.0], name="v")

    class Doubled(builder.SaveableObject):
        def __init__(self):
            specs = [builder.SaveSpec(v * 2.0, "", "twice"), builder.SaveSpec(v, "", "once")]
            super().__init__(v, specs, "both")

        def restore(self, restored_tensors, restored_shapes):
            return tf.assign(v, restored_tensors[0] / 2.0)

    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, Doubled())
    return tf.train.Saver()


def programs(tf, builder):
    """Return functions that make variables and a saver, by what they are about."""
    old = tf.train.SaverDef.V1
    return {
        "both kinds": lambda: both_kinds(tf),
        "both kinds, reshaped": lambda: both_kinds(tf, reshape=True, name="other", filename="f"),
        "on devices": lambda: on_devices(tf, max_to_keep=2),
        "on devices, sharded": lambda: on_devices(tf, sharded=True),
        "on devices, sharded, the old format": lambda: on_devices(
            tf, sharded=True, write_version=old
        ),
        "partitioned": lambda: partitioned(tf, keep_checkpoint_every_n_hours=2.0),
        "renamed, the old format": lambda: renamed(tf, write_version=old),
        "one by one": lambda: both_kinds(tf, builder=builder()),
        "of a program's own": lambda: of_a_programs_own(tf, builder),
    }


def graph(tf, build):
    """Return the nodes that a saver adds, and its SaverDef, as text."""
    with tf.Graph().as_default() as graph:
        saver_def = build().as_saver_def()
        scope = saver_def.restore_op_name.partition("/")[0] + "/"
        made = [each for each in graph.as_graph_def().node if each.name.startswith(scope)]
        nodes = [_node(tf, each) for each in made]
    fields = saver_def.ListFields()
    return [*nodes, " ".join(f"{field.name}={value}" for field, value in fields)]


def _node(tf, node):
    waits = sorted(each for each in node.input if each.startswith("^"))
    inputs = [each for each in node.input if not each.startswith("^")]
    attrs = [key + "=" + _text(tf, attr) for key, attr in sorted(node.attr.items())]
    return " ".join([node.name, node.op, *inputs, *waits, node.device, *attrs])


def _text(tf, attr):
    if attr.WhichOneof("value") != "tensor":
        return re.sub(r"\s+", "", str(attr))
    return re.sub("_temp_[0-9a-f]+", "_temp_", str(tf.make_ndarray(attr.tensor).tolist()))


def kept(tf, folder):
    """Save again and again; return what is in the folder, what `checkpoint` says, what is known."""
    with tf.Graph().as_default():
        tf.Variable(1.0, name="v")
        savers = {
            "the last two": (tf.train.Saver(max_to_keep=2), {}),
            "all": (tf.train.Saver(max_to_keep=0), {}),
            "one in a while": (
                tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9), {}
            ),
            "relative": (tf.train.Saver(save_relative_paths=True, pad_step_number=True), {}),
            "other names": (
                tf.train.Saver(sharded=True), {"latest_filename": "f", "meta_graph_suffix": "m"}
            ),
            "nothing besides": (
                tf.train.Saver(max_to_keep=1), {"write_meta_graph": False, "write_state": False}
            ),
            "the old format": (
                tf.train.Saver(write_version=1, sharded=True, max_to_keep=1), {}
            ),
        }  # fmt: skip
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return {
                name: _kept(saver, session, os.path.join(folder, name), options)
                for name, (saver, options) in savers.items()
            }


def _kept(saver, session, folder, options):
    os.makedirs(folder)
    paths = [
        saver.save(session, os.path.join(folder, "model"), global_step=step, **options)
        for step in (8, 9, 10, 9)
    ]
    state = os.path.join(folder, options.get("latest_filename", "checkpoint"))
    text = None
    if os.path.exists(state):
        with open(state) as file:
            text = file.read()
    told = json.dumps([sorted(os.listdir(folder)), text, paths, saver.last_checkpoints])
    return json.loads(told.replace(folder, "FOLDER"))


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python.training.saver import BaseSaverBuilder

    tensorflow.logging.set_verbosity(tensorflow.logging.ERROR)
    made = programs(tensorflow, BaseSaverBuilder)
    found = {name: graph(tensorflow, build) for name, build in made.items()}
    with tempfile.TemporaryDirectory() as top:
        print(json.dumps({"graphs": found, "kept": kept(tensorflow, top)}, indent=1))
