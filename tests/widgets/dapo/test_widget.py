from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from sim.algorithms import dapo as dapo_file
from sim.algorithms import grpo
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tools.pages import results
from widgets.dapo import figures
from widgets.dapo import widget as dapo
from widgets.dapo.widget import Knobs


def last(seeds=2, **knobs):
    """The result of a whole run; fewer seeds and coins where only a direction is asked for."""
    return results.last("dapo", Knobs(**knobs), SEEDS=seeds, COIN_SEEDS=2)


def rate(**knobs):
    return dapo.last_rate(last(**knobs).dapo)


@cache
def plain(file):
    return ends(file)


def ends(file, seeds=range(15), optimizer="SGD", learning_rate=4.0, **settings):
    """(seeds,) pass rate after thirty updates of a file on the hard prompts: the widget's runs, without its rival's."""
    runs = [
        modsum_run(
            file,
            seed=seed,
            c=modsum.HARD,
            optimizer=modsum_optimizer(optimizer, learning_rate),
            exact_every=29,
            **{"hyper": dict(beta=0.0), **settings},
        )
        for seed in seeds
    ]
    return np.array([list(run.frames(30))[-1].exact["pass_rate"].mean() for run in runs])


def by_three(rates):
    """The means that the widget shows at its seeds 0 to 4."""
    return rates.reshape(5, 3).mean(axis=1)


@pytest.mark.when_changed()
def test_dapo_is_far_ahead_by_updates_and_not_by_completions():
    assert (by_three(plain(dapo_file)) > by_three(plain(grpo)) + 0.15).all()
    assert abs(dapo.ahead(last(seeds=8))) < 0.1


@pytest.mark.when_changed()
def test_a_larger_batch_helps_grpo_only_through_the_larger_step_that_it_affords():
    # 16 seeds in a reader's own script: 0.626, 0.628, 0.759, 0.903, and 0.960 for DAPO
    batch, step, both = (
        ends(grpo, groups=groups, learning_rate=rate).mean() - plain(grpo).mean()
        for groups, rate in ((24, 4.0), (8, 10.0), (24, 10.0))
    )
    assert abs(batch) < 0.06 and step > 0.06 and both > 0.2


@pytest.mark.when_changed()
def test_the_knobs_of_grpo_set_its_batch_and_its_rate_and_leave_dapo_alone():
    usual, larger = last(), last(grpo_groups=24, grpo_rate=2.5)
    np.testing.assert_array_equal(usual.dapo.pass_rate, larger.dapo.pass_rate)
    assert larger.grpo.completions[0][1] == 3 * usual.grpo.completions[0][1]
    alone = ends(grpo, seeds=range(2), groups=24, learning_rate=10.0)
    np.testing.assert_allclose([mean[30] for mean in larger.grpo.mean_rate], alone)


@pytest.mark.when_changed()
def test_under_adamw_the_longer_step_is_divided_away_and_grpo_is_ahead_for_as_many_completions():
    assert all(dapo.ahead(last(seeds=3, optimizer="AdamW", learning_rate=2.0, seed=seed)) < 0 for seed in range(5))


@pytest.mark.when_changed()
def test_both_algorithms_are_compared_at_as_many_completions():
    r = last()
    for ours, theirs in zip(r.dapo.completions, r.grpo.completions):
        assert theirs[-2] < ours[-1] <= theirs[-1]
        assert (np.diff(theirs) == 64).all()  # eight groups of eight, always
    assert all(len(rate) > 30 for rate in last(grpo_groups=24).grpo.mean_rate)  # and after as many updates


def test_dynamic_sampling_trains_on_live_groups_alone_and_pays_in_completions():
    with_it, without = last(), last(redraw="never")
    assert dapo.dead_share(with_it) == 0 < dapo.dead_share(without)
    assert with_it.dapo.completions[0][-1] > 2 * without.dapo.completions[0][-1] == 2 * 30 * 64


@pytest.mark.when_changed()
def test_without_dynamic_sampling_dapo_is_no_faster_by_updates_than_grpo():
    everything = dict(hooks=dict(keep_group=grpo.keep_group))
    assert ends(dapo_file, **everything).mean() < plain(grpo).mean() + 0.03


@pytest.mark.when_changed()
def test_without_a_refill_the_price_on_groups_that_are_all_wrong_holds_dapo_back():
    adamw, free = dict(optimizer="AdamW", learning_rate=2.0), dict(shape_reward=grpo.shape_reward)
    priced = ends(dapo_file, **adamw, hooks=dict(keep_group=grpo.keep_group))
    unpriced = ends(dapo_file, **adamw, hooks=dict(keep_group=grpo.keep_group, **free))
    assert (by_three(unpriced) > by_three(priced) + 0.05).all()


@pytest.mark.when_changed()
def test_a_filter_on_the_shaped_reward_lets_groups_without_a_signal_through():
    assert dapo.dead_share(last(redraw="reward")) > 0.02
    assert dapo.dead_share(last(redraw="reward", L_cache=0)) == 0  # without a price on length the two filters are one


