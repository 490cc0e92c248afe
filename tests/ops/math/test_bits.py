"""The smaller namespaces beside what TensorFlow 1.15.5 makes of the same calls."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.ops.differential import outcome
from tests.ops.math.bits_calls import calls, spelled_out
from tests.ops.test_differential import compare_elements
from tfdist.errors import InvalidArgumentError

EXPECTED = json.loads(
    Path(__file__).with_name("expected_bits_1_15.json").read_text(encoding="utf-8")
)

# Calls whose nodes are others.
OTHER_NODES = (
    "gradient(",
    "tf.nn.collapse_repeated",
    "tf.repeat([[1, 2], [3, 4]], [2, 3], axis=-1",
)
LESS_IS_KNOWN = "tf.nn.collapse_repeated"
# Of these the first output only: TensorFlow tells one element too few of the sequences.
FIRST = "tf.nn.fractional"
OWN_NUMBERS = ("random", "fractional_", "learned")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


def evaluate(graph, results):
    with tf.Session(graph=graph) as session:
        return session.run(results)


@pytest.mark.parametrize("source", calls())
def test_a_call_gives_what_it_gives_on_tensorflow(source):
    found, wanted = outcome(tf, spelled_out(source), evaluate), EXPECTED[source]
    for key in ("error", "run_error", "text"):
        assert found.get(key) == wanted.get(key)
    if not source.startswith(OTHER_NODES):
        assert found.get("nodes", "").split(" | ") == wanted.get("nodes", "").split(" | ")
    pairs = list(zip(found.get("outputs", ()), wanted.get("outputs", ()), strict=True))
    for ours, theirs in pairs[: 1 if source.startswith(FIRST) else None]:
        known = [0, 2] if source.startswith(LESS_IS_KNOWN) else [0, 1, 2]
        assert [ours[i] for i in known[: len(ours)]] == [theirs[i] for i in known[: len(theirs)]]
        if len(theirs) > 3 and not any(part in source for part in OWN_NUMBERS):
            compare_elements(ours[0], ours[3], theirs[3])


# quantised types


def test_a_quantised_tensor_goes_through_messages_and_feeds():
    numbers = np.array([(1,), (-3,)], tf.qint8.as_numpy_dtype)
    fed = tf.placeholder(tf.qint8, [2])
    with tf.Session() as session:
        assert session.run(tf.identity(fed), {fed: numbers}).tolist() == [1, -3]
        for array in (numbers, numbers[:1]):
            kept = tf.make_ndarray(tf.make_tensor_proto(array))
            assert (kept.dtype, kept.tolist()) == (array.dtype, array.tolist())
            assert session.run(tf.bitcast(tf.constant(array), tf.int8)).tolist() == [
                element for (element,) in array.tolist()
            ]


def test_quantised_types_are_no_integers():
    assert tf.qint8.is_quantized
    assert not tf.qint8.is_integer
    assert tf.as_dtype("quint8_ref") in tf.QUANTIZED_DTYPES
    with pytest.raises(TypeError, match="qint8 has no least"):
        _ = tf.qint8.max


# gradients of one's own


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def times_w(x):
    return x * tf.get_variable("w", initializer=2.0, use_resource=True)


def test_a_custom_gradient_has_those_of_the_variables_that_are_read():
    def function(x):
        def gradient(dy, variables=None):
            assert [each.name for each in variables] == ["w:0"]
            return dy * 7, [dy * 9]

        return times_w(x), gradient

    x = tf.constant(3.0)
    y = tf.custom_gradient(function)(x)
    assert run(y, tf.gradients(y, [x, *tf.trainable_variables()])) == (6.0, [7.0, 9.0])


@pytest.mark.parametrize(
    ("function", "error"),
    [
        pytest.param(lambda x: (times_w(x), lambda dy: dy), TypeError, id="reads a variable"),
        pytest.param(
            lambda x: (x * tf.get_variable("v", []), lambda dy: dy),
            TypeError,
            id="its variable is no resource",
        ),
        pytest.param(lambda x: (x, lambda dy: [dy, dy]), ValueError, id="one gradient too many"),
    ],
)
def test_a_custom_gradient_that_does_not_fit_is_an_error(function, error):
    x = tf.constant(3.0)
    with pytest.raises(error):
        tf.gradients(tf.custom_gradient(function)(x), x)


def test_a_custom_gradient_takes_no_keywords():
    with pytest.raises(ValueError, match="takes no keywords"):
        tf.custom_gradient(lambda x, k: (x, None))(1.0, k=2)


def test_grad_pass_through_lets_gradients_by():
    x = tf.constant([2.3, 1.0])
    y = tf.grad_pass_through(lambda a: tf.round(a * 3))(x)
    values, (slopes,) = run(y, tf.gradients(y, x))
    assert (values.tolist(), slopes.tolist()) == ([7.0, 3.0], [1.0, 1.0])


def test_recompute_grad_computes_again():
    x = tf.constant(3.0)
    y = tf.recompute_grad(lambda x: tf.square(times_w(x)))(x)
    before = sum(op.type == "Square" for op in x.graph.get_operations())
    slopes = tf.gradients(y, [x, *tf.trainable_variables()])
    again = sum(op.type == "Square" for op in x.graph.get_operations())
    assert run(y, slopes) == (36.0, [24.0, 36.0])
    assert (before, again) == (1, 2)


# templates


def scaled(x, name):
    return x * tf.get_variable(name, shape=[], initializer=tf.constant_initializer(1))


def test_a_template_shares_its_variables_and_nobody_elses():
    first, second = (tf.make_template("scale", scaled, name="by") for _ in range(2))
    names = [first(1.0).name, first(2.0).name, second(3.0).name]
    with tf.variable_scope("outer"):
        names.append(first(4.0).name)
    assert names == ["scale/mul:0", "scale_1/mul:0", "scale_2/mul:0", "outer/scale/mul:0"]
    assert [each.name for each in first.variables] == ["scale/by:0"]
    assert [each.name for each in second.trainable_variables] == ["scale_1/by:0"]


def test_a_template_can_take_its_scope_when_it_is_made():
    with tf.variable_scope("early"):
        template = tf.make_template("scale", scaled, create_scope_now_=True, name="by")
    with tf.variable_scope("late"):
        template(1.0)
    assert [each.name for each in template.variables] == ["early/scale/by:0"]


def test_a_template_makes_no_trainable_variable_later():
    template = tf.make_template("bad", lambda x: x * tf.Variable(1.0))
    template(1.0)
    with pytest.raises(ValueError, match="bad_1/Variable"):
        template(1.0)


# others


@pytest.mark.parametrize("use_resource", [False, True])
def test_batch_scatter_update_sets_rows(use_resource):
    start = np.arange(12.0).reshape(2, 3, 2)
    variable = tf.get_variable("v", initializer=start, use_resource=use_resource)
    changed = tf.batch_scatter_update(variable, [[0, 2], [1, 0]], -np.ones([2, 2, 2]))
    start[[0, 0, 1, 1], [0, 2, 1, 0]] = -1
    np.testing.assert_array_equal(run(changed)[0], start)
    with pytest.raises(ValueError, match="a row for each index"):
        tf.batch_scatter_update(variable, [[0, 2]], -np.ones([2, 2, 2]))


def test_add_check_numerics_ops_names_the_first_that_is_no_number():
    x = tf.placeholder(tf.float32, name="x")
    tf.sqrt(tf.log(x, name="logged"))
    check = tf.add_check_numerics_ops()
    with tf.Session() as session:
        session.run(check, {x: 2.0})
        with pytest.raises(InvalidArgumentError, match="logged:0 : Tensor had NaN"):
            session.run(check, {x: -2.0})
    tf.cond(x > 0, lambda: x, lambda: -x)
    with pytest.raises(ValueError, match="branches and loops"):
        tf.add_check_numerics_ops()


def test_numbers_of_a_seed_are_always_the_same():
    seed = tf.placeholder(tf.int32, [2])
    drawn = tf.random.stateless_normal([100], seed)
    with tf.Session() as session:
        first, second, other = (session.run(drawn, {seed: s}) for s in ([1, 2], [1, 2], [1, 3]))
    assert (first == second).all()
    assert (first != other).all()


def test_gradients_flow_through_samples_of_gamma():
    alpha = tf.constant([2.0, 5.0])
    drawn = tf.random_gamma([20000], alpha, 2.0, seed=3)
    (slope,) = tf.gradients(tf.reduce_mean(drawn, 0), alpha)
    np.testing.assert_allclose(run(slope)[0], [0.5, 0.5], atol=0.02)  # the mean is alpha / 2


def test_a_sampler_learns_what_was_true():
    classes = tf.placeholder(tf.int64, [1, 1])
    _, expected, _ = tf.nn.learned_unigram_candidate_sampler(classes, 1, 4, False, 4)
    with tf.Session() as session:
        counts = [session.run(expected, {classes: [[2]]}).item() for _ in range(3)]
        with pytest.raises(InvalidArgumentError, match=r"in \[0, 4\)"):
            session.run(expected, {classes: [[4]]})
    assert counts == pytest.approx([1.0, 1.6, 2.0])


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_fractional_pooling_pools_what_its_sequences_say(pseudo_random, overlapping):
    x = np.random.default_rng(0).random([2, 11, 9, 3])
    options = {"pseudo_random": pseudo_random, "overlapping": overlapping}
    most = tf.nn.fractional_max_pool(x, [1, 1.7, 1.4, 1], **options)
    mean = tf.nn.fractional_avg_pool(x, [1, 1.7, 1.4, 1], **options)
    for found, function in zip(run(most, mean), (np.max, np.mean), strict=True):
        rows, columns = (np.asarray(each) for each in found[1:])
        assert set(np.diff(rows)) <= {1, 2}
        assert (rows[0], rows[-1], columns[0], columns[-1]) == (0, 11, 0, 9)
        for (i, j), _ in np.ndenumerate(found[0][0, :, :, 0]):
            ends = rows[i + 1] + overlapping, columns[j + 1] + overlapping
            window = x[:, rows[i] : ends[0], columns[j] : ends[1]]
            np.testing.assert_allclose(found[0][:, i, j], function(window, axis=(1, 2)))


def test_what_cannot_be_says_why(tmp_path):
    assert not tf.executing_eagerly()
    for cannot in (tf.enable_eager_execution, tf.enable_v2_behavior, tf.enable_tensor_equality):
        with pytest.raises(NotImplementedError):
            cannot()
    (tmp_path / "ops.so").touch()
    with pytest.raises(NotImplementedError, match="no C\\+\\+ library"):
        tf.load_op_library(str(tmp_path / "ops.so"))
    with pytest.raises(tf.errors.NotFoundError, match=r"nothing\.so"):
        tf.load_op_library("nothing.so")


def test_resources_lie_beside_the_program_that_asks():
    assert tf.resource_loader.get_path_to_datafile(Path(__file__).name) == __file__
    assert tf.resource_loader.load_resource(Path(__file__).name).startswith(b'"""The smaller')


