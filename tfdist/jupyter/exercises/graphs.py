"""The exercises of lessons 1 to 6: graphs, clusters, places, variables."""

from __future__ import annotations

from typing import Any

from tfdist.jupyter.exercises.grading import Exercise
from tfdist.jupyter.exercises.kinds import Choice, Made, Number, Variables
from tfdist.jupyter.exercises.looks import nodes_before, value
from tfdist.tracing.device_names import short_name

_ADDRESSES = "A ClusterSpec takes a dictionary: for each job the list of its addresses."


def _converted(made: Variables, degrees: list[float]) -> list[float]:
    found = value(made, made["fahrenheit"], {made["celsius"]: degrees})
    return [round(float(each), 3) for each in found]


def _addresses(made: Variables) -> list[str]:
    return [each for job in made["mine"].as_dict().values() for each in job]


def _placed(made: Variables) -> Any:
    name = made["beside"].op.name
    return next(each for each in made["session"].placement(made["beside"]) if each.name == name)


def _parts(made: Variables) -> list[Any]:
    return list(made["wide"])


EXERCISES = (
    Exercise(
        "1a",
        "How many nodes run for `session.run([product, total])`?",
        Number("nodes", "7", 0.0),
        lambda _: 4.0,
        "a, b, total and product; total is needed twice, and runs once.",
        {
            2: "Those are fetched. What must run before they can?",
            3: "That is what total alone needs. What does product need besides?",
            5: "`total` is needed twice, but a step runs each node once.",
            6: "`never` and `zero` are in the graph, but who asks for them?",
        },
        low="Go back from what is fetched, edge by edge, and count what you meet.",
        high="Only what the fetches need is run, and each node once. %trace shows it.",
    ),
    Exercise(
        "1b",
        "Make a placeholder `celsius` for any number of temperatures, and a tensor `fahrenheit`: "
        "1.8 times that, plus 32.",
        Made(
            ("celsius", "fahrenheit"),
            (
                (
                    lambda made: made["celsius"].op.type == "Placeholder",
                    "`celsius` is no placeholder. What is fed is described by tf.placeholder.",
                ),
                (
                    lambda made: "Placeholder" in nodes_before(made["fahrenheit"]),
                    "`fahrenheit` does not come from `celsius`: compute with the placeholder "
                    "itself, and the graph gets nodes for it.",
                ),
                (
                    lambda made: len(_converted(made, [0.0, 10.0, 20.0])) == 3,
                    "Three temperatures cannot be fed. Which shape has a length that is known "
                    "only when it runs?",
                ),
                (
                    lambda made: _converted(made, [0.0, 100.0]) == [32.0, 212.0],
                    "0 and 100 degrees should come out as 32 and 212.",
                ),
            ),
        ),
        why="A description, made once; each run feeds other numbers.",
    ),
    Exercise(
        "2a",
        "Three tensors crossed in the step of `result`. How many cross if only `product` is "
        "fetched, with the same feeds?",
        Number("tensors", "7", 0.0),
        lambda _: 1.0,
        "The weights come from ps:0 to worker 0. There the product is made, and there the session "
        "is.",
        {
            0: "The weights are on ps:0, and the product is made on worker 0.",
            2: "Which two? Fetched through worker:0, the product is already where it has to be.",
            3: "Two of the three went to worker 1 and back. Does the product need that task?",
        },
        low="Where are the weights, and where is the product made?",
        high="`product` does not need what is on worker 1. %trace counts what still crosses.",
    ),
    Exercise(
        "2b",
        "Make a graph `mine`, and in it a variable `peek` that finds the weights of this lesson, "
        "though nobody runs an initialiser in that graph.",
        Made(
            ("mine", "peek"),
            (
                (
                    lambda made: made["mine"] is not made["weights"].graph,
                    "`mine` is the graph of this lesson. tf.Graph() makes a new one; `with "
                    "mine.as_default():` builds in it.",
                ),
                (
                    lambda made: made["peek"].graph is made["mine"],
                    "`peek` is not in `mine`: make it inside of `with mine.as_default():`.",
                ),
                (
                    lambda made: short_name(made["peek"].device).startswith("ps"),
                    "A variable belongs to its task. On which one are the weights?",
                ),
                (
                    lambda made: made["peek"].op.name == "weights",
                    "On its task a variable is found by its name. Which name have the weights?",
                ),
                (
                    lambda made: len(value(made, made["peek"])) == 2,
                    "It was found, but it is not two numbers. Give it the shape of the weights.",
                ),
            ),
        ),
        why="The same name on the same task is the same variable, whoever asks.",
    ),
    Exercise(
        "3a",
        "A graph is pinned to worker:1, and the client's session is at ps:0. Who decides where "
        "the nodes run that are not pinned?",
        Choice(("client", "ps:0", "worker:0", "worker:1")),
        lambda _: "ps:0",
        "The server that a session talks to is its master: it places, cuts, and has the parts run.",
        {
            "client": "The client describes the graph and sends it. Whose service takes it?",
            "worker:0": "No session talks to that one. Who is asked?",
            "worker:1": "It runs its part. Who has told it to?",
        },
    ),
    Exercise(
        "3b",
        "Make a ClusterSpec `mine` of one `ps`, three `worker`s and one `evaluator`, each on a "
        "host of its own at port 2222. (The hosts need not exist.)",
        Made(
            ("mine",),
            (
                (lambda made: made["mine"].as_dict(), _ADDRESSES),
                (
                    lambda made: set(made["mine"].jobs) == {"ps", "worker", "evaluator"},
                    "Three jobs are wanted: ps, worker and evaluator. " + _ADDRESSES,
                ),
                (
                    lambda made: (
                        [made["mine"].num_tasks(job) for job in ("ps", "worker", "evaluator")]
                        == [1, 3, 1]
                    ),
                    "One ps, three workers, one evaluator: a task is an address in its job's list.",
                ),
                (
                    lambda made: all(each.endswith(":2222") for each in _addresses(made)),
                    "An address is a host and a port, as in ps0.example.com:2222.",
                ),
                (
                    lambda made: len(set(_addresses(made))) == 5,
                    "Two tasks have one address: the second server would find its port taken.",
                ),
            ),
        ),
        why="That list is all that each of the five servers has to be told, and which entry it is.",
    ),
    Exercise(
        "4a",
        "`table` has 400 kB and is on ps:0. Five nodes on worker 0 take it, and three on worker "
        "1. How many kB cross in a step?",
        Number("kB", "100kB", 0.01),
        lambda _: 800.0,
        "Once to each device that needs it, however many nodes take it there.",
        {
            400: "That is once. How many devices need it?",
            3200: "A tensor crosses once to each device, not once for each node.",
        },
        low="To how many devices does it go?",
        high="A tensor crosses once to each device, however many nodes there take it.",
    ),
    Exercise(
        "4b",
        "Make a tensor `beside`, the mean of `table`, that runs where `table` is: not because you "
        "name the task, but because you name its neighbour.",
        Made(
            ("beside",),
            (
                (
                    lambda made: "VariableV2" in nodes_before(made["beside"]),
                    "`beside` does not come from `table`: tf.reduce_mean(table) is its mean.",
                ),
                (
                    lambda made: not _placed(made).reason.startswith("pinned"),
                    "`beside` asks for a device by name. If the table moves, it stays behind: "
                    "which `with` names a neighbour?",
                ),
                (
                    lambda made: _placed(made).reason.startswith("with table"),
                    "It runs there by chance: `where(beside)` tells the reason. "
                    "tf.colocate_with(table) makes it sure.",
                ),
            ),
        ),
        why="Colocated: wherever the table is put, the mean is made there, and 4 bytes travel.",
    ),
    Exercise(
        "5a",
        "The two clients who take turns, both reading before either writes, do so a hundred times "
        "each. The counter began at 0. What does it say?",
        Number("", "7", 0.0),
        lambda _: 100.0,
        "Of the two writes of each turn one is lost: a hundred turns, a hundred more.",
        {
            200: "That is what assign_add gives, which reads and writes on the task as one act.",
            1: "That was one turn. Each turn begins with what the last one has left.",
        },
        low="What does one turn add, and how many turns are there?",
        high="Both write what they have read, plus one. What is left of the first write?",
    ),
    Exercise(
        "5b",
        "Make a variable `w` of the name `w` with the value 5 on the parameter server, in a "
        "container `mine`, so that it does not touch what is called `w` elsewhere.",
        Made(
            ("w",),
            (
                (
                    lambda made: short_name(made["w"].device).startswith("ps"),
                    "It asks for no parameter server: where would it be?",
                ),
                (
                    lambda made: made["w"].op.name == "w",
                    "Its name in the graph is another one, since that graph has a `w` already. "
                    "Make it in a graph of its own, or after tf.reset_default_graph().",
                ),
                (
                    lambda made: made["w"].op.get_attr("container") == b"mine",
                    "It is not in the container `mine`. Which `with` opens a room of names?",
                ),
                (
                    lambda made: value(made, made["w"]) == 5.0,
                    "It is in its place, but has no value of 5 yet. Has a session of the cluster "
                    "run its initialiser?",
                ),
            ),
        ),
        why="Same task, same name, another room: C, D and the default one have kept theirs.",
    ),
    Exercise(
        "6a",
        'A table of 9,000 rows is in three parts, on ps:0, ps:1 and ps:2. With "mod", on which '
        "server is row 3,000?",
        Choice(("ps:0", "ps:1", "ps:2")),
        lambda _: "ps:0",
        "Dealt like cards: 3,000 is a multiple of three. It is row 1,000 of that part.",
        {
            "ps:1": 'That is where "div" has it, which cuts blocks of 3,000. "mod" deals rows out.',
            "ps:2": "Row 0 is on ps:0, row 1 on ps:1, row 2 on ps:2. And row 3?",
        },
    ),
    Exercise(
        "6b",
        "Make a variable `wide` of 90 rows and 300 columns that is cut into three parts along its "
        "columns, one on each parameter server.",
        Made(
            ("wide",),
            (
                (
                    lambda made: len(_parts(made)) == 3,
                    "It is not three parts. tf.get_variable(..., partitioner=...) cuts a variable.",
                ),
                (
                    lambda made: (
                        {tuple(each.shape.as_list()) for each in _parts(made)} != {(30, 300)}
                    ),
                    "That is cut along the rows. tf.fixed_size_partitioner takes an axis, too.",
                ),
                (
                    lambda made: (
                        {tuple(each.shape.as_list()) for each in _parts(made)} == {(90, 100)}
                    ),
                    "Each part should have 90 rows and 100 columns.",
                ),
                (
                    lambda made: (
                        {short_name(each.device) for each in _parts(made)}
                        == {"ps:0", "ps:1", "ps:2"}
                    ),
                    "The parts are not on three servers. tf.train.replica_device_setter gives "
                    "each the next one.",
                ),
            ),
        ),
        why="Each server can multiply with its columns, and the results stand side by side.",
    ),
)
