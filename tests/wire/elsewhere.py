"""Another host, as far as this process and its servers know of each other."""

import pytest

from tfdist.wire.peers import frames_choice


def be_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let links of this process take all servers for those of another host."""
    monkeypatch.setattr(frames_choice, "this_host", lambda: "another host")
