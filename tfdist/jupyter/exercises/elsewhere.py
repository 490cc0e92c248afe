"""The exercises of lessons 25 to 28: clusters that others start, on Kubernetes, SLURM and Dask."""

from __future__ import annotations

from tfdist.jupyter.exercises.grading import Exercise
from tfdist.jupyter.exercises.kinds import Choice, Made, Number

TASKS = ("ps:0", "worker:0", "worker:1")

EXERCISES = (
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
        "26a",
        "Four processes on the nodes n1 and n2, two on each, with --distribution=cyclic: ps=1 and "
        "worker=3. On which node is worker:1?",
        Choice(("n1", "n2")),
        lambda _: "n1",
        "It is rank 2, and ranks go round the nodes: n1, n2, n1, n2.",
        {"n2": "With `block` it would be so. Which rank is worker:1, and where do ranks go?"},
    ),
    Exercise(
        "26b",
        "`srun --ntasks=3 tfdist serve --from slurm ps=1 worker=1 evaluator=1`: which task is rank "
        "0?",
        Choice(("evaluator:0", "ps:0", "worker:0")),
        lambda _: "evaluator:0",
        "Ranks go to jobs in the order of their names, however they were typed.",
        {
            "ps:0": "It was typed first. But three processes have to agree without a word: which "
            "order of jobs do all know?",
            "worker:0": "Ranks go to jobs in the order of their names.",
        },
    ),
    Exercise(
        "27a",
        "A server crashes, so that its process is gone. In which of the four places is the "
        "notebook gone, too?",
        Choice(("Dask", "MPI", "kernel", "processes")),
        lambda _: "kernel",
        "There the servers are the notebook's own process; elsewhere each has one.",
        dict.fromkeys(
            ("Dask", "MPI", "processes"),
            "There a server has a process of its own. Whose process has the notebook?",
        ),
    ),
    Exercise(
        "27b",
        "A fifth place: start a cluster of another name with processes for its servers, and leave "
        "in `mine` the losses that `trained` gives there.",
        Made(
            ("mine",),
            (
                (
                    lambda made: made["mine"] is not made["losses"]["kernel"],
                    "Those are the losses of the first place, taken over. Train once more.",
                ),
                (
                    lambda made: len(made["mine"]) == len(made["losses"]["kernel"]),
                    "`mine` should be what `trained(...)` returns: its losses, one for each step.",
                ),
                (
                    lambda made: made["mine"] == made["losses"]["kernel"],
                    "These are other losses. Has the cluster one ps and two workers, and the "
                    "program not been changed?",
                ),
            ),
        ),
        why="Alike to the last bit, and nothing of the program was changed.",
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
        "Which task's end would lose the line?",
        Choice(TASKS),
        lambda _: "ps:0",
        "The variable is in the memory of that task's process, on whichever host it is.",
        dict.fromkeys(("worker:0", "worker:1"), "Where did `tf.device` put the variable?"),
    ),
)
