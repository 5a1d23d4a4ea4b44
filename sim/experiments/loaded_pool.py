"""A policy trained through a pool of sandboxes: three ways to write a program, and the reward for each when the pool's
load makes some of the verdicts.

The pool is `sim/cluster/verifier_pool.py`. The steps are the exact natural ones of `sim/verifiers/strategies.py`, the
replicator equation. Retries in which any pass counts reward 1 − (1 − q)^r, in closed form. assumed: the ways, their
skills, seconds and shares. Not a language model: each way has its own logit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import CPU, SIGMA, WALL, Verdicts
from sim.verifiers import strategies
from sim.worlds import bandit

QUICK, THOROUGH, COIN = range(3)
NAMES = ("quick", "thorough", "coin")
SHARES = np.array([0.49, 0.49, 0.02])  # before training
SKILL = np.array([0.55, 0.70, 0.0])  # how often this way's program is correct
MEDIAN = np.array([1.0, 3.0, 1.0])  # CPU seconds of its tests
LUCK = 0.2  # how often a wrong program of the way "coin" passes all tests by chance
START = float(SHARES @ SKILL)  # tasks solved before training
UPDATES, JOBS, ETA = 60, 512, 0.5
WRONG, AGAIN, OUT = "as wrong", "run again", "left out"  # what happens to a job whose sandbox died


@dataclass(frozen=True)
class Setting:
    """A pool, and how its verdicts become rewards."""

    slots: int = 32
    cores: int = 32
    limit: float = 10.0  # seconds
    clock: str = WALL
    startup: float = 0.0  # CPU seconds of a fresh sandbox
    tries: int = 1  # any pass counts; assumed: retries run elsewhere, and none is cut off
    flake: float = 0.0  # how often a test of a correct answer fails by chance
    tests: int = 100
    crash: float = 0.0  # how often a sandbox dies before giving its verdict
    crashed: str = WRONG


@dataclass(frozen=True)
class Batch:
    """Programs and the pool's verdicts on them, arrays (JOBS,)."""

    ways: np.ndarray  # by NAMES
    arrivals: np.ndarray  # seconds
    work: np.ndarray  # CPU seconds
    verdicts: Verdicts
    dead: np.ndarray  # whether the sandbox died and the job was not rerun

    @property
    def by_pool(self) -> np.ndarray:
        """Whether the pool caused the loss of the verdict: the program was cut off although it needs no more than its
        limit by itself, so load or start-up ended it, or its sandbox died.
        """
        return (self.verdicts.cut & ~self.verdicts.long) | (self.dead & ~self.verdicts.cut)


@dataclass(frozen=True)
class Update:
    """A batch, the reward of each way in it, and the policy after the step, (ways,)."""

    batch: Batch
    pay: np.ndarray
    policy: np.ndarray

    @property
    def solved(self) -> float:
        return float(self.policy @ SKILL)


def passing(setting: Setting) -> np.ndarray:
    """How often a program of each way passes at least once in its tries if nothing is cut off, (ways,)."""
    passes = 1 - verifier_pool.flaky_fn(setting.flake, setting.tests)
    honest = SKILL * verifier_pool.retry_fp(passes, setting.tries)
    return np.where(SKILL > 0, honest, verifier_pool.retry_fp(LUCK * passes, setting.tries))


def drawn(rng: np.random.Generator, policy: np.ndarray, setting: Setting) -> Batch:
    """JOBS programs sampled from a policy and run in the pool."""
    ways = bandit.draw(policy, JOBS, rng)
    arrivals, work = verifier_pool.workload(rng, JOBS, median=1.0)
    dies = rng.random(JOBS) < setting.crash
    return checked(ways, arrivals, work * MEDIAN[ways], dies, setting)


def checked(ways: np.ndarray, arrivals: np.ndarray, work: np.ndarray, dies: np.ndarray, setting: Setting) -> Batch:
    """These programs run in the pool of a setting."""
    s = setting
    again = dies if s.crashed == AGAIN else None
    verdicts = verifier_pool.pool(arrivals, work, s.slots, s.cores, s.limit, s.startup, s.clock, again)
    return Batch(ways, arrivals, work, verdicts, dies & (s.crashed != AGAIN))


def paid(batch: Batch, setting: Setting) -> np.ndarray:
    """The reward of each way, (ways,): how often it passes, times the mean reward of its programs in this batch had
    they all passed. A way that is not in the batch, or is left out of it, is rewarded as if nothing had been cut off.
    """
    of_job = verifier_pool.paid(np.ones(JOBS), batch.verdicts.cut, batch.verdicts.used, setting.limit)
    of_job = np.where(batch.dead, np.nan if setting.crashed == OUT else 0.0, of_job)
    kept = [of_job[(batch.ways == way) & np.isfinite(of_job)] for way in range(len(NAMES))]
    return passing(setting) * np.array([rewards.mean() if len(rewards) else 1.0 for rewards in kept])


def train(rng: np.random.Generator, setting: Setting, updates: int = UPDATES) -> Iterator[Update]:
    """Updates of the logits by ETA times the way's reward minus the mean."""
    policy = SHARES
    for _ in range(updates):
        batch = drawn(rng, policy, setting)
        pay = paid(batch, setting)
        policy = bandit.softmax(np.log(policy) + ETA * strategies.natural(pay)(policy))
        yield Update(batch, pay, policy)


def alone(setting: Setting) -> np.ndarray:
    """The policy after training if no job slows another, (ways,), in closed form: programs that need more than their
    limit are cut off, and a way's logit grows by ETA times its reward.
    """
    room = setting.limit - setting.startup
    fits = 1 - np.array([verifier_pool.over_limit(m, SIGMA, room) if room > 0 else 1.0 for m in MEDIAN])
    pay = passing(setting) * fits * (1 - setting.crash if setting.crashed == WRONG else 1.0)
    return bandit.softmax(np.log(SHARES) + ETA * UPDATES * pay)


def crowded(batch: Batch, setting: Setting, slots: tuple[int, ...]) -> np.ndarray:
    """The reward of each way for the same programs in pools of other sizes, (slots, ways)."""
    nobody = np.zeros(JOBS, dtype=bool)
    pools = [replace(setting, slots=number, crash=0.0) for number in slots]
    return np.array([paid(checked(batch.ways, batch.arrivals, batch.work, nobody, one), one) for one in pools])


def changed(batch: Batch, setting: Setting) -> int:
    """How many verdicts in a batch change when the same programs are checked again in an idle pool."""
    idle = replace(setting, slots=JOBS, cores=JOBS)
    again = checked(batch.ways, batch.arrivals, batch.work, np.zeros(JOBS, dtype=bool), idle)
    return int((again.verdicts.cut != batch.verdicts.cut).sum())


IDLE = Setting(clock=CPU, limit=30.0)  # a pool that changes no verdicts
