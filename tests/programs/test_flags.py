"""Flags of a program: read from the command line when first asked for."""

import subprocess
import sys

import pytest

BEGIN = "import sys; import tfdist as tf; flags = tf.app.flags; FLAGS = flags.FLAGS\n"


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program of its own; flags belong to the process."""
    command = [sys.executable, "-c", BEGIN + program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("program", "arguments", "printed"),
    [
        pytest.param(
            "flags.DEFINE_integer('n', 1, 'how many'); print(FLAGS.n)", ["--n=3"], "3",
            id="read at the first use, before app.run",
        ),
        pytest.param(
            "flags.DEFINE_boolean('b', True, ''); print(FLAGS.b)", ["--nob"], "False",
            id="negated",
        ),
        pytest.param(
            "flags.DEFINE_string('s', 'x', ''); FLAGS.s = 'y'; print(FLAGS.s)", [], "y",
            id="assigned",
        ),
        pytest.param(
            "flags.DEFINE_string('s', 'x', ''); FLAGS._parse_flags();"
            "print([(name.upper(), flag.value) for name, flag in FLAGS.__flags.items()"
            " if name in FLAGS.flag_values_dict() and name == 's'])",
            ["--s=y"], "[('S', 'y')]", id="all of them, as old programs print them",
        ),
        pytest.param(
            "flags.DEFINE_float(flag_name='f', default_value=0.5, docstring=''); print(FLAGS.f)",
            [], "0.5", id="TensorFlow's spellings of the arguments",
        ),
        pytest.param(
            "flags.DEFINE_integer('n', 1, ''); print(FLAGS.n)", ["-f", "kernel.json"], "1",
            id="what a notebook's kernel was started with is left alone",
        ),
        pytest.param(
            "for n in 1, 2: flags.DEFINE_integer('n', n, '')\nprint(FLAGS.n)", [], "2",
            id="the second run of a cell",
        ),
        pytest.param(
            "def main(argv): print(argv[1:], FLAGS.n)\n"
            "flags.DEFINE_integer('n', 1, ''); tf.app.run()",
            ["--n", "3", "rest"], "['rest'] 3", id="app.run calls main with the rest",
        ),
        pytest.param(
            "flags.DEFINE_list('l', [], ''); print(FLAGS.l, 'l' in FLAGS)", ["--l=a,b"],
            "['a', 'b'] True", id="a list",
        ),
    ],
)  # fmt: skip
def test_flags(program, arguments, printed):
    ended = run(program, *arguments)
    assert (ended.stdout.strip(), ended.stderr) == (printed, "")


def test_a_wrong_value_is_told():
    ended = run("flags.DEFINE_integer('n', 1, 'how many'); print(FLAGS.n)", "--n=many")
    assert "flag --n=many: invalid literal for int()" in ended.stderr


def test_help_lists_the_flags_of_the_program():
    ended = run("flags.DEFINE_integer('n', 1, 'how many'); tf.app.run(print)", "--help")
    assert "how many" in ended.stdout
    assert ended.returncode == 1


def test_a_flag_of_another_module_is_not_replaced(tmp_path):
    (tmp_path / "other.py").write_text(f"{BEGIN}flags.DEFINE_integer('n', 1, 'of another')")
    ended = run(
        f"sys.path.append({str(tmp_path)!r}); import other; flags.DEFINE_integer('n', 2, '')"
    )
    assert "DuplicateFlagError: The flag 'n' is defined twice. First from other" in ended.stderr


def test_a_flag_of_absl_gives_way_to_the_program():
    program = (
        "from absl import logging; flags.DEFINE_string('log_dir', 'logs', 'where to')\n"
        "flags.DEFINE_integer('v', 1, 'version'); logging.info('unheard')\n"
        "print(FLAGS.log_dir, FLAGS.v)"
    )
    assert run(program, "--v=2").stdout == "logs 2\n"


def test_app_run_ends_with_what_main_returns():
    assert run("tf.app.run(lambda argv: 3)").returncode == 3


def test_app_run_without_main_is_told():
    assert "which has none: define it" in run("tf.app.run()").stderr
