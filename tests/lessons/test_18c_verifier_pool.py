"""The numbers of the lesson on sandboxes, recomputed."""

from functools import cache

import numpy as np
import pytest

from sim.cluster import verifier_pool
from sim.cluster.verifier_pool import CPU
from sim.experiments import loaded_pool
from sim.experiments.loaded_pool import AGAIN, COIN, OUT, QUICK, SHARES, SKILL, THOROUGH, WRONG, Setting
from tests.lessons.prose import Lesson
from widgets.verifier_pool import figures
from widgets.verifier_pool.widget import GUESS

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

LESSON = Lesson("18c")


def kept(what):
    return LESSON.kept(what)


def test_four_programs_on_one_core():
    by_wall = verifier_pool.pool(np.zeros(4), np.full(4, 3.0), 4, 1)
    LESSON.says("2.5", by_wall.used[0])
    assert by_wall.cut.all()
    LESSON.says("12", verifier_pool.pool(np.zeros(4), np.full(4, 3.0), 4, 1, clock=CPU).seconds)


def test_the_batch_of_the_figure():
    one, four = figures.in_slots(32), figures.in_slots(128)
    assert "those eight are cut off" in LESSON.text and one.cut.sum() == one.over.sum() == 8
    LESSON.says("105", four.cut.sum())
    work = figures.default_batch()[1]
    LESSON.says("97", (four.cut & (work < 10)).sum())
    assert (four.by_load == four.cut & (work < 10)).all()
    LESSON.says("94", four.seconds)
    quarters = [four.by_load[quarter].sum() for quarter in np.argsort(work).reshape(4, 128)]
    assert "81 of the 97 are in the quarter with the longest tests, 16 in the next" in LESSON.text
    assert quarters == [0, 0, 16, 81]


def test_when_the_programs_of_the_figure_come_and_what_load_they_make():
    arrivals, four = figures.default_batch()[0], figures.in_slots(128)
    LESSON.says("92.6", arrivals.max())
    for words, quartile in (("14", 25), ("28", 75)):
        LESSON.says(words, np.percentile(arrivals, quartile))
    moments = np.arange(0, 95, 0.1)
    running = np.array([((four.start <= moment) & (four.end > moment)).sum() for moment in moments])
    LESSON.says("25", 0.1 * (running > 32).sum())
    LESSON.says("35", 100 * four.busy / (32 * four.seconds))


def test_the_tests_that_fail_by_chance():
    LESSON.says("9.5", 100 * verifier_pool.flaky_fn(0.001, 100))
    LESSON.says("0.9", 100 * verifier_pool.flaky_fn(0.001, 100) ** 2)
    LESSON.says("90.5", 100 - 100 * verifier_pool.flaky_fn(0.001, 100))


def test_the_start_and_the_coin():
    LESSON.says("61", 100 * loaded_pool.START)
    LESSON.says("0.83", verifier_pool.retry_fp(0.2, 8))
    LESSON.says("0.80", loaded_pool.passing(Setting(tries=8, flake=0.001))[COIN])
    assert verifier_pool.retry_fp(0.2, 3) < SKILL[QUICK] < verifier_pool.retry_fp(0.2, 4)
    assert verifier_pool.retry_fp(0.2, 5) < SKILL[THOROUGH] < verifier_pool.retry_fp(0.2, 6)
    assert SHARES[COIN] == 0.02 and figures.tried_said(6).startswith("6 tries pay it 0.74")


def test_load_became_a_reward():
    LESSON.spread("69.4 ± 0.0", kept("solved, default"))
    LESSON.spread("60.3 ± 0.2", kept("solved, 128 slots"))
    LESSON.spread("95.7 ± 2.9", kept("seconds, 128 slots"))
    LESSON.spread("96.8 ± 2.8", kept("seconds, default"))
    LESSON.spread("17.9 ± 2.9", kept("cut first, 128 slots"))
    LESSON.spread("10.8 ± 2.4", kept("cut last, 128 slots"))
    LESSON.spread("35.4 ± 1.4", kept("thorough, 128 slots"))
    assert (kept("solved, 128 slots") < 100 * loaded_pool.START).all()


def test_at_the_end_both_ways_are_paid_nearly_the_same():
    pays = np.mean([one.pay for seed in range(200, 204) for one in updates("128 slots", seed)[-20:]], axis=0)
    assert abs(pays[0] - pays[1]) < 0.02


def test_how_many_may_be_cut_off_before_the_thorough_way_loses():
    assert "less than 0.55 once more than 21 of 100 are cut off" in LESSON.text
    assert SKILL[THOROUGH] * (1 - 0.21) > SKILL[QUICK] > SKILL[THOROUGH] * (1 - 0.22)


