"""What MkDocs calls: adds the pages that are made of the code, the tables and the notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import api_pages
import cluster_pages
import message_pages
import notebook_pages
import promise_pages
import structure
import table_pages
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
# Heading of the navigation -> the folder of pages that stand under it, the index first.
FOLDERS = {
    "Course": "tutorial",
    "Public names": "reference/api",
    "Ops": "reference/ops",
}


def on_files(files: Files, config) -> Files:
    """Return the files of docs/ and those that are generated; the navigation names them."""
    made = dict(_generated())
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    _fill(config.nav, sorted((path for path in made if path.endswith(".md")), key=_stem))
    return files


def _generated() -> Iterator[tuple[str, str | bytes]]:
    tables = chain(api_pages.pages(), table_pages.pages(), message_pages.pages())
    picture = ("assets/timeline.png", (ROOT / "notebooks/timeline.png").read_bytes())
    own = chain(structure.pages(ROOT), promise_pages.pages(ROOT), cluster_pages.pages())
    return chain([picture], tables, own, notebook_pages.pages(ROOT / "notebooks"))


def _fill(nav: list, paths: list[str]) -> None:
    """Replace the name of a folder in the navigation, at any depth, by its pages."""
    for entry in nav:
        for heading, inside in entry.items() if isinstance(entry, dict) else ():
            if isinstance(inside, list):
                _fill(inside, paths)
            elif heading in FOLDERS:
                entry[heading] = _pages_of(FOLDERS[heading], paths)


def _pages_of(folder: str, paths: list[str]) -> list:
    index = f"{folder}/index.md"
    others = [path for path in paths if path.startswith(f"{folder}/") and path != index]
    return [index, *({_title(path): path} for path in others)]


def _stem(path: str) -> str:
    return path.removesuffix(".md")


def _title(path: str) -> str:
    """Return what the navigation calls a page: "04 where does it run", "tf.train"."""
    return (
        Path(path).stem.replace("_", " ")
        if path.startswith("tutorial/")
        else path.rpartition("/")[2][:-3]
    )
