import numpy as np

from sim.rollouts.rows import mean_of, spread_of
from tests.sim.rollouts.shipped import rollouts, small


def test_a_part_of_a_run_keeps_its_prompts_and_counts_its_groups_from_0():
    part = rollouts("verifier").at(20)
    assert part.prompts == list(dict.fromkeys(part.prompts)) and "4+2=" in part.prompts
    np.testing.assert_array_equal(part.group, np.repeat(np.arange(8), 8))
    first = part.taken([63])
    assert (first.completions, first.prompts) == ([part.completions[63]], [part.prompts[7]]) and first.group[0] == 0
    assert len(first.scores["exact"]) == len(first.tokens) == 1 and first.sampler is None


def test_steps_come_in_order():
    np.testing.assert_array_equal(rollouts("length").steps, [1, 5, 10, 20, 40])


def test_mean_and_spread_of_groups():
    file = small([[1, 0], [3, 3, 3]])
    np.testing.assert_allclose(mean_of(file.scores["paid"], file.group), [0.5, 0.5, 3, 3, 3])
    np.testing.assert_allclose(spread_of(file.scores["paid"], file.group), [1, 0])
