"""The lesson on the two functions: what its numbers are computed by, and what it says without a number."""

import inspect
from functools import partial

import numpy as np
import pytest

from sim.algorithms.names import FILES, FUNCTIONS, differing
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.algorithm import figures, widget
from widgets.algorithm.widget import Knobs

EXPENSIVE = ("trained",)
kept = partial(spreads.values, "04_algorithm")


def first(**knobs):
    return next(widget.run(Knobs(**knobs)))


def trained(**knobs):
    return catalogue.last(widget, **knobs).pass_rate[:, -1].mean()


one_right, noise = first(right=1).advantages, first(K=4, right=3, wrong=0.999).advantages
deviation = np.std([1, 1, 1, 0.999], ddof=1)
start = first().pass_rate[0, 0]
family = [kept(plugin).mean() for plugin in FILES]
lengths = [len(inspect.getsource(file).splitlines()) for file in FILES.values()]


def lone_success(K):
    """The advantage of one right completion of K: (K − 1)/K over a deviation of 1/√K."""
    return (K - 1) / K**0.5


def plain(p):
    """The mean of |A| over a group of which a share p is right."""
    return 2 * p * (1 - p)


def divided(p):
    """The same over the deviation."""
    return 2 * (p * (1 - p)) ** 0.5


def unmoved(right):
    """How many of the six files push nothing in a group of eight with so many right ones."""
    return sum(np.abs(A).max() < 1e-9 for A in figures.credit(right).values())


def test_a_lone_success_and_the_total_push_are_what_the_files_make():
    assert one_right["GRPO"][0] == pytest.approx(lone_success(8), rel=1e-4)
    np.testing.assert_array_equal(one_right["DAPO"], one_right["GRPO"])
    for how, push in ((figures.PLAIN, plain), (figures.DIVIDED, divided)):  # with K - 1 the growth is the same
        of = figures.pushes(how)
        assert of[4] / of[1] == pytest.approx(push(1 / 2) / push(1 / 8), rel=1e-4)


def test_the_first_figure_shows_the_table():
    for name, A in figures.credit(1).items():
        np.testing.assert_allclose(A, one_right[name], atol=1e-12)
    assert all(np.abs(figures.credit(n)[name]).max() < 1e-9 for n in (0, 8) for name in ("GRPO", "RLOO", "DAPO"))
    assert min(min(figures.credit(n)["REINFORCE"]) for n in range(9)) == 0


def test_what_is_lit_is_what_is_written_otherwise():
    for name, file in FILES.items():
        lit = differing(file, FILES[figures.BASE])
        assert lit == [f for f in FUNCTIONS if figures.WRITTEN[f][name] != figures.WRITTEN[f][figures.BASE]]


def test_where_rewards_are_all_but_alike_dividing_pushes_harder():
    """The answer to the pause."""
    one, half = ([figures.pushes(how)[n] for how in (figures.PLAIN, figures.DIVIDED)] for n in (1, 4))
    assert half[0] > one[0] and half[1] > one[1] and half[1] / one[1] < half[0] / one[0]


def test_a_small_number_is_added_to_the_deviation():
    assert noise["GRPO"][0] == noise["Dr.GRPO"][0] / (deviation + 1e-6)


def mean(**knobs):
    return lambda seed: trained(seed=seed, **knobs)


MEASURED = {
    **{plugin: mean(plugin=plugin) for plugin in FILES},
    "GRPO, wrong paid 0.9": mean(plugin="GRPO", wrong=0.9),
    "PPO, wrong paid 0.999": mean(plugin="PPO", wrong=0.999),
    "PPO, wrong paid 1": mean(plugin="PPO", wrong=1.0),
    "REINFORCE, wrong paid 1": mean(plugin="REINFORCE", wrong=1.0),
    "REINFORCE, wrong paid 0.9": mean(plugin="REINFORCE", wrong=0.9),
    "PPO, wrong paid 0.9": mean(plugin="PPO", wrong=0.9),
    "REINFORCE, 5 added": mean(plugin="REINFORCE", offset=5.0),
    "PPO, 5 added": mean(plugin="PPO", offset=5.0),
    "DAPO, wrong paid 1": mean(plugin="DAPO", wrong=1.0),
}


def test_the_widget_says_where_the_family_ends():
    assert widget.FAMILY.endswith(f"between {min(family):.2f} and {max(family):.2f}")
    assert max(family) - min(family) < 0.08 and widget.GUESS.right == 2, "less than 0.08"


def test_under_a_lenient_judge_reinforce_always_falls_and_grpo_does_not_notice():
    assert kept("REINFORCE, wrong paid 0.9").max() < 0.25 and kept("GRPO, wrong paid 0.9").min() > 0.8
    for words in ("PPO, wrong paid 0.999", "PPO, wrong paid 1", "REINFORCE, wrong paid 1"):
        assert kept(words).max() < 0.2, words


@pytest.mark.when_changed()
def test_the_critic_begins_at_zero_and_stays_off_by_more_than_a_thousandth():
    A = catalogue.last(widget, plugin="PPO", wrong=0.999).wrong
    assert A[0] == 0.999 and A[1] > 0.3 and np.abs(A[20:]).mean() > 0.005


def test_a_judge_who_pays_all_alike():
    for plugin in ("GRPO", "RLOO", "Dr.GRPO"):
        assert trained(plugin=plugin, wrong=1.0) == start


@pytest.mark.when_changed()
def test_a_judge_s_thousandth_trains():
    assert trained(wrong=0.999, K=4, right=3) == pytest.approx(kept("GRPO").mean(), abs=0.05)


@pytest.mark.when_changed()
def test_the_bars_after_the_instrument_are_the_widget_s_runs():
    for wrong, name in ((0.9, "REINFORCE"), (1.0, "GRPO")):
        assert abs(figures.ended(name, wrong) - trained(plugin=name, wrong=wrong)) < 0.02
    assert figures.LEVELS[figures.FIGURES["level"].handle.start] == 0.9


def test_half_as_hard_at_twice_the_length():
    push = first().push
    np.testing.assert_allclose(push[5] / push[7], 0.5)  # eight tokens against four, both wrong
