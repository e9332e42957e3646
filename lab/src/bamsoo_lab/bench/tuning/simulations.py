"""Tasks: simulations to be fitted, controlled or configured."""

from functools import partial
from math import cos, exp, hypot, pi, sin

import numpy as np
from scipy import ndimage, signal
from scipy.integrate import solve_ivp

from bamsoo.space import Choice, Int, Real

from .task import Evaluate, task


class _TooSlowError(Exception):
    """Stops a solver that takes too long."""


def _solve(rates: object, start: list[float], times: np.ndarray, calls: int = 4000) -> np.ndarray:
    """States at `times`, one per row; nan if the solver fails or needs more than `calls` calls."""
    left = calls

    def counted(t: float, y: np.ndarray) -> list[float]:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooSlowError
        found: list[float] = rates(t, y)  # type: ignore[operator]
        return found

    failed = np.full((len(times), len(start)), np.nan)
    try:
        run = solve_ivp(counted, (0.0, times[-1]), start, t_eval=times, rtol=1e-3, atol=1e-4)
    except _TooSlowError:
        return failed
    return run.y.T if run.success and run.y.shape[1] == len(times) else failed


def _predators(a: float, b: float, c: float, d: float, t: float, y: np.ndarray) -> list[float]:
    return [a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]]


@task(
    "lotka-volterra-fails",
    "simulation",
    "fails",
    growth=Real(1e-2, 10.0, log=True),
    eaten=Real(1e-3, 1.0, log=True),
    death=Real(1e-2, 10.0, log=True),
    births=Real(1e-3, 1.0, log=True),
)
def lotka_volterra(instance: int) -> Evaluate:
    """Rates of predators and prey from noisy counts; too fast a system fails: log RMSE."""
    rng = np.random.default_rng([instance, 1])
    times = np.linspace(0.0, 20.0, 41)
    true = np.array([0.6, 0.03, 0.8, 0.025]) * rng.uniform(0.7, 1.4, 4)
    start = [30.0, 8.0]
    seen = _solve(partial(_predators, *true), start, times) * rng.lognormal(0.0, 0.1, (41, 2))

    def evaluate(seed: int, growth: float, eaten: float, death: float, births: float) -> float:
        found = _solve(partial(_predators, growth, eaten, death, births), start, times, 2000)
        return float(np.log10(np.sqrt(np.mean((found - seen) ** 2))))

    return evaluate


def _epidemic(
    rate: float, incubation: float, recovery: float, t: float, y: np.ndarray
) -> list[float]:
    caught = rate * y[0] * y[2]
    ill, well = y[1] / incubation, y[2] / recovery
    return [-caught, caught - ill, ill - well, well]


@task(
    "epidemic",
    "simulation",
    rate=Real(1e-2, 10.0, log=True),
    incubation=Real(0.1, 30.0, log=True),
    recovery=Real(0.5, 60.0, log=True),
    first=Real(1e-7, 1e-1, log=True),
    reported=Real(0.01, 1.0),
    delay=Int(0, 30),
)
def epidemic(instance: int) -> Evaluate:
    """Rates of an epidemic from cases that were reported some days late: RMSE."""
    rng = np.random.default_rng([instance, 2])
    times = np.arange(0.0, 121.0)
    rate, incubation, recovery = np.array([0.4, 5.0, 7.0]) * rng.uniform(0.8, 1.25, 3)

    def daily(
        rate: float, incubation: float, recovery: float, first: float, reported: float, delay: int
    ) -> np.ndarray:
        rates = partial(_epidemic, rate, incubation, recovery)
        states = _solve(rates, [1.0 - first, 0.0, first, 0.0], times, 10**5)
        new = -np.diff(states[:, 0] + states[:, 1], prepend=states[0, 0] + states[0, 1])
        late = np.concatenate([np.zeros(delay), new])[: len(times)]
        cases: np.ndarray = 1e5 * reported * late
        return cases

    seen = rng.poisson(np.maximum(daily(rate, incubation, recovery, 1e-4, 0.3, 6), 0.0))

    def evaluate(seed: int, **p: float) -> float:
        return float(np.sqrt(np.mean((daily(**p) - seen) ** 2)))  # type: ignore[arg-type]

    return evaluate


