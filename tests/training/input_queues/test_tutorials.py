"""Input pipelines as tutorials and books of TensorFlow 1.x write them, from files to batches."""

import pytest

import tfdist as tf
from tfdist.protos import pb

LINES = "x1, x2, target\n1., 2., 0\n4., 5, 1\n7., , 0\n"
INSTANCES = {(1.0, 2.0, 0), (4.0, 5.0, 1), (7.0, -1.0, 0)}


@pytest.fixture
def path(tmp_path):
    """Return the path of a table whose last row misses a value."""
    path = tmp_path / "table.csv"
    path.write_text(LINES)
    return str(path)


def instance(filename_queue):
    """Return features and target of one line of the files."""
    _, line = tf.TextLineReader(skip_header_lines=1).read(filename_queue)
    x1, x2, target = tf.decode_csv(line, record_defaults=[[-1.0], [-1.0], [-1]])
    return tf.stack([x1, x2]), target


def batches(session, fetches, coordinator=None):
    """Return all instances, as tuples, that a fetch of batches gives until the data end."""
    found = []
    try:
        while coordinator is None or not coordinator.should_stop():
            features, targets = session.run(fetches)
            rows = zip(features.tolist(), targets.tolist(), strict=True)
            found += [(*row, target) for row, target in rows]
    except tf.errors.OutOfRangeError:
        return found
    raise AssertionError("stopped before the end")


@pytest.fixture
def queues():
    names = tf.FIFOQueue(capacity=10, dtypes=[tf.string], shapes=[()])
    instances = tf.RandomShuffleQueue(
        capacity=10, min_after_dequeue=2, dtypes=[tf.float32, tf.int32], shapes=[[2], []],
        name="instance_q", shared_name="shared_instance_q",
    )  # fmt: skip
    return names, instances


def test_a_file_read_line_by_line(path, queues):
    names, instances = queues
    name = tf.placeholder(tf.string)
    put_name, close_names = names.enqueue([name]), names.close()
    put, close = instances.enqueue(instance(names)), instances.close()
    batch = instances.dequeue_up_to(2)
    with tf.Session() as session:
        session.run(put_name, {name: path})
        session.run(close_names)
        for _ in range(3):
            session.run(put)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(put)
        session.run(close)
        assert set(batches(session, batch)) == INSTANCES


@pytest.mark.parametrize("files", [1, 7])
def test_several_readers_in_one_queue_runner(path, queues, files):
    names, instances = queues
    name = tf.placeholder(tf.string)
    put_name, close_names = names.enqueue([name]), names.close()
    batch = instances.dequeue_up_to(2)
    runner = tf.train.QueueRunner(instances, [instances.enqueue(instance(names)) for _ in range(5)])
    with tf.Session() as session:
        for _ in range(files):
            session.run(put_name, {name: path})
        session.run(close_names)
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coord=coordinator, start=True)
        found = batches(session, batch, coordinator)
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(found) == sorted([*INSTANCES] * files)


def test_one_operation_in_five_threads(path, queues):
    names, instances = queues
    runner = tf.train.QueueRunner(instances, [instances.enqueue(instance(names))] * 5)
    batch = instances.dequeue_up_to(2)
    with tf.Session() as session:
        session.run(names.enqueue([path]))
        session.run(names.close())
        coordinator = tf.train.Coordinator()
        threads = runner.create_threads(session, coord=coordinator, start=True)
        assert set(batches(session, batch)) == INSTANCES
        coordinator.request_stop()
        coordinator.join(threads)


@pytest.mark.parametrize("make", ["batch", "shuffle_batch", "batch_join", "shuffle_batch_join"])
def test_the_convenience_functions(path, make):
    names = tf.train.string_input_producer([path, path], num_epochs=2)
    options = {"capacity": 20, "allow_smaller_final_batch": True}
    if "shuffle" in make:
        options["min_after_dequeue"] = 4
    examples = [instance(names) for _ in range(3)] if "join" in make else instance(names)
    batch = getattr(tf.train, make)(examples, 4, **options)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
        found = batches(session, batch, coordinator)
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(found) == sorted([*INSTANCES] * 4)


def test_file_names_are_looked_up_once(path, tmp_path):
    (tmp_path / "other.csv").write_text(LINES)
    found = tf.train.match_filenames_once(str(tmp_path / "*.csv"))
    queue = tf.train.string_input_producer(found, num_epochs=1, shuffle=False)
    name = queue.dequeue()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        (tmp_path / "late.csv").write_text(LINES)
        tf.train.start_queue_runners(session)
        names = [session.run(name).decode() for _ in range(2)]
    assert names == sorted([path, str(tmp_path / "other.csv")])
    assert found.op.name == "matching_filenames"
    assert tf.local_variables()[0] is found


def test_a_loader_and_a_trainer_share_a_queue_on_a_server():
    """Two programs with graphs and sessions of their own, as on two machines."""

    def queue():
        return tf.FIFOQueue(10, [tf.float32], shapes=[[2]], name="q", shared_name="shared_q")

    with tf.train.Server.create_local_server() as server:
        with tf.Graph().as_default(), tf.Session(server.target) as loader:
            fed = tf.placeholder(tf.float32, [None, 2])
            loader.run(queue().enqueue_many([fed]), {fed: [[1, 2], [3, 4], [5, 6]]})
            loader.run(queue().close())
        with tf.Graph().as_default(), tf.Session(server.target) as trainer:
            two = queue().dequeue_up_to(2)
            assert trainer.run(two).tolist() == [[1, 2], [3, 4]]
            assert trainer.run(two).tolist() == [[5, 6]]
            with pytest.raises(tf.errors.OutOfRangeError):
                trainer.run(two)


def test_how_full_a_queue_is_can_be_told():
    tf.train.string_input_producer(["a", "b"], num_epochs=2, capacity=8)
    [summary] = tf.get_collection(tf.GraphKeys.SUMMARIES)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for thread in threads:
            if "close_on_stop" not in thread.name:
                thread.join()
        [value] = pb.Summary.FromString(session.run(summary)).value
        coordinator.request_stop()
        coordinator.join(threads)
    assert (value.tag, value.simple_value) == ("input_producer/fraction_of_8_full", 0.5)
