import numpy as np
import pytest

from sim.estimators import aggregation, microbatch
from sim.experiments import first_step
from sim.experiments.standard_runs import add_run
from sim.worlds import tasks
from sim.worlds.optimizer import SGD, AdamW


def test_one_step_is_the_first_update_of_the_run():
    run = add_run(first_step.grpo, learning_rate=0.05, hyper=first_step.HYPER)
    (frame,) = (event.summary["frame"] for event in run.iterate(1) if event.stage == 7)
    rate, far = first_step.stepped(0.05)
    assert rate == pytest.approx(tasks.exact_pass(run.trainer.policy).mean(), abs=1e-12) and far > 0
    assert frame.grad_norm == pytest.approx(microbatch.norm(first_step.gradient()), rel=1e-12)


def test_a_step_ends_where_it_began_if_it_has_no_length():
    rate, far = first_step.stepped(1e-12)
    assert rate == pytest.approx(tasks.exact_pass(first_step.batch()[0]).mean(), abs=1e-9) and far < 1e-9


def test_a_longer_step_goes_farther_and_past_some_length_it_does_harm():
    """In each of five seeds."""
    for seed in range(5):
        rates, far = np.array([first_step.stepped(rate, seed) for rate in (0.003, 0.02, 0.1, 0.3)]).T
        assert (np.diff(far) > 0).all() and rates[1] > rates[0] > rates[2] > rates[3]


def test_the_first_step_of_adamw_has_one_length_and_that_of_sgd_the_gradients():
    grads = np.array([-3.0, 1e-3, 0.2])
    assert first_step.change(SGD(0.3), grads) == pytest.approx(-0.3 * grads)
    for scale in (1, 100):
        assert first_step.change(AdamW(0.02, clip=None), scale * grads) == pytest.approx(
            -0.02 * np.sign(grads), rel=1e-4
        )


def test_quantiles_are_places_in_the_order_of_size_of_those_that_are_not_zero():
    grads = dict(a=np.array([[0.1, -5.0]]), b=np.array([2.0, 0.0]))
    assert first_step.at_quantiles(grads, (0, 0.5, 1)).tolist() == [0.1, 2.0, -5.0]


def test_tokens_of_a_slice_weigh_too_much_where_it_has_few_of_them():
    times, error = first_step.sliced(4, by_length=True)
    mask = first_step.batch()[1].response_mask
    lengths = np.sort(mask.sum(axis=1)).reshape(4, -1).sum(axis=1)
    assert times == pytest.approx(lengths.sum() / 4 / lengths)
    assert list(times) == sorted(times, reverse=True) and error > first_step.sliced(4, by_length=False)[1] > 0
    assert first_step.sliced(1, by_length=True)[1] < 1e-12


def test_the_gradient_takes_the_average_that_it_is_given():
    sums, means = (
        first_step.gradient(weights=weights)
        for weights in (aggregation.seq_mean_token_sum, aggregation.seq_mean_token_sum_norm)
    )
    for name in sums:
        np.testing.assert_allclose(sums[name], 8 * means[name], rtol=1e-12, atol=1e-15)
