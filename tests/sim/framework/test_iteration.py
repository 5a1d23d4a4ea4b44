import numpy as np
import pytest

from sim.algorithms import grpo
from sim.experiments.standard_runs import add_run
from sim.framework import iteration
from sim.framework.controller import ROLES


def finished(**hyper):
    controller = add_run(grpo, hyper=hyper)
    events = list(controller.iterate(2))
    return controller, events, events[-6].summary["batch"]


@pytest.mark.parametrize(
    "completions, minibatch, epochs, updates",
    [
        (
            8192,
            512,
            1,
            16,
            # DAPO, arXiv:2503.14476, section 4.1: 512 prompts x 16 completions, mini-batch 512, 16 updates; R1-Zero's
            # 8,192
            # outputs alike
        ),
        (128, 128, 1, 1),
        (128, 32, 4, 16),
    ],
)
def test_updates_are_minibatches_times_epochs(completions, minibatch, epochs, updates):
    assert iteration.updates_per_iteration(completions, minibatch, epochs) == updates


def test_a_minibatch_that_leaves_a_rest_is_refused():
    with pytest.raises(ValueError, match="minibatch must divide the completions: 100 are not a multiple of 32"):
        iteration.updates_per_iteration(100, 32, 1)


def test_two_iterations_are_fourteen_stages_in_order():
    _, events, _ = finished()
    assert [e.stage for e in events] == [1, 2, 3, 4, 5, 6, 7] * 2 and tuple(e.role for e in events[:7]) == ROLES


def test_the_edges_carry_what_their_arrays_weigh():
    controller, _, batch = finished(beta=0.1)
    edges = iteration.carried(batch, controller.trainer.policy)
    word, N, T = 8, 128, 8  # float64 and int64; 16 prompts times 8 completions of at most 8 tokens
    assert {edge: iteration.weight(parts) for edge, parts in edges.items()} == dict(
        prompts=N * 4 * word,
        trajs=2 * N * T * word + N,
        tokens=N * T * word,
        reward=N * word,
        ref_logp=N * T * word,
        loss_fn=3 * N * T * word,
        sync=8708 * word,
    )


def test_without_a_reference_nothing_crosses_its_edge():
    controller, _, batch = finished(beta=0.0)
    assert "ref_logp" not in iteration.carried(batch, controller.trainer.policy)
    assert iteration.token_passes(batch, 1, reference=False)["reference"] == 0


def test_a_training_pass_costs_three_sampling_passes():
    _, _, batch = finished()
    tokens = np.count_nonzero(batch.old_logp)  # tokens in = tokens out: each sampled one left a log-prob
    assert iteration.token_passes(batch, 4, reference=True) == dict(
        rollout=tokens, reference=tokens, trainer=12 * tokens
    )


def test_the_version_counts_the_updates():
    controller, _, _ = finished(inner_epochs=4)
    assert controller.trainer.version == controller.rollout.version == 2 * iteration.updates_per_iteration(128, 128, 4)
