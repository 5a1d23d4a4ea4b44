"""What both commands share: which prompts are kept out, what the options set, and a run that is packed and loaded."""

from types import SimpleNamespace

import numpy as np
import pytest

from rlpt import companion
from rlpt import run as command
from rlpt.companion import TASKS, Session
from sim.framework.checkpoint import Refused
from sim.worlds.optimizer import SGD, AdamW


def session(task="add", **options):
    _, chosen = command.options(["grpo", "--updates", "6", "--eval-every", "3"], "rlpt.run")
    return Session(SimpleNamespace(**vars(chosen) | options), task)


def trained(run):
    return [event for event in run.events() if event.stage == 7]


def test_two_sums_of_every_first_and_of_every_second_digit_are_kept_out():
    out = TASKS["add"].kept_out
    assert len(out) == 20
    assert np.bincount(out // 10).tolist() == np.bincount(out % 10).tolist() == [2] * 10


@pytest.mark.parametrize("task", TASKS)
def test_training_never_draws_what_is_kept_out_and_an_evaluation_draws_nothing_else(task):
    run, drawn = session(task, updates=8, eval_every=8), set()
    for event in run.events():
        if event.stage == 2:
            drawn |= set(event.summary["batch"].example.tolist())
    assert drawn and not drawn & set(TASKS[task].kept_out.tolist())
    assert {each.completions for each in run.evaluations} == {companion.EVALUATED}


@pytest.mark.parametrize("task", TASKS)
def test_without_evaluations_every_prompt_is_trained_on(task):
    run = session(task, eval_every=0)
    assert run.trained_on.tolist() == TASKS[task].prompts.tolist()
    trained(run)
    assert run.evaluations == [] and run.update == 6


def test_a_run_learns_the_same_however_often_it_is_evaluated():
    often, seldom = session(eval_every=1), session(eval_every=6)
    assert len(trained(often)) == len(trained(seldom)) == 6
    assert len(often.evaluations) == 7 and [each.update for each in seldom.evaluations] == [0, 6]
    for name, array in often.controller.trainer.policy.params.items():
        assert (array == seldom.controller.trainer.policy.params[name]).all()


def test_options_set_what_they_say_and_the_files_own_settings_stand_otherwise():
    asked = session(beta=0.5, passes=2, K=4, lag=3, micro_batches=2, optimizer="sgd", learning_rate=0.25).controller
    assert asked.algorithm.hp["beta"] == 0.5 and asked.algorithm.hp["inner_epochs"] == 2
    assert asked.K == 4 and asked.sync.kept.maxlen == 4 and asked.microbatches == 2
    assert isinstance(asked.trainer.optimizer, SGD) and asked.trainer.optimizer.learning_rate == 0.25
    plain = session().controller
    assert plain.algorithm.hp["beta"] == 0.04 and plain.algorithm.hp["inner_epochs"] == 4  # sim/algorithms/grpo.py
    assert isinstance(plain.trainer.optimizer, AdamW) and plain.trainer.optimizer.learning_rate == 0.02
    assert session(beta=0.0).controller.reference is None
    assert session("modsum", optimizer="adamw").controller.trainer.optimizer.clip is None


def test_a_rate_of_its_own_makes_sgd_learn_each_task():
    for task in TASKS:
        run = session(task, optimizer="sgd", updates=30, eval_every=0)
        trained(run)
        assert np.mean(run.shares[-10:]) > run.shares[0] + 0.2


@pytest.mark.parametrize("task, algorithm", [("add", "ppo"), ("lookup", "grpo"), ("modsum", "dapo")])
def test_a_packed_run_goes_on_to_the_last_bit(task, algorithm):
    whole, left, resumed = (session(task, algorithm=algorithm, lag=1) for _ in range(3))
    trained(whole)
    for event in left.events():
        if event.stage == 7 and left.update == 4:
            break
    rows = left.lines()
    assert resumed.load(left.packed({"bytes": len(rows)}), logged=True) == {"bytes": len(rows)}
    assert resumed.update == 4
    trained(resumed)
    assert rows + resumed.lines() == whole.lines()
    assert resumed.packed(None) == whole.packed(None)


def test_every_option_that_changes_the_numbers_is_part_of_the_configuration():
    data = session().packed(None)
    changed = dict(K=4, lag=1, seed=1, micro_batches=2, eval_every=2, beta=0.1, passes=1, algorithm="ppo")
    changed |= dict(policy="transformer", optimizer="sgd", learning_rate=0.01)
    for name, value in changed.items():
        with pytest.raises(Refused, match="it is from a run with"):
            session(**{name: value}).load(data, logged=False)
    with pytest.raises(Refused, match="it is from a run with task add"):
        session("lookup").load(data, logged=False)


def test_another_start_is_another_run(monkeypatch):
    data, checkpoint = session().packed(None), companion.tasks.checkpoint

    def push(params):
        return {name: array * (1 + 1e-12) for name, array in params.items()}

    def moved(name):
        policy = checkpoint(name)
        policy.params = push(policy.params)
        return policy

    monkeypatch.setattr(companion.tasks, "checkpoint", moved)
    with pytest.raises(Refused, match="it is from a run with start"):
        session().load(data, logged=False)


def test_the_pass_rate_counts_the_prompts_that_are_trained_on():
    run = session("modsum")
    assert run.exact(run.controller.start) == pytest.approx((0.5373 + 0.0802 + 0.0210) / 3, abs=1e-4)  # without 0.2394
    assert session("lookup").exact(None) is None  # its table is drawn anew


def test_of_many_evaluations_the_first_the_last_and_some_between_are_shown():
    run = session("modsum", updates=30, eval_every=1)
    trained(run)
    head, *lines = run.kept_out_lines(4)
    assert "(number 1), 320 completions" in head
    assert [int(line.split()[2]) for line in lines] == [0, 10, 20, 30]


def test_the_last_line_has_the_prompts_that_were_kept_out():
    run = session("modsum", updates=20, eval_every=10)
    trained(run)
    first, last = run.evaluations[0].mean, run.evaluations[-1].mean
    assert run.sampled().endswith(
        f"; of the prompts kept out of training {first:.3f} correct before and {last:.3f} after"
    )
    alone = session("modsum", updates=2, eval_every=0)
    trained(alone)
    assert "kept out" not in alone.sampled()
