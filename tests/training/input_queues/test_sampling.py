"""tf.contrib.training's buckets and samples; the nodes of buckets are those of 1.15.5."""

import json
from pathlib import Path

import numpy as np
import pytest

import tfdist as tf
from tests.training.input_queues import bucket_programs as programs

T = tf.contrib.training
EXPECTED = json.loads(Path(__file__).with_name("expected_buckets_1_15.json").read_text())


@pytest.mark.parametrize("line", programs.LINES)
def test_buckets_have_the_nodes_of_1_15(line):
    assert programs.outcome(tf, line) == EXPECTED[line]


def numbers(count):
    return tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()


def taken(fetched, most=20):
    found = []
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while len(found) < most:
                found.append(session.run(fetched))
        except tf.errors.OutOfRangeError:
            pass
        coordinator.request_stop()
        coordinator.join(threads)
    return found


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        yield


def test_sequences_of_similar_length_are_filled_up_to_the_longest():
    length = numbers(6)
    row = tf.fill([length], length)
    lengths, batch = T.bucket_by_sequence_length(
        length, {"row": row}, 2, [2, 4], dynamic_pad=True, allow_smaller_final_batch=True
    )
    found = sorted((each[0].tolist(), each[1]["row"].tolist()) for each in taken([lengths, batch]))
    assert found == [
        ([0, 1], [[0], [1]]), ([2, 3], [[2, 2, 0], [3, 3, 3]]),
        ([4, 5], [[4, 4, 4, 4, 0], [5, 5, 5, 5, 5]]),
    ]  # fmt: skip


def test_what_is_not_kept_is_in_no_bucket():
    number = numbers(8)
    _, [batch] = T.bucket([number], number % 2, 2, 2, keep_input=number > 3)
    assert sorted(each.tolist() for each in taken(batch)) == [[4, 6], [5, 7]]


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        pytest.param(lambda n: T.bucket([n], n, [2], 2), ValueError, "num_buckets elements",
                     id="a size is missing"),
        pytest.param(lambda n: T.bucket([], n, 2, 2), ValueError, "at least one tensor",
                     id="nothing goes into the buckets"),
        pytest.param(lambda n: T.bucket_by_sequence_length(n, [n], 2, [3, 3]), ValueError,
                     "sequential increasing", id="edges that do not rise"),
        pytest.param(lambda n: T.stratified_sample([n], n, [0.5, 0.1], 2), ValueError,
                     "sum to one", id="no proportions"),
        pytest.param(lambda n: T.stratified_sample([n], n, [0.5, 0.5], 2, [0.0, 1.0]), ValueError,
                     "nonzero target probability", id="a class that never comes"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told(make, error, words):
    with pytest.raises(error, match=words):
        make(tf.constant(1))


@pytest.mark.parametrize("many", [False, True], ids=["one by one", "several at once"])
def test_an_example_is_accepted_by_its_own_probability(many):
    number = tf.range(10) if many else numbers(10)
    odd = T.rejection_sample(
        [number], lambda each: tf.cast(tf.equal(each[0] % 2, 1), tf.float32), 5,
        enqueue_many=many, runtime_checks=True,
    )  # fmt: skip
    assert taken(odd, 1)[0][0].tolist() == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("known", [[0.75, 0.25], None], ids=["known", "estimated"])
def test_classes_have_the_wanted_proportions(known):
    label = tf.cast(tf.equal(numbers(1200) % 4, 0), tf.int32)
    [data], labels = T.stratified_sample([label * 10], label, [0.5, 0.5], 50, known)
    found = taken([data, labels], 8)
    assert np.concatenate([each[1] for each in found]).mean() == pytest.approx(0.5, abs=0.12)
    assert all((data == labels * 10).all() for data, labels in found)


def test_elements_come_as_often_as_their_rates_say():
    made = T.resample_at_rate([tf.constant([5, 6, 7])], [0.0, 400.0, 100.0], seed=1)
    [found] = taken(made, 1)
    counts = [int((found[0] == each).sum()) for each in (5, 6, 7)]
    assert counts[0] == 0
    assert counts[1:] == pytest.approx([400, 100], rel=0.4)
    both, rates = T.weighted_resample([tf.constant([5, 6])], [300.0, 100.0], 200.0, seed=1)
    elements, kept = taken([both[0], rates], 1)[0]
    assert dict(zip(elements.tolist(), kept.tolist(), strict=True)) == pytest.approx(
        {5: 300.0, 6: 100.0}, rel=1e-3
    )


def test_functions_feed_a_queue_until_they_end():
    queue, number = tf.FIFOQueue(10, tf.int32, shapes=[()]), tf.placeholder(tf.int32, [])
    left = iter(range(3))

    def feed():
        for each in left:
            return {number: each}
        raise tf.errors.OutOfRangeError(None, None, "the end")

    runner = T.FeedingQueueRunner(queue, [queue.enqueue(number)], feed_fns=[feed])
    tf.train.add_queue_runner(runner)
    assert [int(each) for each in taken(queue.dequeue())] == [0, 1, 2]
    with pytest.raises(NotImplementedError, match="serialization"):
        runner.to_proto()
    with pytest.raises(ValueError, match="must have the same length"):
        T.FeedingQueueRunner(queue, [queue.enqueue(1)], feed_fns=[])
