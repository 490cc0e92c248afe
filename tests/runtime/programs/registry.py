"""What the programs of this folder share: how they are noted, and what they do now and then.

They run on real TensorFlow's own Python too (3.7 or later), so nothing of ours is imported.
"""

from __future__ import annotations

import collections

import numpy as np

Place = collections.namedtuple("Place", "here there third")
Pair = collections.namedtuple("Pair", "first second")

PROGRAMS = {}


def program(function):
    """Note a program."""
    PROGRAMS[function.__name__] = function
    return function


def failure(run, *args):
    """Return the name of the error that a step ends with."""
    try:
        return run(*args)
    except Exception as error:
        return type(error).__name__


def on(tf, device, function):
    """Return what `function` builds on a device."""
    with tf.device(device):
        return function()


def after(tf, first, value):
    """Return `value`, once `first` has run."""
    with tf.control_dependencies([first]):
        return tf.identity(value)


def error_of(run, *args):
    try:
        return run(*args)
    except Exception as error:
        return error


def plain(value):
    """Return values as JSON can hold them; structures that are no lists say what they are."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bytes):
        return "b:" + value.decode("latin-1")
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, dict):
        return {"dict": [[key, plain(value[key])] for key in sorted(value)]}
    if isinstance(value, tuple):
        return {type(value).__name__: [plain(each) for each in value]}
    return [plain(each) for each in value] if isinstance(value, list) else value
