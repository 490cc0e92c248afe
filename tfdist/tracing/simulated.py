"""Which devices are simulated: what a name does not tell, and every display says.

A simulated GPU has TensorFlow's name for one, so that programs and other tools take it for one.
Whoever makes a device, or is told of one by another task, notes it here under its full name.
"""

from __future__ import annotations

SIMULATED = "simulated"  # the word in a device's description that says so

_names: set[str] = set()


def note_device(name: str, description: str) -> None:
    """Remember whether the device of that full name is simulated: the last one told of counts."""
    if SIMULATED in description:
        _names.add(name)
    else:
        _names.discard(name)


def marked(name: str, text: str) -> str:
    """Return `text`, which stands for a device, and "(simulated)" if the device is that.

    Example:
      >>> name = "/job:a/replica:0/task:0/device:GPU:0"
      >>> note_device(name, "a simulated GPU")
      >>> marked(name, "gpu:0")
      'gpu:0 (simulated)'
      >>> note_device(name, "")
      >>> marked(name, "gpu:0")
      'gpu:0'
    """
    return f"{text} ({SIMULATED})" if name in _names else text
