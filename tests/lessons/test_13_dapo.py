"""The numbers of the lesson on DAPO, recomputed."""

import re
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

from sim.algorithms import dapo as algorithm
from sim.algorithms import grpo
from sim.estimators import clip_entropy, group_baselines
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.lessons.prose import Lesson, agrees
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


def rate(file, optimizer="SGD", learning_rate=4.0, of="pass_rate", **settings):
    """Of 30 updates on the hard prompts, at the end, the mean of a seed's three runs, which are the instrument's."""

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


kept = LESSON.kept


def test_after_thirty_updates():
    LESSON.spread("0.91 ± 0.05", kept("DAPO, learning rate 4"))
    LESSON.spread("0.59 ± 0.05", kept("GRPO, 8 groups, learning rate 4"))
    drawn = kept("DAPO, completions").mean()
    assert f"about {round(drawn, -2):,.0f} completions" in LESSON.text
    assert 8 * 8 * 30 == 1920 and "1,920" in LESSON.text
    assert 2.5 < drawn / 1920 < 3.6 and "about three times the trainer's work" in LESSON.text


def test_where_the_gap_comes_from():
    table = dict(
        re.findall(r"^ *\| ((?:GRPO|DAPO), .*learning rate \d+) \| (0\.\d\d ± 0\.\d\d) \|$", LESSON.text, re.M)
    )
    assert len(table) == 5
    for words, said in table.items():
        agrees(said, kept(words))
    agrees("0.00 ± 0.09", kept("ahead for as many completions"))
    assert "the difference between the two is 0.00 ± 0.09" in LESSON.text


def test_under_adamw_grpo_is_ahead_for_as_many_completions():
    slow, fast = (-kept(f"ahead for as many completions, AdamW at {rate}") for rate in (0.02, 0.04))
    agrees("0.20 ± 0.06", slow)
    agrees("0.03 ± 0.03", fast)
    assert slow.min() > 0 and "is ahead for as many completions by 0.20 ± 0.06, in each of twenty seeds" in LESSON.text
    assert fast.min() > 0 and "GRPO is ahead by 0.03 ± 0.03, in all twenty seeds" in LESSON.text


def test_without_the_refill():
    LESSON.spread("0.58 ± 0.06", kept("no refill"))
    LESSON.spread("0.65 ± 0.04", kept("no refill, no price"))
    LESSON.counts("ends higher in {} of twenty seeds", kept("no refill, no price") > kept("no refill"))
    LESSON.spread("0.50 ± 0.03", priced := kept("no refill, AdamW"))
    LESSON.spread("0.64 ± 0.04", free := kept("no refill, no price, AdamW"))
    assert (free > priced).all() and "in all twenty: 0.50" in LESSON.text


def test_a_filter_on_the_reward():
    LESSON.spread("9 ± 1", kept("filter on the reward, percent dead"))
    LESSON.spread("0.85 ± 0.06", kept("filter on the reward"))
    behind = kept("filter on the reward") < kept("DAPO, learning rate 4")
    LESSON.counts("behind the filter on right and wrong in {} of twenty seeds", behind)


def test_the_other_fixes_one_at_a_time():
    base = kept("DAPO, learning rate 4")
    LESSON.spread("0.94 ± 0.05", kept("no price"))
    LESSON.spread("0.97 ± 0.03", kept("old average"))
    LESSON.spread("0.89 ± 0.05", kept("old clip"))
    LESSON.counts("it is ahead in {} of twenty seeds", kept("old clip") < base)
    ahead = base - kept("old clip")
    assert abs(ahead.mean()) < 2 * ahead.std(ddof=1) / 20**0.5 and "cannot be told from [the old one]" in LESSON.text
    for words in ("old clip, AdamW", "wider clip, AdamW"):
        LESSON.says("0.74", kept(words).mean())
    assert "At AdamW 0.02 the two end alike, at 0.74" in LESSON.text


def test_the_wider_clip_ends_with_less_entropy_on_this_task():
    wide, old = kept("wider clip, nats a completion"), kept("old clip, nats a completion")
    LESSON.spread("0.9 ± 0.1", wide)
    LESSON.spread("1.1 ± 0.2", old)
    LESSON.counts("with less in {} of twenty seeds", wide < old)


