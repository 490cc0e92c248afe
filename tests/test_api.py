"""The public namespaces hold what the families give, and nothing stands twice."""

import importlib
import pkgutil
from operator import attrgetter

import pytest

import tfdist as tf
from tfdist import ops

# Families whose names live in tf.nn only.
NN_ONLY = {
    "activations", "batch_normalization", "candidate_sampling", "candidate_sampling_learned",
    "convolution_depthwise",
    "convolution_dilated", "convolution_images", "convolution_transposed", "cross_entropy",
    "ctc_decoding", "ctc_loss", "ctc_loss_dense", "dropout", "embedding",
    "embedding_sparse", "morphology", "nn", "normalization", "normalization_local",
    "pooling_fractional", "pooling_images", "pooling_places", "sampled_losses", "softmax",
}  # fmt: skip
# Families that have a namespace of their own.
OWN = {
    "audio": "audio", "bitwise": "bitwise",
    "gather_tree": "contrib.seq2seq", "ragged_functions": "ragged",
    "ragged_operators": "ragged", "ragged_stacks": "ragged", "ragged_values": "ragged",
    "set_operations": "sets",
}  # fmt: skip
FAMILIES = [module.name for module in pkgutil.iter_modules(ops.__path__)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_gives_its_names(family):
    module = importlib.import_module(f"tfdist.ops.{family}")
    home = tf.image if family.startswith("image_") else tf.nn if family in NN_ONLY else tf
    home = attrgetter(OWN[family])(tf) if family in OWN else home
    missing = [name for name in getattr(module, "__all__", ()) if not hasattr(home, name)]
    assert missing == []


def test_compat_v1_is_tf():
    assert tf.compat.v1 is tf


@pytest.mark.parametrize("name", ["ConfigProto", "RunOptions", "RunMetadata", "GraphDef"])
def test_messages_are_names_of_tf(name):
    assert getattr(tf, name).DESCRIPTOR.full_name == f"tensorflow.{name}"


def test_an_unknown_name_is_told_with_its_neighbour():
    with pytest.raises(AttributeError, match=r"near it are tf\.constant") as failure:
        _ = tf.constnat
    assert failure.value.name == "constnat"
