"""The first page: each lesson answers a question there, and takes earlier ones for granted."""

import re

from tests.jupyter.exercises import lessons

ROW = re.compile(r"^\| ([^|]+\?) \| \[(\d\d): ([^\]]+)\]\((\S+)\) \| ([\d, ]*) \|$", re.MULTILINE)
ROOT = lessons.NOTEBOOKS.parent


def rows() -> list[tuple[str, ...]]:
    return ROW.findall(lessons.prose(0))


def test_each_lesson_answers_a_question():
    assert [int(number) for _, number, *_ in rows()] == lessons.NUMBERS


def test_links_lead_to_the_lessons():
    for _, number, title, file, _ in rows():
        assert file in lessons.FILES
        assert file == f"{number}_{title.replace(' ', '_')}.ipynb"


def test_what_a_lesson_takes_for_granted_comes_before_it():
    for _, number, _, _, before in rows():
        assert all(0 < int(each) < int(number) for each in re.findall(r"\d+", before))


def test_the_course_is_listed_whole_and_the_first_page_is_found():
    course = (lessons.NOTEBOOKS / "README.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\((\d\d_\w+\.ipynb)\)", course))) == lessons.FILES
    for page in ("README.md", "docs/index.md"):
        assert "00_start_here" in (ROOT / page).read_text(encoding="utf-8")
