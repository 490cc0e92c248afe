"""Placement problems made by hand or by chance: no graph, no cluster."""

import random

from tfdist.simulation.placement_problem import PlacementProblem
from tfdist.simulation.step_costs import Links

LINKS = Links(ask_us=40, message_us=300, send_us=20, take_us=60, way_byte_us=1.2e-4, begin_us=450)


class Maker:
    """Collects nodes; `pin` a group to a device, or put a node into the group of another."""

    def __init__(self):
        self.costs, self.inputs, self.sizes, self.groups, self.pins = [], [], {}, [], {}

    def add(self, cost_us, makers=(), size=4_000, group=None, pin=None):
        """Add a node and return its number."""
        node = len(self.costs)
        self.costs.append(float(cost_us))
        self.inputs.append(tuple((maker, 0) for maker in dict.fromkeys(makers)))
        self.sizes[node, 0] = size
        self.groups.append(node if group is None else self.groups[group])
        if pin is not None:
            self.pins[self.groups[node]] = pin
        return node

    def problem(self, devices=2, links=LINKS, **more):
        """Return the problem; all devices are allowed but to what is pinned."""
        number = {group: i for i, group in enumerate(dict.fromkeys(self.groups))}
        allowed = [tuple(range(devices))] * len(number)
        for group, device in self.pins.items():
            allowed[number[group]] = (device,)
        return PlacementProblem(
            tuple(str(i) for i in range(len(self.costs))),
            tuple(self.costs),
            tuple(self.inputs),
            self.sizes,
            tuple(number[group] for group in self.groups),
            tuple(allowed),
            tuple(f"/job:worker/replica:0/task:{i}/device:CPU:0" for i in range(devices)),
            0,
            links,
            state_bytes=more.pop("state_bytes", (0,) * len(number)),
            **more,
        )


def layered(count, seed=0, wide=40):
    """Return layers of nodes, each taking from some of the layer before."""
    chance, made = random.Random(seed), Maker()
    above = [made.add(5) for _ in range(wide)]
    while len(made.costs) < count:
        above = [
            made.add(
                chance.choice([3, 10, 50, 200, 1000]),
                chance.sample(above, chance.randint(1, 3)),
                chance.choice([100, 4_000, 100_000, 1_000_000]),
            )
            for _ in range(wide)
        ]
    return made


def towers(count, seed=0):
    """Return blocks of four branches of convolutions that join again."""
    chance, made = random.Random(seed), Maker()
    x = made.add(5)
    while len(made.costs) < count:
        ends = []
        for _ in range(4):
            y = x
            for _ in range(chance.randint(2, 6)):
                y = made.add(chance.choice([400, 800, 1500]), [y], 400_000)
                y = made.add(20, [y], 400_000)
            ends.append(y)
        x = made.add(60, ends, 800_000)
    return made


def scalars(count, seed=0):
    """Return many nodes of next to no cost: nothing is worth a transfer."""
    chance, made = random.Random(seed), Maker()
    above = [made.add(1) for _ in range(20)]
    while len(made.costs) < count:
        above = [made.add(chance.choice([0.5, 1, 2]), chance.sample(above, 2), 4) for _ in above]
    return made