def test_slow_or_wrong():
    LESSON.spread("102 ± 2", kept("seconds, 8 cores"))
    LESSON.spread("55.1 ± 0.0", kept("solved, 8 cores"))
    LESSON.spread("219 ± 1", kept("seconds, 8 cores, CPU"))
    LESSON.spread("69.4 ± 0.0", kept("solved, 8 cores, CPU"))
    LESSON.spread("56.3 ± 0.1", kept("solved, 4 s"))
    assert (np.abs(kept("solved, 8 cores, 8 slots") - kept("solved, 8 cores, CPU")) < 0.2).all()


def test_dead_sandboxes():
    LESSON.spread("68.9 ± 0.1", kept("solved, dead, wrong"))
    for way in ("again", "out"):
        assert (np.abs(kept(f"solved, dead, {way}") - kept("solved, default")) < 0.1).all()


def test_tries():
    LESSON.spread("0.81 ± 0.00", kept("reward, eight tries"))
    LESSON.spread("7.9 ± 0.4", kept("solved, eight tries"))


def test_the_price_of_start_up():
    LESSON.spread("226 ± 1", kept("seconds, start-up 0.125, 8 cores, CPU"))
    LESSON.spread("68.6 ± 0.1", kept("solved, start-up 2"))
    LESSON.spread("60.3 ± 0.3", kept("solved, start-up 5"))
    LESSON.spread("3.3 ± 0.1", kept("by the pool, start-up 2"))
    LESSON.spread("9.5 ± 0.1", kept("by the pool, start-up 5"))


def test_what_is_checked_again():
    by_wall, by_cpu = POOLS["8 cores"], POOLS["8 cores, CPU"]
    first = {setting: loaded_pool.drawn(np.random.default_rng(0), SHARES, setting) for setting in (by_wall, by_cpu)}
    LESSON.says("170", loaded_pool.changed(first[by_wall], by_wall))
    LESSON.says("0", loaded_pool.changed(first[by_cpu], by_cpu))
    assert first[by_wall].verdicts.by_load.sum() == 170


def test_sizing():
    LESSON.says("2.75", verifier_pool.lognormal_mean(2, 0.8))
    LESSON.says("23.5", verifier_pool.littles_law(512 / 60, verifier_pool.lognormal_mean(2, 0.8)))
    waits = verifier_pool.erlang_c(8, 6)
    LESSON.says("36", 100 * waits)
    LESSON.says("0.18", waits / (8 - 6))
    LESSON.says("0.5", 1 / (8 - 6))
    for words, slowdown in (("2.2", 1), ("12.6", 2), ("39.0", 4)):
        LESSON.says(words, 100 * verifier_pool.over_limit(2, 0.8, 10, slowdown))
    LESSON.says("3.9", 200 * 64 / 3255)


def test_the_table_of_twenty_seeds():
    rows = {
        "| 32 slots, 32 cores, 10 s |": "default",
        "| 64 slots |": "64 slots",
        "| 128 slots |": "128 slots",
        "| 128 slots, 30 s |": "128 slots, 30 s",
        "| 8 cores |": "8 cores",
        "| 8 cores, CPU clock |": "8 cores, CPU",
        "| 8 cores, 8 slots |": "8 cores, 8 slots",
        "| 4 s |": "4 s",
        "| six tries |": "six tries",
    }
    for head, name in rows.items():
        (row,) = [line for line in LESSON.text.splitlines() if line.strip().startswith(head)]
        for words, what in zip(row.split("|")[2:5], ("solved", "thorough", "seconds")):
            LESSON.spread(words.strip(), kept(f"{what}, {name}"))


def test_the_question_is_answered_by_twenty_seeds():
    fewer = kept("solved, 128 slots")
    assert GUESS.answers[GUESS.right] == "about 60, fewer than before" and (np.abs(fewer - 60) < 1).all()
    assert (fewer < 100 * loaded_pool.START).all() and "69 of 100" in GUESS.question


@pytest.mark.slow
def test_the_opening_is_shorter_from_the_first_step_on():
    for words, way in zip(("187", "121"), figures.SETTINGS):
        LESSON.says(words, figures.batch(way).verdicts.seconds)
    solved_by, seconds_by = zip(*(figures.trained(way) for way in figures.SETTINGS))
    assert seconds_by[1] < 0.5 * seconds_by[0] and solved_by[1] < loaded_pool.START < solved_by[0]
