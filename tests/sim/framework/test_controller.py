import ast
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from sim import framework
from sim.algorithms import dapo, ppo, reinforce, rloo
from sim.estimators.surrogate import clipped
from sim.experiments.standard_runs import modsum_run
from sim.framework.algorithm import Algorithm
from sim.framework.controller import ROLES, ROUNDS, Controller
from sim.worlds import modsum
from sim.worlds.optimizer import SGD


def numbers(frames):
    """Everything the frames hold, as one array of floats."""
    return np.array(
        [
            np.concatenate([np.atleast_1d(np.asarray(v, float)) for v in (*astuple(f)[:-1], *f.exact.values())])
            for f in frames
        ]
    )


def controller(file=reinforce, task=None, hooks=None, hyper=None, **settings):
    algorithm = Algorithm(file, hyper, hooks)
    return Controller(algorithm, task or modsum.Task(), modsum.Policy(), SGD(2.0), **settings)


def test_an_iteration_is_seven_stages_in_order():
    events = list(controller(ppo).iterate(2))
    assert [(e.iteration, e.stage, e.role) for e in events] == [
        (i, n + 1, role) for i in range(2) for n, role in enumerate(ROLES)
    ]


def test_without_a_kl_penalty_there_is_no_reference():
    assert [e.summary["skipped"] for e in controller().iterate(1) if e.role == "reference"] == [True]
    with_penalty = controller(hyper=dict(beta=0.1))
    assert [e.summary["skipped"] for e in with_penalty.iterate(1) if e.role == "reference"] == [False]


def test_the_same_seed_gives_the_same_run_to_the_last_bit():
    np.testing.assert_array_equal(
        numbers(modsum_run(ppo, seed=3).frames(5)), numbers(modsum_run(ppo, seed=3).frames(5))
    )
    assert (numbers(modsum_run(ppo, seed=3).frames(5)) != numbers(modsum_run(ppo, seed=4).frames(5))).any()


def test_two_settings_of_one_file_can_train_side_by_side():
    settings = [dict(eps=0.1, inner_epochs=6), dict(eps=1e9, inner_epochs=6)]
    alone = [numbers(modsum_run(ppo, learning_rate=20.0, hyper=h).frames(5)) for h in settings]
    together = zip(*zip(*(modsum_run(ppo, learning_rate=20.0, hyper=h).frames(5) for h in settings)))
    for a, b in zip(alone, together):
        np.testing.assert_array_equal(a, numbers(b))


def test_exact_numbers_are_those_of_the_policy_after_the_step():
    run = modsum_run(reinforce)
    frames = list(run.frames(3))
    np.testing.assert_array_equal(
        frames[-1].exact["pass_rate"], modsum.exact(run.trainer.policy.params["theta"])["pass_rate"]
    )
    np.testing.assert_array_equal(
        frames[-1].exact["kl_reference"],
        modsum.exact_kl(run.trainer.policy.params["theta"], modsum.Policy().params["theta"]),
    )
    np.testing.assert_array_equal(frames[0].exact["kl_reference"][0] > 0, True)


def test_exact_numbers_come_as_often_as_asked_and_at_the_end():
    assert [bool(f.exact) for f in modsum_run(reinforce, exact_every=4).frames(7)] == [
        True,
        False,
        False,
        False,
        True,
        False,
        True,
    ]


def test_rejected_groups_are_drawn_again_until_the_batch_is_full():
    run = controller(hooks=dict(keep_group=lambda accuracy, hp, batch: accuracy.std(axis=1) > 0), groups=6, K=4)
    events = list(run.iterate(1))
    batch, frame = events[1].summary["batch"], events[-1].summary["frame"]
    assert len(batch.tokens) == 24 and frame.live_groups == 6
    assert (batch.accuracy.reshape(6, 4).std(axis=1) > 0).all() and events[0].summary["rounds"] > 1
    assert frame.completions > 24 and frame.completions % 4 == 0


def test_a_group_is_kept_for_its_accuracy_however_its_rewards_differ():
    class Paid(modsum.Task):
        def pay(self, batch):
            return batch.accuracy + 0.01 * batch.response_mask.sum(axis=1)

    run = controller(dapo, Paid(), groups=6, K=4)
    batch, seen, rounds = run.collect()
    by_reward, by_accuracy = ((x.reshape(-1, 4).std(axis=1) > 0).sum() for x in (seen.reward, seen.accuracy))
    assert rounds > 1 and by_reward > by_accuracy  # groups of equal accuracy differ in what they are paid
    assert (batch.accuracy.reshape(-1, 4).std(axis=1) > 0).all()


