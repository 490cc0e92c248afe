"""TensorBoard's own reader finds what a program wrote. It is no dependency: `pip install
tensorboard` to run this."""

import pytest

import tfdist as tf
from tests.training.events import written_events

accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")


@pytest.fixture
def read(tmp_path):
    """What TensorBoard reads of the events of all kinds."""
    folder = str(tmp_path / "logs")
    written_events.write(tf, folder)
    everything = {"tensors": 0, "images": 0, "audio": 0, "histograms": 0, "scalars": 0}
    return accumulators.EventAccumulator(folder, size_guidance=everything).Reload()


def test_the_tags_are_found(read):
    assert read.Tags() == {
        "images": ["picture/image/0"], "audio": ["beep/audio/0"], "histograms": ["weights"],
        "scalars": ["loss", "by hand"], "distributions": ["weights"], "tensors": ["note"],
        "graph": True, "meta_graph": True, "run_metadata": ["step 2"],
    }  # fmt: skip


def test_the_values_are_those_of_the_steps(read):
    assert [(each.step, each.value) for each in read.Scalars("loss")] == [
        (0, -2.125), (1, -2.375), (2, -2.625),
    ]  # fmt: skip
    assert [each.histogram_value.num for each in read.Histograms("weights")] == [3.0] * 3
    assert [(each.width, each.height) for each in read.Images("picture/image/0")] == [(6, 1)] * 3
    assert [each.length_frames for each in read.Audio("beep/audio/0")] == [6] * 3
    assert [each.tensor_proto.string_val[0] for each in read.Tensors("note")] == [
        b"*all* is well"
    ] * 3
    assert read.SummaryMetadata("note").plugin_data.plugin_name == "text"


def test_the_graph_and_the_traced_step_are_found(read):
    assert {node.name for node in read.Graph().node} >= {"inputs/x", "w", "loss"}
    [device] = read.RunMetadata("step 2").step_stats.dev_stats
    assert device.node_stats[0].node_name == "mean"
