"""The last lesson, with its solutions in place: the cluster gets as fast as it was."""

import json
import re
from pathlib import Path

import pytest

LESSON = Path(__file__).parents[2] / "notebooks" / "24_a_slow_cluster_to_repair.ipynb"
SOLUTION = re.compile(r"```python\n(.*?)```", re.DOTALL)

pytestmark = pytest.mark.slow


def test_the_solutions_repair_the_cluster(notebook, capsys):
    cells = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
    told = "".join("".join(each["source"]) for each in cells if each["cell_type"] == "markdown")
    solutions = iter(SOLUTION.findall(told))
    sources = ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]
    for source in sources[:-1]:
        notebook.run(next(solutions) if source.startswith("# Your repair") else source)
    printed = capsys.readouterr().out
    assert printed.count("True") == 4
    assert "False" not in printed
    assert next(solutions, None) is None
    for name, answer in (("24a", "worker:1"), ("24b", "95ms"), ("24c", "worker:2"), ("24d", "40")):
        assert notebook.text(f"%tfdist check {name} {answer}").startswith("Right.")
    notebook.run(sources[-1])
