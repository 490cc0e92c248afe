"""%cluster slow, freeze, delay and its like: what they say, list and refuse, and others say."""

import pytest
from IPython.core.error import UsageError

from tests.jupyter.test_completion import offered
from tests.runtime.blocking import Call, until


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "slow worker:1 3",
            "what worker:1 computes takes 3 times as long; %cluster heal slow worker:1 ends that",
        ),
        ("freeze worker:1", "worker:1 is frozen; %cluster thaw worker:1 ends that"),
        (
            "delay worker:1 ps 30ms",
            "what worker:1 sends to ps:0 comes 30ms late; %cluster heal delay worker:1 ps:0 ends",
        ),
        ("rate * ps:0 10MB/s", "what every task sends to ps:0 goes at 10MB/s"),
        ("drop worker:1 ps:0 5%", "5% of what worker:1 sends to ps:0 is lost"),
        ("cut worker:1|ps:0", "worker:1 and ps:0 are cut off from each other"),
        ("cut worker:1", "worker:1 is cut off from all others; %cluster heal cut worker:1"),
    ],
)
def test_each_says_what_it_does_and_how_it_ends(on_cluster, line, told):
    said = on_cluster.text(f"%cluster {line}")
    assert said.startswith(told)
    cure = said.rpartition("; ")[2].removesuffix(" ends that")
    assert on_cluster.text(cure).startswith("healed: ")
    assert on_cluster.value("cluster").disturbances == ()


def test_faults_are_listed(on_cluster):
    assert on_cluster.text("%cluster faults") == "nothing is disturbed"
    on_cluster.run("%cluster slow worker:1 3\n%cluster cut worker:0|ps:0")
    (shown,) = on_cluster.run("%cluster faults -o faults")
    lines = shown["text/plain"].splitlines()
    assert lines[0].split("  ")[0] == "disturbance"
    assert lines[2].startswith("slow worker:1 3")
    assert lines[3].endswith("%cluster heal cut worker:0|ps:0")
    assert "<table" in shown["text/html"]
    assert [each.verb for each in on_cluster.value("faults")] == ["slow", "cut"]
    status = on_cluster.text("%cluster").splitlines()
    assert status[0].endswith("%cluster faults tells how it is disturbed")
    assert status[1].split()[:3] == ["task", "state", "devices"]
    assert [line.split()[3:6] for line in status[3:]][2] == ["slow", "worker:1", "3"]


def test_of_several_clusters_each_is_named(on_cluster):
    on_cluster.run("%cluster start worker=1 --name other -q -o other")
    on_cluster.run("%cluster slow worker:1 3 --name main")
    assert "main     slow worker:1 3" in on_cluster.text("%cluster faults")
    assert on_cluster.text("%cluster heal") == "nothing was disturbed in cluster 'other'"


def test_healing_tells_what_has_ended_and_what_is_left(on_cluster):
    on_cluster.run("%cluster slow worker:1 3\n%cluster slow worker:0 3\n%cluster freeze ps")
    assert on_cluster.text("%cluster thaw") == "healed: freeze ps:0; 2 left"
    assert on_cluster.text("%cluster heal worker:1") == "healed: slow worker:1 3; 1 left"
    assert on_cluster.text("%cluster heal") == "healed: slow worker:0 3"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("slow worker:7 3", "%cluster slow: no task worker:7; did you mean worker:"),
        ("delay worker:1 ps:0", "%cluster delay: from which task to which, and how much? Try: de"),
        ("drop worker:1 ps:0 150%", "%cluster drop: '150%' is more than all"),
        ("heal delay", "%cluster heal: 'delay' names no disturbance; nothing is disturbed"),
        ("thaw worker:1", "%cluster thaw: 'freeze worker:1' names no disturbance"),
        ("slwo worker:1 3", "%cluster slwo: did you mean %cluster slow? The verbs are status"),
        ("slow worker:1 3 --name none", "no cluster 'none' runs"),
    ],
)
def test_wrong_words_are_told_in_a_line(on_cluster, line, told):
    with pytest.raises(UsageError) as caught:
        on_cluster.run(f"%cluster {line}")
    assert str(caught.value).startswith(told)


def test_a_cluster_that_is_attached_is_refused(on_cluster):
    address = on_cluster.value("cluster").server("worker:1").address
    on_cluster.run(f"%cluster attach worker={address} --name far -q -o far")
    with pytest.raises(UsageError, match="%cluster slow: cluster 'far' is attached"):
        on_cluster.run("%cluster slow worker:0 3 --name far")


def test_why_names_it(on_cluster):
    on_cluster.run("%cluster freeze ps:0")
    call = Call(on_cluster.value("sess").run, "c:0")
    until(lambda: "frozen" in on_cluster.text("%why"))
    (shown, *_) = on_cluster.run("%why")
    told = "Disturbed on purpose (%cluster faults tells more): freeze ps:0."
    assert shown["text/plain"].endswith(told)
    assert "ps:0 is frozen by %cluster freeze; %cluster thaw ps:0 ends that" in shown["text/plain"]
    assert told in shown["text/html"]
    on_cluster.run("%cluster heal")
    assert call.result() == 3


def test_an_error_names_it_and_what_to_do(on_cluster, capsys):
    on_cluster.shell.colors = "nocolor"
    on_cluster.run("%cluster cut worker:1|worker:0")
    options = "tf.RunOptions(timeout_in_ms=50)"
    on_cluster.shell.run_cell(f"sess.run(c, options={options})")
    shown = "".join(capsys.readouterr())
    assert "worker:1 and worker:0 are cut off from each other by %cluster cut" in shown
    assert "What next: %cluster faults tells what is disturbed, %cluster heal ends all" in shown


def test_a_timeline_says_it_below(on_cluster):
    on_cluster.run("%cluster delay worker:1 worker:0 10ms -q\n%trace -q sess.run(c)")
    wrong = "disturbed on purpose: delay worker:1 worker:0 10ms"
    lines = on_cluster.text("%timeline").splitlines()
    assert wrong in lines  # below
    assert [f"; {wrong}; " in line for line in lines if "Timeline of" in line] == [True]


def test_a_context_is_for_one_cell(on_cluster):
    on_cluster.run("with cluster.disturbed('slow worker:1 3'):\n    inside = cluster.disturbances")
    assert [each.words for each in on_cluster.value("inside")] == ["slow worker:1 3"]
    assert on_cluster.text("%cluster faults") == "nothing is disturbed"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%cluster fr", {"freeze"}),
        ("%cluster delay wor", {"worker", "worker:0", "worker:1"}),
        ("%cluster thaw ps", {"ps:0"}),
        ("%cluster heal ", {"delay", "cut", "worker:1", "*"}),
    ],
)
def test_words_complete(on_cluster, line, wanted):
    assert wanted <= offered(on_cluster.shell, line)
