"""The numbers of the lesson on DAPO, recomputed."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import dapo as algorithm
from sim.algorithms import grpo
from sim.estimators import clip_entropy, group_baselines
from sim.experiments.runs import modsum_run
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import dapo

LESSON = Lesson("13")


last = partial(catalogue.last, dapo)


def test_the_table_of_live_groups():
    rates = modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"]
    live, price = group_baselines.live_probability(rates, 8), group_baselines.completions_per_live_group(rates, 8)
    rows = re.findall(r"^\| (0\.\d+) \| (0\.\d+) \| ([\d.]+) \|$", LESSON.text, re.M)
    assert len(rows) == 4
    for row, values in zip(rows, zip(rates, live, price)):
        for said, value in zip(row, values):
            LESSON.says(said, value)
    LESSON.says("3.22", 2 * live.sum())
    LESSON.says("2.5", 8 / (2 * live.sum()))


def test_a_token_of_a_short_and_of_a_long_completion():
    mask = (np.arange(12) < np.array([[4], [12]])).astype(float)
    assert set(grpo.weights(mask, grpo.HP, None)[mask > 0]) == {1 / 8, 1 / 24}
    assert set(algorithm.weights(mask, algorithm.HP, None)[mask > 0]) == {1 / 16}


def test_the_price_of_the_last_tokens():
    batch = SimpleNamespace(length=np.array([8, 10, 12]), T=12)
    np.testing.assert_allclose(algorithm.shape_reward(np.zeros(3), algorithm.HP, batch), [0, -0.5, -1])


def test_after_thirty_updates():
    r = last()
    LESSON.says("0.903", dapo.last_rate(r.dapo))
    LESSON.says("0.598", np.mean([rate[30] for rate in r.grpo.mean_rate]))
    LESSON.says("0.65", np.mean([rate[-1, 3] for rate in r.dapo.pass_rate]))
    LESSON.says("0.01", np.mean([rate[30, 3] for rate in r.grpo.pass_rate]))
    LESSON.says("5,840", np.mean([drawn[-1] for drawn in r.dapo.completions]))
    LESSON.says("1,920", 30 * 64)
    LESSON.says("247", dapo.drawn_lately(r))


def test_with_sixteen_seeds_the_curves_coincide_on_the_axis_of_completions():
    def rates(file, updates):
        runs = [
            list(modsum_run(file, seed=seed, c=modsum.HARD, learning_rate=4.0, hyper=dict(beta=0.0)).frames(updates))
            for seed in range(16)
        ]
        return np.mean(
            [
                np.interp([4_000, 8_000], [f.completions for f in run], [f.exact["pass_rate"].mean() for f in run])
                for run in runs
            ],
            axis=0,
        )

    for file, updates, said in ((grpo, 126, ("0.836", "0.992")), (algorithm, 40, ("0.825", "0.990"))):
        for number, value in zip(said, rates(file, updates)):
            LESSON.says(number, value)


def test_one_fix_at_a_time():
    LESSON.says("0.551", dapo.last_rate(last(redraw="never").dapo))
    LESSON.says("0.816", dapo.last_rate(last(eps_high=0.2).dapo))
    LESSON.says("0.859", dapo.last_rate(last(average="completions").dapo))
    LESSON.says("0.892", dapo.last_rate(last(L_cache=0).dapo))
    LESSON.says("7.55", 100 * dapo.dead_share(last(redraw="reward")))
    LESSON.says("0.853", dapo.last_rate(last(redraw="reward").dapo))
    LESSON.says("0.492", dapo.last_rate(last(passes=1, eps_high=5.0).dapo))


def test_the_wider_clip_ends_with_less_entropy_on_this_task():
    for eps, said in ((0.28, "1.05"), (0.2, "1.25")):
        runs = [
            modsum_run(algorithm, seed=seed, c=modsum.HARD, learning_rate=4.0, hyper=dict(eps_high=eps), exact_every=29)
            for seed in range(3)
        ]
        LESSON.says(said, np.mean([list(run.frames(30))[-1].exact["completion_entropy"] for run in runs]))


@pytest.mark.parametrize("eps_high, said", [(0.2, "1.65"), (0.28, "1.72"), (0.5, "2.01"), (5.0, "1.63")])
def test_the_entropy_under_coin_flips(eps_high, said):
    entropy = clip_entropy.coin_entropy(
        0.2, eps_high, 4, 4.0, dapo.COIN_UPDATES, dapo.COIN_SEEDS, np.random.default_rng(0)
    )
    LESSON.says(said, entropy[:, -1].mean())
    LESSON.says("3.00", entropy[:, 0].mean())


def test_twice_as_long():
    r = last(updates=60)
    LESSON.says("0.998", dapo.last_rate(r.dapo))
    LESSON.says("474", dapo.drawn_lately(r))
    LESSON.says("1.3", dapo.live_lately(r))
    LESSON.says("0.2", 100 * dapo.gain_lately(r))


def test_the_answer_about_the_price():
    cut = {
        cache: np.mean([cut[[0, 10]] for cut in last(start="too long", L_cache=cache).dapo.truncated], axis=0)
        for cache in (4, 0)
    }
    LESSON.says("0.458", cut[4][0])
    LESSON.says("0.169", cut[4][1])
    LESSON.says("0.162", cut[0][1])
