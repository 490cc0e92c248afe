"""Lookup tables: what 1.15.5 made of the programs, and what goes beyond one session and graph."""

import json
from contextlib import ExitStack

import numpy as np
import pytest

import tfdist as tf
from tests.ops.lookup.lookup_programs import EXPECTED, PROGRAMS, told
from tfdist.ops.lookup.buckets import Buckets
from tfdist.wire.server import start_servers

with open(EXPECTED, encoding="utf-8") as _file:
    SAID = json.load(_file)


@pytest.fixture(params=["interpreter", "compiler"])
def executor(request, monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", request.param)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as own:
        yield own


# What both texts must have in common; the rest names the table or the file in other ways.
PHRASES = (
    "Table not initialized", "has different value for same key", "Conflicting key/value dtypes",
    "Signature mismatch", "Expected shape", "is not allowed", "Number of buckets must be at least",
    "Empty and deleted keys cannot be equal", "is not initialized", "not supported by",
    "is not initializable", "empty line found at position", "Invalid number of columns",
    "in line 0 is not a valid", "Value index for line number", "Invalid vocab_size",
    "Read less bytes than requested",
)  # fmt: skip


def phrase(text):
    """Return the phrase of a text by which programs know the error."""
    return next((each for each in PHRASES if each in text), text)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.usefixtures("executor")
def test_program_is_as_in_tensorflow(name):
    found, wanted = told(tf, PROGRAMS[name]), SAID[name]
    assert [named(node) for node in found["nodes"] if is_of_table(node)] == [
        named(node) for node in wanted["nodes"] if is_of_table(node)
    ]
    for step, (ours, theirs) in enumerate(zip(found["outcomes"], wanted["outcomes"], strict=True)):
        if isinstance(theirs, dict):
            assert isinstance(ours, dict), (step, ours, theirs)
            assert ours["error"] == theirs["error"], (step, ours, theirs)
            assert phrase(theirs["text"]) in ours["text"], (step, ours["text"], theirs["text"])
        else:
            assert ours == theirs, step


def is_of_table(node):
    return "Table" in node[1] or "HashBucket" in node[1]


def named(node):
    """Return a node without what is another one each time, and floats in writing."""
    name, op, inputs, attrs = node
    kept = {k: v for k, v in attrs.items() if k not in ("shared_name", "max_load_factor")}
    return [name, op, inputs, kept]


@pytest.mark.parametrize("types", [("float32", "int64"), ("int32", "int64"), ("string", "uint8")])
def test_types_that_no_table_has_are_told_with_those_that_are_there(types):
    key, value = types
    table = tf.raw_ops.HashTableV2(key_dtype=key, value_dtype=value)
    told = f"keys of type {key} and values of type {value}; there are.* int64: int32 int64 string"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=told):
        session.run(tf.raw_ops.LookupTableSizeV2(table))


def test_a_static_table_is_one_for_all_sessions_of_its_task():
    """HashTable without a shared name is each session's own, StaticHashTable is not."""
    lookup = tf.contrib.lookup
    fill = [lookup.KeyValueTensorInitializer(["a"], [1]) for _ in range(2)]
    shared, own = tf.lookup.StaticHashTable(fill[0], 0), lookup.HashTable(fill[1], 0)
    key = tf.constant("a")
    server = tf.train.Server.create_local_server()
    try:
        with tf.Session(server.target) as first:
            first.run(tf.tables_initializer())
            assert first.run([shared.lookup(key), own.lookup(key)]) == [1, 1]
        with tf.Session(server.target) as second:
            assert second.run(shared.lookup(key)) == 1
            with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
                second.run(own.lookup(key))
            tf.Session.reset(server.target)
        with (
            tf.Session(server.target) as third,
            pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"),
        ):
            third.run(shared.lookup(key))
    finally:
        server.stop()


