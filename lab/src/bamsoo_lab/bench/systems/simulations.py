"""Simulations with chance: two evaluations of one point differ, as in the package simoptlib.

All of them return a cost, and only their random numbers depend on the seed.
"""

import heapq

import numpy as np

from bamsoo.space import Choice, Int, Real

from ..tuning.task import Evaluate
from .task import system


@system("mine", "simulation", "noisy", dig=Int(0, 400), stop=Int(0, 400), sell=Int(0, 400))
def mine(instance: int) -> Evaluate:
    """Prices at which a mine begins and stops to dig, and at which it sells, over 300 days.

    Where the prices are never reached nothing happens, so most of the space has the value 0.
    """
    rng = np.random.default_rng(instance)
    mean, pull = rng.uniform(90.0, 130.0), rng.uniform(0.02, 0.06)
    cost, capacity = rng.uniform(55.0, 75.0), int(rng.integers(80, 160))

    def evaluate(seed: int, dig: int, stop: int, sell: int) -> float:
        steps = np.random.default_rng([instance, seed]).normal(0.0, 7.0, 300).tolist()
        price, stock, profit, works = mean, 0.0, 0.0, False
        for step in steps:
            price = max(price + pull * (mean - price) + step, 1.0)
            works = price >= stop if works else price >= dig
            if works and stock < capacity:
                dug = min(10.0, capacity - stock)
                stock, profit = stock + dug, profit - cost * dug
            if price >= sell and stock:
                profit, stock = profit + price * min(stock, 25.0), max(stock - 25.0, 0.0)
            profit -= 1.0 * stock + 40.0 * works
        return -profit / 1000.0

    return evaluate


@system(
    "stock-two-products",
    "simulation",
    "noisy",
    **{name: Int(0, 300) for name in ("low_a", "more_a", "low_b", "more_b")},
    together=Choice([False, True]),
)
def stock(instance: int) -> Evaluate:
    """When and how much to order of two products, in common orders or not."""
    rng = np.random.default_rng(instance)
    means, hold = rng.uniform(8.0, 25.0, 2), rng.uniform(0.2, 0.6, 2)
    lost, fixed, delay = rng.uniform(6.0, 12.0, 2), rng.uniform(60.0, 120.0), 4

    def evaluate(seed: int, together: bool, **p: int) -> float:
        demand = np.random.default_rng([instance, seed]).poisson(means, (240, 2)).tolist()
        low, more = (p["low_a"], p["low_b"]), (p["more_a"], p["more_b"])
        there, coming = [float(a) for a in low], [[0.0, 0.0] for _ in range(240 + delay + 1)]
        on_order, cost = [0.0, 0.0], 0.0
        for day, wanted in enumerate(demand):
            needs = [there[i] + on_order[i] < low[i] for i in (0, 1)]
            for i in (0, 1):
                there[i] += coming[day][i]
                on_order[i] -= coming[day][i]
                sold = min(there[i], wanted[i])
                cost += lost[i] * (wanted[i] - sold)
                there[i] -= sold
                cost += hold[i] * there[i]
                if needs[i] or (together and any(needs)):
                    amount = max(low[i] + more[i] - there[i] - on_order[i], 0.0)
                    coming[day + delay][i] += amount
                    on_order[i] += amount
            cost += fixed * (float(any(needs)) if together else float(sum(needs)))
        return float(cost) / 240.0

    return evaluate


def queue(arrivals: list[float], services: list[float], staff: list[int], length: float) -> float:
    """The mean wait of customers who are served in turn by the staff of the hour they come in."""
    free: list[float] = []
    total = 0.0
    for at, service in zip(arrivals, services, strict=True):
        number = max(staff[min(int(at / length), len(staff) - 1)], 1)
        while len(free) > number:
            heapq.heappop(free)
        start = at if len(free) < number else max(heapq.heappop(free), at)
        heapq.heappush(free, start + service)
        total += start - at
    return total / max(len(arrivals), 1)


