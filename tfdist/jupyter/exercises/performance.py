"""The exercises of lessons 19 to 24: how far it scales, what is late, what a step waits for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count

from tfdist.jupyter.exercises.grading import Exercise
from tfdist.jupyter.exercises.kinds import Choice, Made, Number, Variables
from tfdist.jupyter.training_setups import INCEPTION
from tfdist.simulation.scaling import spare_values
from tfdist.simulation.training import TrainingSetup, saturation
from tfdist.tracing.device_names import short_name

_ALONE = "That is what it would take if nothing else were wrong. Who was second in the timeline?"
_STRAGGLING = TrainingSetup(compute_s=1.0, straggle_share=0.01, straggle_factor=5.0)


def _enough_servers(workers: int) -> int:
    """Return how many parameter servers of lesson 19 so many workers do not saturate."""
    return next(ps for ps in count(1) if saturation(replace(INCEPTION, ps=ps)) >= workers)


@cache
def _best_spare() -> int:
    """Return how many spare replicas beside ten workers of lesson 23 pay most."""
    points = spare_values(replace(_STRAGGLING, workers=10), 6)
    return max(points, key=lambda each: each.worth).spare


def _disturbed(made: Variables, kind: str) -> bool:
    """Return whether the learner's cluster has a disturbance of a kind."""
    return any(each.verb == kind for each in made["cluster"].disturbances)


