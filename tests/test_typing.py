"""Programs that use tfdist are checked against its types: they ship, and fit what is used."""

import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import typed_program

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def test_types_ship_with_the_package():
    """What CI tests is the built wheel."""
    [package] = find_spec("tfdist").submodule_search_locations
    assert (Path(package) / "py.typed").exists()


def test_a_typed_program_runs():
    assert typed_program.main() == 6.0


@pytest.mark.skipif(not PROJECT.exists(), reason="the tests are not in the repository")
def test_mypy_checks_the_program_strictly():
    """The check itself is a run of `mypy`: here it would take longer than all else."""
    mypy = tomllib.loads(PROJECT.read_text())["tool"]["mypy"]
    strict = next(each for each in mypy["overrides"] if each.get("disallow_untyped_defs"))
    assert "tests/typed_program.py" in mypy["files"]
    assert "typed_program" in strict["module"]


def test_names_of_namespaces_are_theirs_in_strict_programs():
    """Without that line a module that only imports names has none for a strict type checker."""
    [package] = map(Path, find_spec("tfdist").submodule_search_locations)
    named = {package / "__init__.py", *(package / "api").rglob("*.py")}
    named.remove(package / "api" / "__init__.py")  # a docstring only
    assert [file for file in named if "\n# mypy: implicit-reexport\n" not in file.read_text()] == []