def test_the_length_is_that_of_all_that_was_drawn_and_not_of_what_was_kept():
    drawn = []

    def longest_first(accuracy, hp, batch):
        lengths = batch.response_mask.sum(axis=1)
        drawn.extend(lengths)
        group = lengths.reshape(accuracy.shape).mean(axis=1)
        return group >= group.max()

    *_, last = controller(hooks=dict(keep_group=longest_first), groups=6, K=4).iterate(1)
    assert len(drawn) == last.summary["frame"].completions > 24
    assert last.summary["frame"].length == pytest.approx(np.mean(drawn), abs=1e-12)


def test_when_every_group_is_rejected_a_frame_comes_and_nothing_moves():
    run = controller(hooks=dict(keep_group=lambda accuracy, hp, batch: np.zeros(len(accuracy), bool)), groups=4, K=2)
    frames = list(run.frames(2))
    assert [(f.live_groups, f.completions) for f in frames] == [(0, ROUNDS * 8), (0, 2 * ROUNDS * 8)]
    assert run.trainer.version == 0 and frames[-1].exact["kl_step"].max() == 0


def test_the_histogram_counts_every_own_token_even_beyond_its_ends():
    run = modsum_run(ppo, learning_rate=60.0, groups=4, K=4, hyper=dict(inner_epochs=16, eps=1e9))
    events = list(run.iterate(5))
    own = [e.summary["batch"].response_mask.sum() for e in events if e.role == "rollout"]
    frames = [e.summary["frame"] for e in events if e.stage == 7]
    assert [f.log_ratio_counts.sum() for f in frames] == own
    assert max(np.abs(e.summary["log_ratio"]).max() for e in events if e.role == "trainer") > 2


def test_a_batch_can_be_changed_between_two_stages():
    run = modsum_run(reinforce, learning_rate=2.0)
    for event in run.iterate(3):
        if event.role == "env":
            event.summary["batch"].reward = np.zeros(64)
        last = event
    assert last.summary["frame"].exact["kl_reference"].max() == 0


def test_the_logged_kl_is_k3_over_the_sampled_tokens():
    run = controller(hyper=dict(beta=0.1))
    events = list(run.iterate(2))
    batch, frame = events[-6].summary["batch"], events[-1].summary["frame"]
    d = (batch.ref_logp - batch.old_logp)[batch.response_mask > 0]
    assert frame.kl_logged == pytest.approx((np.exp(d) - 1 - d).mean()) and frame.kl_logged > 0
    assert np.isnan(next(controller().frames(1)).kl_logged)


def test_a_hook_that_is_a_closure_trains_like_the_file_it_copies():
    copied = dict(surrogate=lambda logp, old_logp, A, hp, batch: clipped(logp, old_logp, A, 0.2, 0.2))
    a, b = (numbers(modsum_run(ppo, learning_rate=20.0, hooks=hooks).frames(10)) for hooks in (None, copied))
    np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (dict(groups=0), "groups must be at least 1, not 0"),
        (dict(K=0), "K must be at least 1, not 0"),
        (dict(K=1, file=rloo), "K must be at least 2: this baseline"),
        (dict(hyper=dict(inner_epochs=0)), "inner_epochs must be at least 1, not 0"),
        (dict(minibatches=65), "minibatches must be from 1 to groups \\* K = 64, not 65"),
        (dict(microbatches=0), "microbatches must be from 1 to the 64 completions of a mini-batch, not 0"),
        (dict(minibatches=4, microbatches=17), "from 1 to the 16 completions of a mini-batch, not 17"),
    ],
)
def test_a_run_that_cannot_be_is_refused_in_one_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        controller(**settings)


def test_a_task_without_prompts_is_refused():
    class Empty(modsum.Task):
        examples = []

    with pytest.raises(ValueError, match=r"task\.examples must not be empty"):
        controller(task=Empty())


def test_microbatches_change_no_more_than_the_last_bits():
    a, b = (numbers(controller(microbatches=parts).frames(3)) for parts in (1, 5))
    np.testing.assert_allclose(a, b, atol=1e-9)


def test_a_run_can_be_iterated_in_parts_and_counts_on():
    run = controller()
    steps = [event.iteration for first, n in ((0, 2), (2, 4)) for event in run.iterate(n, first) if event.stage == 7]
    assert steps == [0, 1, 2, 3]


def test_one_completion_a_prompt_is_enough_without_a_group_baseline():
    assert len(list(controller(reinforce, K=1).frames(2))) == 2


FORMULAS = [f"sim.estimators.{name}" for name in ("advantages.", "precision.", "kl.", "microbatch", "wilson")]


def test_the_framework_imports_no_policy_no_task_and_no_algorithm():
    for path in Path(framework.__file__).parent.glob("[!_]*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("sim"):
                for name in (f"{node.module}.{alias.name}" for alias in node.names):
                    assert name.startswith(("sim.framework.", "sim.worlds.scorer.", *FORMULAS)), path.name
