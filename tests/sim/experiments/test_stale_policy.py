from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from sim.estimators.importance import CORRECTIONS
from sim.experiments import stale_policy
from tests import skips


@cache
def run(correction, n=120, **settings):
    return list(stale_policy.updates(correction, n, **settings))


def final(correction, **settings):
    skips.not_in_a_page()
    return run(correction, **settings)[-1].frame.exact["pass_rate"].mean()


def test_without_lag_the_four_corrections_are_one_run():
    finals = [run(correction, n=20)[-1].frame.exact["pass_rate"] for correction in CORRECTIONS]
    for other in finals[1:]:
        np.testing.assert_allclose(other, finals[0], atol=1e-10)
    assert run("ratio and clip", n=20)[-1].distance < 1e-12 and run("ratio and clip", n=20)[
        -1
    ].effective == pytest.approx(1, abs=1e-12)


def test_a_lag_is_reached_and_kept():
    behind = [d.trainer_version - d.rollout_version for d in run("ratio and clip", n=20, lag=4)]
    assert behind == [0, 0, 1, 2, 3, *[4] * 15]  # the first delivery has nothing older than itself


def test_a_rare_delivery_lets_the_lag_saw():
    behind = [d.trainer_version - d.rollout_version for d in run("ratio and clip", n=20, every=8)]
    assert behind == [*range(8), *range(8), *range(4)]


@pytest.mark.when_changed()
def test_uncorrected_lag_costs_most_of_what_was_learned():
    finals = [
        final("none", lag=lag) for lag in (0, 2, 4, 8)
    ]  # independent prototypes: .93 .79 .40 .22 and .94 .76 .43 .14
    assert finals == sorted(finals, reverse=True) and finals[0] > 0.9 and 0.3 < finals[2] < 0.65 and finals[3] < 0.45


@pytest.mark.when_changed()
def test_ratio_and_clip_give_it_back():
    finals = [
        final("ratio and clip", lag=lag) for lag in (0, 2, 4, 8)
    ]  # independent prototypes: .93 .93 .91 .83 and .94 .93 .93 .88
    assert all(a > b - 0.03 for a, b in pairwise(finals)) and finals[2] > 0.88 and finals[3] > 0.8


@pytest.mark.when_changed()
def test_drift_and_clip_fraction_grow_with_the_lag():
    runs = [run("ratio and clip", lag=lag) for lag in (0, 2, 4, 8)]
    distance = [np.mean([d.distance for d in r]) for r in runs]
    clipped = [np.mean([d.frame.clip_fraction for d in r]) for r in runs]
    effective = [np.mean([d.effective for d in r]) for r in runs]
    assert distance == sorted(distance) and clipped == sorted(clipped) and effective == sorted(effective, reverse=True)


def test_rounded_weights_are_a_lag_of_their_own_kind():
    drift = run("ratio and clip", n=20, form="e5m2")
    assert 0 < run("ratio and clip", n=20, form="bf16")[0].distance < drift[0].distance < 0.2
    assert all(d.trainer_version == d.rollout_version for d in drift)


@pytest.mark.parametrize("delivery", [dict(lag=4), dict(every=8), dict(lag=2, every=4)])
def test_the_versions_without_training_are_those_of_the_run(delivery):
    run_of_it = [(d.trainer_version, d.rollout_version) for d in run("ratio and clip", n=20, **delivery)]
    assert stale_policy.versions(20, **delivery).tolist() == [list(pair) for pair in run_of_it]
