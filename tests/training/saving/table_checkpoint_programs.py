"""A program with tables, which `tf.train.Checkpoint` writes: for either TensorFlow.

This file runs on real TensorFlow's own Python (3.7 or later), by its path, and imports nothing of
ours. To store what 1.15.5 writes:

    cd tests/training/saving && PYTHON_OF_1.15 table_checkpoint_programs.py table_checkpoint_1_15
"""

import sys


def objects(tf):
    """Return a Checkpoint, its tables that steps change, and what fills them."""
    lookup = tf.contrib.lookup
    words = lookup.MutableHashTable(tf.string, tf.int64, -1)
    points = lookup.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0], "points", checkpoint=False)
    dense = lookup.MutableDenseHashTable(
        tf.int64, tf.int64, -1, 99, deleted_key=98, initial_num_buckets=8
    )
    letters = lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))
    checkpoint = tf.train.Checkpoint(
        words=words,
        letters=letters,
        once=lookup.HashTable(letters, -1),
        index=lookup.index_table_from_tensor(tf.constant(["x", "y"]), num_oov_buckets=1),
        inner=tf.train.Checkpoint(v=tf.get_variable("v", initializer=[1.0, 2.0])),
    )
    checkpoint.listed = [points, {"dense": dense}]
    fill = [
        words.insert(tf.constant(["the", "of"]), tf.constant([3, 4], tf.int64)),
        points.insert(tf.constant([1, 2, 3], tf.int64), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        dense.insert(tf.constant([5, 6], tf.int64), tf.constant([25, 36], tf.int64)),
    ]
    return checkpoint, [words, points, dense], fill


def content(session, table):
    """Return the content of a table, by key; of one of buckets all that are there."""
    keys, values = session.run(table.export())
    keys, values = (each.reshape(len(each), -1).tolist() for each in (keys, values))
    rows = [(key, values[index]) for index, key in enumerate(keys)]
    return sorted(row for row in rows if row[0] not in ([98], [99]))


def main():
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.FATAL)
    checkpoint, _, fill = objects(tf)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer(), fill])
        print(checkpoint.save(sys.argv[1] + "/model"))


if __name__ == "__main__":
    main()
