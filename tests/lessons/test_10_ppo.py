"""The numbers of the lesson on PPO, recomputed."""

import re
from functools import partial

import numpy as np
import pytest

from sim.algorithms import ppo as algorithm
from sim.estimators import surrogate
from sim.experiments.runs import modsum_run
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import ppo
from widgets.ppo import Knobs

LESSON = Lesson("10")


last = partial(catalogue.last, ppo)


def finals(result):
    return result.pass_rate[:, -1].mean(axis=1)


def test_the_completions_of_the_table_add_up():
    rows = re.findall(r"\| `([123 ]+) stop` \| (\d+) \| ([01]) \|", LESSON.text)
    assert len(rows) == 4
    for digits, total, reward in rows:
        assert sum(map(int, digits.split())) == int(total)
        assert (int(total) % 7 == modsum.TARGETS[1]) == (reward == "1")


def test_the_six_cells():
    for A, words in ((1.0, "$A=+1$, wanted"), (-1.0, "$A=-1$, unwanted")):
        cells = []
        for ratio in (0.5, 1.0, 1.5):
            loss, slope = surrogate.loss_and_slope(ratio, A, 0.2, 0.2)
            cells.append(f"{loss:.1f}, slope {'**0**' if slope == 0 else f'{slope:+.0f}'}".replace("-", "−"))
        assert f"| {words} | {' | '.join(cells)} |" in LESSON.text
    assert surrogate.loss_and_slope(4.0, -1.0, 0.2, 0.2)[0] == pytest.approx(4)
    assert surrogate.loss_and_slope(4.0, -1.0, 0.2, 0.2, dual_clip=3.0) == pytest.approx((3, 0))


def test_in_one_pass_the_two_runs_are_the_same_run():
    np.testing.assert_array_equal(last(passes=1).pass_rate, last(passes=1, clip=False).pass_rate)


def test_with_the_clip():
    LESSON.says("0.124", last().kl_step.max())
    LESSON.says("0.969", finals(last()).min())
    LESSON.says("0.988", finals(last()).max())
    LESSON.says("2.06", last().ratio_max.max())
    LESSON.says("3.35", last(passes=16).ratio_max.max())
    LESSON.says("0.167", last(passes=16).kl_step.max())


def test_without_the_clip():
    LESSON.says("0.380", last(passes=2, clip=False).kl_step.max())
    LESSON.says("6.16", last(clip=False).kl_step.max())
    LESSON.says("16.3", last(passes=16, clip=False).kl_step.max())
    LESSON.says("2,037", last(passes=16, clip=False).ratio_max.max())
    assert ppo.forgotten(last(passes=16, clip=False)) == 3 and "three of six runs end without a prompt" in LESSON.text


def test_the_rest_of_what_the_widget_showed():
    LESSON.says("0.758", last(clip=False).pass_rate[:, 9].mean())
    LESSON.says("0.607", last().pass_rate[:, 9].mean())
    LESSON.says("0.997", finals(last(critic=False)).mean())
    LESSON.says("0.983", finals(last()).mean())
    LESSON.says("2.92", last(passes=16, eps_high=5.0).kl_step.max())


def test_how_the_fifth_run_lost_its_prompt():
    run = modsum_run(algorithm, seed=4, learning_rate=20.0, groups=4, K=4, hyper=dict(inner_epochs=16, eps=1e9))
    batches, policies, frames = [], [], []
    for event in run.iterate(60):
        if event.role == "rollout":
            batches.append(event.summary["batch"])
        if event.stage == 7:
            frames.append(event.summary["frame"])
            policies.append(np.exp(modsum.log_softmax(run.trainer.policy.params["theta"]))[1])
    rows = np.flatnonzero(batches[1].example == 1)
    said = {" ".join(map(str, batches[1].tokens[row][batches[1].response_mask[row] > 0] + 1)) for row in rows}
    assert (batches[1].accuracy[rows] == 1).all() and "1 3 1 3 3 1 4" in said  # 4 is the stop
    stops = (batches[1].tokens[rows] == modsum.EOS) & (batches[1].response_mask[rows] > 0)
    assert stops.sum() == 4  # all of them at 5 modulo 7, being right
    LESSON.says("0.890", frames[0].exact["pass_rate"][1])
    LESSON.says("0.972", policies[0][5, modsum.EOS])
    LESSON.says("1.03", 1 / policies[0][5, modsum.EOS])
    LESSON.says("0.009", policies[0][5, 2])
    LESSON.says("0.999", policies[1][5, 2])
    assert policies[1][5, 2] / policies[0][5, 2] > 100
    LESSON.says("0.0008", frames[1].exact["pass_rate"][1])
    LESSON.says("10.4", frames[1].exact["kl_step"][1])
    assert all((batch.accuracy[batch.example == 1] == 0).all() for batch in batches[2:])
    assert frames[-1].exact["truncated"][1] > 0.9


def test_the_memory_of_four_models():
    trained, frozen = 2 + 4 + 12, 2
    LESSON.says("18", trained)
    LESSON.says("40", 2 * trained + 2 * frozen)


def test_the_answers_about_the_break():
    assert ppo.broken(Knobs(passes=2, clip=False), last(passes=2, clip=False)) is None
    assert ppo.broken(Knobs(clip=False), last(clip=False)) is not None
    assert ppo.broken(Knobs(passes=16, eps_high=5.0), last(passes=16, eps_high=5.0)) is not None
