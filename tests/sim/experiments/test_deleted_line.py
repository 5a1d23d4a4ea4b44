import numpy as np
import pytest

from sim.experiments import deleted_line
from sim.worlds import tasks


def test_what_is_looked_at_is_answered_from_the_same_random_numbers():
    start = tasks.checkpoint("add")
    first, again = deleted_line.asked(start), deleted_line.asked(start.copy())
    assert first == again and len(first.rows) == len(deleted_line.SUMS)
    assert first.pass_rate == pytest.approx(tasks.exact_pass(start).mean())


def test_the_first_pass_over_a_batch_is_the_same_with_and_without_the_line():
    """Every ratio is 1 there. Schulman et al. (2017): the clip acts on later steps alone."""
    kept, deleted = (deleted_line.controller(deleted, passes=1) for deleted in (False, True))
    for run in (kept, deleted):
        for _ in run.frames(1):
            pass
    for name, array in kept.trainer.policy.params.items():
        np.testing.assert_allclose(array, deleted.trainer.policy.params[name], atol=1e-12)