@system("call-centre", "simulation", "noisy", **{f"staff{i}": Int(1, 20) for i in range(8)})
def call_centre(instance: int) -> Evaluate:
    """How many people answer calls in each of eight hours."""
    rng = np.random.default_rng(instance)
    rates = 1.0 + 1.4 * np.sin(np.linspace(0.2, 2.9, 8)) + rng.uniform(0.0, 0.7, 8)

    def evaluate(seed: int, **staff: int) -> float:
        chance = np.random.default_rng([instance, seed])
        counts = chance.poisson(60.0 * rates)
        at = np.concatenate([60.0 * (h + np.sort(chance.random(n))) for h, n in enumerate(counts)])
        services = chance.lognormal(0.9, 0.6, len(at))
        numbers = list(staff.values())
        waits = queue(at.tolist(), services.tolist(), numbers, 60.0)
        return float(sum(numbers) + 8.0 * waits)

    return evaluate


@system(
    "ambulances", "simulation", "noisy", **{f"{a}{i}": Real(0, 20) for i in range(3) for a in "xy"}
)
def ambulances(instance: int) -> Evaluate:
    """Where three ambulances wait: the mean time until one is there, in two days of calls."""
    rng = np.random.default_rng(instance)
    towns, weights = rng.uniform(2.0, 18.0, (4, 2)), rng.dirichlet([2.0] * 4)

    def evaluate(seed: int, **p: float) -> float:
        chance = np.random.default_rng([instance, seed])
        bases = np.array([*p.values()]).reshape(3, 2)
        number = chance.poisson(80)
        times = np.sort(chance.uniform(0.0, 48.0, number)).tolist()
        places = towns[chance.choice(4, number, p=weights)] + chance.normal(0.0, 1.5, (number, 2))
        busy, total = np.zeros(3), 0.0
        for at, place, minutes in zip(times, places, chance.gamma(4.0, 0.2, number), strict=True):
            way = np.abs(bases - place).sum(axis=1) / 40.0  # hours
            there = np.maximum(busy, at) + way
            first = int(there.argmin())
            busy[first] = there[first] + way[first] + minutes
            total += there[first] - at
        return float(60.0 * total / max(number, 1))

    return evaluate


@system(
    "perishables",
    "simulation",
    "noisy",
    level=Int(0, 200),
    extra=Int(0, 80),
    oldest_first=Choice([True, False]),
    weekend=Real(0.0, 2.0),
    discount=Real(0.0, 0.6),
)
def perishables(instance: int) -> Evaluate:
    """How much to order of what keeps for five days, and when to sell it for less."""
    rng = np.random.default_rng(instance)
    mean, spoiled, missed = rng.uniform(20.0, 40.0), rng.uniform(2.0, 4.0), rng.uniform(4.0, 7.0)

    def evaluate(
        seed: int, level: int, extra: int, oldest_first: bool, weekend: float, discount: float
    ) -> float:
        chance = np.random.default_rng([instance, seed])
        ages, cost = [0.0] * 5, 0.0
        for day in range(140):
            target = level * (weekend if day % 7 == 4 else 1.0)
            if sum(ages) < target:
                ages[0] += target - sum(ages) + extra
            rate = mean * (1.6 if day % 7 in (5, 6) else 1.0) * (1.0 + 0.8 * discount)
            wanted = float(chance.poisson(rate))
            for i in range(4, -1, -1) if oldest_first else range(5):
                sold = min(ages[i], wanted)
                ages[i], wanted = ages[i] - sold, wanted - sold
                cost -= sold * (2.0 - discount * (i >= 3))
            cost += missed * wanted + spoiled * ages[4] + 0.1 * sum(ages)
            ages = [0.0, *ages[:4]]
        return cost / 140.0

    return evaluate


