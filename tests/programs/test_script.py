"""`tfdist run`: a program of TensorFlow's runs unchanged, and what it starts as well."""

import subprocess
import sys

import pytest

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
