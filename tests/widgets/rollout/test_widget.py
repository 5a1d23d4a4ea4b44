from functools import cache, partial

import numpy as np
import pytest

from sim.experiments import uniform_groups
from tests.widgets import catalogue
from widgets.frame.reader import host
from widgets.rollout import widget
from widgets.rollout.widget import ALIKE, ONCE, ONE, TWO, Knobs

last = partial(catalogue.last, widget)
cause = partial(catalogue.cause, widget)


@cache
def one_prompt(**knobs):
    return widget.one_prompt(Knobs(**knobs))


def after(**knobs):
    return last(**knobs).pass_rate[-1][1]


def is_broken(**knobs):
    return widget.broken(Knobs(**knobs), last(**knobs)) is not None


def test_the_default_learns_and_record_and_trainer_agree():
    assert after() > 0.8
    assert set(last().off) == {0.0} and set(last().removed) == {0.0}


def test_recomputing_before_the_step_is_as_good_as_the_record():
    np.testing.assert_allclose(last(old=ONCE).pass_rate, last().pass_rate, atol=1e-9)


def test_hotter_draws_alone_do_no_harm():
    assert widget.GUESS.right == 2 and f"{after():.2f}" == f"{after(temperature=1.5):.2f}"
    assert f"{after():.2f}" in widget.GUESS.answers[2]


@pytest.mark.parametrize(
    "temperature, first, clipped",
    [(1.5, (0.15, 0.25), (0.13, 0.22)), (2.0, (0.4, 0.52), (0.17, 0.29)), (0.7, (0.09, 0.12), (0.0, 0.02))],
)
def test_different_temperatures_make_the_ratio_wrong_before_any_step(temperature, first, clipped):
    knobs = dict(temperature=temperature, trainer=ONE)
    off, share = last(**knobs).off[0], last(**knobs).removed[0]
    assert first[0] < off < first[1] and clipped[0] <= share < clipped[1]  # bands of five seeds
    assert after(**knobs) < after(temperature=temperature) - 0.1


def test_different_temperatures_break_the_run_where_they_are_far_apart():
    for temperature, breaks in ((0.7, False), (1.5, True), (2.0, True)):
        assert cause(temperature=temperature, trainer=ONE) == (TWO if breaks else None)
        assert not is_broken(temperature=temperature)


def test_recomputing_hides_two_temperatures_from_the_ratio():
    knobs = dict(temperature=1.5, trainer=ONE, old=ONCE)
    assert last(**knobs).off[0] == 0 == last(**knobs).removed[0] and not is_broken(**knobs) and after(**knobs) > 0.8


@pytest.mark.when_changed()
def test_nucleus_sampling_makes_the_ratio_wrong_before_any_step_and_a_wide_one_is_harmless():
    worse = [widget.worse(Knobs(top_p=p), last(top_p=p)) is not None for p in (0.5, 0.8, 0.95)]
    assert worse == [True, False, False] and not any(is_broken(top_p=p) for p in (0.5, 0.8, 0.95))

    assert (np.array(last(top_p=0.8).off) > 0).all()


def test_eight_copies_of_one_answer_teach_nothing():
    knobs = dict(top_p=0.1)
    assert not any(last(**knobs).live) and after(**knobs) == last(**knobs).pass_rate[0][1]
    assert cause(**knobs) == ALIKE and widget.late(last(**knobs)) == 100


def test_the_pass_rate_falls_with_the_temperature():
    rates = [uniform_groups.pass_rates(tau).mean() for tau in widget.TEMPERATURES]
    assert rates == sorted(rates, reverse=True)
    for tau, rate in ((0.25, 0.58), (1.0, 0.33), (2.0, 0.14), (3.0, 0.07)):
        assert uniform_groups.pass_rates(tau).mean() == pytest.approx(rate, abs=0.01)


def test_a_hotter_sampler_surprises_itself_and_is_shorter():
    def rows(tau):
        return [(logp, (tokens != widget.PAD).sum()) for tokens, logp, _ in one_prompt(temperature=tau, shown=16)[0]]

    surprise = [np.mean([-logp.sum() / length for logp, length in rows(tau)]) for tau in (0.25, 1.0, 3.0)]
    assert surprise == sorted(surprise)
    cold, hot = (np.mean([length for _, length in rows(tau)]) for tau in (0.25, 3.0))
    assert hot < cold


@pytest.mark.parametrize("seed", range(5))
def test_training_nearly_greedily_leaves_few_groups_to_learn_from(seed):
    greedy = last(temperature=0.05, seed=seed)
    assert np.mean(greedy.live[-10:]) < 2 < 7 < np.mean(last(seed=seed).live[-10:])
    assert greedy.pass_rate[-1][1] < 0.6 < after(seed=seed)


def test_sampling_equals_the_raw_policy_only_at_temperature_one_and_top_p_one():
    assert one_prompt()[2] == 0
    assert one_prompt(temperature=2.0)[2] > one_prompt(temperature=1.5)[2] > 0.02
    assert one_prompt(top_p=0.5)[2] > one_prompt(top_p=0.9)[2] > 0


def test_the_rows_are_the_first_of_the_64_and_say_how_they_ended():
    few, many = one_prompt(shown=4)[0], one_prompt(shown=16)[0]
    assert len(few) == 4 and len(many) == 16
    assert all((a[0] == b[0]).all() for a, b in zip(few, many))
    endings = {ending for _, _, ending in many}
    assert endings <= set(widget.WORDS) and len(endings) > 2
    assert all((logp[tokens == widget.PAD] == 0).all() for tokens, logp, _ in many)


@pytest.mark.when_changed()
def test_a_break_is_told_at_the_end_of_its_run():
    knobs = Knobs(temperature=1.5, trainer=ONE)
    *earlier, final = widget.run(knobs)
    assert not any(widget.broken(knobs, r) for r in earlier) and widget.broken(knobs, final)


def test_the_pictures_come_first():
    first = next(host.stream("rollout"))
    assert first.index('"Training"') < first.index('"Curves"') < first.index('"One prompt"')


def test_a_seed_in_which_the_default_itself_ends_lower_is_not_worse():
    assert last(seed=45).pass_rate[-1][1] < widget.WELL and widget.worse(Knobs(seed=45), last(seed=45)) is None
