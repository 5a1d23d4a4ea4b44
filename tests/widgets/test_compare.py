from functools import partial
from unittest.mock import patch

import numpy as np
import pytest

from tests.widgets import catalogue
from widgets import compare
from widgets.compare import Knobs

last = partial(catalogue.last, compare, seeds=1)


@pytest.mark.parametrize("name", ["REINFORCE", "DAPO", "PPO"])
def test_a_file_against_itself_is_the_same_run(name):
    first, second = last(a=name, b=name)
    np.testing.assert_array_equal(first.pass_rate, second.pass_rate)
    assert compare.ahead((first, second)) == 0


@pytest.mark.parametrize("name", compare.CHOICES)
def test_every_file_and_every_recipe_trains(name):
    _, run = last(a="GRPO", b=name)
    assert run.pass_rate[0, -1] > run.pass_rate[0, 0] + 0.1


@pytest.mark.parametrize("name", ["DAPO", "OLMo 3"])
def test_only_what_is_made_of_dapo_draws_more_than_its_batch(name):
    grpo, dapo = last(b=name)
    assert grpo.completions[0, -1] == 60 * 64 < dapo.completions[0, -1]


def test_a_recipe_is_its_file_with_functions_exchanged():
    paper, file = last(a="GRPO, 2024", b="GRPO")
    np.testing.assert_array_equal(paper.pass_rate, file.pass_rate)  # nothing exchanged
    trl, _ = last(a="TRL 1.16.0", passes="4")
    assert (last(a="TRL 1.16.0")[0].clip_fraction == 0).all() and (
        trl.clip_fraction > 0
    ).any()  # one pass, unless the knob says otherwise


def test_a_larger_rate_on_one_side_leaves_the_other_alone():
    slow, fast = last(), last(rate_b=12.0)
    np.testing.assert_array_equal(slow[0].pass_rate, fast[0].pass_rate)
    assert fast[1].pass_rate[0, -1] > slow[1].pass_rate[0, -1] + 0.2


def test_passes_act_on_both_sides_and_hard_prompts_start_lower():
    assert last(passes="1")[0].pass_rate[0, -1] < last()[0].pass_rate[0, -1]
    assert last(start="hard prompts")[0].pass_rate[0, 0] < last()[0].pass_rate[0, 0]
    assert (last(seed=3)[0].pass_rate[:, 1:] != last()[0].pass_rate[:, 1:]).any()


def test_many_passes_without_a_ratio_break_and_with_a_clip_they_do_not():
    knobs = dict(a="PPO", b="RLOO", rate_a=8.0, rate_b=8.0, passes="16")
    clipped, free = last(seeds=2, **knobs)
    assert clipped.kl_step.max() < 0.2 and free.kl_step.max() > 1
    found = compare.broken(Knobs(**knobs), (clipped, free))
    assert found.why.startswith("RLOO") and found.mend == "Passes over each batch: 1."
    assert compare.broken(Knobs(**dict(knobs, passes="1")), last(seeds=2, **dict(knobs, passes="1"))) is None


def test_a_run_that_leaves_the_range_of_its_numbers_is_broken_and_says_so():
    found = compare.broken(Knobs(rate_a=40.0), last(seeds=3, rate_a=40.0))
    assert "overflowed" in found.why and found.mend == "Learning rate of the first: 2."


def test_the_run_streams():
    with patch.object(compare, "SEEDS", 1):
        seen = [compare.progress(Knobs(), r) for r in compare.run(Knobs())]
    assert seen == [["update", n, 60] for n in (1, *range(4, 61, 4))]
