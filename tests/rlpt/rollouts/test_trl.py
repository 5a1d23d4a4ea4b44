"""What TRL's GRPOTrainer keeps, and the five real runs that ship with the book."""

import runpy
import sys
from collections import deque
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest

from tests.rlpt.rollouts.made import batch, read, trl

COUNTED = [  # the logs of the runs: step, reward, `exact`, distinct texts, the most frequent one, cut off, mean tokens
    ("sound", 1, 0.0625, None, 49, 5, 0, 9.547),
    ("sound", 40, 0.5469, None, 30, 18, 0, 6.781),
    ("sound", 80, 0.6875, None, 24, 12, 0, 6.047),
    ("sound", 120, 0.7500, None, 16, 12, 0, 4.219),
    ("sound", 160, 0.8281, None, 18, 15, 0, 5.172),
    ("verifier", 1, 0.4531, 0.2969, 48, 4, 0, 9.750),
    ("verifier", 8, 0.5312, 0.1562, 42, 9, 0, 10.547),
    ("verifier", 20, 0.8125, 0.0469, 25, 15, 0, 10.281),
    ("verifier", 60, 0.6250, 0.0000, 37, 14, 3, 11.766),
    ("verifier", 160, 0.9375, 0.0000, 59, 2, 56, 31.062),
    ("length", 1, 0.3914, 0.1406, 60, 2, 0, 10.031),
    ("length", 5, 0.4344, 0.1719, 50, 5, 0, 10.500),
    ("length", 10, 0.7945, 0.5000, 39, 7, 0, 11.781),
    ("length", 20, 0.9379, 0.6250, 40, 6, 1, 12.516),
    ("length", 40, 0.8000, 0.0000, 29, 20, 64, 32.000),
    ("one-text", 1, 0.3563, None, 51, 5, 0, 9.578),
    ("one-text", 40, 0.2297, None, 56, 7, 11, 16.172),
    ("one-text", 80, 0.6484, None, 17, 16, 1, 6.703),
    ("one-text", 120, 0.6375, None, 18, 30, 3, 7.953),
    ("one-text", 160, 0.6562, None, 14, 42, 4, 7.656),
    ("cut-off", 1, 0.0000, None, 52, 4, 64, 12.000),
    ("cut-off", 25, 0.0000, None, 42, 6, 63, 11.922),
    ("cut-off", 50, 0.0000, None, 47, 5, 63, 11.938),
    ("cut-off", 75, 0.0000, None, 51, 5, 64, 12.000),
    ("cut-off", 100, 0.0000, None, 38, 7, 63, 11.906),
]


@pytest.mark.parametrize("name", ["sound", "verifier", "length", "one-text", "cut-off"])
def test_real_runs_are_read_as_they_were_logged(name):
    found = read((files("rlpt.rollouts") / "data" / f"{name}.jsonl").read_bytes())
    assert (found.format, found.program, found.notes, found.left_out) == ("TRL's completions", "TRL", [], {})
    assert found.columns["n_tokens"] == "tokens" and found.columns["ended"] == "cut, reversed"
    assert found.rollouts.steps.tolist() == [step for each, step, *_ in COUNTED if each == name]
    for _, step, reward, exact, distinct, top, cut, tokens in (row for row in COUNTED if row[0] == name):
        one = found.rollouts.at(step)
        paid, *rest = one.scores
        assert len(one) == 64 and np.bincount(one.group).tolist() == [8] * 8
        assert all(one.completions) and len(one.prompts) == 8
        assert one.scores[paid].mean() == pytest.approx(reward, abs=5.1e-5)
        assert rest == ([] if exact is None else ["exact"])
        assert exact is None or one.scores["exact"].mean() == pytest.approx(exact, abs=5.1e-5)
        assert len(set(one.completions)) == distinct
        assert max(map(one.completions.count, one.completions)) == top
        assert (one.cut.sum(), one.tokens.mean()) == (cut, pytest.approx(tokens, abs=5.1e-4))


def test_messages_are_read_as_text():
    ask, say = [{"role": "user", "content": "2+2="}], [{"role": "assistant", "content": "4"}]
    one = read([trl(prompt=ask, completion=say, exact=1.0)] * 2).rollouts
    assert (one.prompts, one.completions) == (["2+2="], ["4", "4"])


