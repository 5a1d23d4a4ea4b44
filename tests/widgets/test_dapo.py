from functools import cache
from unittest.mock import patch

import numpy as np
import pytest

from widgets import dapo
from widgets.dapo import Knobs


@cache
def last(seeds=2, **knobs):
    """The result of a whole run; fewer seeds and coins where only a direction is asked for."""
    with patch.object(dapo, "SEEDS", seeds), patch.object(dapo, "COIN_SEEDS", 2):
        *_, result = dapo.run(Knobs(**knobs))
    return result


def rate(**knobs):
    return dapo.last_rate(last(**knobs).dapo)


def test_on_the_axis_of_updates_dapo_is_far_ahead_and_on_the_axis_of_completions_it_is_not():
    r = last(seeds=4)
    by_update = dapo.last_rate(r.dapo) - np.mean([mean[r.updates] for mean in r.grpo.mean_rate])
    assert by_update > 0.2 and abs(dapo.ahead(r)) < 0.1


def test_both_algorithms_are_compared_at_as_many_completions():
    r = last()
    for ours, theirs in zip(r.dapo.completions, r.grpo.completions):
        assert theirs[-2] < ours[-1] <= theirs[-1]
        assert (np.diff(theirs) == 64).all()  # eight groups of eight, always


def test_dynamic_sampling_trains_on_live_groups_alone_and_pays_in_completions():
    with_it, without = last(), last(redraw="never")
    assert dapo.dead_share(with_it) == 0 < dapo.dead_share(without)
    assert with_it.dapo.completions[0][-1] > 2 * without.dapo.completions[0][-1] == 2 * 30 * 64


def test_without_dynamic_sampling_dapo_is_no_faster_by_updates_than_grpo():
    r = last(seeds=4, redraw="never")
    assert abs(dapo.last_rate(r.dapo) - np.mean([mean[r.updates] for mean in r.grpo.mean_rate])) < 0.1


def test_a_filter_on_the_shaped_reward_lets_groups_without_a_signal_through():
    assert dapo.dead_share(last(redraw="reward")) > 0.02
    assert dapo.dead_share(last(redraw="reward", L_cache=0)) == 0  # without a price on length the two filters are one


def test_in_one_pass_the_upper_bound_does_nothing():
    np.testing.assert_array_equal(last(passes=1).dapo.pass_rate, last(passes=1, eps_high=5.0).dapo.pass_rate)
    np.testing.assert_array_equal(last(passes=1).coin, last(passes=1, eps_high=5.0).coin)


def test_in_four_passes_a_wider_bound_lets_the_rare_answers_grow_faster():
    rates = [rate(eps_high=high) for high in (0.2, 0.28, 0.5)]
    assert rates == sorted(rates)


def test_the_average_and_the_price_change_the_run_a_little():
    assert 0 < abs(rate(average="completions") - rate()) < 0.15
    assert 0 < abs(rate(L_cache=0) - rate()) < 0.15


def test_from_a_start_that_is_cut_off_half_the_time_success_itself_shortens():
    cuts = {
        cache: np.mean([cut[10] for cut in last(start="too long", L_cache=cache).dapo.truncated])
        for cache in (0, 4, 10)
    }
    assert last(start="too long").dapo.truncated[0][0] == pytest.approx(
        0.458, abs=5e-4
    )  # closed form, the dynamic programme
    assert max(cuts.values()) < 0.25 and max(cuts.values()) - min(cuts.values()) < 0.05


@pytest.mark.parametrize("updates, breaks", [(15, False), (30, False), (60, True)])
def test_the_refill_turns_into_pure_cost_once_the_prompts_are_solved(updates, breaks):
    k, r = Knobs(updates=updates), last(updates=updates)
    assert (dapo.broken(k, r) is not None) == breaks == dapo.spent(r)


def test_the_break_names_its_price_and_the_way_back():
    found = dapo.broken(Knobs(updates=60), last(updates=60))
    assert "of 8 groups" in found.why and found.mend == "Updates of DAPO: 30."
    assert abs(dapo.gain_lately(last(updates=60))) < 0.01


def test_without_a_refill_nothing_is_overpaid_however_long_the_run():
    assert dapo.drawn_lately(last(updates=60, redraw="never")) == 64


def test_easier_prompts_are_spent_sooner():
    assert dapo.live_lately(last(start="easier prompts")) < dapo.live_lately(last())


def test_another_seed_draws_other_runs():
    assert rate(seed=1) != rate()


def test_the_price_of_a_live_group_is_lowest_at_one_half():
    (price,) = [p for p in dapo.figure(Knobs(), last()) if p["title"].startswith("Completions until")]
    curve = price["data"][0]
    assert curve["x"][np.argmin(curve["y"])] == pytest.approx(0.5, abs=0.01)


def test_the_run_streams_and_the_coins_come_last():
    with patch.object(dapo, "SEEDS", 1), patch.object(dapo, "COIN_SEEDS", 2):
        seen = list(dapo.run(Knobs(updates=15)))
    assert [dapo.progress(Knobs(updates=15), r) for r in seen] == [["update", n, 15] for n in range(1, 16)]
    assert [r.coin is None for r in seen] == [True] * 14 + [False]
