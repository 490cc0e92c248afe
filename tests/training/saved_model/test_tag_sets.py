"""tensorflow.python.tools.saved_model_utils tells what SavedModels hold, as 1.15.5's does."""

import pytest

import tfdist as tf
from tfdist.training.saved_model.tag_sets import (
    get_meta_graph_def,
    get_saved_model_tag_sets,
    read_saved_model,
)


@pytest.fixture
def folder(tmp_path):
    """A SavedModel of two graphs, the second of which is for GPUs."""
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable(1.0, name="v").initializer.run()
        builder = tf.saved_model.builder.SavedModelBuilder(path)
        builder.add_meta_graph_and_variables(session, ["serve"])
        builder.add_meta_graph(["serve", "gpu"])
        builder.save()
    return path


def test_tags_are_those_of_each_graph(folder):
    assert get_saved_model_tag_sets(folder) == [["serve"], ["serve", "gpu"]]
    assert len(read_saved_model(folder).meta_graphs) == 2


@pytest.mark.parametrize("tags", ["serve,gpu", "gpu,serve"])
def test_a_graph_is_found_by_all_its_tags(folder, tags):
    meta = get_meta_graph_def(folder, tags)
    assert list(meta.meta_info_def.tags) == ["serve", "gpu"]
    assert "v" in {node.name for node in meta.graph_def.node}


def test_what_is_not_there_is_told(folder, tmp_path):
    with pytest.raises(RuntimeError, match=r"'gpu' could not be found.*'serve'"):
        get_meta_graph_def(folder, "gpu")
    with pytest.raises(OSError, match="does not exist"):
        get_saved_model_tag_sets(tmp_path / "none")
