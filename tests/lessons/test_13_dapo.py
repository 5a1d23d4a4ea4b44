"""The numbers of the lesson on DAPO, recomputed."""

import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from sim.algorithms import dapo as algorithm
from sim.algorithms import grpo
from sim.estimators import clip_entropy, group_baselines
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons.prose import TWENTY, Lesson, agrees
from tools.pages import results
from widgets.dapo import figures
from widgets.dapo import widget as dapo

LESSON = Lesson("13")


def last(**knobs):
    """The result of a whole run, with few coins: those are asked for below."""
    return results.last("dapo", dapo.Knobs(**knobs), COIN_SEEDS=1)


def test_the_table_of_live_groups():
    rates = modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"]
    live, price = group_baselines.live_probability(rates, 8), group_baselines.completions_per_live_group(rates, 8)
    rows = re.findall(r"^ *\| (0\.\d+) \| (0\.\d+) \| ([\d.]+) \|$", LESSON.text, re.M)
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


SOME = TWENTY[:2]  # seeds of the instrument, three runs each
SEEDS = range(3 * SOME[0], 3 * SOME[0] + 6)  # these runs


def runs(file, updates, seeds=SEEDS, optimizer="SGD", learning_rate=4.0, **settings):
    """(drawn, pass rate) after each update, a pair of curves a seed, on the hard prompts."""
    found = []
    for seed in seeds:
        run = modsum_run(
            file,
            seed=seed,
            c=modsum.HARD,
            optimizer=modsum_optimizer(optimizer, learning_rate),
            **{"hyper": dict(beta=0.0), **settings},
        )
        found.append(np.array([(f.completions, f.exact["pass_rate"].mean()) for f in run.frames(updates)]).T)
    return found


@cache
def of(file, updates):
    return runs(file, updates)


def ends(of_runs, update=-1):
    return np.array([rate[update] for _, rate in of_runs])


def by_three(rates):
    """The means that the instrument shows at its seeds."""
    return rates.reshape(-1, 3).mean(axis=1)


def ranges(words, values, slack=0.012):
    """The text says "0.55 to 0.63" or "0.55 and 0.63", and that is where the values lie."""
    assert words in LESSON.text, words
    low, high = (float(n.replace("−", "-")) for n in re.findall(r"−?[0-9.]*[0-9]", words))
    assert min(values) == pytest.approx(low, abs=slack) and max(values) == pytest.approx(high, abs=slack)


def close(number, value, slack=0.012):
    """The text says the number, and the runs agree to within what a processor changes in them."""
    LESSON.says(number, float(number.replace(",", "")))
    assert value == pytest.approx(float(number.replace(",", "")), abs=slack)


@LESSON.when_changed
def test_after_thirty_updates():
    dapo_runs, grpo_runs = of(algorithm, 30), of(grpo, 30)
    LESSON.spread("0.92 ± 0.04", by_three(ends(dapo_runs)))
    LESSON.spread("0.59 ± 0.04", by_three(ends(grpo_runs)))
    drawn = np.mean([drawn[-1] for drawn, _ in dapo_runs])
    assert drawn == pytest.approx(5_900, rel=0.15) and "about 5,900 completions" in LESSON.text
    close("1,920", grpo_runs[0][0][-1], 0)
    assert 8 * 8 * 30 == 1920 and 2.5 < drawn / 1920 < 3.6 and "about three times the trainer's work" in LESSON.text


@LESSON.when_changed
def test_how_far_three_runs_are_apart_at_as_many_completions():
    agrees("0.00 ± 0.09", [dapo.ahead(last(seed=seed)) for seed in SOME])
    assert "the difference between the two is 0.00 ± 0.09" in LESSON.text


@LESSON.when_changed
def test_where_the_gap_comes_from():
    table = dict(
        re.findall(r"^ *\| ((?:GRPO|DAPO), .*learning rate \d+) \| (0\.\d\d ± 0\.\d\d) \|$", LESSON.text, re.M)
    )
    assert len(table) == 5
    for words, said in table.items():
        if words.startswith("DAPO"):
            rates = ends(of(algorithm, 30))
        else:
            groups, learning_rate = map(int, re.findall(r"\d+", words))
            rates = ends(runs(grpo, 30, groups=groups, learning_rate=learning_rate))
        agrees(said, by_three(rates))