EXERCISES = (
    Exercise(
        "19a",
        "With 17 parameter servers, training saturates at 241 workers. How many parameter servers "
        "do 400 workers need at least?",
        Number("servers", "20", 0.05),
        lambda _: _enough_servers(400),
        "The limit is proportional to them: each has a card, and all share the bytes. "
        "%whatif train {inception} --ps 29 shows it.",
        {17: "Those saturate at 241 workers. What is the limit of twice as many?"},
        low="Each parameter server adds a card. How many workers does one of 17 keep up with?",
        high="So many would do, and some be idle. How many workers does one of the 17 keep "
        "up with?",
    ),
    Exercise(
        "19b",
        "One gradient of a hundred straggles. How many per cent of the steps of 50 workers have a "
        "straggler in them?",
        Number("%", "12%", 0.04),
        lambda _: 100 * (1 - 0.99**50),
        "No straggler at all has a probability of 0.99 to the power of 50, and the rest is this.",
        {
            50: "50 times 1 % counts a step with two stragglers twice. How probable is it that "
            "all 50 are quick?",
            1: "That is one worker's share; a step waits for all 50.",
            0.99**50 * 100: "That is how many have none.",
        },
        low="A step is slow as soon as one of 50 is. How probable is it that all 50 are quick?",
        high="How probable is it that all 50 are quick, at 0.99 each?",
    ),
    Exercise(
        "20a",
        "Branches run on both workers, and the session fetches `total` through worker:0. On which "
        "task does the optimizer put `total`, which adds up all eight?",
        Choice(("worker:0", "worker:1")),
        lambda made: short_name(made["found"].devices()["total"]),
        "On the other one the four branches of worker:0 would have to cross, and the sum would "
        "have to come back.",
        low="Count what crosses: the four branches of the other worker, and then the sum, to "
        "where it is fetched.",
        after=("found",),
    ),
    Exercise(
        "20b",
        "The placement that was found moves nodes. Which of these must stay where it is, so that "
        "`found.session()` finds the value that `session` has made?",
        Choice(("branch0/0", "start", "total")),
        lambda _: "start",
        "It is a variable: its value is in the memory of its task, and does not move with a node.",
        {
            "branch0/0": "It is computed anew in each step, from what it is sent.",
            "total": "It is computed anew in each step, from what it is sent.",
        },
    ),
    Exercise(
        "21a",
        "A step takes weights from ps:0 to two workers, brings a number back from each, and its "
        "sum to the client. With `delay * * 100ms`, by how many milliseconds is it longer?",
        Number("ms", "50ms", 0.1),
        lambda _: 300.0,
        "Five tensors are late, but those of the two workers travel at the same time: three ways, "
        "one after the other.",
        {
            500: "Five tensors are late, but do they travel one after the other?",
            100: "That is one way. Which other way can only begin when the first has ended?",
            200: "There and back: and how does the sum come to the client?",
        },
        low="Draw which tensor waits for which, and count the ways that follow one another.",
        high="Draw which tensor waits for which: what travels at the same time is late only once.",
    ),
    Exercise(
        "21b",
        "`more` adds 1 to a counter of 0. The answer of the first call is lost, and the program "
        "calls again, this time with success. What does the counter say?",
        Number("", "5", 0.0),
        lambda _: 2.0,
        "Both calls came through; one answer was lost. At least once, and here twice.",
        {
            1: "That would be so if the first call had been lost. It was its answer.",
            0: "The second call had success.",
        },
        low="Which of the two messages was lost, and had the counter changed by then?",
        high="There were two calls.",
    ),
    Exercise(
        "22a",
        "long/b takes 5 ms instead of 30. By how many milliseconds is the step shorter?",
        Number("ms", "12ms", 0.12),
        lambda made: float(made["gain"]),
        "The short way takes 20 ms, whatever the long one does: as soon as that is the longer one, "
        "there is nothing more to gain.",
        {
            25: "That is by how much the node is shorter. Is the step still waiting for it then?",
            0: "Long/b is on the critical path.",
        },
        low="How long is the long way then, and how long is the other one?",
        high="How long is the long way then, and how long is the other one?",
        after=("gain",),
    ),
    Exercise(
        "22b",
        "With the first times, how many milliseconds of slack does short/a have?",
        Number("ms", "12ms", 0.1),
        lambda _: 20.0,
        "40 ms of the long way less 20 ms of the short one; short/b shares it.",
        {
            10: "That is how long it takes. How much longer might it take before anybody waits?",
            40: "That is how long the other way takes.",
            0: "Slack of 0 is what nodes on the critical path have; short/a is not on it.",
            30: "Short/b follows it on the same way, and needs 10 ms, too.",
        },
        low="Compare how long both ways take.",
        high="Compare how long both ways take.",
    ),
    Exercise(
        "23a",
        "Four gradients are needed, six workers compute, one of ten gradients takes five times as "
        "long. How many times as fast as four of four is that?",
        Number("times", "3x", 0.08),
        lambda made: float(made["four"] / made["six"]),
        "A straggler is away for four more steps, and in those the spare replicas are needed.",
        {
            2.2: "That is what the formula says, which takes each step for itself. What does a "
            "straggler do while the others begin the next step?",
            1.5: "That counts machines: six instead of four. Only four gradients are used.",
            1: "Then spare replicas would bring nothing. How often are three of six late?",
        },
        low="With two spare replicas a step waits only if three are still busy.",
        high="A straggler computes for 100 ms. How many steps do the others take meanwhile?",
        after=("four", "six"),
    ),
    Exercise(
        "23b",
        "Ten workers, 1 % of stragglers that take five times as long. How many spare replicas pay "
        "most for the same machines?",
        Number("replicas", "5", 0.0),
        lambda _: _best_spare(),
        "Each costs a tenth of the machines here, and one step of ten has a straggler at all.",
        {
            0: "One step of ten has a straggler, and is five times as long: what does that cost?",
            5: "That is right for 50 workers, where a spare replica costs 2 %. Here it costs 10 %.",
        },
        low="Try spare_values(setup, 6) with workers=10.",
        high="A spare replica costs a tenth of the machines here: try spare_values(setup, 6) with "
        "workers=10.",
    ),
    Exercise(
        "24a",
        "Repair all three causes, so that a step of the inherited cluster takes less than 45 ms.",
        Made(
            ("as_found", "LOOKUP"),
            (
                (
                    lambda made: not _disturbed(made, "slow"),
                    "One machine computes far longer than it should. `%explain before`: which "
                    "task has the longest part of the path?",
                ),
                (
                    lambda made: not _disturbed(made, "delay"),
                    "No machine is slow, but a tensor comes late. `%explain second`: which task "
                    "begins long after what it needs was sent, and by whom?",
                ),
                (
                    lambda made: short_name(made["LOOKUP"]).startswith("ps"),
                    "Nothing is slow and nothing late. How many bytes cross for ten rows of the "
                    "table? `%trace session.run(step)` counts them: where are rows looked up?",
                ),
                (
                    lambda made: made.get("repaired", 45.0) < 45.0,
                    "All three are repaired. Build the program anew, and measure once more, into "
                    "`repaired`.",
                ),
            ),
        ),
        why="Measured, found, repaired, and measured again: three times.",
    ),
    Exercise(
        "24b",
        "You repair what makes the step so long, and nothing else. How many milliseconds will a "
        "step take then?",
        Number("ms", "12ms", 0.12),
        lambda made: float(made["after_first"]),
        "Worker 2 gets its weights 70 ms late and computes for 20 ms; that was hidden behind a "
        "longer way.",
        {
            **dict.fromkeys((22.0, 27.0), _ALONE),
            160: "That is what it took before. Have you repaired it, and run the cell that "
            "measures?",
            65: "Worker 0 waits for the table. Who waits even longer?",
        },
        low="When is each of the other two ready in the timeline? The later one counts.",
        high="When is each of the other two ready in the timeline? If it still takes as long as "
        "before, it is not repaired yet.",
        after=("after_first",),
    ),
)
