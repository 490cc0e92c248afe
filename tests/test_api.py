"""The public namespaces hold what the families give, and nothing stands twice."""

import importlib
import pkgutil
from operator import attrgetter

import pytest

import tfdist as tf
from tfdist import ops

# Folder of ops -> the namespace of its names.
FOLDERS = {"image": "image", "ragged": "ragged"}
# Families that have another one.
OWN = {
    "image.resize_images_v2": "compat.v2.image",
    "nn.gather_tree": "contrib.seq2seq", "image.projective_transforms": "contrib.image",
    "image.resampler": "contrib.resampler",
    "math.bitwise": "bitwise", "ragged.ragged_tensor": "", "signal.wav": "audio",
    "sparse.set_operations": "sets",
} | dict.fromkeys(
    ["convolution.depthwise", "convolution.dilated", "convolution.functions",
     "convolution.morphology", "convolution.transposed", "nn.accidental_hits", "nn.activations",
     "nn.batch_normalization", "nn.bias", "nn.candidate_sampling", "nn.cross_entropy",
     "nn.ctc_decode", "nn.ctc_loss", "nn.dense_ctc_loss", "nn.dropout", "nn.embedding_lookup",
     "nn.embedding_lookup_sparse", "nn.functions", "nn.learned_candidate_sampling",
     "nn.local_response_normalization", "nn.normalization", "nn.sampled_losses",
     "nn.sigmoid_cross_entropy", "nn.softmax", "pooling.argmax_pooling", "pooling.fractional",
     "pooling.functions"],
    "nn",
)  # fmt: skip
FAMILIES = [module.name for module in pkgutil.walk_packages(ops.__path__, "tfdist.ops.")]


def missing(family: str) -> list[str]:
    """Return the names of a family that its namespace does not have."""
    module = importlib.import_module(family)
    name = family.removeprefix("tfdist.ops.")
    namespace = OWN.get(name, FOLDERS.get(name.partition(".")[0], ""))
    home = attrgetter(namespace)(tf) if namespace else tf
    return [name for name in getattr(module, "__all__", ()) if not hasattr(home, name)]


def test_families_give_their_names():
    assert {family: names for family in FAMILIES if (names := missing(family))} == {}


def test_compat_v1_is_tf():
    assert tf.compat.v1 is tf


@pytest.mark.parametrize("name", ["ConfigProto", "RunOptions", "RunMetadata", "GraphDef"])
def test_messages_are_names_of_tf(name):
    assert getattr(tf, name).DESCRIPTOR.full_name == f"tensorflow.{name}"


def test_an_unknown_name_is_told_with_its_neighbour_in_the_same_namespace():
    with pytest.raises(AttributeError, match=r"near it are tf\.keras\.layers\.Dense$"):
        _ = tf.keras.layers.Dens


def test_an_unknown_name_is_told_with_its_neighbour():
    with pytest.raises(AttributeError, match=r"near it are tf\.constant") as failure:
        _ = tf.constnat
    assert failure.value.name == "constnat"
