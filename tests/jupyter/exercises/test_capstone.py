"""The lesson of repairs, with its solutions in place: the cluster gets as fast as it was."""

import re

import pytest

from tests.jupyter.exercises import lessons

pytestmark = pytest.mark.slow

# After so many repairs, what `%tfdist check 24a` says.
HINTS = ["Not yet. One machine", "Not yet. No machine is slow", "Right."]


def test_the_solutions_repair_the_cluster(notebook, capsys):
    told = lessons.answers(24)
    solutions = iter(re.findall(r"(?s).+?\n(?=%|LOOKUP|\Z)", told["24a"] + "\n"))
    sources = list(lessons.code(24).values())
    for source in sources[:-1]:
        if source == "%tfdist check 24a":
            assert notebook.text(source).startswith(HINTS.pop(0))
        else:
            notebook.run(next(solutions) if source.startswith("# Your repair") else source)
    printed = capsys.readouterr().out
    assert printed.count("True") == 4
    assert "False" not in printed
    assert next(solutions, None) is None
    assert notebook.text(f"%tfdist check 24b {told['24b']}").startswith("Right.")
    notebook.run(sources[-1])
