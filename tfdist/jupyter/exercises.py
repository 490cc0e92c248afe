"""The exercises of the course's later lessons, one a row: question, truth, and hints."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count

from tfdist.jupyter.grading import Choice, Exercise, Number
from tfdist.jupyter.training_setups import INCEPTION
from tfdist.simulation.scaling import spare_values
from tfdist.simulation.training import TrainingSetup, saturation

TASKS = ("ps:0", "worker:0", "worker:1")
_ALONE = "That is what it would take if nothing else were wrong. Who was second in the timeline?"
SHOP = ("ps:0", "ps:1", "worker:0", "worker:1", "worker:2")
_STRAGGLING = TrainingSetup(compute_s=1.0, straggle_share=0.01, straggle_factor=5.0)


def _enough_servers(workers: int) -> int:
    """Return how many parameter servers of lesson 19 so many workers do not saturate."""
    return next(ps for ps in count(1) if saturation(replace(INCEPTION, ps=ps)) >= workers)


@cache
def _best_spare() -> int:
    """Return how many spare replicas beside ten workers of lesson 23 pay most."""
    points = spare_values(replace(_STRAGGLING, workers=10), 6)
    return max(points, key=lambda each: each.worth).spare


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
        lambda made: _task(made["found"].devices()["total"]),
        "On the other one the four branches of worker:0 would have to cross, and the sum would "
        "have to come back.",
        low="Count what crosses: the four branches of the other worker, and then the sum, to "
        "where it is fetched.",
        after=("found",),
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
        "4 MB go over a way of 20 MB/s. How many milliseconds does that take at least?",
        Number("ms", "50ms", 0.03),
        lambda _: 200.0,
        "4 / 20 of a second; latency comes on top.",
        {5000: "That is the rate by the size; divide the size by the rate."},
        low="Divide the size by the rate, and mind the unit.",
        high="Divide the size by the rate, and mind the unit.",
    ),
    Exercise(
        "21c",
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
        "22c",
        "With the first times, apply takes 25 ms instead of 5. By how many milliseconds is a step "
        "longer?",
        Number("ms", "12ms", 0.05),
        lambda _: 20.0,
        "It is on the critical path, and stays there: all of it counts.",
        {
            0: "Both ways end in apply, so it has no slack.",
            25: "It took 5 ms before. By how much longer does it take?",
        },
        low="Is apply on the critical path? Then all that it takes more counts.",
        high="A step cannot get longer by more than one of its nodes does.",
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
        "With ten workers, at how many per cent of stragglers has every other step one?",
        Number("%", "12%", 0.06),
        lambda _: 100 * (1 - 0.5**0.1),
        "0.933 to the power of 10 is a half.",
        {
            5: "Ten times 5 % is a half, but counts steps with two stragglers twice.",
            50: "Then a step of ten would hardly ever be without one.",
        },
        low="All ten are quick with a probability of (1 - share) to the power of 10.",
        high="All ten are quick with a probability of (1 - share) to the power of 10.",
    ),
    Exercise(
        "23c",
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
        "Which task makes a step of the inherited cluster as long as it is?",
        Choice(SHOP),
        lambda _: "worker:1",
        "Its gradient is eight times as long as the others'.",
        {
            "worker:2": "Something is late there, too. But who is the last that ps:1 waits for?",
            "ps:1": "It waits, most of the time. For whom?",
            "ps:0": "It sends its table, and has done. Follow the path to its longest part.",
            "worker:0": "It gets more than the others. Is it the last to be ready?",
        },
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
    Exercise(
        "24c",
        "Which task gets its tensors late now?",
        Choice(SHOP),
        lambda _: "worker:2",
        "70 ms pass between the end of weights/read on ps:1 and its coming.",
        {
            "worker:0": "It takes its time with 4 MB; but who begins last?",
            "worker:1": "Not any more: compare when each gradient begins.",
            "ps:1": "It waits for a gradient that was late. Why did that begin so late?",
            "ps:0": "It sends only. Who receives, and begins long after that was sent?",
        },
    ),
    Exercise(
        "24d",
        "Ten rows of 1,000 numbers of 4 bytes are needed by worker 0. How many kB have to cross?",
        Number("kB", "12kB", 0.05),
        lambda _: 40.0,
        "And 4,000 kB do cross: the rows are looked up on worker 0, so the whole table comes.",
        {
            4000: "That is what does cross, the whole table. How much is needed of it?",
            4: "That is one row; ten are needed.",
            10: "That is ten thousand numbers, of 4 bytes each.",
        },
        low="Rows times numbers times bytes.",
        high="Rows times numbers times bytes.",
    ),
    Exercise(
        "25a",
        "How many objects does `tfdist manifests ps=1 worker=4 evaluator=1` describe?",
        Number("objects", "6", 0.0),
        lambda _: 8.0,
        "A StatefulSet and a Service for each of three jobs, and two for all.",
        {
            6: "That is what the jobs have each. What is there once for all of them?",
            5: "Is that one for each job? Count what lesson 25 printed for two jobs.",
            14: "A StatefulSet describes all pods of a job, however many those are.",
        },
        low="Two jobs had six. Which of them would a third one have, too?",
        high="A StatefulSet describes all pods of a job: count jobs, not pods.",
    ),
    Exercise(
        "25b",
        "After which of these exit codes does the operator of a TFJob start a server again?",
        Choice(("0", "1", "138", "2")),
        lambda _: "138",
        "From 128 on it makes sense, as when a name is not known yet.",
        {
            "0": "Then it has done what it was to do: it was told to end.",
            "1": "That is a failure that would come again. From which number on is it another one?",
            "2": "It knows no such task, and will know none the next time.",
        },
    ),
    Exercise(
        "25c",
        "A server was told to end, and has steps that still run. Which probe fails?",
        Choice(("both", "liveness", "neither", "readiness")),
        lambda _: "readiness",
        "It takes nothing new, but it answers: to kill it would end the running steps.",
        {
            "liveness": "It answers still. Who fails this one is killed, with its running steps.",
            "both": "Who fails liveness is killed, with its running steps.",
            "neither": "Then new sessions would come to a server that takes none.",
        },
    ),
    Exercise(
        "28a",
        "Dask has four workers, three of them with a task of tfdist and nothing else to do. How "
        "many may it close when it shrinks as far as it can?",
        Number("workers", "2", 0.0),
        lambda _: 1.0,
        "A worker with a task that has seceded is not retired: only the one without goes.",
        {
            3: "Those have tasks, though their threads are free. Does Dask close a worker that "
            "has a task?",
            4: "Then the servers would end with them. What does Dask count as work?",
            0: "One of the four has no task at all.",
        },
        low="Count the workers without a task.",
        high="Count the workers without a task.",
    ),
    Exercise(
        "28b",
        "How much of the 64 kB of points has come through this notebook's process?",
        Choice(("all", "half", "none")),
        lambda _: "none",
        "It knows the partitions by name; who runs the dataset fetches them from who holds them.",
        dict.fromkeys(
            ("all", "half"),
            "The graph has names of partitions, not points. Who asks for the points, and whom?",
        ),
    ),
    Exercise(
        "28c",
        "Which task's end would lose the line?",
        Choice(TASKS),
        lambda _: "ps:0",
        "The variable is in the memory of that task's process, on whichever host it is.",
        dict.fromkeys(("worker:0", "worker:1"), "Where did `tf.device` put the variable?"),
    ),
)


def _task(device: str) -> str:
    """Return "worker:0" of a full device name."""
    return Choice(TASKS).parsed(device)
