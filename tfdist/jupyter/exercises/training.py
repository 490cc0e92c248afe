"""The exercises of lessons 13 to 18: many models, replicas, checkpoints, and the instruments."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter.exercises.grading import Exercise
from tfdist.jupyter.exercises.kinds import Choice, Made, Number, Variables


def _transfers(made: Variables) -> list[Any]:
    return [row for row in made["mine"].rows() if row.kind == "transfer"]


EXERCISES = (
    Exercise(
        "13a",
        "Before they are cleared, six models are on three servers, and each calls a variable "
        "`network/weights`. How many of that name does one server hold?",
        Number("", "5", 0.0),
        lambda _: 2.0,
        "Two models on each server, in two containers.",
        {
            1: "Then the second model would have written over the first. What keeps them apart?",
            6: "The models are spread over three servers.",
            3: "That is how many servers there are.",
        },
        low="How many models are on one server, and what keeps their variables apart?",
        high="How many models are on one server?",
    ),
    Exercise(
        "13b",
        "The ensemble reads 100 digits in a step. How many bytes of guesses cross to worker:0? "
        "(A guess is ten numbers of 4 bytes for each digit.)",
        Number("bytes", "500", 0.01),
        lambda _: 8000.0,
        "4,000 bytes from each of the two members that are elsewhere.",
        {
            12000: "Three members guess, but one of them is on worker:0 itself.",
            4000: "That is one member's. How many are on other tasks?",
            2000: "A number has 4 bytes.",
        },
        low="Ten numbers of 4 bytes for each digit, from each member that is elsewhere.",
        high="Which of the members are on another task than the ensemble?",
    ),
    Exercise(
        "14a",
        "Two workers in step make 300 updates together. How many gradients have they computed for "
        "them?",
        Number("gradients", "50", 0.0),
        lambda _: 600.0,
        "Two for each update, of which the mean is applied.",
        {
            300: "That is asynchronous training, where each gradient is an update of its own.",
            150: "An update takes the mean of several gradients, not the other way round.",
        },
        low="How many gradients does SyncReplicasOptimizer collect for one update here?",
        high="How many gradients does SyncReplicasOptimizer collect for one update here?",
    ),
    Exercise(
        "14b",
        "The network is cut in two. 50 digits of 64 numbers go to each worker, and 50 times 10 "
        "numbers come back from it. How many kB cross before the loss is known?",
        Number("kB", "10kB", 0.01),
        lambda _: 29.6,
        "12.8 kB there and 2 kB back, for each of two workers.",
        {
            14.8: "That is one worker's. Every digit has to go to both.",
            25.6: "That is the way there. What comes back from each half?",
            27.6: "Both halves send what they have made: only the parameter server adds them.",
            7.4: "A number has 4 bytes, and there are two workers.",
        },
        low="Count for one worker there and back, 4 bytes a number; then for both.",
        high="Count for one worker there and back, 4 bytes a number; then for both.",
    ),
    Exercise(
        "15a",
        "Nobody waits, and three workers are equally quick. How stale is a gradient on average?",
        Number("updates", "7", 0.1),
        lambda _: 2.0,
        "While one computes, each of the two others makes one update.",
        {
            3: "Does a worker miss an update of its own while it computes?",
            1: "There are two others.",
            0: "That would be so if the others did nothing while one computes.",
        },
        low="How many updates do the others make while one computes?",
        high="How many updates do the others make while one computes?",
    ),
    Exercise(
        "15b",
        "In 60 updates of the first two of three, the workers gave 87, 86 and 9 gradients. How "
        "many of the 182 were applied?",
        Number("gradients", "50", 0.0),
        lambda _: 120.0,
        "Two for each update. The rest came too late and was dropped.",
        {
            182: "An update takes the first two. What becomes of what comes after?",
            60: "Each update is the mean of how many gradients?",
            173: "The slow worker's were mostly dropped, but some of the others' were, too.",
            180: "Three are given, and two of them are taken.",
        },
        low="How many gradients does an update take?",
        high="How many gradients does an update take?",
    ),
    Exercise(
        "16a",
        "A checkpoint is written every 25 steps; the parameter server is killed after step 95. "
        "How many steps are made twice?",
        Number("steps", "7", 0.0),
        lambda _: 20.0,
        "It begins again from step 75, so steps 76 to 95 are made once more.",
        {
            75: "That is the step that it goes back to. How many were made since?",
            95: "Then nothing would have been saved. Which was the last checkpoint?",
            25: "That is the most that can be lost. How many steps are behind the last checkpoint?",
            5: "The checkpoint of step 100 was not written any more.",
        },
        low="Which was the last checkpoint, and how many steps were made since?",
        high="Which was the last checkpoint, and how many steps were made since?",
    ),
    Exercise(
        "16b",
        "The network gets one layer more: another matrix of weights, and biases. How many "
        "variables are in the checkpoint then? (Now there are 9.)",
        Number("variables", "50", 0.0),
        lambda _: 15.0,
        "Each of the two has two averages of Adam's beside it.",
        {
            11: "Adam keeps something for each of the new ones, too.",
            13: "Adam keeps two averages for each variable.",
            18: "The step and Adam's two powers are there once, however many layers there are.",
        },
        low="How many variables does Adam keep for each that it trains?",
        high="How many variables does Adam keep for each that it trains?",
    ),
    Exercise(
        "17a",
        "The session is at worker:0, which is TensorFlow's, instead of ps:0. Who cuts the graph "
        "and has the parts run?",
        Choice(("client", "ps:0", "worker:0", "worker:1")),
        lambda _: "worker:0",
        "The server that is asked is the master, whichever kind it is of.",
        {
            "ps:0": "So it was when the session was there. Who is asked now?",
            "worker:1": "It runs its part. Who is asked?",
            "client": "The client sends the graph. Who takes it?",
        },
    ),
    Exercise(
        "17b",
        "Which of these tells nothing of what goes on at a TensorFlow server?",
        Choice(("placement", "trace", "why")),
        lambda _: "why",
        "Only tfdist's servers know what their steps wait for; so it says: not available.",
        {
            "trace": "The kernels of TensorFlow's workers were in the picture.",
            "placement": "For TensorFlow's masters it is foretold by TensorFlow's rules.",
        },
    ),
    Exercise(
        "18a",
        "Some step of a training makes a weight infinite. Which of the magics shows at which step?",
        Choice(("graph", "histograms", "placement", "queues", "timeline")),
        lambda _: "histograms",
        "Its column `not finite` counts them, step by step with --into.",
        {
            "graph": "It shows what will be made. Values are only there when it runs.",
            "placement": "It tells where nodes run. Who looks at values?",
            "queues": "It tells how full queues are. Who looks at values?",
            "timeline": "It tells when each node ran. Who looks at values?",
        },
    ),
    Exercise(
        "18b",
        "Trace something in `session` that makes exactly one tensor cross, and keep the trace: "
        "`%trace -q -o mine session.run(...)`.",
        Made(
            ("mine",),
            (
                (
                    lambda made: made["mine"].rows(),
                    "`mine` is no trace with something in it. -o keeps what %trace has recorded.",
                ),
                (
                    lambda made: _transfers(made),
                    "Nothing crosses. The session is at worker 0: what is on another task, and is "
                    "fetched?",
                ),
                (
                    lambda made: len(_transfers(made)) == 1,
                    "More than one crosses; `%timeline mine` counts them. What is needed by less "
                    "than a whole training step?",
                ),
            ),
        ),
        why="One arrow in the picture, one row of the kind transfer in the trace.",
    ),
)