@LESSON.when_changed
def test_under_adamw_grpo_is_ahead_for_as_many_completions():
    LESSON.spread("0.20 ± 0.06", [-dapo.ahead(last(optimizer="AdamW", learning_rate=2.0, seed=seed)) for seed in SOME])
    faster = [-dapo.ahead(last(optimizer="AdamW", seed=seed)) for seed in SOME]
    LESSON.spread("0.03 ± 0.03", faster)
    assert min(faster) > 0 and "in all twenty seeds" in LESSON.text


@LESSON.when_changed
def test_without_the_refill():
    everything, unpriced = dict(keep_group=grpo.keep_group), dict(shape_reward=grpo.shape_reward)
    slow = dict(optimizer="AdamW", learning_rate=2.0)
    LESSON.spread("0.58 ± 0.06", by_three(ends(runs(algorithm, 30, hooks=everything))))
    LESSON.spread("0.65 ± 0.04", by_three(ends(runs(algorithm, 30, hooks={**everything, **unpriced}))))
    LESSON.spread("0.50 ± 0.03", priced := by_three(ends(runs(algorithm, 30, hooks=everything, **slow))))
    LESSON.spread("0.64 ± 0.04", free := by_three(ends(runs(algorithm, 30, hooks={**everything, **unpriced}, **slow))))
    assert (free > priced).all() and "in all twenty: 0.50" in LESSON.text


@LESSON.when_changed
def test_a_filter_on_the_reward():
    found = [last(redraw="reward", seed=seed) for seed in SOME]
    LESSON.spread("9 ± 1", [100 * dapo.dead_share(r) for r in found])
    LESSON.spread("0.85 ± 0.06", [dapo.last_rate(r.dapo) for r in found])


@LESSON.when_changed
def test_the_other_fixes_one_at_a_time():
    LESSON.spread("0.94 ± 0.05", by_three(ends(runs(algorithm, 30, hooks=dict(shape_reward=grpo.shape_reward)))))
    LESSON.spread("0.97 ± 0.03", by_three(ends(runs(algorithm, 30, hooks=dict(weights=grpo.weights)))))
    LESSON.spread("0.89 ± 0.05", by_three(ends(runs(algorithm, 30, hyper=dict(eps_high=0.2)))))
    slow = dict(optimizer="AdamW", learning_rate=2.0)
    for high in (0.2, 0.28):
        agrees("0.74 ± 0.03", by_three(ends(runs(algorithm, 30, hyper=dict(eps_high=high), **slow))))
    assert "at AdamW 0.02 the two clips end alike, at 0.74" in LESSON.text


@pytest.mark.nightly
def test_one_fix_at_a_time_over_twenty_seeds():
    sixty = range(3 * TWENTY[0], 3 * TWENTY[-1] + 3)
    base = by_three(ends(runs(algorithm, 30, sixty)))
    LESSON.spread("0.92 ± 0.04", base)
    old = by_three(ends(runs(algorithm, 30, sixty, hyper=dict(eps_high=0.2))))
    average = by_three(ends(runs(algorithm, 30, sixty, hooks=dict(weights=grpo.weights))))
    reward = np.array([dapo.last_rate(last(redraw="reward", seed=seed).dapo) for seed in TWENTY])
    assert 8 < (old < base).sum() < 20 and "ahead in 14 of twenty seeds" in LESSON.text
    assert average.mean() > base.mean() + 0.02 and "ends higher than the new one" in LESSON.text
    assert (reward < base).sum() > 14 and "in 18 of twenty seeds" in LESSON.text


@LESSON.when_changed
def test_the_wider_clip_ends_with_less_entropy_on_this_task():
    entropy = {}
    for high in (0.28, 0.2):
        settings = dict(c=modsum.HARD, learning_rate=4.0, hyper=dict(eps_high=high), exact_every=29)
        last_frames = [list(modsum_run(algorithm, seed=seed, **settings).frames(30))[-1] for seed in range(600, 618)]
        entropy[high] = np.mean([frame.exact["completion_entropy"].mean() for frame in last_frames])
    assert "0.9 nats a completion against 1.1" in LESSON.text
    assert entropy[0.28] < entropy[0.2] and list(entropy.values()) == pytest.approx([0.9, 1.1], abs=0.15)


def coin(eps_high, optimizer, seed):
    """Entropy at the start and at the end; fresh moments for every run."""
    made = modsum_optimizer(optimizer, 4.0 if optimizer == "SGD" else 2.0)
    settings = dapo.COIN_UPDATES, dapo.COIN_SEEDS, np.random.default_rng(seed)
    entropy = clip_entropy.coin_entropy(0.2, eps_high, 4, made, *settings).mean(axis=0)
    return entropy[0], entropy[-1]


