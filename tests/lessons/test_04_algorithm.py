"""The numbers of the lesson on the plugin interface, recomputed."""

import inspect

import numpy as np
import pytest

from sim.algorithms.names import FILES, FUNCTIONS, differing
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets.algorithm import figures, widget
from widgets.algorithm.widget import Knobs

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
    LESSON.says("2.3", 0.5 / (2 * FLAT**2))
    LESSON.says("1.5", 1 / (2 * FLAT))
    for how, factor in ((figures.PLAIN, "2.3"), (figures.DIVIDED, "1.5")):  # with K - 1 the growth is the same
        push = figures.pushes(how)
        LESSON.says(factor, push[4] / push[1])


def test_the_first_figure_shows_the_table():
    made = first(right=1).advantages
    for name, A in figures.credit(1).items():
        np.testing.assert_allclose(A, made[name], atol=1e-12)
    assert sum(np.abs(A).max() < 1e-9 for A in figures.credit(8).values()) == 4
    assert all(np.abs(figures.credit(n)[name]).max() < 1e-9 for n in (0, 8) for name in ("GRPO", "RLOO", "DAPO"))
    assert min(min(figures.credit(n)["REINFORCE"]) for n in range(9)) == 0


def test_what_is_lit_is_what_is_written_otherwise():
    for name, file in FILES.items():
        lit = differing(file, FILES[figures.BASE])
        assert lit == [f for f in FUNCTIONS if figures.WRITTEN[f][name] != figures.WRITTEN[f][figures.BASE]]


def test_where_rewards_are_all_but_alike_dividing_pushes_harder():
    """The answer to the pause."""
    one, half = ([figures.pushes(how)[n] for how in (figures.PLAIN, figures.DIVIDED)] for n in (1, 4))
    assert half[0] > one[0] and half[1] > one[1] and half[1] / one[1] < half[0] / one[0]


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


def mean(**knobs):
    return lambda seed: trained(seed=seed, **knobs)


MEASURED = {
    **{plugin: mean(plugin=plugin) for plugin in FILES},
    "GRPO, wrong paid 0.9": mean(plugin="GRPO", wrong=0.9),
    "PPO, wrong paid 0.999": mean(plugin="PPO", wrong=0.999),
    "PPO, wrong paid 1": mean(plugin="PPO", wrong=1.0),
    "REINFORCE, wrong paid 1": mean(plugin="REINFORCE", wrong=1.0),
    "REINFORCE, wrong paid 0.9": mean(plugin="REINFORCE", wrong=0.9),
    "PPO, wrong paid 0.9": mean(plugin="PPO", wrong=0.9),
    "REINFORCE, 5 added": mean(plugin="REINFORCE", offset=5.0),
    "PPO, 5 added": mean(plugin="PPO", offset=5.0),
    "DAPO, wrong paid 1": mean(plugin="DAPO", wrong=1.0),
}
kept = LESSON.kept


def test_the_family():
    LESSON.spread("0.895 ± 0.004", kept("REINFORCE"))
    LESSON.spread("0.853 ± 0.008", kept("GRPO"))
    assert (kept("REINFORCE") > kept("GRPO")).all() and "in each of them" in LESSON.text
    means = [kept(plugin).mean() for plugin in FILES]
    assert f"end between {min(means):.2f} and {max(means):.2f}, means of twenty seeds" in LESSON.text
    assert widget.FAMILY.endswith(f"between {min(means):.2f} and {max(means):.2f}")
    assert max(means) - min(means) < 0.08 and widget.GUESS.right == 2, "less than 0.08"


def test_the_constant():
    LESSON.says("0.329", first().pass_rate[0, 0])
    LESSON.spread("0.13 ± 0.06", kept("REINFORCE, 5 added"))
    LESSON.spread("0.64 ± 0.07", kept("PPO, 5 added"))


def test_the_lenient_judge():
    reinforce = kept("REINFORCE, wrong paid 0.9")
    LESSON.spread("0.06 ± 0.04", reinforce)
    assert reinforce.max() < 0.25 and "falls below 25" in LESSON.text and "in each of twenty seeds" in LESSON.text
    assert kept("GRPO, wrong paid 0.9").min() > 0.8 and "one climbs above 80" in LESSON.text
    LESSON.spread("0.853 ± 0.007", kept("GRPO, wrong paid 0.9"))
    LESSON.spread("0.51 ± 0.12", kept("PPO, wrong paid 0.9"))
    assert (
        kept("PPO, wrong paid 0.9") < 0.329
    ).sum() == 1 and "in one of the twenty seeds below its start" in LESSON.text
    for words in ("PPO, wrong paid 0.999", "PPO, wrong paid 1", "REINFORCE, wrong paid 1"):
        assert kept(words).max() < 0.2, words
    assert "PPO ends below 0.2" in LESSON.text and "carried by what they draw, below 0.2" in LESSON.text


@LESSON.when_changed
def test_the_critic_begins_at_zero_and_stays_off_by_more_than_a_thousandth():
    A = catalogue.last(widget, plugin="PPO", wrong=0.999).wrong
    assert A[0] == 0.999 and A[1] > 0.3 and np.abs(A[20:]).mean() > 0.005


def test_a_judge_who_pays_all_alike():
    LESSON.spread("0.02 ± 0.01", kept("DAPO, wrong paid 1"))
    for plugin in ("GRPO", "RLOO", "Dr.GRPO"):
        assert trained(plugin=plugin, wrong=1.0) == first().pass_rate[0, 0]


@LESSON.when_changed
def test_a_judge_s_thousandth_trains():
    assert trained(wrong=0.999, K=4, right=3) == pytest.approx(kept("GRPO").mean(), abs=0.05)


@LESSON.when_changed
def test_the_bars_after_the_instrument_are_the_widget_s_runs():
    for wrong, name in ((0.9, "REINFORCE"), (1.0, "GRPO")):
        assert abs(figures.ended(name, wrong) - trained(plugin=name, wrong=wrong)) < 0.02
    LESSON.says("0.9", figures.LEVELS[figures.FIGURES["level"].handle.start])


def test_the_length_of_the_files():
    lines = [len(inspect.getsource(file).splitlines()) for file in FILES.values()]
    LESSON.says("36", min(lines))
    LESSON.says("42", max(lines))


def test_half_as_hard_at_twice_the_length():
    push = first().push
    np.testing.assert_allclose(push[5] / push[7], 0.5)  # eight tokens against four, both wrong
