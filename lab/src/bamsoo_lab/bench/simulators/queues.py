"""Queues with chance in them, simulated by the package simpy."""

from collections.abc import Generator
from typing import Any

import numpy as np

from bamsoo.space import Int, Real

from ..errors import require
from .simulator import Simulate, simulator

OPEN, SHIFT = 720.0, 240.0
"""Minutes of a day, and of each of its three shifts."""


@simulator(
    "clinic",
    "noise",
    "simpy",
    "noisy",
    space={
        **{f"staff{i}": Int(1, 8) for i in range(3)},
        "call_at": Int(1, 30),
        "booked_every": Real(4.0, 40.0, log=True),
        "urgent_share": Real(0.0, 1.0),
    },
)
def clinic(instance: int) -> Simulate:
    """A day at a clinic: wages, waiting and patients who leave, as the cost per hour.

    Patients walk in at random, some of them urgent, and others are booked at equal intervals. If
    too many wait, one more doctor is called for an hour. The instance determines how many come,
    and when.
    """
    simpy: Any = require("simpy")
    rng = np.random.default_rng(instance)
    rates = rng.uniform(0.15, 0.5, 3)  # patients per minute in each shift
    urgent, minutes = rng.uniform(0.1, 0.3), rng.uniform(7.0, 10.0)

    def evaluate(
        seed: int, call_at: int, booked_every: float, urgent_share: float, **staff: int
    ) -> float:
        chance, env = np.random.default_rng([instance, seed]), simpy.Environment()
        doctors = simpy.PriorityResource(env, capacity=1)
        total = {"wages": 0.0, "waiting": 0.0, "lost": 0.0, "earned": 0.0}
        extra = 0

        def size(shift: int) -> None:
            doctors._capacity = staff[f"staff{shift}"] + extra  # simpy has no public way
            doctors._trigger_put(None)

        def shifts() -> Generator[Any, Any, None]:
            for i in range(3):
                size(i)
                total["wages"] += staff[f"staff{i}"] * SHIFT / 60.0 * 60.0
                yield env.timeout(SHIFT)

        def called() -> Generator[Any, Any, None]:
            nonlocal extra
            extra += 1
            size(min(int(env.now // SHIFT), 2))
            total["wages"] += 110.0
            yield env.timeout(60.0)
            extra -= 1
            size(min(int(env.now // SHIFT), 2))

        def patient(priority: int, patience: float) -> Generator[Any, Any, None]:
            if len(doctors.queue) >= call_at and not extra:
                env.process(called())
            came = env.now
            with doctors.request(priority=priority) as turn:
                result = yield turn | env.timeout(patience)
                waited = env.now - came
                total["waiting"] += waited * (3.0 if priority == 0 else 0.4)
                if turn not in result:
                    total["lost"] += 1.0
                    return
                total["earned"] += 1.0
                yield env.timeout(chance.gamma(4.0, minutes / 4.0))

        def walk_in() -> Generator[Any, Any, None]:
            while True:
                rate = rates[min(int(env.now // SHIFT), 2)]
                yield env.timeout(chance.exponential(1.0 / rate))
                first = chance.random() < urgent
                # with a small share kept for them, urgent patients wait like all others
                ahead = first and chance.random() < urgent_share
                env.process(patient(0 if ahead else 1, chance.exponential(60.0) + 15.0))

        def booked() -> Generator[Any, Any, None]:
            while True:
                yield env.timeout(booked_every)
                rank = 1 if chance.random() < urgent_share else 0
                env.process(patient(rank, 45.0))

        for each in (shifts(), walk_in(), booked()):
            env.process(each)
        env.run(until=OPEN)
        cost = total["wages"] + total["waiting"] + 40.0 * total["lost"] - 25.0 * total["earned"]
        return float(cost / (OPEN / 60.0))

    return evaluate
