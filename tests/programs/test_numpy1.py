"""`tfdist run --numpy1`: what NumPy 2 and later Pythons dropped is there, and told without it."""

import subprocess
import sys

import pytest
from google.protobuf import descriptor_pb2

OLD = [
    ("np.int(3), np.float, np.bool8, np.NINF, np.math.pi > 3", "(3, <class 'float'>, "
     "<class 'numpy.bool'>, -inf, True)"),
    ("np.product([2, 3]), np.alltrue([1, 0]), np.asscalar(one), np.rank(one)",
     "(6, False, 1.5, 1)"),
    ("np.in1d([[1, 2]], [2]).tolist(), np.asfarray([1]).dtype",
     "([False, True], dtype('float64'))"),
    ("np.cast[np.int32]([1.5]).tolist(), np.lib.pad(one, 1, 'edge').shape", "([1], (3,))"),
    ("float(one), int(one), math.floor(one)", "(1.5, 1, 1)"),
    ("'%.2f %s' % (one, one), '%d' % one, '%(a)s' % {'a': 1}", "('1.50 [1.5]', '1', '1')"),
    ("numbers", "array([1.5, 2. ])"),
    ("table", "array([[0., 3.],\n       [0., 4.]])"),
    ("np.array([[1], [2, 3]]).shape, np.asarray([[1], []]).dtype", "((2,), dtype('O'))"),
    ("np.array([one, 2.0], np.float32).tolist(), np.array([300], np.uint8)",
     "([1.5, 2.0], array([44], dtype=uint8))"),
    ("np.array(one, copy=False) is one, np.vstack(each for each in [one, one]).shape",
     "(True, (2, 1))"),
    ("np.fromstring(one.tostring(), np.float64), one.ptp()", "(array([1.5]), 0.0)"),
    ("[np.float32(3)], np.sum(each for each in [1, 2])", "([3.0], 3)"),
    ("np.histogram([1.0, 3.0], 2, normed=True)[0].tolist()", "[0.5, 0.5]"),
    ("other.half(one)", "0.75"),
    ("time.clock() >= 0, fractions.gcd(4, 6), collections.Mapping.__name__",
     "(True, 2, 'Mapping')"),
    ("[h5(each) for each in (b'a', 'a', [b'a', b'bc'], np.bytes_('a'))]",
     "[b'a', 'a', [b'a', b'bc'], b'a']"),
    ("open(__file__, 'rU').readline()", "'import collections, fractions, math, time\\n'"),
]  # fmt: skip
PROGRAM = """import collections, fractions, math, time
import numpy as np
import other
one = np.array([1.5])
numbers = np.zeros(2)
numbers[0] = one
numbers[1] += one * 2 - 1
def h5(value):
    import h5py
    with h5py.File("in memory", driver="core", backing_store=False) as file:
        file.attrs["value"] = value
        assert file.fid.get_file_image()
        return file.attrs["value"].tolist() if isinstance(value, list) else file.attrs["value"]
table = np.zeros([2, 2])
table[:, 1] = [3, 4]
"""


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "tfdist", "run", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=100, cwd=cwd
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("old")
    (found / "other.py").write_text("def half(array):\n    return float(array / 2)\n")
    lines = [f"print(repr(({asked})), end='\\0')\n" for asked, _ in OLD]
    (found / "program.py").write_text(PROGRAM + "".join(lines))
    return found


@pytest.fixture(scope="module")
def printed(folder):
    ended = run("--numpy1", folder / "program.py")
    assert (ended.returncode, ended.stderr) == (0, "")
    return dict(zip((asked for asked, _ in OLD), ended.stdout.split("\0"), strict=False))


@pytest.mark.parametrize(("asked", "expected"), OLD)
def test_what_is_there_again(printed, asked, expected):
    assert printed[asked] == expected


