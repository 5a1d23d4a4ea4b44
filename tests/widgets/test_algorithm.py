"""What turning each knob does to the advantages of a group and to the loop trained with the chosen file."""

from functools import partial

import numpy as np
import pytest

from tests.widgets import catalogue
from widgets import algorithm as widget
from widgets.algorithm import FILES, Knobs


def first(**knobs):
    """Everything that needs no training."""
    return next(widget.run(Knobs(**knobs)))


last = partial(catalogue.last, widget)


def own(**knobs):
    return first(**knobs).advantages[Knobs(**knobs).plugin]


def now(**knobs):
    return widget.broken(Knobs(**knobs), first(**knobs))


def test_the_default_holds_and_learns():
    assert widget.broken(Knobs(), last()) is None and last().pass_rate[:, -1].mean() > 0.75
    assert next(iter(widget.PRESETS.values())) == Knobs()


def test_three_presets_are_broken():
    told = [
        name
        for name, k in widget.PRESETS.items()
        if widget.broken(k, last(**{f: v for f, v in k.__dict__.items() if v != getattr(Knobs(), f)}))
    ]
    assert told == ["All right", "A judge's noise", "REINFORCE, rewards + 5"]


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
def test_where_nothing_can_be_compared_nothing_is_pushed(knobs):
    assert "every advantage is 0" in now(**knobs).why


def test_a_comparison_mends_the_silence():
    assert now(right=8).mend == "Right ones: 4." and now(right=4) is None
    assert now(wrong=1.0).mend == "Reward of a wrong one: 0."


@pytest.mark.parametrize("wrong, breaks", [(0.9, False), (0.99, False), (0.999, True)])
def test_noise_breaks_below_a_hundredth_and_only_where_the_deviation_is_divided_out(wrong, breaks):
    knobs = dict(K=4, right=3, wrong=wrong)
    assert (now(**knobs) is not None) == (now(**knobs, plugin="DAPO") is not None) == breaks
    assert now(**knobs, plugin="Dr.GRPO") is None


def test_a_constant_breaks_reinforce_in_training_and_nothing_that_compares_within_the_group():
    found = widget.broken(Knobs(plugin="REINFORCE", offset=5.0), last(plugin="REINFORCE", offset=5.0))
    assert found.mend == "Algorithm file: RLOO." and "from 0.329 to" in found.why
    assert widget.broken(Knobs(plugin="RLOO", offset=5.0), last(plugin="RLOO", offset=5.0)) is None
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


def test_all_six_files_learn_from_rewards_of_minus_one_and_one():
    assert all(
        last(plugin=plugin, wrong=-1.0).pass_rate[:, -1].mean() > 0.7 for plugin in ("REINFORCE", "GRPO", "DAPO")
    )


def test_the_run_streams_and_counts():
    seen = list(widget.run(Knobs()))
    assert [widget.progress(Knobs(), r)[1] for r in seen] == list(range(0, 61, 6))


def test_another_seed_trains_three_other_runs():
    assert (last(seed=1).pass_rate[:, -1] != last().pass_rate[:, -1]).all()
