"""The lesson on DAPO: what its numbers are computed by, and what it says without a number."""

import re
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from sim.algorithms import dapo as algorithm
from sim.algorithms import grpo
from sim.estimators import clip_entropy, group_baselines
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons import spreads
from tools.pages import results
from widgets.dapo import figures
from widgets.dapo import widget as dapo

EXPENSIVE = ("trained_on",)
kept = partial(spreads.values, "13_dapo")

pass_rates = modsum.exact(modsum.Policy(modsum.HARD).params["theta"])["pass_rate"]
live = group_baselines.live_probability(pass_rates, 8)
live_of_eight = 2 * live.sum()  # groups of the first batch


def last(**knobs):
    """The result of a whole run, with few coins: those are asked for below."""
    return results.last("dapo", dapo.Knobs(**knobs), COIN_SEEDS=1)


def table_row(i):
    return pass_rates[i], live[i], group_baselines.completions_per_live_group(pass_rates[i], 8)


def groups_for_a_live_one(p, K=8):
    return group_baselines.completions_per_live_group(p, K) / K


def price(length):
    batch = SimpleNamespace(length=np.array([length]), T=12)
    return -algorithm.shape_reward(np.zeros(1), algorithm.HP, batch)[0]


def rate(file, optimizer="SGD", learning_rate=4.0, of="pass_rate", **settings):
    """Of 30 updates on the hard prompts, at the end, the mean of a seed's three runs, which are the simulator's."""

    def measured(seed):
        ends = []
        for run_seed in range(3 * seed, 3 * seed + 3):
            made = modsum_optimizer(optimizer, learning_rate)
            options = {"hyper": dict(beta=0.0), "exact_every": 30, **settings}
            run = modsum_run(file, seed=run_seed, c=modsum.HARD, optimizer=made, **options)
            frame = list(run.frames(30))[-1]
            ends.append(frame.completions if of == "completions" else frame.exact[of].mean())
        return np.mean(ends)

    return measured


def of(read, **knobs):
    return lambda seed: read(last(seed=seed, **knobs))


def coin(eps_high, optimizer="SGD"):
    """Entropy at the end of a seed's 24 runs; fresh moments for every run."""

    def measured(seed):
        made = modsum_optimizer(optimizer, 4.0 if optimizer == "SGD" else 2.0)
        settings = dapo.COIN_UPDATES, 24, np.random.default_rng(seed)
        return clip_entropy.coin_entropy(0.2, eps_high, 4, made, *settings).mean(axis=0)[-1]

    return measured


SLOW = dict(optimizer="AdamW", learning_rate=2.0)
NO_REFILL, NO_PRICE = dict(keep_group=grpo.keep_group), dict(shape_reward=grpo.shape_reward)

MEASURED = {
    **{f"coins, {high}": coin(high) for high in (0.2, 0.28, 0.5, 5.0)},
    **{f"coins, {high}, AdamW": coin(high, "AdamW") for high in (0.2, 5.0)},
    "60 updates": of(lambda r: dapo.last_rate(r.dapo), updates=60),
    "60 updates, drawn an update": of(dapo.drawn_lately, updates=60),
    "60 updates, points gained by the last ten": of(lambda r: 100 * dapo.gain_lately(r), updates=60),
    "drawn an update": of(dapo.drawn_lately),
    **{
        f"too long, price on {price}, share cut off after {update}": of(
            lambda r, update=update: np.mean([cut[update] for cut in r.dapo.truncated]), start="too long", L_cache=price
        )
        for price in (4, 0)
        for update in (0, 10)
    },
    "filter on the reward": of(lambda r: dapo.last_rate(r.dapo), redraw="reward"),
    "filter on the reward, percent dead": of(lambda r: 100 * dapo.dead_share(r), redraw="reward"),
    "DAPO, learning rate 4": rate(algorithm),
    **{
        f"GRPO, {groups} groups, learning rate {step}": rate(grpo, groups=groups, learning_rate=float(step))
        for step in (4, 10)
        for groups in (8, 24)
    },
    "DAPO, completions": rate(algorithm, of="completions"),
    "ahead for as many completions": of(dapo.ahead),
    "ahead for as many completions, AdamW at 0.02": of(dapo.ahead, **SLOW),
    "ahead for as many completions, AdamW at 0.04": of(dapo.ahead, optimizer="AdamW"),
    "no refill": rate(algorithm, hooks=NO_REFILL),
    "no refill, no price": rate(algorithm, hooks={**NO_REFILL, **NO_PRICE}),
    "no refill, AdamW": rate(algorithm, hooks=NO_REFILL, **SLOW),
    "no refill, no price, AdamW": rate(algorithm, hooks={**NO_REFILL, **NO_PRICE}, **SLOW),
    "no price": rate(algorithm, hooks=NO_PRICE),
    "old average": rate(algorithm, hooks=dict(weights=grpo.weights)),
    "old clip": rate(algorithm, hyper=dict(eps_high=0.2)),
    "old clip, AdamW": rate(algorithm, hyper=dict(eps_high=0.2), **SLOW),
    "wider clip, AdamW": rate(algorithm, hyper=dict(eps_high=0.28), **SLOW),
    "wider clip, nats a completion": rate(algorithm, of="completion_entropy"),
    "old clip, nats a completion": rate(algorithm, of="completion_entropy", hyper=dict(eps_high=0.2)),
}


