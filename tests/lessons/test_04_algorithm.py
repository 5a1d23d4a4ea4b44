"""The numbers of the lesson on the plugin interface, recomputed."""

import inspect

import numpy as np

from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets import algorithm as widget
from widgets.algorithm import FILES, Knobs

LESSON = Lesson("04")
FLAT = np.sqrt(1 / 8 * 7 / 8)


def first(**knobs):
    return next(widget.run(Knobs(**knobs)))


def trained(**knobs):
    return catalogue.last(widget, **knobs).pass_rate[:, -1].mean()


def shown(x):
    text = f"{x:.3f}".replace("-", "−")
    return text.rstrip("0").rstrip(".") if "." in text else text


def test_the_table_of_one_right_of_eight():
    made = first(right=1).advantages
    for words, name in (
        ("REINFORCE", "REINFORCE"),
        ("PPO, critic says 0.33", "PPO"),
        ("GRPO, DAPO", "GRPO"),
        ("GRPO, DAPO", "DAPO"),
        ("RLOO", "RLOO"),
        ("Dr.GRPO", "Dr.GRPO"),
    ):
        assert f"| {words} | {shown(made[name][0])} | {shown(made[name][-1])} |" in LESSON.text


def test_a_lone_success():
    LESSON.says("2.47", 7 / np.sqrt(8))
    LESSON.says("7.875", 63 / np.sqrt(64))
    LESSON.says("2.646", first(right=1, ddof=0).advantages["GRPO"][0])


def test_the_total_push():
    LESSON.says("0.219", 2 * FLAT**2)
    LESSON.says("0.661", 2 * FLAT)
    LESSON.says("0.22", 2 * FLAT**2)
    LESSON.says("0.66", 2 * FLAT)
    LESSON.says("1.5", 1 / (2 * FLAT))
    LESSON.says("2.3", 0.5 / (2 * FLAT**2))


def test_the_noise_of_a_judge():
    made = first(K=4, right=3, wrong=0.999).advantages
    LESSON.says("0.499", made["GRPO"][0])
    LESSON.says("−1.497", made["GRPO"][-1])
    LESSON.says("0.00075", abs(made["Dr.GRPO"][-1]))
    deviation = np.std([1, 1, 1, 0.999], ddof=1)
    LESSON.says("0.5", made["Dr.GRPO"][0] / deviation)
    LESSON.says("−1.5", made["Dr.GRPO"][-1] / deviation)
    assert made["GRPO"][0] == made["Dr.GRPO"][0] / (deviation + 1e-6)


def test_the_constant():
    LESSON.says("0.329", first().pass_rate[0, 0])
    LESSON.says("0.259", trained(plugin="REINFORCE", offset=5.0))
    LESSON.says("0.900", trained(plugin="REINFORCE"))
    LESSON.says("0.848", trained())
    LESSON.says("0.679", trained(plugin="PPO", offset=5.0))


def test_the_length_of_the_files():
    lines = [len(inspect.getsource(file).splitlines()) for file in FILES.values()]
    LESSON.says("36", min(lines))
    LESSON.says("42", max(lines))


def test_half_as_hard_at_twice_the_length():
    push = first().push
    np.testing.assert_allclose(push[5] / push[7], 0.5)  # eight tokens against four, both wrong
