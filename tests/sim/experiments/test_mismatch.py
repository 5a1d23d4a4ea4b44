from dataclasses import replace

import numpy as np
import pytest

from sim.estimators import importance
from sim.experiments import mismatch
from sim.experiments.mismatch import WAYS, Read

RATIO = "token ratio, at most 2"


def ended(way, engine=1.5, lag=0, passes=1, optimizer="AdamW", seed=0, updates=mismatch.UPDATES):
    *_, last = mismatch.run(engine, lag, way, passes, optimizer, seed, updates)
    return last


def first(way, engine=1.5):
    return next(mismatch.run(engine, 0, way, 1, "AdamW", 0))


def test_an_engine_like_the_trainer_leaves_every_weight_at_1():
    for way in WAYS:
        seen = first(way, engine=1.0)
        own = seen.batch.response_mask > 0
        assert seen.gap == pytest.approx(0, abs=1e-12) and seen.silenced == 0
        np.testing.assert_allclose(seen.weight[own], 1.0)
        assert seen.effective == pytest.approx(1.0)


def test_two_temperatures_are_a_ratio_before_any_step():
    seen = first("none")
    own = seen.batch.response_mask > 0
    assert seen.gap == pytest.approx(0.2, abs=0.03)  # lesson 02 says "about 0.2 nats"
    assert np.exp(seen.log_ratio[own]).mean() == pytest.approx(1.0, abs=0.05)  # E[π/μ] = 1


def test_only_the_clip_around_the_engine_silences_tokens_before_a_step():
    ratio = np.exp(first("none").log_ratio)
    A, own = first("none").batch.advantage, first("none").batch.response_mask > 0
    removed = ((A > 0) & (ratio > 1.2)) | ((A < 0) & (ratio < 0.8))
    assert first("clip around the engine").silenced == pytest.approx(removed[own & (A != 0)].mean())
    assert first("decoupled").silenced == first("token ratio, at most 2").silenced == 0


def test_before_its_first_step_decoupled_is_the_truncated_ratio():
    np.testing.assert_allclose(first("decoupled").weight, first("token ratio, at most 2").weight)


def test_the_weights_are_those_of_lesson_06_where_the_ways_are_the_same():
    rng = np.random.default_rng(0)
    now, engine, A = rng.normal(-1, 0.5, (3, 6, 5))
    read = Read(now, engine, now, A, np.ones((6, 5)))
    for ours, theirs in (
        ("none", importance.uncorrected),
        ("token ratio, at most 2", importance.truncated),
        ("clip around the engine", importance.weighted_and_clipped),
    ):
        np.testing.assert_allclose(WAYS[ours](read) * A, theirs(now, engine, A)[1])


def test_a_completion_of_another_length_keeps_its_weight():
    rng = np.random.default_rng(1)
    now, engine, A = rng.normal(-1, 0.5, (3, 4, 5))
    mask = np.ones((4, 5))
    mask[:, 3:] = 0
    read = Read(now * mask, engine * mask, now * mask, A * mask, mask)
    short = replace(read, **{name: value[:, :3] for name, value in vars(read).items()})
    for way in WAYS.values():
        np.testing.assert_allclose(way(read)[:, :3], way(short))
        assert not way(read)[:, 3:].any()


@pytest.mark.when_changed
def test_the_clip_around_the_engine_ruins_the_run_and_not_the_mismatch():
    for seed in range(3):
        clip, none, ratio = (ended(way, seed=seed).right for way in ("clip around the engine", "none", RATIO))
        assert clip < 0.33 < 0.9 < min(none, ratio)


@pytest.mark.when_changed
def test_old_completions_used_as_new_ruin_it_and_a_weight_mends_it():
    for seed in range(3):
        none, ratio = (ended(way, 1.0, lag=8, seed=seed).right for way in ("none", "token ratio, at most 2"))
        assert none < 0.4 < 0.55 < ratio


@pytest.mark.when_changed
def test_a_whole_product_can_lose_a_run():
    bad = ended("answer ratio, whole", 1.0, lag=8, optimizer="SGD", seed=1)
    good = ended("answer ratio, at most 2", 1.0, lag=8, optimizer="SGD", seed=1)
    assert bad.right < 0.1 < 0.8 < good.right