# printing


def test_print_writes_what_it_is_given(capsys):
    values = tf.constant([[1.5, 2.0], [3.0, 4.0]])
    nested = {"b": tf.constant(1), "a": [tf.constant("x"), "y", None]}
    with tf.Session() as session:
        for options in ({}, {"sep": ",", "end": "!\n"}):
            line = tf.print("{}", values, nested, True, output_stream=sys.stdout, **options)
            session.run(line)
        session.run(tf.print(tf.range(10), output_stream=tf.logging.info))
        session.run(tf.print(tf.range(10), summarize=-1))
    rows = "[[1.5 2]\n [3 4]]"
    inner = "{'a': [\"x\", 'y', None], 'b': 1}"
    written = capsys.readouterr()
    assert written.out == f"{{}} {rows} {inner} True\n{{}},{rows},{inner},True!\n"
    assert written.err == "[0 1 2 ... 7 8 9]\n[0 1 2 3 4 5 6 7 8 9]\n"


def test_print_writes_to_files(tmp_path):
    line = tf.print("step", tf.constant(3), output_stream=f"file://{tmp_path}/lines")
    with tf.Session() as session:
        session.run(line)
        session.run(line)
    assert (tmp_path / "lines").read_text() == "step 3\nstep 3\n"


@pytest.mark.parametrize("wrong", [{"foo": 1}, {"output_stream": "stdout"}])
def test_print_knows_its_streams_and_keywords(wrong):
    with pytest.raises(ValueError, match=r"foo|Supported streams"):
        tf.print("x", **wrong)
