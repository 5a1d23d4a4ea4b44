import random
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from sim.algorithms.names import FILES
from sim.experiments.standard_runs import modsum_optimizer, modsum_run
from sim.worlds import modsum
from tests.widgets import catalogue
from widgets.compare import widget as compare
from widgets.compare.widget import Knobs

last = partial(catalogue.last, compare, seeds=1)


@pytest.mark.parametrize("name", ["REINFORCE", "DAPO", "PPO"])
def test_a_file_against_itself_is_the_same_run(name):
    first, second = last(a=name, b=name)
    np.testing.assert_array_equal(first.pass_rate, second.pass_rate)
    assert compare.ahead((first, second)) == 0


@pytest.mark.parametrize("name", compare.CHOICES)
def test_every_file_and_every_recipe_trains(name):
    _, run = last(b=name, optimizer="SGD", rate_b=2.0)
    assert run.pass_rate[0, -1] > run.pass_rate[0, 0] + 0.1


@pytest.mark.parametrize("name", compare.CHOICES)
def test_under_adamw_every_file_and_every_recipe_ends_in_the_same_place(name):
    _, run = last(b=name)
    assert run.pass_rate[0, -1] > 0.95


@pytest.mark.when_changed()
def test_under_sgd_one_learning_rate_gives_six_step_lengths_and_tuned_rates_give_one_result():
    def end(name, rate):
        return last(a=name, b=name, optimizer="SGD", rate_a=rate, rate_b=rate)[0].pass_rate[0, -1]

    one_rate = [end(name, 2.0) for name in FILES]
    own = {"REINFORCE": 40.0, "PPO": 40.0, "GRPO": 4.0, "RLOO": 40.0, "DAPO": 40.0, "Dr.GRPO": 40.0}
    assert np.ptp(one_rate) > 0.5 and np.ptp([end(name, own[name]) for name in FILES]) < 0.04


@pytest.mark.parametrize("name", ["DAPO", "OLMo 3"])
def test_only_recipes_made_of_dapo_draw_more_than_their_batch_and_train_on_a_part(name):
    grpo, dapo = last(b=name)
    assert grpo.completions[0, -1] == grpo.trained_on[0, -1] == 60 * 64
    assert dapo.completions[0, -1] > 60 * 64 >= dapo.trained_on[0, -1]


@pytest.mark.when_changed()
def test_the_steps_of_the_optimizer_are_the_updates_times_the_passes():
    assert [run.steps for run in last(a="REINFORCE", b="GRPO")] == [60, 240]
    assert [run.steps for run in last(a="TRL 1.16.0", b="GRPO, 2024")] == [60, 60]
    assert last(passes="16")[0].steps == 960


@pytest.mark.when_changed()
def test_a_recipe_is_its_file_with_functions_exchanged():
    paper, file = last(a="GRPO, 2024", b="GRPO", passes="1")
    np.testing.assert_array_equal(paper.pass_rate, file.pass_rate)  # one pass, and nothing exchanged
    one_pass, four_passes = (last(a="TRL 1.16.0", **knobs)[0].clip_fraction for knobs in ({}, dict(passes="4")))
    assert (one_pass == 0).all() and (four_passes > 0).any()


def test_a_larger_rate_on_one_side_leaves_the_other_alone():
    slow, fast = (last(optimizer="SGD", rate_a=2.0, rate_b=rate) for rate in (2.0, 12.0))
    np.testing.assert_array_equal(slow[0].pass_rate, fast[0].pass_rate)
    assert fast[1].pass_rate[0, -1] > slow[1].pass_rate[0, -1] + 0.2


@pytest.mark.when_changed()
def test_passes_act_on_both_sides_and_hard_prompts_start_lower():
    assert last(passes="1", rate_a=2.0)[0].pass_rate[0, -1] < last(rate_a=2.0)[0].pass_rate[0, -1]
    assert last(start="hard prompts")[0].pass_rate[0, 0] < last()[0].pass_rate[0, 0]


def test_sixteen_passes_without_a_ratio_move_far_but_lose_no_prompt_and_are_not_broken():
    knobs = dict(a="PPO", b="RLOO", optimizer="SGD", passes="16")
    clipped, free = last(**knobs)
    assert clipped.kl_step.max() < 0.2 and free.kl_step.max() > 1 and free.pass_rate[0, -1] > 0.99
    assert compare.broken(Knobs(**knobs), (clipped, free)) is None


@pytest.mark.when_changed()
def test_a_break_is_a_prompt_that_a_run_has_lost():
    chance, verdicts = random.Random(4), []
    for _ in range(8):
        knobs = {name: chance.choice(values) for name, values in GRID.items()}
        pair = last(**knobs)
        damaged = any(loses_a_prompt(knobs, knobs[side], knobs[f"rate_{side}"]) for side in "ab")
        assert (compare.broken(Knobs(**knobs), pair) is not None) == damaged, knobs
        verdicts.append(damaged)
    assert 0 < sum(verdicts) < 8


def loses_a_prompt(knobs, name, rate):
    """A run of the same setting, without the widget, that ends with a prompt less often right than it began."""
    recipe = compare.recipe_of(name)
    passes = {} if knobs["passes"] == "as in the file" else dict(inner_epochs=int(knobs["passes"]))
    run = modsum_run(
        recipe.file,
        optimizer=modsum_optimizer(knobs["optimizer"], rate),
        hyper={**recipe.hyper, **passes},
        hooks=recipe.hooks,
        exact_every=60,
    )
    with np.errstate(all="ignore"):
        end = list(run.frames(60))[-1].exact["pass_rate"]
    start = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]
    return not np.isfinite(end).all() or (end < start - 0.05).any()


GRID = dict(
    a=("GRPO", "PPO"),
    b=("GRPO", "RLOO", "DeepSeek-V3.2"),
    optimizer=("SGD", "AdamW"),
    rate_a=(8.0, 24.0, 40.0),
    rate_b=(0.5, 12.0, 24.0),
    passes=("as in the file", "1", "4"),
)


def test_an_algorithm_at_another_s_learning_rate_loses_a_prompt_and_the_verdict_names_it():
    k = Knobs(b="PPO", optimizer="SGD", rate_a=24.0, rate_b=24.0)
    break_ = compare.broken(k, last(**vars(k)))
    assert break_.why.startswith("GRPO with SGD at 24") and "rate_a" in break_.fix


@pytest.mark.when_changed()
def test_a_run_that_leaves_the_range_of_its_numbers_is_broken_and_says_so():
    k = Knobs(optimizer="SGD", rate_a=40.0)
    break_ = compare.broken(k, last(seeds=3, **vars(k)))
    assert "overflowed" in break_.why and break_.fix["rate_a"] == 2


def test_the_notes_name_the_optimizer_and_both_rates():
    notes = [p["note"] for p in compare.figure(Knobs(rate_b=2.0), last(rate_b=2.0))]
    assert sum("AdamW at 0.08 and 0.02" in note for note in notes) == 2


def test_the_run_streams():
    with patch.object(compare, "SEEDS", 1):
        progress = [compare.progress(Knobs(), r) for r in compare.run(Knobs())]
    assert progress == [["update", n, 60] for n in (1, *range(4, 61, 4))]


def test_in_the_opening_one_setting_learns_and_the_other_ends_near_its_start():
    plain, other = (last(seeds=3, **vars(k)) for k in (compare.OPENING.plain, compare.OPENING.other))
    assert plain[0].pass_rate[:, -1].mean() > 0.95 and other[0].pass_rate[:, -1].mean() < 0.5
    np.testing.assert_array_equal(plain[1].pass_rate, other[1].pass_rate)
