from dataclasses import replace

import numpy as np
import pytest

from sim.cluster.verifier_pool import CPU
from sim.experiments import loaded_pool
from sim.experiments.loaded_pool import AGAIN, COIN, OUT, SHARES, SKILL, START, THOROUGH, Setting

DEFAULT = Setting()


def end(setting, seed=0):
    *_, last = loaded_pool.train(np.random.default_rng(seed), setting)
    return last


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting, solved",
    [
        (DEFAULT, 0.694),
        (replace(DEFAULT, slots=128), 0.60),
        (replace(DEFAULT, cores=8), 0.55),
        (replace(DEFAULT, cores=8, clock=CPU), 0.694),
        (replace(DEFAULT, limit=4), 0.563),
        (replace(DEFAULT, tries=6), 0.475),
        (replace(DEFAULT, tries=8), 0.08),
    ],
)
def test_where_training_ends(setting, solved):
    # curriculum, lesson 18c: another program's runs
    for seed in range(5):
        assert end(setting, seed).solved == pytest.approx(solved, abs=0.013)


def test_without_load_the_closed_form_is_where_training_ends():
    for setting in (
        DEFAULT,
        replace(DEFAULT, limit=4),
        replace(DEFAULT, tries=6),
        replace(DEFAULT, clock=CPU, cores=8),
    ):
        assert end(setting).solved == pytest.approx(loaded_pool.alone(setting) @ SKILL, abs=0.015)


def test_the_closed_form_by_hand():
    # a limit that cuts nothing: logits grow by 0.5 · 60 · (0.55, 0.70, 0.20)
    weights = SHARES * np.exp(30 * np.array([0.55, 0.70, 0.2]))
    assert loaded_pool.alone(replace(DEFAULT, limit=1e9)) == pytest.approx(weights / weights.sum())


@pytest.mark.slow
def test_a_dead_sandbox_paid_as_wrong_slows_and_left_out_costs_nothing():
    for seed in range(5):
        wrong, out, again = (
            end(replace(DEFAULT, crash=0.2, crashed=way), seed).policy[THOROUGH] for way in ("as wrong", OUT, AGAIN)
        )
        sound = end(DEFAULT, seed).policy[THOROUGH]
        assert wrong < sound - 0.01 and out == pytest.approx(sound, abs=0.005) and again > wrong


def test_load_pays_the_thorough_way_less_and_the_quick_way_hardly():
    batch = loaded_pool.drawn(np.random.default_rng(0), SHARES, DEFAULT)
    quick, thorough, _ = loaded_pool.crowded(batch, DEFAULT, (32, 128)).T
    assert thorough[0] - thorough[1] > 0.2 and quick[0] - quick[1] < 0.1


def test_a_second_look_on_an_idle_pool_changes_verdicts_of_the_wall_clock_alone():
    by_wall = Setting(cores=8)
    by_cpu = replace(by_wall, clock=CPU)
    first = {s: loaded_pool.drawn(np.random.default_rng(0), SHARES, s) for s in (by_wall, by_cpu)}
    assert loaded_pool.changed(first[by_cpu], by_cpu) == 0
    assert loaded_pool.changed(first[by_wall], by_wall) == first[by_wall].verdicts.by_load.sum() > 100


def test_two_trainings_from_one_seed_are_one():
    one, other = end(DEFAULT, 3), end(DEFAULT, 3)
    assert (one.policy == other.policy).all() and (one.batch.verdicts.end == other.batch.verdicts.end).all()


def test_lost_to_the_pool_is_what_load_start_up_or_a_death_took():
    # a limit of 10 s; needs of 3, 9 and 12 s, a core each: start-up of 2 s takes the second, of 8 s the first as well
    ways, work, nobody = np.zeros(3, dtype=int), np.array([3.0, 9.0, 12.0]), np.zeros(3, dtype=bool)

    def lost(s, dies=nobody):
        return loaded_pool.checked(ways, np.zeros(3), work, dies, s).by_pool.tolist()

    assert lost(DEFAULT) == [False, False, False]
    assert lost(replace(DEFAULT, startup=2.0)) == [False, True, False]
    assert lost(replace(DEFAULT, startup=8.0)) == [True, True, False]
    assert lost(DEFAULT, ~nobody) == [True, True, False], "the third is cut off whether or not its sandbox dies"


def test_what_passes_by_luck_passes_more_with_tries():
    # 1 − 0.8^6 = 0.737856
    assert loaded_pool.passing(replace(DEFAULT, tries=6))[COIN] == pytest.approx(0.737856)
    assert loaded_pool.passing(replace(DEFAULT, flake=0.001))[THOROUGH] == pytest.approx(0.7 * 0.999**100)


def test_the_start():
    assert abs(START - (0.49 * 0.55 + 0.49 * 0.70)) < 1e-12


@pytest.mark.slow
def test_leaving_out_what_load_cut_off_gives_the_thorough_way_back(monkeypatch):
    def left_out(passed, cut, used, limit):
        return np.where(cut & (used < limit), np.nan, np.where(cut, 0.0, passed))

    crowded = replace(DEFAULT, slots=128)
    ours = [end(crowded, seed).solved for seed in range(5)]
    monkeypatch.setattr(loaded_pool.verifier_pool, "paid", left_out)
    theirs = [end(crowded, seed).solved for seed in range(5)]
    assert max(ours) < START < 0.68 < min(theirs)
