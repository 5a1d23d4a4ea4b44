"""A pool of sandboxes that runs the tests of a batch of programs, and which verdicts change because the pool is full.

Discrete-event simulation of processor sharing: a job in a slot progresses at min(1, cores / jobs running), so a
wall-clock limit is a limit on work that shrinks with load. Closed forms beside it: Erlang (1917), Little (1961), and
the normal distribution. There is no network, memory or disk; a program is a number of CPU seconds.
"""

from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush
from math import erfc, exp, inf, log, sqrt

import numpy as np

WALL, CPU = "wall", "CPU"  # the clock by which a limit is measured
SIGMA, LAG = 0.8, 0.5  # assumed: standard deviations of the logarithms of CPU seconds, and of when jobs arrive


@dataclass(frozen=True)
class Verdicts:
    """What happened to each job, arrays (jobs,) in the order of arrival."""

    start: np.ndarray  # seconds
    end: np.ndarray  # seconds
    used: np.ndarray  # CPU seconds that the job got
    cut: np.ndarray  # whether the limit ended it
    over: np.ndarray  # whether it needs more than its limit with start-up, so that an idle pool would cut it as well
    long: np.ndarray  # whether it needs more than its limit by itself, without start-up
    slot: np.ndarray  # where it ran
    busy: float  # CPU seconds of all cores, including start-up and lost runs

    @property
    def seconds(self) -> float:
        """Seconds from when the first completion is being written until the last verdict."""
        return float(self.end.max())

    @property
    def by_load(self) -> np.ndarray:
        """Whether it was cut off and would not have been in an idle pool, (jobs,)."""
        return self.cut & ~self.over

    @property
    def by_startup(self) -> np.ndarray:
        """Whether it was cut off, in an idle pool as well, but not without start-up time, (jobs,)."""
        return self.cut & self.over & ~self.long

    @property
    def by_itself(self) -> np.ndarray:
        """Whether it was cut off, and would be in an idle pool without start-up, (jobs,)."""
        return self.cut & self.long


def workload(
    rng: np.random.Generator, jobs: int = 512, median: float = 2.0, sigma: float = SIGMA, spread: float = 20.0
) -> tuple[np.ndarray, np.ndarray]:
    """(arrivals, work), seconds and CPU seconds (jobs,): completions end over `spread` seconds, and a few tests take
    long. assumed: both are log-normal.
    """
    arrivals = np.sort(rng.lognormal(log(spread), LAG, jobs))
    return arrivals, rng.lognormal(log(median), sigma, jobs)


def pool(
    arrivals: np.ndarray,
    work: np.ndarray,
    slots: int,
    cores: int,
    limit: float = 10.0,
    startup: float = 0.0,
    clock: str = WALL,
    lost: np.ndarray | None = None,
) -> Verdicts:
    """First come, first served, with at most `slots` jobs running. A job is cut off when the seconds since its start
    (wall) or the CPU seconds it got reach the limit. Start-up is work and counts. The verdict of a `lost` job does not
    arrive, and the job is run again, last in the queue.

    All running jobs progress alike, so each one's progress is a difference in one virtual time, and the next to finish
    is on top of a heap of virtual times. Wall-clock deadlines come in the order of the starts.
    """
    jobs = len(arrivals)
    start, end, used = np.zeros(jobs), np.zeros(jobs), np.zeros(jobs)
    cut, slot = np.zeros(jobs, dtype=bool), np.zeros(jobs, dtype=np.int64)
    again = set() if lost is None else set(np.flatnonzero(lost).tolist())
    at, needs = arrivals.tolist(), np.minimum(work + startup, limit if clock == CPU else inf).tolist()
    over, long = work + startup > limit, work > limit
    queue: deque[int] = deque()
    free = list(range(slots))
    runs: dict[int, tuple[int, float]] = {}  # {running run: its job, the virtual time of its start}
    finishes: list[tuple[float, int]] = []  # (virtual time, run)
    deadlines: deque[tuple[float, int]] = deque()  # by the wall clock
    now = virtual = busy = 0.0
    come = begun = 0
    while come < jobs or queue or runs:
        rate = min(1.0, cores / len(runs)) if runs else 1.0
        while finishes and finishes[0][1] not in runs:
            heappop(finishes)  # cut off before
        while deadlines and deadlines[0][1] not in runs:
            deadlines.popleft()
        finish = now + (finishes[0][0] - virtual) / rate if finishes else inf
        deadline = deadlines[0][0] if deadlines else inf
        arrival = at[come] if come < jobs else inf
        then = min(finish, deadline, arrival)
        virtual += (then - now) * rate if runs else 0.0
        now = then
        if arrival <= min(finish, deadline):
            queue.append(come)
            come += 1
        else:
            job, since = runs.pop(finishes[0][1] if finish <= deadline else deadlines[0][1])
            busy += virtual - since
            heappush(free, int(slot[job]))
            if job in again:
                again.remove(job)
                queue.append(job)
            else:
                used[job], end[job] = round(virtual - since, 9), now  # so that a limit used up is the limit
                cut[job] = finish > deadline or (clock == CPU and bool(over[job]))
        while queue and free:
            job = queue.popleft()
            start[job], slot[job] = now, heappop(free)
            runs[begun] = (job, virtual)
            heappush(finishes, (virtual + needs[job], begun))
            if clock == WALL:
                deadlines.append((now + limit, begun))
            begun += 1
    return Verdicts(start, end, used, cut, over, long, slot, busy)


def paid(passed: np.ndarray, cut: np.ndarray, used: np.ndarray, limit: float) -> np.ndarray:
    """The reward of each job, (jobs,), given whether it would pass; nan leaves it out of the batch. A job that was cut
    off is scored as wrong, whatever cut it off.
    """
    return np.where(cut, 0.0, passed)


# ── tests that err, and tries ──
def flaky_fn(flake: float, tests: int) -> float:
    """How often a correct program is refused because one of its tests fails by chance, 1 − (1 − f)^m."""
    return 1 - (1 - flake) ** tests


def retry_fp(passes: float, tries: int) -> float:
    """How often a wrong program that passes by chance passes at least once in some tries, 1 − (1 − q)^r."""
    return 1 - (1 - passes) ** tries


# ── sizing ──
def over_limit(median: float, sigma: float, limit: float, slowdown: float = 1.0) -> float:
    """The fraction of log-normal jobs that take longer than the limit if each runs `slowdown` times as long."""
    return erfc(log(limit / (slowdown * median)) / (sigma * sqrt(2))) / 2


def littles_law(rate: float, wait: float) -> float:
    """The number of jobs in a pool, L = λW, at `rate` per second and `wait` seconds each."""
    return rate * wait


def lognormal_mean(median: float, sigma: float) -> float:
    return median * exp(sigma**2 / 2)


def erlang_c(servers: int, load: float) -> float:
    """The probability that a job waits, for Poisson arrivals and exponential work: Erlang (1917). `load` is λ/μ, the
    mean number of busy servers.
    """
    blocked = 1.0  # Erlang B, by its recursion over servers
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))
