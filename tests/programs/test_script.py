"""`tfdist run`: a program of TensorFlow's runs unchanged, and what it starts as well."""

import subprocess
import sys

import pytest

import tfdist as tf

PROGRAM = """
import subprocess, sys
import tensorflow as tf
tf.app.flags.DEFINE_integer("task", -1, "index")
FLAGS = tf.app.flags.FLAGS

def main(argv):
    if FLAGS.task < 0:
        subprocess.run([sys.executable, sys.argv[0], "--task=3"], check=True)
    with tf.Session() as session:
        print(argv[1:], FLAGS.task, session.run(tf.constant(1) + 2), flush=True)

if __name__ == "__main__":
    tf.app.run()
"""


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "tfdist", "run", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=100, cwd=cwd
    )


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_a_program_and_what_it_starts(program):
    ended = run(program, "rest")
    assert (ended.stdout.splitlines(), ended.stderr) == (["[] 3 3", "['rest'] -1 3"], "")


def test_a_module(program):
    assert run("-m", "program", "--task=1", cwd=program.parent).stdout == "[] 1 3\n"


@pytest.mark.parametrize(
    ("text", "code", "last", "lines"),
    [
        ("import sys; sys.exit(7)", 7, "", 0),
        ("import tensorflow as tf\ntf.constnat", 1, "near it are tf.constant", 4),
        ("1 / 0", 1, "ZeroDivisionError: division by zero", 4),
    ],
    ids=["its exit code is ours", "a missing name", "its error begins where it does"],
)
def test_how_it_ends(tmp_path, text, code, last, lines):
    path = tmp_path / "program.py"
    path.write_text(text)
    ended = run(path)
    assert ended.returncode == code
    assert last in ended.stderr
    assert f'File "{path}"' in ended.stderr or not lines
    assert "runpy" not in ended.stderr


def test_a_missing_file_is_told():
    ended = run("no.py")
    assert (ended.returncode, ended.stderr) == (
        1, "tfdist: cannot use no.py: No such file or directory\n",
    )  # fmt: skip


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable([1.5, 2.0], name="a")
        tf.Variable(3, name="b")
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "m"))


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], "a (DT_FLOAT) [2]\nb (DT_INT32) []\n\n# Total number of params: 3\n"),
        (
            ["--all_tensors"],
            "tensor_name:  a\n[1.5 2. ]\ntensor_name:  b\n3\n# Total number of params: 3\n",
        ),
        (["--tensor_name=a"], "tensor_name:  a\n[1.5 2. ]\n# Total number of params: 3\n"),
        (
            ["--all_tensor_names", "--count_exclude_pattern=^a$"],
            "tensor_name:  a\ntensor_name:  b\n# Total number of params: 1\n",
        ),
    ],
    ids=["types and shapes", "values", "one", "names, and what is not counted"],
)
def test_a_tool_of_tensorflow(checkpoint, options, shown):
    """What TensorFlow 1.15.5 prints for the same checkpoint."""
    ended = run("-m", "tensorflow.python.tools.inspect_checkpoint", "--file_name", checkpoint,
                *options)  # fmt: skip
    assert (ended.stdout, ended.stderr, ended.returncode) == (shown, "", 0)


def test_a_tool_of_tensorflow_without_a_file():
    ended = run("-m", "tensorflow.python.tools.inspect_checkpoint")
    assert (ended.stdout.startswith("inspect_checkpoint needs --file_name"), ended.returncode) == (
        True,
        1,
    )
