from functools import cache
from math import comb

import numpy as np
import pytest

from sim.experiments import step_rewards
from sim.experiments.step_rewards import FILLER, FINISH, MIN, NEED, OUTCOME, PROGRESS, SUM, WORK, H
from sim.worlds.optimizer import SGD, AdamW

OPTIMIZERS = dict(AdamW=lambda: AdamW(0.05, clip=1.0), SGD=lambda: SGD(0.3))
BOTH = tuple(OPTIMIZERS)


@cache
def ended(form, optimizer, seed=0, **setting):
    *_, last = step_rewards.train(form, np.random.default_rng(seed), OPTIMIZERS[optimizer](), **setting)
    return step_rewards.outlook(last.logits)


def ending(form, optimizer, less=0.0, filler=0.95, seeds=2):
    return [ended(form, optimizer, seed, less=less, filler=filler) for seed in range(seeds)]


def batch(*chains):
    """Of chains as lists of actions; every piece of work is scored 0.8, every filler 0.9."""
    actions, works = np.full((len(chains), H), -1), np.zeros((len(chains), H + 1), int)
    for row, chain in enumerate(chains):
        actions[row, : len(chain)] = chain
    for t in range(H):
        works[:, t + 1] = np.minimum(works[:, t] + (actions[:, t] == WORK), NEED)
    scores = np.select([actions == WORK, actions == FILLER], [0.8, 0.9], 0.0)
    solved = (actions == FINISH).any(axis=1) & (works[:, -1] == NEED)
    return step_rewards.Batch(actions, scores, works, solved)


DONE = [WORK, FILLER, WORK, WORK, WORK, FINISH]
QUIT = [WORK, FINISH]


def test_what_a_step_still_gets_by_each_form():
    one = batch(DONE, QUIT)

    def still(form, less=0.0):
        return step_rewards.credit(form, one, less)

    assert still(OUTCOME)[:, 0] == pytest.approx([1, 0])
    assert still(SUM)[:, 0] == pytest.approx([4 * 0.8 + 0.9 + 1, 0.8])
    assert still(SUM, 0.5)[0, 4] == pytest.approx(0.3 + 1)
    assert still(MIN)[:, :2] == pytest.approx(np.array([[1.8, 1.8], [0.8, 0.8]]))
    assert still(PROGRESS)[:, 0] == pytest.approx([2, 0.25]) and still(PROGRESS)[0, 4] == pytest.approx(0.25 + 1)


def test_filler_makes_no_progress_and_finished_work_neither():
    padded = batch([WORK, FILLER, FILLER, WORK, WORK, WORK, WORK, WORK, FINISH])
    assert step_rewards.paid(PROGRESS, padded, 0.0)[0, :9] == pytest.approx([0.25, 0, 0, 0.25, 0.25, 0.25, 0, 0, 0])


def test_the_slope_is_that_of_log_pi_times_advantage():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(NEED + 1, 3))
    drawn = step_rewards.drawn(logits, 0.95, rng)
    G = step_rewards.credit(SUM, drawn, 0.0)
    own = drawn.actions >= 0
    advantage = (G - (G * own).sum(axis=0) / np.maximum(own.sum(axis=0), 1)) * own

    def surrogate(logits):
        logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return (advantage * logp[drawn.works[:, :-1], drawn.actions] * own).sum() / len(G)

    found, h = step_rewards.slope(logits, drawn, G), 1e-6
    for at in np.ndindex(logits.shape):
        moved = np.zeros(logits.shape)
        moved[at] = h
        numeric = (surrogate(logits + moved) - surrogate(logits - moved)) / (2 * h)
        assert found[at] == pytest.approx(numeric, abs=1e-6)


def test_the_outlook_is_the_mean_of_draws():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(NEED + 1, 3))
    many = [step_rewards.drawn(logits, 0.95, rng) for _ in range(150)]
    solved, steps = step_rewards.outlook(logits)
    assert np.mean([one.solved.mean() for one in many]) == pytest.approx(solved, abs=0.01)
    assert np.mean([one.steps.mean() for one in many]) == pytest.approx(steps, abs=0.08)


def test_before_training_one_chain_in_eighteen_is_solved():
    # closed form: the fourth piece of work at step m, then anything but a stop, then the stop by step 12
    closed = sum(comb(m - 1, 3) * 3.0**-m * (1 - (2 / 3) ** (H - m)) for m in range(4, H))
    assert step_rewards.outlook(np.zeros((NEED + 1, 3)))[0] == pytest.approx(closed, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", BOTH)
@pytest.mark.parametrize("form", [OUTCOME, MIN, PROGRESS])
def test_the_outcome_the_least_score_and_progress_teach_to_solve(form, optimizer):
    assert all(solved >= 0.95 and steps < 5.5 for solved, steps in ending(form, optimizer))


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", BOTH)
@pytest.mark.parametrize("filler", [0.0, 0.95])
def test_added_up_scores_end_in_chains_without_an_end_at_any_score_of_filler(filler, optimizer):
    assert all(solved <= 0.02 and steps > 11.7 for solved, steps in ending(SUM, optimizer, filler=filler))


@pytest.mark.slow
def test_what_is_taken_off_each_step_has_to_lie_in_a_narrow_range():
    assert all(solved < 0.05 and steps > 11 for solved, steps in ending(SUM, "AdamW", less=0.8))
    assert all(solved > 0.95 and steps < 5 for solved, steps in ending(SUM, "AdamW", less=0.95))
    assert all(solved < 0.05 and steps < 1 for solved, steps in ending(SUM, "AdamW", less=1.2))
    assert all(solved < 0.05 and steps < 2 for solved, steps in ending(SUM, "SGD", less=0.95))
