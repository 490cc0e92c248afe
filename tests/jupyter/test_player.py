"""%timeline --play and `StepPlayer`: what is displayed, and what stays in its place."""

import re

import pytest
from IPython.core.error import UsageError
from ipywidgets.widgets.widget import _instances
from matplotlib.figure import Figure

from tests.plots.samples import three_task_nodes
from tests.tracing.samples import three_tasks
from tfdist.jupyter.live import VIEW, freeze_all
from tfdist.jupyter.player import StepPlayer
from tfdist.protos import pb

TIMES = re.compile(r"\d (µs|ms|s)\b")


@pytest.fixture
def traced(on_cluster):
    """Return a notebook that has traced a step."""
    on_cluster.run("%trace -q -o found c")
    yield on_cluster
    freeze_all()
    assert not _instances


def player():
    return StepPlayer(pb.RunMetadata(step_stats=three_tasks()), nodes=three_task_nodes())


def test_the_magic_shows_a_widget_and_its_still_beside_it(traced):
    shown, beside = traced.run("%timeline --play")
    assert 'class="tfdist-still-' in beside["text/html"]
    assert beside["text/html"].count("<img") == 1
    assert set(shown) == {"text/plain", VIEW}
    assert shown["text/plain"] == "<StepPlayer: 4 nodes on 2 devices, 2 transfers>"


def test_the_next_player_freezes_the_last(traced):
    traced.run("%timeline --play")
    frozen, nothing, shown, _ = traced.run("%timeline --play")
    assert nothing == {"text/plain": ""}
    assert VIEW not in frozen
    assert frozen["text/html"].count("<img") == 1  # the film strip: no moment was looked at
    assert VIEW in shown


def test_freezing_leaves_the_moment_that_was_shown(traced):
    traced.run("player = found.player().show()")
    shown = traced.run("player.freeze(player.scene.span_us / 2); player.freeze()")
    assert len(shown) == 2
    assert shown[0]["text/html"].count("<img") == 2
    told = traced.value("player").caption(traced.value("player").scene.span_us / 2)
    assert shown[0]["text/plain"].startswith(told)
    assert not traced.value("player").is_playing


def test_the_button_of_the_widget_freezes_it(traced):
    traced.run("player = found.player().show()")
    shown = traced.run("player._widget._hear(None, {'do': 'freeze', 'moment': 5.0}, [])")
    assert traced.value("player").moment == 5.0
    assert "image/png" in shown[0]


def test_messages_of_another_kind_do_nothing(traced):
    traced.run("player = found.player().show()")
    assert (
        traced.run("player._widget._hear(None, 'hello', []); player._widget._hear(None, {}, [])")
        == []
    )
    assert traced.value("player").is_playing


def test_off_is_the_film_strip_without_times(traced):
    (shown,) = traced.run("%config TFDist.live = 'off'\n%timeline --play")
    assert shown["text/html"].count("<img") == 1
    assert not TIMES.search(shown["text/plain"])


def test_text_is_told_in_words(traced):
    (shown,) = traced.run("%config TFDist.live = 'text'\n%timeline --play")
    assert set(shown) == {"text/plain"}
    first, *moments = shown["text/plain"].splitlines()
    assert first == "StepPlayer: 4 nodes on 2 devices, 2 transfers."
    assert moments
    assert all(TIMES.search(line) for line in moments)


def test_quiet_shows_nothing_and_save_writes(traced, tmp_path):
    assert traced.run(f"%timeline --play -q --save {tmp_path / 'strip.png'}") == []
    assert (tmp_path / "strip.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("%timeline --play --rpcs", "one of --play, --rpcs and --against"),
        ("%timeline --play --step 7", "step 7: the trace has 1 complete runs"),
        ("%timeline --play sess", "sess is a Session; wanted is a Trace"),
    ],
)
def test_mistakes_are_told_in_a_line(traced, line, told):
    with pytest.raises(UsageError, match=re.escape(told)):
        traced.run(line)


def test_a_step_without_statistics_cannot_be_played():
    with pytest.raises(ValueError, match="nothing to play"):
        StepPlayer(pb.RunMetadata())


def test_figures_of_a_moment_and_of_several():
    assert isinstance(player().figure(100.0), Figure)
    assert len(player().figure().axes) == 5


def test_words_say_what_the_pictures_show():
    assert "worker:0 computes add" in player().to_text()


def test_its_name_is_the_same_in_every_run():
    assert repr(player()) == repr(player()) == "<StepPlayer: 5 nodes on 3 devices, 4 transfers>"