def test_the_entropy_under_coin_flips():
    for high, words in ((0.2, "1.55 ± 0.11"), (0.28, "1.84 ± 0.08"), (0.5, "1.94 ± 0.05"), (5.0, "1.70 ± 0.08")):
        LESSON.spread(words, kept(f"coins, {high}"))
    assert (kept("coins, 0.2") < kept("coins, 0.28")).all() and (kept("coins, 0.5") > kept("coins, 5.0")).all()
    LESSON.says("3.00", np.log(20))
    for high in (0.2, 5.0):
        LESSON.says("2.5", kept(f"coins, {high}, AdamW").mean())


def test_twice_as_long():
    LESSON.says("0.998", kept("60 updates").mean())
    LESSON.spread("476 ± 6", kept("60 updates, drawn an update"))
    LESSON.spread("0.14 ± 0.02", kept("60 updates, points gained by the last ten"))


def test_the_answer_about_the_price():
    share = lambda price, update: kept(f"too long, price on {price}, share cut off after {update}")
    LESSON.says("0.458", share(4, 0).mean())
    LESSON.spread("0.17 ± 0.01", share(4, 10))
    LESSON.spread("0.19 ± 0.01", share(0, 10))


def test_what_an_update_draws():
    LESSON.spread("245 ± 30", kept("drawn an update"))


@LESSON.when_changed
def test_what_the_head_says_of_the_two_runs_of_the_first_screen():
    plain, other = (last(**vars(k)) for k in (dapo.OPENING.plain, dapo.OPENING.other))
    assert dapo.last_rate(other.dapo) > 0.99 and dapo.drawn_lately(plain) == 64
    assert round(dapo.drawn_lately(other) / 64) == 7 and "seven times what the other's do" in LESSON.text
    assert np.mean(other.dapo.kept[0][-10:]) < 0.05 * dapo.drawn_lately(other) / 8  # "throw nearly all away"


def test_the_bounds_of_a_rare_and_of_a_common_token():
    LESSON.says("1.2", 100 * figures.highest(0.01, 0.2))
    LESSON.says("100", 100 * figures.highest(0.9, 0.2))
    assert "once in 100 is pushed to 1.2, and one drawn 90 times all the way to 100" in LESSON.text


def test_how_many_groups_a_solved_prompt_takes_for_a_live_one():
    groups = group_baselines.completions_per_live_group(0.998, 8) / 8
    LESSON.says("63", groups)
    assert 8 * round(groups) == 504 and "63 groups, which are 504 completions" in LESSON.text
    assert groups == pytest.approx(1 / (1 - 0.998**8 - 0.002**8))


def test_without_a_price_the_two_filters_keep_the_same_groups():
    with patch.object(dapo, "SEEDS", 1):
        ours, other = (
            list(dapo.run(dapo.Knobs(updates=15, L_cache=0, redraw=by)))[-1].dapo for by in ("accuracy", "reward")
        )
    np.testing.assert_array_equal(ours.pass_rate, other.pass_rate)
    np.testing.assert_array_equal(ours.kept, other.kept)


def test_what_is_thrown_away_is_too_hard_early_and_solved_later():
    for update, easy in ((5, False), (27, True)):
        what = figures.drawn("the other", update)
        gone = what.right[~what.kept].any(axis=1)
        assert (gone.mean() > 0.5) == easy


@LESSON.when_changed
def test_the_figure_on_three_axes_shows_a_lead_by_updates_and_by_training_and_none_by_completions():
    for count, ahead in ((figures.UPDATE, True), (figures.TRAINED, True), (figures.DRAWN, False)):
        ours, theirs = map(float, re.findall(r"(?:DAPO|GRPO) (0\.\d\d)", figures.compared(count)))
        assert (ours - theirs > 0.25) if ahead else abs(ours - theirs) < 0.08, count
    trained = [64 * counted[figures.TRAINED][-1] for counted, _ in figures.curves(algorithm, figures.UPDATES)]
    assert round(np.mean(trained), -2) == 1800 and "DAPO trained on about 1,800" in LESSON.text


def test_the_first_four_positions_are_the_prompts_of_the_page():
    np.testing.assert_allclose(sorted(figures.RATES[:4]), figures.RATES[:4])
    assert figures.RATES[:4] == figures.hard()
