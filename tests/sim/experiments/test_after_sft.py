import numpy as np
import pytest

from sim.experiments import after_sft as after
from sim.worlds import bandit, tasks
from tests import skips


def test_both_start_from_the_same_third_of_the_sums():
    assert after.start() == pytest.approx(tasks.exact_pass(tasks.checkpoint("add")).mean())
    assert 0.25 < after.start() < 0.4


def test_imitation_stays_where_its_demonstrations_are_and_the_checker_leads_past_them():
    """The demonstrations are right at a rate of 0.301."""
    (_, imitated), *_ = after.imitated(60, 60)
    ((_, rewarded, _),) = after.rewarded(60, 60, bandit.leave_one_out)
    assert imitated < 0.4 < 0.8 < rewarded


def test_a_constant_is_taken_off_by_a_baseline_and_by_nothing_else():
    plain, shifted = (list(after.rewarded(10, 10, bandit.leave_one_out, offset)) for offset in (0, 10))
    np.testing.assert_allclose(plain, shifted, atol=1e-9)
    plain, shifted = (list(after.rewarded(10, 10, bandit.no_baseline, offset)) for offset in (0, 10))
    assert abs(plain[0][1] - shifted[0][1]) > 0.01


def test_it_tells_every_so_many_updates_and_its_batch_is_a_share_of_128():
    seen = list(after.rewarded(4, 2, bandit.leave_one_out))
    assert [update for update, _, _ in seen] == [2, 4]
    assert all((share * 128) == pytest.approx(round(share * 128)) for _, _, share in seen)
    assert [update for update, _ in after.imitated(4, 2)] == [2, 4]


@pytest.mark.when_changed()
@skips.bands
@pytest.mark.parametrize("seed", range(5))
def test_a_transformer_goes_past_its_demonstrations_too_and_not_with_a_constant_alone(seed):
    ends = {}
    for name, (baseline, offset) in {
        "compared": (bandit.leave_one_out, 0),
        "alone": (bandit.no_baseline, 0),
        "a constant": (bandit.no_baseline, 10),
    }.items():
        ((_, ends[name], _),) = after.rewarded(60, 60, baseline, offset, seed, "transformer")
    assert after.start("transformer") == pytest.approx(0.305, abs=0.001)
    ((_, imitated),) = after.imitated(60, 60, seed, "transformer")
    assert imitated < 0.36
    assert ends["compared"] > 0.8 and ends["alone"] > 0.8 and ends["a constant"] < 0.3
