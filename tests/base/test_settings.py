"""Environment variables: what holds without them, and that a typing error is told."""

import pytest

from tfdist.base.settings import BOUNDS, CHOICES, bound, check_settings, setting


@pytest.mark.parametrize("name", CHOICES)
def test_without_the_variable_the_first_choice_holds(name):
    assert setting(name, {}) == setting(name, {name: ""}) == CHOICES[name][0]


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_is_taken(name):
    for value in CHOICES[name]:
        assert setting(name, {name: value}) == value


@pytest.mark.parametrize("name", CHOICES)
def test_anything_else_is_an_error_that_names_the_choices(name):
    with pytest.raises(ValueError, match=f"{name}='foo': wanted {CHOICES[name][0]}"):
        setting(name, {name: "foo"})
    with pytest.raises(ValueError, match=name):
        check_settings({name: "foo"})


def test_the_environment_of_the_process_is_read_when_it_is_asked_for(monkeypatch):
    monkeypatch.setenv("TFDIST_EXECUTOR", "compiler")
    assert setting("TFDIST_EXECUTOR") == "compiler"
    monkeypatch.setenv("TFDIST_EXECUTOR", "Compiler")
    with pytest.raises(ValueError, match="wanted auto, interpreter or compiler; without it: auto"):
        setting("TFDIST_EXECUTOR")
    with pytest.raises(ValueError, match="TFDIST_EXECUTOR"):
        check_settings()


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_a_whole_number_above_0(name):
    assert bound(name, {}) == bound(name, {name: ""}) == BOUNDS[name]
    assert bound(name, {name: "12"}) == 12
    for nonsense in ("0", "-1", "1.5", "1e6", "many", "\N{SUPERSCRIPT TWO}"):
        with pytest.raises(ValueError, match=f"{name}=.*wanted a whole number above 0; without"):
            check_settings({name: nonsense})
