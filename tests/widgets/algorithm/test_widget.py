"""What turning each knob does to the advantages of a group and to the loop trained with the chosen file."""

import random
from functools import partial

import numpy as np
import pytest

from tests.widgets import catalogue
from widgets.algorithm import widget
from widgets.algorithm.widget import FILES, Knobs


def first(**knobs):
    """Everything that needs no training."""
    return next(widget.run(Knobs(**knobs)))


last = partial(catalogue.last, widget)
broken = partial(catalogue.broken, widget)


def own(**knobs):
    return first(**knobs).advantages[Knobs(**knobs).plugin]


def test_the_default_learns():
    assert last().pass_rate[:, -1].mean() > 0.75


@pytest.mark.parametrize(
    "knobs",
    [
        dict(right=8),
        dict(right=0),
        dict(wrong=1.0),
        dict(right=0, plugin="REINFORCE"),
        dict(right=8, plugin="PPO", value=1.0),
    ],
)
def test_a_group_without_reward_differences_pushes_no_completion(knobs):
    assert np.abs(own(**knobs)).max() < 1e-9


@pytest.mark.when_changed()
@pytest.mark.parametrize("plugin", ["GRPO", "RLOO", "Dr.GRPO"])
def test_a_judge_who_pays_all_the_same_teaches_a_group_file_nothing(plugin):
    for seed in range(2):
        knobs = dict(plugin=plugin, wrong=1.0, seed=seed)
        assert widget.gained(last(**knobs)) == 0
        break_ = broken(**knobs)
        assert "nothing to compare" in break_.why and break_.fix == dict(wrong=0)


@pytest.mark.when_changed()
def test_one_drawn_group_without_a_difference_is_no_break_of_the_training():
    for knobs in (dict(right=8), dict(right=0)):
        assert broken(**knobs) is None


def test_a_group_with_large_advantages_is_shown_but_does_not_break_the_run():
    quiet, loud = dict(K=4, right=3, wrong=0.9), dict(K=4, right=3, wrong=0.999)
    for plugin in ("GRPO", "DAPO"):
        assert np.abs(own(**loud, plugin=plugin)).max() == pytest.approx(
            np.abs(own(**quiet, plugin=plugin)).max(), rel=0.01
        )
        assert np.ptp(first(**loud, plugin=plugin).rewards) < 0.01 < 1 < np.abs(own(**loud, plugin=plugin)).max()
    assert broken(**loud) is None and last(**loud).pass_rate[:, -1].min() > 0.8


@pytest.mark.when_changed()
def test_under_a_lenient_judge_only_what_compares_within_the_group_learns():
    for seed in range(5):
        alone, group = (last(seeds=1, plugin=plugin, wrong=0.9, seed=seed) for plugin in ("REINFORCE", "GRPO"))
        assert alone.pass_rate[:, -1].mean() < alone.pass_rate[0, 0] < 0.8 < group.pass_rate[:, -1].mean()
        break_ = widget.broken(Knobs(plugin="REINFORCE", wrong=0.9, seed=seed), alone)
        assert "nothing compares them" in break_.why and break_.fix == dict(plugin="RLOO")


@pytest.mark.when_changed()
def test_the_credit_of_wrong_completions_is_followed_through_the_run():
    assert (last(plugin="REINFORCE", wrong=0.9).wrong == pytest.approx(0.9)) and len(last().wrong) == widget.UPDATES
    assert max(last(wrong=0.9).wrong) < -0.3
    critic = last(plugin="PPO", wrong=0.9).wrong
    assert critic[0] == pytest.approx(0.9) and np.abs(critic[30:]).max() < 0.3
    assert not last(wrong=1.0).wrong.any()


@pytest.mark.when_changed()
def test_a_run_is_broken_if_its_mean_ends_no_higher_than_it_began():
    chance, breaks = random.Random("algorithm"), []
    for _ in range(10):
        knobs = dict(
            plugin=chance.choice(list(FILES)),
            K=chance.choice([2, 8, 16]),
            right=chance.choice([0, 2, 8]),
            wrong=chance.choice([-1.0, 0.0, 0.9, 0.999, 1.0]),
            offset=chance.choice([0.0, 0.0, 1.0, 5.0]),
        )
        k = Knobs(**knobs)
        ends_right = widget.readouts(k, last(seeds=1, **knobs))[-1].value
        starts_right = 0.3285  # of 100 sums, exact
        breaks.append(widget.broken(k, last(seeds=1, **knobs)) is not None)
        assert breaks[-1] == (ends_right < starts_right + 0.01), (knobs, ends_right)
    assert 0.2 < np.mean(breaks) < 0.8


@pytest.mark.when_changed()
def test_a_constant_breaks_reinforce_in_training_and_nothing_that_compares_within_the_group():
    break_ = broken(plugin="REINFORCE", offset=5.0)
    assert break_.fix == dict(plugin="RLOO") and "from 0.329 to" in break_.why
    assert last(plugin="REINFORCE").pass_rate[:, -1].mean() > 0.85


def test_a_constant_changes_no_training_of_a_group_file():
    np.testing.assert_allclose(last(offset=5.0).pass_rate, last().pass_rate, atol=0.02)


@pytest.mark.parametrize("plugin", FILES)
def test_one_more_right_completion_changes_every_bar_of_a_group_file(plugin):
    moved = own(plugin=plugin, right=3) != own(plugin=plugin, right=2)
    assert moved.all() if plugin in ("GRPO", "RLOO", "DAPO", "Dr.GRPO") else moved.sum() == 1


def test_more_completions_raise_a_lone_success_only_where_the_deviation_is_divided_out():
    ups = {name: [first(K=K, right=1).advantages[name][0] for K in (2, 4, 8, 16)] for name in FILES}
    assert ups["GRPO"] == sorted(ups["GRPO"]) and ups["GRPO"][-1] == pytest.approx(15 / 4, rel=1e-4)
    assert max(ups["Dr.GRPO"]) < 1 and ups["RLOO"] == pytest.approx([1] * 4)


def test_the_divisor_the_value_and_the_offset_move_their_bars():
    assert own(ddof=0)[0] > own(ddof=1)[0]
    assert own(plugin="PPO", value=1.0)[0] < own(plugin="PPO")[0]
    np.testing.assert_allclose(own(plugin="REINFORCE", offset=5.0), own(plugin="REINFORCE") + 5)


def test_a_longer_completion_is_pushed_less_by_the_token_under_grpo_and_not_under_dr_grpo():
    assert first(length=16).push[0] < first(length=1).push[0] / 10
    push = first(plugin="Dr.GRPO", length=8).push
    assert push[0] == pytest.approx(push[1])


def test_token_weights_can_be_exchanged():
    np.testing.assert_allclose(first(weights="seq-mean-token-mean").push, first().push)
    assert first(weights="token-mean").push[0] == pytest.approx(first(weights="token-mean").push[1])


@pytest.mark.when_changed()
def test_all_six_files_learn_from_rewards_of_minus_one_and_one():
    assert all(
        last(plugin=plugin, wrong=-1.0).pass_rate[:, -1].mean() > 0.7 for plugin in ("REINFORCE", "GRPO", "DAPO")
    )


def test_the_run_streams_and_counts():
    assert [widget.progress(Knobs(), r)[1] for r in widget.run(Knobs())] == list(range(0, 61, 6))


def test_another_seed_trains_three_other_runs():
    assert (last(seed=1).pass_rate[:, -1] != last().pass_rate[:, -1]).all()
