"""The lesson on sandboxes: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import CPU, erlang_c, flaky_fn, littles_law, lognormal_mean, over_limit, retry_fp
from sim.experiments import loaded_pool
from sim.experiments.loaded_pool import AGAIN, COIN, OUT, QUICK, SHARES, SKILL, THOROUGH, WRONG, Setting
from tests.lessons import spreads
from widgets.verifier_pool import figures
from widgets.verifier_pool.widget import GUESS

values = partial(spreads.values, "18c_verifier_pool")
POOLS = {
    "default": Setting(),
    "64 slots": Setting(slots=64),
    "128 slots": Setting(slots=128),
    "128 slots, 30 s": Setting(slots=128, limit=30),
    "8 cores": Setting(cores=8),
    "8 cores, CPU": Setting(cores=8, clock=CPU),
    "8 cores, 8 slots": Setting(cores=8, slots=8),
    "4 s": Setting(limit=4),
    "six tries": Setting(tries=6),
    "eight tries": Setting(tries=8),
    "dead, wrong": Setting(crash=0.2, crashed=WRONG),
    "dead, again": Setting(crash=0.2, crashed=AGAIN),
    "dead, out": Setting(crash=0.2, crashed=OUT),
    "start-up 0.125, 8 cores, CPU": Setting(cores=8, clock=CPU, startup=0.125),
    "start-up 2": Setting(startup=2),
    "start-up 5": Setting(startup=5),
}


@cache
def updates(name, seed):
    return tuple(loaded_pool.train(np.random.default_rng(seed), POOLS[name]))


def solved(name):
    return lambda seed: 100 * updates(name, seed)[-1].solved


def thorough(name):
    return lambda seed: 100 * float(updates(name, seed)[-1].policy[THOROUGH])


def seconds(name):
    return lambda seed: float(np.mean([one.batch.verdicts.seconds for one in updates(name, seed)]))


def cut(name, number):
    return lambda seed: 100 * float(updates(name, seed)[number].batch.verdicts.cut.mean())


def by_pool(name):
    return lambda seed: 100 * float(np.mean([one.batch.by_pool.mean() for one in updates(name, seed)]))


def reward(name):
    return lambda seed: float(updates(name, seed)[-1].policy @ updates(name, seed)[-1].pay)


MEASURED = {f"solved, {name}": solved(name) for name in POOLS}
TABLE = ("default", "64 slots", "128 slots", "128 slots, 30 s", "8 cores", "8 cores, CPU", "8 cores, 8 slots", "4 s")
TABLE += ("six tries",)
MEASURED |= {f"thorough, {name}": thorough(name) for name in TABLE}
MEASURED |= {f"seconds, {name}": seconds(name) for name in (*TABLE, "start-up 0.125, 8 cores, CPU")}
MEASURED |= {f"cut {when}, 128 slots": cut("128 slots", number) for when, number in (("first", 0), ("last", -1))}
MEASURED |= {f"by the pool, {name}": by_pool(name) for name in ("start-up 2", "start-up 5")}
MEASURED |= {"reward, eight tries": reward("eight tries")}

arrivals, work = figures.default_batch()[:2]
crowded = figures.in_slots(128)


def on_one_core(clock=verifier_pool.WALL):
    """Four programs of 3 seconds in four slots."""
    return verifier_pool.pool(np.zeros(4), np.full(4, 3.0), 4, 1, clock=clock)


def overfull():
    """Seconds in which more programs run than there are cores."""
    moments = np.arange(0, 95, 0.1)
    running = np.array([((crowded.start <= moment) & (crowded.end > moment)).sum() for moment in moments])
    return 0.1 * (running > 32).sum()


def by_quarter():
    """Programs that load cuts off, by the quarter of their work."""
    return [crowded.by_load[quarter].sum() for quarter in np.argsort(work).reshape(4, 128)]


def pays_luck(way):
    """Tries from which on luck is paid better than a way."""
    return next(tries for tries in range(1, 20) if retry_fp(0.2, tries) > SKILL[way])


def first(name):
    """The first batch of a pool."""
    return loaded_pool.drawn(np.random.default_rng(0), SHARES, POOLS[name])


def changes(name):
    """Its verdicts that change in an idle pool."""
    return loaded_pool.changed(first(name), POOLS[name])


def test_load_cuts_off_programs_that_needed_less_than_the_limit():
    assert (crowded.by_load == crowded.cut & (work < 10)).all()


def test_load_became_a_reward():
    fewer = values("solved, 128 slots")
    assert (fewer < 100 * loaded_pool.START).all()
    assert GUESS.answers[GUESS.right] == "about 60, fewer than before" and (np.abs(fewer - 60) < 1).all()
    assert "69 of 100" in GUESS.question and values("solved, default").mean() == pytest.approx(69, abs=0.5)


def test_at_the_end_both_ways_are_paid_nearly_the_same():
    pays = np.mean([one.pay for seed in range(200, 204) for one in updates("128 slots", seed)[-20:]], axis=0)
    assert abs(pays[0] - pays[1]) < 0.02


def test_eight_slots_for_eight_cores_end_as_the_cpu_clock_does():
    assert (np.abs(values("solved, 8 cores, 8 slots") - values("solved, 8 cores, CPU")) < 0.2).all()


def test_dead_sandboxes_cost_no_task_if_they_are_run_again_or_left_out():
    for way in ("again", "out"):
        assert (np.abs(values(f"solved, dead, {way}") - values("solved, default")) < 0.1).all()


def test_the_figure_of_tries_says_what_six_pay_the_coin():
    assert figures.tried_said(6).startswith(f"With 6 tries it earns {retry_fp(0.2, 6):.2f}")


@pytest.mark.slow
def test_the_opening_is_shorter_from_the_first_step_on():
    assert [figures.batch(way).verdicts.seconds for way in figures.SETTINGS] == pytest.approx([187, 121], abs=0.5)
    solved_by, seconds_by = zip(*(figures.trained(way) for way in figures.SETTINGS))
    assert seconds_by[1] < 0.5 * seconds_by[0] and solved_by[1] < loaded_pool.START < solved_by[0]