@pytest.mark.when_changed()
def test_in_one_pass_the_upper_bound_does_nothing():
    np.testing.assert_array_equal(last(passes=1).dapo.pass_rate, last(passes=1, eps_high=5.0).dapo.pass_rate)
    np.testing.assert_array_equal(last(passes=1).coin, last(passes=1, eps_high=5.0).coin)


@pytest.mark.when_changed()
def test_in_four_passes_a_wider_bound_lets_the_rare_answers_grow_faster():
    assert (by_three(plain(dapo_file)) > by_three(ends(dapo_file, hyper=dict(eps_high=0.2)))).all()


@pytest.mark.when_changed()
def test_the_average_and_the_price_change_the_run_a_little():
    assert 0 < abs(rate(average="completions") - rate()) < 0.15
    assert 0 < abs(rate(L_cache=0) - rate()) < 0.15


@pytest.mark.when_changed()
def test_from_a_start_that_is_cut_off_half_the_time_success_itself_shortens():
    cuts = {
        cache: np.mean([cut[10] for cut in last(start="too long", L_cache=cache).dapo.truncated])
        for cache in (0, 4, 10)
    }
    assert last(start="too long").dapo.truncated[0][0] == pytest.approx(
        0.458, abs=5e-4
    )  # closed form, the dynamic program
    assert max(cuts.values()) < 0.25 and max(cuts.values()) - min(cuts.values()) < 0.05


@pytest.mark.when_changed()
def test_the_refill_turns_into_pure_cost_once_the_prompts_are_solved():
    assert [dapo.spent(last(updates=updates)) for updates in (15, 30, 60)] == [False, False, True]


@pytest.mark.when_changed()
def test_the_suggested_fix_is_the_longest_run_that_still_paid_off():
    k = Knobs(updates=45, start="easier prompts", learning_rate=10.0)
    r = last(**vars(k))
    assert dapo.broken(k, r).fix == dict(updates=15) and dapo.spent(r, 30) and not dapo.spent(r, 15)


@pytest.mark.when_changed()
def test_a_run_far_behind_at_equal_completions_has_its_own_break_and_gauge():
    k = Knobs(redraw="reward", L_cache=11, learning_rate=10.0, passes=8)
    r = last(**vars(k))
    assert "GRPO is" in dapo.broken(k, r).why and dapo.broken(k, r).fix["redraw"] == "accuracy"
    assert dapo.watched(k, r).value == dapo.ahead(r) < -0.2
    assert "gain" in dapo.watched(Knobs(), last()).label


def test_without_a_refill_nothing_is_overpaid_however_long_the_run():
    assert dapo.drawn_lately(last(updates=60, redraw="never")) == 64


def test_easier_prompts_are_spent_sooner():
    assert dapo.live_lately(last(start="easier prompts")) < dapo.live_lately(last())


def test_the_price_of_a_live_group_is_lowest_at_one_half():
    curve = figures.price(0.5)[1]["data"][0]
    assert curve["x"][np.argmin(curve["y"])] == pytest.approx(0, abs=0.01)  # in log odds


@pytest.mark.when_changed()
def test_the_notes_name_the_optimizer_and_the_rate_that_it_was_given():
    notes = [p["note"] for p in dapo.figure(Knobs(optimizer="AdamW"), last(optimizer="AdamW"))]
    assert any("AdamW at 0.04" in note for note in notes) and not any("SGD" in note for note in notes)


def test_the_coins_come_last():
    with patch.object(dapo, "SEEDS", 1), patch.object(dapo, "COIN_SEEDS", 2):
        assert [r.coin is None for r in dapo.run(Knobs(updates=15))] == [True] * 14 + [False]


@pytest.mark.when_changed()
def test_a_run_that_keeps_dead_groups_for_their_length_is_called_worse():
    k, r = Knobs(redraw="reward"), last(seeds=3, redraw="reward")
    assert dapo.broken(k, r) is None and "differ in length alone" in dapo.worse(k, r)
    assert "length" not in (dapo.worse(Knobs(redraw="reward", L_cache=0), last(redraw="reward", L_cache=0)) or "")


@pytest.mark.when_changed()
def test_in_the_opening_the_run_that_is_ahead_is_the_one_that_pays_for_nothing():
    plain, other = (last(seeds=3, **vars(k)) for k in (dapo.OPENING.plain, dapo.OPENING.other))
    assert dapo.last_rate(other.dapo) > dapo.last_rate(plain.dapo)
    assert dapo.by_window(other)[-1] > 6 * dapo.by_window(plain)[-1]


@pytest.mark.when_changed()
def test_the_guess_is_answered_from_the_run():
    def lead(r):
        return dapo.last_rate(r.dapo) - np.mean([rate[r.updates] for rate in r.grpo.mean_rate])

    k, r, usual = dapo.GUESS.knobs, last(seeds=3, grpo_groups=24), last(seeds=3)
    assert dapo.GUESS.answers[dapo.GUESS.right] == "nearly all" and lead(r) > 0.8 * lead(usual)
    assert dapo.broken(k, r) is None and "DAPO ends at 0.90" in dapo.GUESS.told(k, r)
