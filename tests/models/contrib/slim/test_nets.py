"""The networks of tf.contrib.slim.nets hold what they hold on 1.15.5, node for node, and give it.

`net_programs.py` has the cases; `expected_nets_1_15.json` is what 1.15.5 said.
"""

import json
from pathlib import Path

import pytest

import tfdist as tf
from tests.models.contrib.slim import net_programs

EXPECTED = json.loads(Path(__file__).with_name("expected_nets_1_15.json").read_text())
PATHS = {
    "tensorflow.contrib.slim.nets": "vgg",
    "tensorflow.contrib.slim.python.slim.nets": "resnet_v2",
    "tensorflow.contrib.slim.python.slim.nets.vgg": "vgg_16",
    "tensorflow.contrib.slim.python.slim.nets.inception_v3": "inception_v3_base",
    "tensorflow.contrib.layers.python.layers.utils": "convert_collection_to_dict",
}

pytestmark = pytest.mark.filterwarnings("ignore")


def test_cases_are_those_that_were_asked():
    assert list(EXPECTED["graphs"]) == list(net_programs.CASES)
    assert list(EXPECTED["values"]) == list(net_programs.RUN)


@pytest.mark.parametrize("name", net_programs.CASES)
def test_a_graph_is_that_of_tensorflow(name):
    found = json.loads(json.dumps(net_programs.told(tf, name)))
    wanted = EXPECTED["graphs"][name]
    if "error" in wanted:
        assert found["error"][0] == wanted["error"][0]
        assert wanted["error"][1].rstrip(".") in found["error"][1]
        return
    for each in (found, wanted):  # a collection that is asked for is there, though empty
        each["collections"] = {key: kept for key, kept in each["collections"].items() if kept[0]}
    assert found == wanted


@pytest.mark.parametrize("name", net_programs.RUN)
def test_a_network_gives_what_it_gives_there(name):
    found = net_programs.values(tf, name)
    wanted = EXPECTED["values"][name]
    assert found.keys() == wanted.keys()
    for key, numbers in wanted.items():
        assert found[key] == pytest.approx(numbers, rel=2e-3, abs=1e-4), key


@pytest.mark.parametrize("path", EXPECTED["sizes"])
def test_a_network_says_for_which_images_it_was_made(path):
    module, name = path.split(".")
    network = getattr(getattr(tf.contrib.slim.nets, module), name)
    assert getattr(network, "default_image_size", None) == EXPECTED["sizes"][path]


@pytest.mark.parametrize("path", PATHS)
def test_networks_are_imported_by_their_paths(path):
    tf.install()
    try:
        module = __import__(path, fromlist=[PATHS[path]])
        assert getattr(module, PATHS[path])
    finally:
        tf.programs.stand_in.uninstall()


# A layer's alias is the name of its variables' scope, or of its nodes' where it has none.
ALIASES = {
    "o/Conv": lambda layers, x: layers.conv2d(x, 3, 3, outputs_collections="c"),
    "o_1/MaxPool2D": lambda layers, x: layers.max_pool2d(x, 2, outputs_collections="c"),
    "o_1/Flatten": lambda layers, x: layers.flatten(x, outputs_collections="c"),
    "o/Dropout": lambda layers, x: layers.dropout(x, outputs_collections=["c"]),
    "o/BatchNorm": lambda layers, x: layers.batch_norm(x, outputs_collections="c"),
    "o/GroupNorm": lambda layers, x: layers.group_norm(x, 2, outputs_collections="c"),
    "o/BiasAdd": lambda layers, x: layers.bias_add(x, outputs_collections="c"),
    "o/m": lambda layers, x: layers.conv2d_in_plane(x, 3, scope="m", outputs_collections="c"),
}


@pytest.mark.parametrize("alias", ALIASES)
def test_layers_note_an_alias_on_what_they_collect(alias):
    from tfdist.models.contrib.layers.utils import convert_collection_to_dict

    with tf.Graph().as_default():
        x = tf.zeros([2, 8, 8, 4])
        with tf.variable_scope("o"):
            ALIASES[alias](tf.contrib.layers, x)
        tf.get_default_graph().clear_collection("c")
        with tf.variable_scope("o", reuse=True):
            made = ALIASES[alias](tf.contrib.layers, x)
        assert made.aliases == [alias]
        assert dict(convert_collection_to_dict("c", clear_collection=True)) == {alias: made}
        assert tf.get_collection("c") == []