@LESSON.when_changed
def test_the_entropy_under_coin_flips():
    ended = {high: [coin(high, "SGD", seed)[1] for seed in range(6)] for high in (0.2, 0.28, 0.5, 5.0)}
    for high, words in ((0.2, "1.40 to 1.65"), (0.28, "1.72 to 1.94"), (0.5, "1.83 to 2.02"), (5.0, "1.60 to 1.73")):
        ranges(words, ended[high], 0.05)
    assert np.less(ended[0.2], ended[0.28]).all() and np.greater(ended[0.5], ended[5.0]).all()
    LESSON.says("3.00", coin(0.2, "SGD", 0)[0])
    assert [coin(high, "AdamW", 0)[1] for high in (0.2, 5.0)] == pytest.approx([2.5, 2.5], abs=0.05)


@LESSON.when_changed
def test_twice_as_long():
    found = [last(updates=60, seed=seed) for seed in range(3)]
    assert min(dapo.last_rate(r.dapo) for r in found) > 0.9975 and "0.998 or above" in LESSON.text
    assert [dapo.drawn_lately(r) for r in found] == pytest.approx([470] * 3, abs=15)
    ranges("0.1 to 0.2 points", [100 * dapo.gain_lately(r) for r in found], 0.06)


@LESSON.when_changed
def test_the_answer_about_the_price():
    cut = {
        cache: np.mean([cut[[0, 10]] for cut in last(start="too long", L_cache=cache).dapo.truncated], axis=0)
        for cache in (4, 0)
    }
    LESSON.says("0.458", cut[4][0])
    close("0.17", cut[4][1])
    close("0.16", cut[0][1])


@LESSON.when_changed
def test_the_updates_draw_about_two_hundred_completions():
    drawn = [dapo.drawn_lately(last(seed=seed)) for seed in range(3)]
    assert min(drawn) > 170 and max(drawn) < 260 and "about 200 completions" in LESSON.text


@LESSON.when_changed
def test_what_the_head_says_of_the_two_runs_of_the_first_screen():
    plain, other = (last(**vars(k)) for k in (dapo.OPENING.plain, dapo.OPENING.other))
    assert dapo.last_rate(other.dapo) > 0.99 and dapo.drawn_lately(plain) == 64
    assert round(dapo.drawn_lately(other) / 64) == 7 and "seven times as many" in LESSON.text


def test_the_bounds_of_a_rare_and_of_a_common_token():
    np.testing.assert_allclose(np.array([figures.RARE, figures.COMMON]) * 1.2, [0.012, 1.08])
    assert "At 0.012, and at 1.08" in LESSON.text
    left, right = figures.room(0.2)
    assert [mark["name"] for mark in left["data"]] == ["pushed up", "no push left", "when drawn"]
    assert [mark["name"] for mark in right["data"]] == ["pushed up", "when drawn"]  # never let go


@LESSON.when_changed
def test_the_figure_on_three_axes_shows_a_lead_by_updates_and_by_training_and_none_by_completions():
    for count, ahead in ((figures.UPDATE, True), (figures.TRAINED, True), (figures.DRAWN, False)):
        ours, theirs = map(float, re.findall(r"(?:DAPO|GRPO) (0\.\d\d)", figures.compared(count)))
        assert (ours - theirs > 0.25) if ahead else abs(ours - theirs) < 0.08, count


def test_the_first_four_positions_are_the_prompts_of_the_page():
    np.testing.assert_allclose(sorted(figures.RATES[:4]), figures.RATES[:4])
    assert figures.RATES[:4] == figures.hard()


def test_entropy_moves_by_a_covariance_and_a_bonus_by_what_the_text_says():
    rng = np.random.default_rng(0)
    theta, advantage, step = rng.normal(size=6), rng.normal(size=6), 1e-5
    entropy = lambda logits: float(clip_entropy.entropy(logits))
    pi = np.exp(theta) / np.exp(theta).sum()
    advantage = advantage - pi @ advantage  # against the mean
    slope = -pi * (np.log(pi) + entropy(theta))
    central = [(entropy(theta + step * e) - entropy(theta - step * e)) / (2 * step) for e in np.eye(6)]
    np.testing.assert_allclose(slope, central, atol=1e-8)
    moved = entropy(theta + step * pi * advantage) - entropy(theta)
    cov = pi @ (np.log(pi) * pi * advantage) - (pi @ np.log(pi)) * (pi @ (pi * advantage))
    assert moved == pytest.approx(-step * cov, rel=1e-3)
    geometric = np.exp(pi @ np.log(pi))
    assert ((slope > 0) == (pi < geometric)).all()