def cut_off(price, update):
    return kept(f"too long, price on {price}, share cut off after {update}")


def trained_on():
    """Completions that DAPO trains on in its 30 updates."""
    return np.mean([64 * counted[figures.TRAINED][-1] for counted, _ in figures.curves(algorithm, figures.UPDATES)])


def test_a_token_of_a_short_and_of_a_long_completion():
    mask = (np.arange(12) < np.array([[4], [12]])).astype(float)
    assert set(grpo.weights(mask, grpo.HP, None)[mask > 0]) == {1 / 8, 1 / 24}
    assert set(algorithm.weights(mask, algorithm.HP, None)[mask > 0]) == {1 / 16}


def test_a_dead_group_is_all_right_or_all_wrong():
    assert groups_for_a_live_one(0.998) == pytest.approx(1 / (1 - 0.998**8 - 0.002**8))


def test_up_to_the_eighth_token_nothing_is_paid():
    assert price(8) == 0


def test_the_wider_clip_cannot_be_told_from_the_old_one():
    ahead = kept("DAPO, learning rate 4") - kept("old clip")
    assert abs(ahead.mean()) < 2 * ahead.std(ddof=1) / 20**0.5
    assert kept("old clip, AdamW").mean() == pytest.approx(kept("wider clip, AdamW").mean(), abs=0.005)


def test_the_best_bound_for_entropy_lies_inside_under_sgd_and_nowhere_under_adamw():
    assert (kept("coins, 0.2") < kept("coins, 0.28")).all() and (kept("coins, 0.5") > kept("coins, 5.0")).all()
    assert kept("coins, 5.0, AdamW").mean() == pytest.approx(kept("coins, 0.2, AdamW").mean(), abs=0.05)


@pytest.mark.when_changed()
def test_what_the_head_says_of_the_two_runs_of_the_first_screen():
    plain, other = (last(**vars(k)) for k in (dapo.OPENING.plain, dapo.OPENING.other))
    assert dapo.last_rate(other.dapo) > 0.99 and dapo.drawn_lately(plain) == 64
    assert round(dapo.drawn_lately(other) / 64) == 7
    assert np.mean(other.dapo.kept[0][-10:]) < 0.05 * dapo.drawn_lately(other) / 8  # "throw nearly all away"


def test_without_a_price_the_two_filters_keep_the_same_groups():
    with patch.object(dapo, "SEEDS", 1):
        ours, other = (
            list(dapo.run(dapo.Knobs(updates=15, L_cache=0, redraw=by)))[-1].dapo for by in ("accuracy", "reward")
        )
    np.testing.assert_array_equal(ours.pass_rate, other.pass_rate)
    np.testing.assert_array_equal(ours.kept, other.kept)


def test_what_is_thrown_away_is_too_hard_early_and_solved_later():
    for update, easy in ((5, False), (27, True)):
        what = figures.drawn("sampled again", update)
        gone = what.right[~what.kept].any(axis=1)
        assert (gone.mean() > 0.5) == easy


@pytest.mark.when_changed()
def test_the_figure_on_three_axes_shows_a_lead_by_updates_and_by_training_and_none_by_completions():
    for count, ahead in ((figures.UPDATE, True), (figures.TRAINED, True), (figures.DRAWN, False)):
        ours, theirs = map(float, re.findall(r"(?:DAPO|GRPO) (0\.\d\d)", figures.compared(count)))
        assert (ours - theirs > 0.25) if ahead else abs(ours - theirs) < 0.08, count


def test_the_first_four_positions_are_the_prompts_of_the_page():
    np.testing.assert_allclose(sorted(figures.RATES[:4]), figures.RATES[:4])
    assert figures.RATES[:4] == figures.hard()