def test_neither_the_sum_nor_the_weights_of_the_rewards_are_known():
    found = read([trl(exact=1.0, reward=0.5, advantage=0.25), trl(exact=0.0, reward=0.1, advantage=-0.25)])
    assert found.rollouts.reward is None and found.rollouts.advantage.tolist() == [0.25, -0.25]
    assert {name: each.tolist() for name, each in found.rollouts.scores.items()} == dict(
        exact=[1, 0], reward=[0.5, 0.1]
    )


def test_a_reward_function_that_gave_no_score_leaves_nan():
    one = read([trl(exact=None), trl(exact=1.0)]).rollouts
    assert np.isnan(one.scores["exact"][0]) and one.scores["exact"][1] == 1


def test_a_batch_that_is_used_for_two_updates_counts_once():
    files = {
        f"completions_{s:05d}.jsonl": [row | {"step": s} for row in batch((s + 1) // 2, "ab")] for s in range(1, 7)
    }
    found = read(files)
    assert found.rollouts.steps.tolist() == [1, 3, 5]
    assert found.notes == [
        "At 3 steps the completions are those of the step before, because a batch was used for several updates. They "
        "count once."
    ]


def test_an_evaluation_that_overwrote_the_training_is_noted():
    rows = [row for s in range(1, 10) for row in batch(s, ("x", "y") if s % 3 == 0 else (f"a{s}", f"b{s}"))]
    (note,) = read(rows).notes
    assert note.startswith("The same prompts come back at equal distances, at steps 3, 6, 9.")


@pytest.mark.parametrize("prompts", [lambda s: "ab", lambda s: "ab" if s % 2 else "cd", lambda s: (f"a{s}", f"b{s}")])
def test_prompts_that_recur_in_training_are_no_evaluation(prompts):
    assert read([row for s in range(1, 7) for row in batch(s, prompts(s))]).notes == []


def test_a_prompt_that_recurs_in_a_step_makes_two_groups():
    one = read(batch(1, "aba", K=4)).rollouts
    assert one.prompts == ["a", "b", "a"] and np.bincount(one.group).tolist() == [4, 4, 4]


def kept(name, monkeypatch):
    """(a trainer, the callback that sees to its completions); `_logs` as in trl v1.16.0, trl/trainer/rloo_trainer.py"""
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(TrainerCallback=object))
    trainer = SimpleNamespace(_logs={}, model=SimpleNamespace(training=True), log_completions=True)
    return trainer, runpy.run_path(str(files("rlpt.rollouts") / "data" / name))["KeepRollouts"](trainer)


def held(prompt):
    logs = dict(images=deque(), prompt=deque([prompt] * 2), completion=deque(["b", "c"]), advantages=deque([1.0, -1.0]))
    return logs | dict(rewards={"exact": deque([1.0, 0.0])}, extra={"n_tokens": deque([3, 4])})


# (step, whether the model is training, the prompt of what the trainer holds, whether that is kept): a batch is used at
# steps 1 to 4; the evaluation after step 2 fills what the trainer holds, until step 5 samples
LOGGED = [(0, False, "e", False), (1, True, "a", True), (2, True, "a", True), (2, False, "e", False)]
LOGGED += [(3, True, "e", False), (4, True, "e", False), (5, True, "d", True)]


def test_the_callback_of_rloo_writes_what_was_sampled_in_training(tmp_path, monkeypatch):
    trainer, keep = kept("keep_rollouts.py", monkeypatch)
    for step, trainer.model.training, prompt, _ in LOGGED:
        trainer._logs = held(prompt)
        state = SimpleNamespace(is_world_process_zero=True, global_step=step)
        keep.on_log(SimpleNamespace(output_dir=tmp_path), state, control=None)
    written = {file.name: file.read_bytes() for file in (tmp_path / "completions").iterdir()}
    assert set(written) == {f"completions_{step:05d}.jsonl" for step, *_, wanted in LOGGED if wanted}
    one = read(written["completions_00005.jsonl"]).rollouts
    assert one.step.tolist() == [5, 5] and one.prompts == ["d"] and one.completions == ["b", "c"]
    assert one.scores["exact"].tolist() == [1, 0] and one.advantage.tolist() == [1, -1]
    assert one.tokens.tolist() == [3, 4]


def test_the_callback_of_grpo_lets_the_trainer_write_what_was_sampled_in_training(monkeypatch):
    trainer, keep = kept("keep_training.py", monkeypatch)
    for _, trainer.model.training, prompt, wanted in LOGGED:
        trainer._logs = held(prompt)
        keep.on_log(None, None, None, logs={})
        assert trainer.log_completions == wanted