def test_what_a_program_starts_and_modules_have_it_too(folder):
    (folder / "starts.py").write_text(
        "import os, subprocess, sys\nimport tensorflow as tf, numpy as np, other\n"
        "print(np.int(3), other.half(np.array([3.0])), flush=True)\n"
        "sys.argv[1:] or subprocess.run([sys.executable, sys.argv[0], 'last'], check=True)\n"
    )
    ended = run("--numpy1", "-m", "starts", cwd=folder)
    assert (ended.stdout, ended.stderr) == ("3 1.5\n3 1.5\n", "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("np.float(3)", "has no np.float: write float, or run it by `tfdist run --numpy1`, which"),
        ("np.alltrue([1])", "has no np.alltrue: write np.all, or"),
        ("np.zeros(1).tostring()", "has no a.tostring: write a.tobytes(), or"),
        ("float(np.zeros(1))", "makes no number of an array with a dimension, even of one"),
        ("'%d' % np.zeros(1)", "write a.item(), or run"),
        ("np.zeros(2)[0] = np.zeros(1)", "write a.item(), or run"),
        ("np.array([[1], [1, 2]])", "write np.array(..., dtype=object), or run"),
        ("import time; time.clock()", "Python has no time.clock: write time.perf_counter, or run"),
        ("from collections import Iterable", "has no collections.Iterable: write collections.abc"),
        ("import threading; threading.Thread().isAlive()", "write is_alive, or run"),
        ("open('f', 'rU')", "Python 3.11 dropped the mode U of open: leave it out, or run"),
        ("print 'old'", "this is Python 2: `2to3 -w -n FILE`"),
        ("xrange(3)", "this is Python 2"),
        ("import cPickle", "this is Python 2"),
    ],
)
def test_what_is_told(text, told, tmp_path, capsys):
    from tfdist.programs.advice import advice

    with pytest.raises((Exception, SyntaxError)) as caught:
        exec(compile(f"import numpy as np\n{text}", "program.py", "exec"), {})
    assert told in advice(caught.value)


@pytest.mark.parametrize("text", ["1 / 0", "{}.missing", "import numpy; numpy.noname", "unknown"])
def test_nothing_is_told_of_other_errors(text):
    from tfdist.programs.advice import advice

    with pytest.raises(Exception) as caught:  # noqa: PT011
        exec(text, {})
    assert advice(caught.value) == ""


def test_the_advice_stands_below_the_traceback(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("print 'old'\n")
    lines = run(path).stderr.splitlines()
    assert lines[0] == f'  File "{path}", line 1'
    assert lines[-1].startswith("tfdist: this is Python 2: ")


GENERATED = """
import sys
_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
DESCRIPTOR = _descriptor.FileDescriptor(
  name='old_shop.proto', package='shop', syntax='proto3', serialized_options=None,
  serialized_pb=_b('{file}'))
_ITEM = _descriptor.Descriptor(name='Item', full_name='shop.Item', fields=[
  _descriptor.FieldDescriptor(name='price', full_name='shop.Item.price', index=0, number=1)])
"""


def test_messages_that_an_earlier_protoc_generated_are_made(tmp_path):
    """As those of Sonnet and TensorFlow Hub, whose modules protobuf 4 refuses to run."""
    file = descriptor_pb2.FileDescriptorProto(name="old_shop.proto", package="shop")
    file.message_type.add(name="Item").field.add(name="price", number=1, label=1, type=3)
    text = "".join(f"\\x{byte:02x}" for byte in file.SerializeToString())
    (tmp_path / "old_shop_pb2.py").write_text(GENERATED.format(file=text))
    (tmp_path / "program.py").write_text(
        "import old_shop_pb2 as shop\nprint(shop.Item.FromString(shop.Item(price=7)."
        "SerializeToString()).price, shop.DESCRIPTOR.package)\n"
    )
    ended = run("--numpy1", tmp_path / "program.py", cwd=tmp_path)
    assert (ended.stdout, ended.stderr) == ("7 shop\n", "")