@task(
    "pid-controller",
    "simulation",
    gain=Real(1e-3, 1e3, log=True),
    integral=Real(1e-4, 1e3, log=True),
    derivative=Real(1e-4, 1e2, log=True),
    smoothing=Real(0.0, 0.99),
)
def pid(instance: int) -> Evaluate:
    """A PID controller of a lagging plant with a delay: weighted error, overshoot and effort."""
    lag1, lag2, late = np.array([1.0, 0.4, 0.3]) * np.random.default_rng([instance, 3]).uniform(
        0.7, 1.4, 3
    )
    step, count = 0.02, 600
    wait = max(1, round(late / step))

    def evaluate(
        seed: int, gain: float, integral: float, derivative: float, smoothing: float
    ) -> float:
        x = y = total = slope = before = cost = 0.0
        sent = [0.0] * wait
        for i in range(count):
            goal = 1.0 if i < count // 2 else 0.4
            error = goal - y
            total = min(max(total + error * step, -10.0), 10.0)
            slope = smoothing * slope + (1.0 - smoothing) * (before - y) / step
            before = y
            drive = gain * error + integral * total + derivative * slope
            drive = min(max(drive, -5.0), 5.0)
            sent.append(drive)
            x += step * (sent[i] - x) / lag1
            y += step * (x - y) / lag2
            since = step * (i % (count // 2))
            cost += step * (since * abs(error) + 0.01 * abs(drive - sent[-2]))
            cost += step * 5.0 * max(0.0, y - 1.05)
        return cost

    return evaluate


@task(
    "pendulum-noisy",
    "simulation",
    "noisy",
    angle=Real(-100.0, 100.0),
    speed=Real(-50.0, 50.0),
    position=Real(-20.0, 20.0),
    velocity=Real(-20.0, 20.0),
)
def pendulum(instance: int) -> Evaluate:
    """A pole on a cart in gusts of wind: how long it stays up, then how still it is."""
    mass, length = np.random.default_rng([instance, 4]).uniform(0.7, 1.4, 2) * (0.1, 0.5)
    step, count = 0.02, 400

    def evaluate(seed: int, angle: float, speed: float, position: float, velocity: float) -> float:
        rng = np.random.default_rng([instance, seed, 4])
        wind = rng.normal(0.0, 1.0, count)
        a, w, x, v = (float(start) for start in rng.normal(0.0, 0.05, 4))
        cost = 0.0
        for i in range(count):
            push = angle * a + speed * w + position * x + velocity * v
            push = min(max(push, -10.0), 10.0) + float(wind[i])
            part = (push + mass * length * w * w * sin(a)) / (1.0 + mass)
            turn = (9.8 * sin(a) - cos(a) * part) / (
                length * (4.0 / 3.0 - mass * cos(a) ** 2 / (1.0 + mass))
            )
            v += step * (part - mass * length * turn * cos(a) / (1.0 + mass))
            w += step * turn
            a += step * w
            x += step * v
            if abs(a) > 0.5 or abs(x) > 2.4:
                return 1.0 + (count - i) / count
            cost += (min(abs(a) / 0.5, 1.0) + abs(x) / 2.4) / (2 * count)
        return cost

    return evaluate


@task(
    "inventory-noisy-fails",
    "simulation",
    "noisy",
    "fails",
    reorder=Int(0, 200),
    up_to=Int(1, 400),
    review=Int(1, 14),
    express=Choice([False, True]),
)
def inventory(instance: int) -> Evaluate:
    """Cost of a store over 200 days; fails if the order-up-to level is below the reorder level."""
    wish, wait = np.random.default_rng([instance, 5]).uniform((6.0, 4.0), (14.0, 9.0))

    def evaluate(seed: int, reorder: int, up_to: int, review: int, express: bool) -> float | None:
        if up_to <= reorder:
            return None
        rng = np.random.default_rng([instance, seed, 5])
        demand = rng.poisson(wish, 200)
        late = rng.poisson(1.0 if express else wait, 200) + 1
        stock, out, cost, coming = up_to, 0, 0.0, [0] * 260
        for day in range(200):
            stock += coming[day]
            out -= coming[day]
            sold = min(stock, int(demand[day]))
            cost += 8.0 * (int(demand[day]) - sold) + 0.15 * (stock - sold)
            stock -= sold
            if day % review == 0 and stock + out <= reorder:
                order = up_to - stock - out
                coming[min(day + int(late[day]), 259)] += order
                out += order
                cost += 40.0 + (2.0 if express else 0.5) * order
        return cost / 200.0

    return evaluate


@task(
    "staffing-noisy",
    "simulation",
    "noisy",
    **{f"shift{i}": Int(1, 12) for i in range(4)},
    order=Choice(["first", "last", "short"]),
    patience=Int(1, 60),
)
def staffing(instance: int) -> Evaluate:
    """Number of people who answer calls in four shifts: wages, waiting and lost calls."""
    rush = np.random.default_rng([instance, 6]).uniform(0.15, 0.9, 4)

    def evaluate(seed: int, order: str, patience: int, **shifts: int) -> float:
        rng = np.random.default_rng([instance, seed, 6])
        staff = [*shifts.values()]
        waiting: list[tuple[int, int]] = []
        busy: list[int] = []
        cost = 0.0
        for minute in range(480):
            shift = minute // 120
            calls = rng.poisson(rush[shift])
            waiting += [(minute, 1 + int(rng.exponential(6.0))) for _ in range(calls)]
            stay = [call for call in waiting if minute - call[0] <= patience]
            cost += 6.0 * (len(waiting) - len(stay)) + 0.15 * len(stay) + 0.1 * staff[shift]
            waiting = stay
            busy = [end for end in busy if end > minute]
            if order == "short":
                waiting.sort(key=lambda call: call[1])
            while waiting and len(busy) < staff[shift]:
                call = waiting.pop() if order == "last" else waiting.pop(0)
                busy.append(minute + call[1])
        return cost / 8.0

    return evaluate


GLASS = {"MgF2": 1.38, "SiO2": 1.46, "Al2O3": 1.65, "ZrO2": 2.05, "TiO2": 2.4}


@task(
    "thin-film",
    "simulation",
    **{f"thickness{i}": Real(5.0, 300.0) for i in range(5)},
    **{f"material{i}": Choice(list(GLASS)) for i in range(5)},
)
def thin_film(instance: int) -> Evaluate:
    """Five layers on glass that should reflect little: mean reflectance in a band, percent."""
    shift = float(np.random.default_rng([instance, 8]).uniform(-80.0, 80.0))
    waves = np.linspace(420.0 + shift, 700.0 + shift, 40)

    def evaluate(seed: int, **p: float | str) -> float:
        whole = np.broadcast_to(np.eye(2, dtype=complex), (len(waves), 2, 2))
        for i in range(5):
            index, thick = GLASS[str(p[f"material{i}"])], float(p[f"thickness{i}"])
            phase = 2.0 * pi * index * thick / waves
            layer = np.empty((len(waves), 2, 2), dtype=complex)
            layer[:, 0, 0] = layer[:, 1, 1] = np.cos(phase)
            layer[:, 0, 1] = 1j * np.sin(phase) / index
            layer[:, 1, 0] = 1j * np.sin(phase) * index
            whole = whole @ layer
        top = whole @ np.array([1.0, 1.52])
        back = (top[:, 0] - top[:, 1]) / (top[:, 0] + top[:, 1])
        return float(100.0 * np.mean(np.abs(back) ** 2))

    return evaluate


@task(
    "projectile",
    "simulation",
    elevation=Real(1.0, 89.0),
    speed=Real(5.0, 150.0),
    spin=Real(-1.0, 1.0),
)
def projectile(instance: int) -> Evaluate:
    """A ball with drag and spin thrown over a wall: distance from the target, and speed."""
    rng = np.random.default_rng([instance, 9])
    far, high = float(rng.uniform(60.0, 140.0)), float(rng.uniform(10.0, 25.0))

    def evaluate(seed: int, elevation: float, speed: float, spin: float) -> float:
        u, v = speed * cos(elevation * pi / 180.0), speed * sin(elevation * pi / 180.0)
        x = y = 0.0
        for _ in range(3000):
            drag, lift = 0.01 * hypot(u, v), 0.3 * spin
            u, v = u - 0.01 * (drag * u + lift * v), v - 0.01 * (9.81 + drag * v - lift * u)
            x, before, y = x + 0.01 * u, x, y + 0.01 * v
            if before < far / 2.0 <= x and y < high:
                return far / 2.0 + (high - y) / high  # stopped by the wall
            if y < 0.0:
                break
        return abs(x - far) + 0.02 * speed

    return evaluate


@task(
    "robot-arm",
    "simulation",
    **{f"joint{i}": Real(-180.0, 180.0) for i in range(5)},
)
def robot_arm(instance: int) -> Evaluate:
    """An arm of five joints that reaches a point around three obstacles: distance and contact."""
    rng = np.random.default_rng([instance, 10])
    goal = 2.6 * np.array([cos(t := float(rng.uniform(0.0, 2.0 * pi))), sin(t)])
    things = rng.uniform(-3.0, 3.0, (3, 2))
    things = things[np.linalg.norm(things - goal, axis=1) > 0.8]

    def evaluate(seed: int, **joints: float) -> float:
        angles = np.cumsum(np.radians([*joints.values()]))
        corners = np.vstack([[0.0, 0.0], np.cumsum(np.c_[np.cos(angles), np.sin(angles)], 0)])
        along = np.linspace(0.0, 1.0, 8)[:, None, None]
        arm = (corners[:-1] + along * np.diff(corners, axis=0)).reshape(-1, 2)
        near = np.linalg.norm(arm[:, None] - things, axis=2)
        touch = float(np.sum(np.maximum(0.0, 0.5 - near)))
        bent = 0.05 * float(np.mean(np.abs([*joints.values()]))) / 180.0
        return float(np.linalg.norm(corners[-1] - goal)) + 0.5 * touch + bent

    return evaluate


@task(
    "peaks-with-outliers",
    "simulation",
    centre1=Real(0.0, 10.0),
    centre2=Real(0.0, 10.0),
    width1=Real(0.02, 5.0, log=True),
    width2=Real(0.02, 5.0, log=True),
    height1=Real(1e-2, 1e2, log=True),
    height2=Real(1e-2, 1e2, log=True),
    base=Real(-5.0, 5.0),
)
def peaks(instance: int) -> Evaluate:
    """Two peaks fitted to a spectrum with outliers: mean absolute error."""
    rng = np.random.default_rng([instance, 11])
    t = np.linspace(0.0, 10.0, 200)
    m1, m2 = rng.uniform(1.0, 4.5), rng.uniform(5.5, 9.0)

    def curve(
        centre1: float,
        centre2: float,
        width1: float,
        width2: float,
        height1: float,
        height2: float,
        base: float,
    ) -> np.ndarray:
        first = height1 * np.exp(-0.5 * ((t - centre1) / width1) ** 2)
        found: np.ndarray = base + first + height2 / (1.0 + ((t - centre2) / width2) ** 2)
        return found

    seen = curve(m1, m2, 0.4, 0.7, 5.0, 3.0, 1.0) + rng.normal(0.0, 0.2, 200)
    seen[rng.choice(200, 16, replace=False)] += rng.normal(0.0, 30.0, 16)
    return lambda seed, **p: float(np.mean(np.abs(curve(**p) - seen)))


@task(
    "reactor",
    "simulation",
    temperature=Real(280.0, 480.0),
    minutes=Real(0.1, 200.0, log=True),
    loading=Real(1e-3, 1.0, log=True),
    excess=Real(0.5, 5.0),
    catalyst=Choice(["A", "B", "C", "D", "E", "F"]),
    solvent=Choice(["water", "toluene", "ethanol"]),
)
def reactor(instance: int) -> Evaluate:
    """Yield of a reaction whose product decays: one of six catalysts, one of three solvents."""
    rng = np.random.default_rng([instance, 12])
    forward = dict(zip("ABCDEF", rng.uniform(60e3, 85e3, 6), strict=True))
    decay = dict(zip("ABCDEF", rng.uniform(75e3, 110e3, 6), strict=True))
    medium = dict(zip(("water", "toluene", "ethanol"), rng.uniform(-1.0, 1.0, 3), strict=True))

    def evaluate(
        seed: int,
        temperature: float,
        minutes: float,
        loading: float,
        excess: float,
        catalyst: str,
        solvent: str,
    ) -> float:
        warm = 8.314 * temperature
        k1 = loading * exp(medium[solvent] + 24.0 - forward[catalyst] / warm)
        k2 = exp(27.0 - decay[catalyst] / warm) * (1.0 + 0.3 * (excess - 1.0) ** 2)
        k1 *= excess / (1.0 + 0.2 * excess)
        if abs(k1 - k2) < 1e-12 * k1:
            made = k1 * minutes * exp(-k1 * minutes)
        else:
            made = k1 / (k2 - k1) * (exp(-k1 * minutes) - exp(-k2 * minutes))
        return 100.0 * (1.0 - made) + 4.0 * loading + 0.01 * minutes + excess

    return evaluate


@task(
    "image-filter",
    "simulation",
    kind=Choice(["gaussian", "median", "uniform", "wiener", "closing"]),
    size=Int(1, 21),
    sigma=Real(0.05, 20.0, log=True),
    sharpen=Real(0.0, 3.0),
    again=Int(1, 4),
)
def image_filter(instance: int) -> Evaluate:
    """The filter, its width and its repetitions that restore a picture: mean squared error."""
    rng = np.random.default_rng([instance, 13])
    y, x = np.mgrid[:48, :48] / 48.0
    clean = (np.hypot(x - rng.uniform(0.3, 0.7), y - rng.uniform(0.3, 0.7)) < 0.25) * 1.0
    clean += 0.5 * np.sin(6.0 * x + 3.0 * y) * (x > 0.5)
    seen = clean + rng.normal(0.0, 0.25, clean.shape)
    salt = rng.random(clean.shape) < 0.08
    seen[salt] = rng.choice([-1.0, 2.0], int(salt.sum()))

    def evaluate(
        seed: int, kind: str, size: int, sigma: float, sharpen: float, again: int
    ) -> float:
        picture = seen
        for _ in range(again):
            if kind == "gaussian":
                picture = ndimage.gaussian_filter(picture, sigma, radius=size)
            elif kind == "median":
                picture = ndimage.median_filter(picture, size)
            elif kind == "uniform":
                picture = ndimage.uniform_filter(picture, size)
            elif kind == "wiener":
                picture = signal.wiener(picture, (size | 1, size | 1), sigma)
            else:
                picture = ndimage.grey_closing(ndimage.grey_opening(picture, size), size)
        picture = picture + sharpen * (picture - ndimage.gaussian_filter(picture, 1.0))
        return float(100.0 * np.mean((picture - clean) ** 2))

    return evaluate


@task(
    "annealing-noisy",
    "simulation",
    "noisy",
    heat=Real(1e-5, 1e3, log=True),
    cooling=Real(0.8, 1.0),
    every=Int(1, 200, log=True),
    move=Choice(["swap", "reverse", "insert"]),
    near=Int(1, 24),
)
def annealing(instance: int) -> Evaluate:
    """Settings of simulated annealing for a round trip through 25 towns: length of the tour."""
    towns = np.random.default_rng([instance, 14]).random((25, 2))
    far = np.linalg.norm(towns[:, None] - towns, axis=2).tolist()

    def length(tour: list[int]) -> float:
        return float(sum(far[tour[i - 1]][tour[i]] for i in range(25)))

    def evaluate(seed: int, heat: float, cooling: float, every: int, move: str, near: int) -> float:
        rng = np.random.default_rng([instance, seed, 14])
        tour = rng.permutation(25).tolist()
        now, temperature = length(tour), heat
        best = now
        first, gap, luck = rng.integers(25, size=800), rng.integers(near, size=800), rng.random(800)
        for i in range(800):
            a = int(first[i])
            b = (a + 1 + int(gap[i])) % 25
            a, b = min(a, b), max(a, b)
            new = tour.copy()
            if move == "swap":
                new[a], new[b] = new[b], new[a]
            elif move == "reverse":
                new[a : b + 1] = new[a : b + 1][::-1]
            else:
                new.insert(a, new.pop(b))
            then = length(new)
            if then <= now or luck[i] < exp(-(then - now) / max(temperature, 1e-12)):
                tour, now = new, then
                best = min(best, now)
            if i % every == 0:
                temperature *= cooling
        return best

    return evaluate


@task(
    "job-shop",
    "simulation",
    **{f"weight{i}": Real(-1.0, 1.0) for i in range(5)},
)
def job_shop(instance: int) -> Evaluate:
    """Weights of five priority rules in a workshop with 20 jobs: time until all are done."""
    rng = np.random.default_rng([instance, 15])
    jobs, machines = 20, 6
    times = rng.integers(1, 50, (jobs, machines))
    routes = np.array([rng.permutation(machines) for _ in range(jobs)])

    def evaluate(seed: int, **weights: float) -> float:
        w = np.array([*weights.values()])
        done = np.zeros(jobs, dtype=int)
        ready, free = np.zeros(jobs), np.zeros(machines)
        left = times.sum(axis=1).astype(float)
        for _ in range(jobs * machines):
            open_ = np.flatnonzero(done < machines)
            at = routes[open_, done[open_]]
            begin = np.maximum(ready[open_], free[at])
            need = times[open_, done[open_]]
            views = np.c_[begin, need, -left[open_], ready[open_], done[open_] * 20.0]
            pick = int(np.argmin(views @ w))
            job, machine = open_[pick], at[pick]
            ready[job] = free[machine] = begin[pick] + need[pick]
            left[job] -= need[pick]
            done[job] += 1
        return float(ready.max())

    return evaluate


@task(
    "smoothing-fails",
    "simulation",
    "fails",
    window=Int(3, 150),
    order=Int(0, 12),
    mode=Choice(["mirror", "nearest", "constant", "wrap", "interp"]),
    cut=Real(0.0, 5.0),
)
def smoothing(instance: int) -> Evaluate:
    """A Savitzky-Golay filter of a noisy signal with spikes; fails if the window is too short."""
    rng = np.random.default_rng([instance, 16])
    t = np.linspace(0.0, 1.0, 150)
    clean = np.sin(2.0 * pi * (2.0 + rng.random()) * t) + 2.0 * (t > rng.uniform(0.3, 0.7))
    seen = clean + rng.normal(0.0, 0.3, 150)
    seen[rng.choice(150, 8, replace=False)] += 6.0

    def evaluate(seed: int, window: int, order: int, mode: str, cut: float) -> float:
        calm = ndimage.median_filter(seen, 9)
        tame = calm + np.clip(seen - calm, -cut, cut)
        smooth = signal.savgol_filter(tame, window, order, mode=mode)
        return float(np.sqrt(np.mean((smooth - clean) ** 2)))

    return evaluate