@system(
    "machines-wear",
    "simulation",
    "noisy",
    **{f"limit{i}": Real(0.1, 1.5) for i in range(4)},
    crew=Int(1, 4),
    joint=Real(0.0, 1.0),
)
def machines_wear(instance: int) -> Evaluate:
    """At what wear four machines are repaired, by how many people, and with which others."""
    rng = np.random.default_rng(instance)
    speed, broken = rng.uniform(0.02, 0.06, 4), rng.uniform(30.0, 70.0, 4)

    def evaluate(seed: int, crew: int, joint: float, **limits: float) -> float:
        chance = np.random.default_rng([instance, seed])
        limit, wear, cost = np.array([*limits.values()]), np.zeros(4), 0.0
        for grown in chance.gamma(0.5, 2.0, (400, 4)) * speed:
            wear += grown
            failed = wear > 1.0
            due = failed | (wear > limit)
            if due.any():
                due |= wear > limit * (1.0 - joint)
                chosen = np.argsort(-wear)[:crew]
                done = np.isin(np.arange(4), chosen) & due
                cost += 12.0 + 4.0 * done.sum() + float(broken[failed & done].sum())
                wear[done] = 0.0
            cost += 8.0 * float((wear > 1.0).sum()) + 1.5 * crew
        return cost / 400.0

    return evaluate


@system("rooms", "simulation", "noisy", **{f"kept{i}": Int(0, 60) for i in range(7)})
def rooms(instance: int) -> Evaluate:
    """How many of 60 rooms are kept for guests who pay more, in each of seven nights."""
    rng = np.random.default_rng(instance)
    early, late = rng.uniform(8.0, 18.0), rng.uniform(3.0, 8.0)

    def evaluate(seed: int, **kept: int) -> float:
        chance = np.random.default_rng([instance, seed])
        room, keep = np.full(7, 60), np.array([*kept.values()])
        income = 0.0
        for dear, rate in ((0, early), (1, late)):
            for _ in range(chance.poisson(7.0 * rate)):
                first, nights = int(chance.integers(7)), 1 + int(chance.geometric(0.45))
                stay = slice(first, min(first + nights, 7))
                if (room[stay] > (0 if dear else keep[stay])).all():
                    room[stay] -= 1
                    income += (150.0 if dear else 90.0) * (stay.stop - first)
        return -income / 1000.0

    return evaluate


@system(
    "bus-line",
    "simulation",
    "noisy",
    every=Real(3.0, 40.0, log=True),
    peak=Real(3.0, 40.0, log=True),
    seats=Int(20, 120),
    hold=Real(0.0, 5.0),
    skip=Int(0, 6),
)
def bus_line(instance: int) -> Evaluate:
    """How often buses run on a line with twelve stops, their size, and how long they wait."""
    rng = np.random.default_rng(instance)
    flow = rng.uniform(0.2, 0.6, 12) * np.linspace(1.4, 0.2, 12)

    def evaluate(seed: int, every: float, peak: float, seats: int, hold: float, skip: int) -> float:
        chance = np.random.default_rng([instance, seed])
        starts, at = [], 0.0
        while at < 300.0:
            starts.append(at)
            at += peak if 100.0 < at < 180.0 else every
        last, waited, left, people = np.zeros(12), 0.0, 0.0, 1.0
        for start in starts:
            now, inside = start, 0.0
            for stop in range(12):
                now += chance.lognormal(1.0, 0.3) + (hold if stop % 4 == 0 else 0.0)
                inside -= chance.binomial(int(inside), 0.15)
                if skip and stop and stop % (skip + 1) == 0:
                    continue
                gap = max(now - last[stop], 0.0)
                rate = flow[stop] * (2.5 if 100.0 < now < 180.0 else 1.0)
                came = float(chance.poisson(rate * gap))
                entered = min(came, seats - inside)
                waited, left = waited + came * gap / 2.0, left + came - entered
                people, inside, last[stop] = people + came, inside + entered, now
        return float(waited / people + 20.0 * left / people + len(starts) * (0.1 + 0.003 * seats))

    return evaluate
