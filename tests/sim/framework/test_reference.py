import numpy as np
import pytest

from sim.framework.reference import Reference
from sim.framework.rollout import RolloutEngine
from sim.worlds import modsum


def test_the_reference_stays_where_the_policy_started():
    policy = modsum.Policy()
    reference = Reference(policy)
    batch, _ = RolloutEngine(policy).generate(modsum.Task(), np.arange(4), 4, np.random.default_rng(0))
    policy.params["theta"] = policy.params["theta"] * 3
    np.testing.assert_allclose(reference.logp(batch), batch.old_logp, atol=1e-15)


def test_a_write_into_the_reference_raises():
    with pytest.raises(ValueError, match="read-only"):
        Reference(modsum.Policy()).policy.params["theta"][0, 0, 0] = 1.0
