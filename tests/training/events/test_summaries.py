"""`tf.summary` and the global step against what 1.15.5 made of the same calls, byte for byte."""

import json
import re

import pytest

import tfdist as tf
from tests.training.events.summary_lines import EXPECTED, lines, told

with open(EXPECTED, encoding="utf-8") as _file:
    SAID = json.load(_file)

# What is wrong with types, names and counts has words of its own here.
OWN_WORDS = {"OperatorNotAllowedInGraphError": "TypeError"}


@pytest.mark.parametrize("line", lines())
def test_call_is_as_in_tensorflow(line):
    found, wanted = json.loads(json.dumps(told(tf, line))), SAID[line]
    if "error" in wanted:
        kind = wanted["error"][0]
        assert found["error"][0] == OWN_WORDS.get(kind, kind)
    else:
        assert found == wanted


@pytest.mark.parametrize("line", [line for line in lines() if "global_step" in line])
def test_errors_of_the_global_step_are_told_in_the_same_words(line):
    found, wanted = told(tf, line), SAID[line]
    dtype = r"<dtype: '(\w+)'>"
    if "error" in wanted:
        assert found["error"][1] == re.sub(dtype, r"tf.\1", wanted["error"][1])


def test_names_that_are_changed_are_told(caplog):
    with caplog.at_level("INFO", logger="tensorflow"):
        tf.summary.scalar("a b", 1.0)
    assert "a b" in caplog.text
    assert "a_b" in caplog.text


def test_the_spellings_of_0_x():
    tf.scalar_summary("cross entropy", 1.0)
    tf.histogram_summary("w", [1.0])
    tf.image_summary("i", [[[[1.0]]]], max_images=1)
    tf.audio_summary("a", [[1.0]], 8000.0, max_outputs=1)
    with tf.Session() as session:
        merged = session.run(tf.merge_all_summaries())
    tags = [value.tag for value in tf.Summary.FromString(merged).value]
    assert tags == ["cross entropy", "w", "i/image", "a/audio"]
    assert tf.merge_all_summaries("none") is None
    assert tf.train.SummaryWriter is tf.summary.FileWriter


def test_messages_are_names_of_tf_summary():
    for name in ("Event", "SessionLog", "Summary", "SummaryDescription", "TaggedRunMetadata"):
        assert getattr(tf.summary, name).DESCRIPTOR.full_name == f"tensorflow.{name}"
    with pytest.raises(AttributeError, match=r"near it are tf\.summary\.scalar"):
        _ = tf.summary.scaler


def test_the_largest_number_has_a_bucket():
    most = 1.7976931348623157e308
    made = tf.summary.histogram("h", tf.constant([most, -most], tf.float64))
    with tf.Session() as session:
        [value] = tf.Summary.FromString(session.run(made)).value
    assert (value.histo.num, sum(value.histo.bucket)) == (2.0, 2.0)


def test_a_summary_made_on_a_server_is_the_same():
    server = tf.train.Server.create_local_server()
    try:
        merged = tf.summary.merge([tf.summary.histogram("h", [1.0, 2.0])])
        with tf.Session() as here, tf.Session(server.target) as there:
            assert here.run(merged) == there.run(merged)
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        pytest.param(
            {}, {"global_norm/gradient_norm": 5.0, "loss": 12.5, "gradient_norm/a/v_0": 5.0},
            id="as they are",
        ),
        pytest.param(
            {"gradient_multipliers": {"a/v:0": 2.0}, "clip_gradients": 1.0},
            {"global_norm/gradient_norm": 10.0, "loss": 12.5, "gradient_norm/a/v_0": 1.0,
             "global_norm/clipped_gradient_norm": 1.0},
            id="a name with its output counts, and the norm of a variable is that of what it takes",
        ),
        pytest.param(
            {"gradient_multipliers": {"a/v": 2.0}},
            {"global_norm/gradient_norm": 5.0, "loss": 12.5, "gradient_norm/a/v_0": 5.0},
            id="the name of an operation does not count",
        ),
    ],
)  # fmt: skip
def test_summaries_of_optimize_loss(graph, options, wanted):
    v = tf.get_variable("a/v", initializer=[3.0, 4.0])
    tf.contrib.layers.optimize_loss(
        tf.nn.l2_loss(v), tf.train.create_global_step(), 0.1, "SGD",
        summaries=["loss", "gradient_norm"], **options,
    )  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = tf.Summary.FromString(session.run(tf.summary.merge_all()))
    values = {each.tag: each.simple_value for each in found.value}
    assert values == pytest.approx({f"OptimizeLoss/{tag}": norm for tag, norm in wanted.items()})
