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
    LESSON.says("0.417", made["Dr.GRPO"][0] / (deviation + 1e-4))  # TRL 1.16.0, grpo_trainer.py: std_rewards + 1e-4
    LESSON.says("−1.25", made["Dr.GRPO"][-1] / (deviation + 1e-4))


def ends_within(words, low, high, seeds=5, **knobs):
    """Means of three runs, a mean a seed, in the range that the text gives, but for another processor's rounding."""
    ends = [trained(**knobs, seed=seed) for seed in range(seeds)]
    assert words in LESSON.text and low - 0.02 <= min(ends) and max(ends) <= high + 0.02, ends
    return ends


def test_the_constant():
    LESSON.says("0.329", first().pass_rate[0, 0])
    with_it = ends_within("between 0.09 and 0.26", 0.09, 0.26, plugin="REINFORCE", offset=5.0)
    assert max(with_it) < 0.329
    ends_within("between 0.53 and 0.72", 0.53, 0.72, plugin="PPO", offset=5.0)
    ahead = ends_within("at 0.88 to 0.91", 0.88, 0.91, plugin="REINFORCE")
    behind = ends_within("at 0.84 to 0.88", 0.84, 0.88)
    assert all(a > b for a, b in zip(ahead, behind))
    for plugin in FILES:
        ends_within("all six files end between 0.84 and 0.91", 0.84, 0.91, seeds=1, plugin=plugin)


def test_the_lenient_judge():
    alone = ends_within("between 0.04 and 0.20", 0.04, 0.20, plugin="REINFORCE", wrong=0.9)
    assert max(alone) < 0.329 < 0.82 < trained(plugin="GRPO", wrong=0.9)
    critic = ends_within("between 0.29 and 0.62", 0.29, 0.62, plugin="PPO", wrong=0.9)
    assert min(critic) < 0.329
    assert max(trained(plugin="DAPO", wrong=1.0, seed=seed) for seed in range(2)) < 0.03
    ends_within("GRPO still ends between 0.84 and 0.88", 0.84, 0.88, seeds=2, wrong=0.999)


def test_the_length_of_the_files():
    lines = [len(inspect.getsource(file).splitlines()) for file in FILES.values()]
    LESSON.says("36", min(lines))
    LESSON.says("42", max(lines))


def test_half_as_hard_at_twice_the_length():
    push = first().push
    np.testing.assert_allclose(push[5] / push[7], 0.5)  # eight tokens against four, both wrong