def test_a_table_of_another_task_is_asked_there():
    """What is looked up crosses, the table does not."""
    with tf.device("/job:ps"):
        table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    with tf.device("/job:worker"):
        insert = table.insert(["a", "b"], [1, 2])
        found = table.lookup(tf.constant(["b", "z"])) * 10
    with ExitStack() as stack:
        _, worker = map(stack.enter_context, start_servers({"ps": 1, "worker": 1}))
        with tf.Session(worker.target) as session:
            session.run(insert)
            assert session.run(found).tolist() == [20, -10]
            where = {node.name: node.device for node in session.placement(found)}
    ask = next(name for name in where if "lookup_table_find/" in name)
    assert "/job:ps/" in where[ask]


def test_tables_are_saved_and_restored(tmp_path):
    """Strings and numbers, vectors, and buckets after some keys were removed."""
    lookup = tf.contrib.lookup
    plain = lookup.MutableHashTable(tf.string, tf.int64, -1, name="plain")
    vectors = lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0], name="vectors")
    dense = lookup.MutableDenseHashTable(tf.int64, tf.int64, -1, 0, -1, 8, name="dense")
    ids = tf.constant([3, 9, 11, 19, 27, 35], tf.int64)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run([plain.insert(["a", "b"], [1, 2]), dense.insert(ids, ids * 2)])
        session.run([vectors.insert(ids[:2], [[1.0, 2.0], [3.0, 4.0]]), dense.remove(ids[:2])])
        path = saver.save(session, f"{tmp_path}/model")
    names = dict(tf.train.list_variables(path))
    assert names["plain-keys"] == [2]
    assert names["dense-keys"] == names["dense-values"] == [8, 1]
    with tf.Session() as session:
        session.run(plain.insert(["gone"], [7]))
        saver.restore(session, path)
        assert session.run(plain.lookup(tf.constant(["a", "b", "gone"]))).tolist() == [1, 2, -1]
        assert session.run(vectors.lookup(ids[:2])).tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert session.run(dense.lookup(ids)).tolist() == [-1, -1, 22, 38, 54, 70]


def test_a_dataset_looks_up():
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
    dataset = tf.data.Dataset.from_tensor_slices(["b", "z"]).map(table.lookup)
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run([tf.tables_initializer(), iterator.initializer])
        assert [session.run(following) for _ in range(2)] == [1, 2]


def test_a_table_grows_and_forgets():
    """Rows of removed keys are used again, and those of others stay what they are."""
    table = tf.contrib.lookup.MutableHashTable(tf.int64, tf.int64, -1)
    keys = tf.placeholder(tf.int64, [None])
    insert, remove, found = table.insert(keys, keys * 3), table.remove(keys), table.lookup(keys)
    with tf.Session() as session:
        for start in range(0, 1000, 100):
            session.run(insert, {keys: np.arange(start, start + 100)})
            session.run(remove, {keys: np.arange(start, start + 90)})
        assert session.run(table.size()) == 100
        kept = np.arange(1000)[np.arange(1000) % 100 >= 90]
        assert session.run(found, {keys: kept}).tolist() == (kept * 3).tolist()
        assert set(session.run(found, {keys: np.arange(90)})) == {-1}


def test_every_key_has_a_bucket_of_its_own_that_a_search_finds():
    """From the bucket of its hash on, with steps that grow by one, no bucket is free before."""
    buckets = Buckets(0, -1, 64, 0.8)
    keys = np.arange(1, 51)[:, None] * 64  # all begin at one bucket
    places = buckets.places(keys)
    assert len(set(places)) == 50
    steps = np.cumsum(np.arange(64)) % 64
    taken = set(places)
    for place in places:
        before = steps[: list(steps).index(place)]
        assert set(before) <= taken


@pytest.mark.parametrize("key_type", [tf.int32, tf.float32])
def test_vocabularies_have_keys_of_int64_or_string(key_type):
    """As on 1.15.5; int32 keys are looked up in a table of int64."""
    ids = tf.constant([0, 1], tf.int64)
    pairs = tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2], key_type), ids)
    wanted = r"Invalid key dtype, expected one of \(tf.int64, tf.string\), but got"
    with pytest.raises(TypeError, match=wanted):
        tf.lookup.StaticVocabularyTable(pairs, 2)
    with pytest.raises(TypeError, match=wanted):
        tf.contrib.lookup.IdTableWithHashBuckets(tf.contrib.lookup.HashTable(pairs, -1), 2)
