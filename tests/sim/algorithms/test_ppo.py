import numpy as np
import pytest

from sim.algorithms import ppo, reinforce
from sim.experiments.standard_runs import modsum_run


def pass_rates(steps=20, **settings):
    return np.array(
        [f.exact["pass_rate"].mean() for f in modsum_run(ppo, learning_rate=20.0, **settings).frames(steps)]
    )


def worst(steps=60, **settings):
    """Largest KL of an update in nats, largest ratio and final pass rate, over six seeds."""
    runs = [
        list(modsum_run(ppo, seed=seed, learning_rate=20.0, groups=4, K=4, **settings).frames(steps))
        for seed in range(6)
    ]
    return (
        max(f.exact["kl_step"].mean() for run in runs for f in run),
        max(f.ratio_max for run in runs for f in run),
        [run[-1].exact["pass_rate"].mean() for run in runs],
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_in_one_pass_the_clip_is_dead_code(seed):
    clip, no_clip = (pass_rates(seed=seed, hyper=dict(inner_epochs=1, eps=eps)) for eps in (0.2, 1e9))
    np.testing.assert_allclose(clip, no_clip, atol=1e-12)
    assert (
        pass_rates(seed=seed, hyper=dict(inner_epochs=4)) != pass_rates(seed=seed, hyper=dict(inner_epochs=4, eps=1e9))
    ).any()


def test_in_one_pass_ppo_is_reinforce_with_a_baseline_and_a_token_mean():
    def less_value(R, hp, batch):
        return R[..., None] - batch.value.reshape(*R.shape, -1)

    one_pass = modsum_run(ppo, learning_rate=20.0, hyper=dict(inner_epochs=1)).frames(20)
    by_reinforce = modsum_run(
        ppo,
        learning_rate=20.0,
        hyper=dict(inner_epochs=1),
        hooks=dict(surrogate=reinforce.surrogate, advantage=less_value),
    ).frames(20)
    for a, b in zip(one_pass, by_reinforce):
        np.testing.assert_allclose(a.exact["pass_rate"], b.exact["pass_rate"], atol=1e-12)


@pytest.mark.when_changed()
def test_sixteen_passes_without_a_clip_lose_a_prompt_on_half_the_seeds():
    kl, ratio, finals = worst(hyper=dict(inner_epochs=16, eps=1e9))
    assert kl > 10 and ratio > 100
    assert sum(final < 0.8 for final in finals) == 3


@pytest.mark.when_changed()
def test_sixteen_passes_with_the_clip_stay_small_although_ratios_leave_the_box():
    kl, ratio, finals = worst(hyper=dict(inner_epochs=16))
    assert kl < 0.18 and min(finals) > 0.98
    assert ratio > 2  # 3.0 to 3.5; the box ends at 1.2
