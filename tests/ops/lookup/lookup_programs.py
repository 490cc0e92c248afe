"""Programs with lookup tables: what a TensorFlow makes of them; see `queues/queue_programs.py`.

    python -m tests.ops.lookup.lookup_programs "COMMAND THAT RUNS REAL TENSORFLOW 1.15's PYTHON"

(Read by Python 3.7, too, and imports nothing of ours.)
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import warnings

try:
    from tests.ops.queues.queue_programs import told
except ImportError:  # another Python runs this file, by its path
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "queues"))
    from queue_programs import told

HERE = os.path.dirname(os.path.abspath(__file__))
EXPECTED = os.path.join(HERE, "expected_lookup_1_15.json")
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def words(tf, *texts):
    return tf.constant(list(texts), tf.string)


def longs(tf, *numbers):
    return tf.constant(list(numbers), tf.int64)


def file_of(text):
    """Return the name of a file with that text."""
    name = os.path.join(tempfile.mkdtemp(), "words.txt")
    with open(name, "wb") as file:
        file.write(text)
    return name


def sorted_export(tf, table):
    """Return keys and values in an order that no hash decides: both as one string a key."""
    keys, values = table.export()
    joined = tf.strings.join([tf.as_string(k) if k.dtype != tf.string else k
                              for k in (keys, values)], "=")  # fmt: skip
    return tf.gather(
        joined, tf.nn.top_k(-tf.strings.to_hash_bucket(joined, 999983), tf.size(joined))[1]
    )


@program
def static_tables(tf):
    """Not filled, filled, filled again; scalars, matrices and sparse tensors as keys."""
    lookup = tf.contrib.lookup
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    scalar, matrix = table.lookup(tf.constant("b")), table.lookup(tf.constant([["a"], ["z"]]))
    sparse = table.lookup(tf.SparseTensor([[0, 1], [1, 0]], ["b", "q"], [2, 2]))
    return [scalar, table.size(), table.init, [scalar, matrix, sparse.values], table.size(),
            table.init, sorted_export(tf, table)]  # fmt: skip


@program
def shared_by_name(tf):
    """One name is one table: the first one fills it, and other types are an error."""
    lookup = tf.contrib.lookup
    fill = lookup.KeyValueTensorInitializer
    tables = [
        lookup.HashTable(fill(["a"], values), default, shared_name="both", name=name)
        for values, default, name in (([1], -1, "x"), ([2], -2, "y"), (["s"], "", "z"))
    ]
    return [tables[0].init, tables[1].init, tables[1].lookup(words(tf, "a", "b")), tables[2].init]


@program
def the_same_key_twice(tf):
    """With one value, and with two."""
    lookup = tf.contrib.lookup
    steps = []
    for values in ([1, 1], [1, 2]):
        table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a", "a"], values), -1)
        steps += [table.init, table.size(), table.lookup(words(tf, "a"))]
    return steps


@program
def types_of_keys_and_values(tf):
    lookup = tf.contrib.lookup
    steps = []
    for key, value in (("int64", "string"), ("string", "float64"), ("int32", "float32"),
                       ("string", "bool")):  # fmt: skip
        keys, values = (
            tf.constant(["a"]) if each == "string" else tf.cast(tf.constant([1]), each)
            for each in (key, value)
        )
        default = {"string": "-", "bool": False}.get(value, 0)
        table = lookup.HashTable(lookup.KeyValueTensorInitializer(keys, values), default)
        steps += [table.init, table.lookup(keys)]
    return steps


@program
def mutable_tables(tf):
    """Inserted, changed, removed, told; shapes that do not fit."""
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    keys, values = tf.placeholder(tf.string), tf.placeholder(tf.int64)
    insert = table.insert(keys, values)
    found = table.lookup(tf.constant([["a"], ["c"]]))
    return [
        found, (insert, {keys: ["a", "b"], values: [1, 2]}), [found, table.size()],
        (insert, {keys: ["a", "a"], values: [7, 8]}), found,
        table.remove(words(tf, "a", "none")), sorted_export(tf, table),
        (insert, {keys: ["a", "b"], values: [1]}), (insert, {keys: "s", values: 3}), table.size(),
    ]  # fmt: skip


@program
def mutable_tables_of_vectors(tf):
    table = tf.contrib.lookup.MutableHashTable(tf.string, tf.float32, [-1.0, 0.0], "vectors", False)
    keys, values = tf.placeholder(tf.string), tf.placeholder(tf.float32)
    insert = table.insert(keys, values)
    return [
        (insert, {keys: ["a", "b"], values: [[1.0, 2.0], [3.0, 4.0]]}),
        table.lookup(tf.constant([["b"], ["c"]])), table.size(),
        (insert, {keys: ["x"], values: [[1.0, 2.0, 3.0]]}),
        (insert, {keys: ["x"], values: [1.0]}),
    ]  # fmt: skip


@program
def dense_tables(tf):
    """Buckets grow with what is put in, whether it is new or not; two keys are never used."""
    table = tf.contrib.lookup.MutableDenseHashTable(
        tf.int64, tf.int64, -1, empty_key=0, deleted_key=-5, initial_num_buckets=8
    )
    keys = tf.placeholder(tf.int64)
    insert = table.insert(keys, keys)
    told = table.export()[0]
    return [
        (insert, {keys: [3, 9, 12, 22]}), told, (insert, {keys: [3, 9, 12, 22]}), tf.size(told),
        table.lookup(longs(tf, 3, 7, 22)), table.remove(longs(tf, 9, 77)), table.size(),
        (insert, {keys: [0]}), (insert, {keys: [-5]}), table.lookup(longs(tf, 0)),
        (insert, {keys: list(range(1, 50))}), [table.size(), tf.size(told)],
    ]  # fmt: skip


@program
def dense_tables_of_vectors(tf):
    """Keys of two numbers, strings as keys; numbers of buckets that none has."""
    Table = tf.contrib.lookup.MutableDenseHashTable
    pairs = Table(tf.int64, tf.float32, [0.0], [0, 0], [-1, -1], initial_num_buckets=16)
    texts = Table(tf.string, tf.int64, -1, "", "-", initial_num_buckets=16, name="texts")
    keys = tf.constant([[1, 2], [3, 4], [2**40, -7]], tf.int64)
    return [
        pairs.insert(keys, [[1.0], [2.0], [3.0]]), pairs.export(), pairs.lookup(keys[::2]),
        texts.insert(words(tf, "a", "b", "a text longer than eight"), longs(tf, 1, 2, 3)),
        texts.export()[0],
        Table(tf.int64, tf.int64, -1, 0, -1, initial_num_buckets=7).size(),
        Table(tf.int64, tf.int64, -1, 3, 3, initial_num_buckets=8).size(),
    ]  # fmt: skip


@program
def vocabularies(tf):
    """Words to ids and back, with buckets for unknown ones, which hashes choose."""
    lookup = tf.contrib.lookup
    to_id = lookup.index_table_from_tensor(words(tf, "x", "y", "z"), num_oov_buckets=20)
    strong = lookup.index_table_from_tensor(
        longs(tf, 10, 20), 5, dtype=tf.int64, hasher_spec=lookup.StrongHashSpec([1, 2]), name="n"
    )
    to_word = lookup.index_to_string_table_from_tensor(["a", "b"])
    only = lookup.IdTableWithHashBuckets(None, 5, lookup.HasherSpec("legacy", None), name="only")
    static = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(longs(tf, 5, 6), longs(tf, 0, 1)), 2, tf.int32
    )
    return [
        tf.tables_initializer(), to_id.lookup(words(tf, "y", "q", "r", "s")), to_id.size(),
        strong.lookup(longs(tf, 20, 3, 4)), to_word.lookup(longs(tf, 1, 7)),
        only.lookup(words(tf, "a", "b")), only.size(), static.lookup(tf.constant([6, 77, 78])),
    ]  # fmt: skip


@program
def vocabularies_in_files(tf):
    """Lines are ids; columns; fewer lines; a name that is fed."""
    lookup, name = tf.contrib.lookup, tf.constant(file_of(b"emerson\nlake\r\npalmer"))
    to_id = lookup.index_table_from_file(name, num_oov_buckets=1, hasher_spec=lookup.FastHashSpec)
    few = lookup.index_table_from_file(name, vocab_size=2, name="few")
    to_word = lookup.index_to_string_table_from_file(name, default_value="?")
    columns = tf.constant(file_of(b"7,1.5,a\n-8,2e3,b\n"))
    by_column = lookup.HashTable(
        lookup.TextFileInitializer(columns, tf.int64, 0, tf.float32, 1, delimiter=","), 0.0
    )
    asked = words(tf, "lake", "and", "palmer")
    return [
        to_id.lookup(asked), tf.tables_initializer(), to_id.lookup(asked), few.lookup(asked),
        to_word.lookup(longs(tf, 2, 3)), by_column.lookup(longs(tf, -8, 7, 0)),
    ]  # fmt: skip


# Text of a file, key_index, value_index, the types, and vocab_size: what no table is filled with.
BAD_FILES = [
    (b"", -2, -1, "string", "int64", -1),
    (b"", -2, -1, "string", "int64", 9),
    (b"a\nb\n", -2, -1, "string", "int64", 9),
    (b"a\n\nb\n", -2, -1, "string", "int64", -1),
    (b"a,1\nb\n", 0, 1, "string", "int64", -1),
    (b"a,1\nb\n", 0, 1, "string", "int64", 9),
    (b"a,x\n", 0, 1, "string", "int64", -1),
    (b"a,+1\n", 0, 1, "string", "int64", -1),
    (b"a,99999999999\n", 0, 1, "string", "int32", -1),
    (b"a,1\na,2\n", 0, 1, "string", "int64", -1),
    (b"a\nb\n", -2, -1, "string", "int32", -1),
]


@program
def files_that_do_not_fit(tf):
    steps = []
    for text, key, value, key_dtype, value_dtype, size in BAD_FILES:
        table = tf.raw_ops.HashTableV2(key_dtype=key_dtype, value_dtype=value_dtype)
        op = tf.raw_ops.InitializeTableFromTextFileV2(
            table_handle=table, filename=tf.constant(file_of(text)), key_index=key,
            value_index=value, vocab_size=size, delimiter=",",
        )  # fmt: skip
        steps.append(op)
    return steps


@program
def what_a_table_does_not_do(tf):
    """Put into a static table, fill a mutable one, ask with other types and shapes."""
    ops, one = tf.raw_ops, longs(tf, 1)
    static = ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    mutable = ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    key, default = words(tf, "a"), tf.constant(-1, tf.int64)

    def find(keys, default):
        return ops.LookupTableFindV2(table_handle=static, keys=keys, default_value=default)

    return [
        ops.LookupTableExportV2(table_handle=static, Tkeys=tf.string, Tvalues=tf.int64)[1],
        ops.LookupTableInsertV2(table_handle=static, keys=key, values=one),
        ops.LookupTableRemoveV2(table_handle=static, keys=key),
        ops.InitializeTableV2(table_handle=static, keys=key, values=one), find(key, default),
        find(key, one), find(one, default), find(key, tf.constant("x")),
        ops.InitializeTableV2(table_handle=mutable, keys=key, values=one),
    ]  # fmt: skip


@program
def old_spellings(tf):
    """Handles that are references to strings."""
    ops = tf.raw_ops
    table = ops.HashTable(key_dtype=tf.string, value_dtype=tf.int64)
    fill = ops.InitializeTable(table_handle=table, keys=words(tf, "a"), values=longs(tf, 1))
    default = tf.constant(-1, tf.int64)
    found = ops.LookupTableFind(table_handle=table, keys=words(tf, "a", "b"), default_value=default)
    changed = ops.MutableHashTable(key_dtype=tf.string, value_dtype=tf.int64)
    insert = ops.LookupTableInsert(table_handle=changed, keys=words(tf, "a"), values=longs(tf, 5))
    return [
        fill, found, ops.LookupTableSize(table_handle=table), insert,
        ops.LookupTableExport(table_handle=changed, Tkeys=tf.string, Tvalues=tf.int64)[1],
        ops.LookupTableImport(table_handle=changed, keys=words(tf, "x"), values=longs(tf, 6)),
        ops.LookupTableExport(table_handle=changed, Tkeys=tf.string, Tvalues=tf.int64)[0],
    ]  # fmt: skip


@program
def tables_in_branches_and_loops(tf):
    lookup = tf.contrib.lookup
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(["a"], [1]), 0)
    counts = lookup.MutableHashTable(tf.string, tf.int64, 0)
    either = tf.cond(
        tf.placeholder_with_default(True, []), lambda: table.lookup(words(tf, "a")), lambda: [7]
    )

    def count(i):
        with tf.control_dependencies([counts.insert(["n"], counts.lookup(words(tf, "n")) + 2)]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, count, [0], parallel_iterations=1)
    return [table.init, either, loop, counts.lookup(words(tf, "n"))]


def everything(tf):
    return {name: told(tf, function) for name, function in PROGRAMS.items()}


def main():
    """Write what this Python's TensorFlow makes of everything."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.filterwarnings("ignore")
    import tensorflow as tf

    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    json.dump(everything(tf), sys.stdout)


def store(command):
    script = shlex.split(command) + [os.path.abspath(__file__)]  # noqa: RUF005
    done = subprocess.run(script, stdout=subprocess.PIPE, check=True, text=True)
    lines = [
        f"{json.dumps(key)}: {json.dumps(row)}" for key, row in json.loads(done.stdout).items()
    ]
    with open(EXPECTED, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        store(sys.argv[1])
    else:
        main()
