"""The course's exercises: two for each lesson, and what comes of an answer.

`kinds` says what an answer may be, `grading` what it is worth; `course` has all exercises, which
are data, a module for each group of lessons.
"""
