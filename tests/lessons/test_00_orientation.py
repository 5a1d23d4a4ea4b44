import re
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest

from sim.estimators import equal_models
from sim.experiments import cut_arrows, running_batch
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from tools.pages import pipeline_map
from widgets.orientation import figures
from widgets.orientation import widget as orientation

LESSON = Lesson("00")
START = modsum.exact(modsum.Policy().params["theta"])["pass_rate"]


settled = partial(catalogue.last, orientation)


@pytest.mark.parametrize("digits, right", [([2, 3], True), ([1, 1], False)])
def test_the_task_judges_the_examples_as_the_text_does(digits, right):
    tokens = np.full((1, modsum.T), modsum.EOS)
    tokens[0, : len(digits)] = np.array(digits) - 1  # token 0 is the digit 1
    own = (np.arange(modsum.T) <= len(digits))[None].astype(float)
    (answer,) = modsum.Task().answers(tokens, own, np.array([True]))
    assert (answer == f"Final: {modsum.TARGETS[running_batch.PROMPT]}") == right
    assert f"`{' '.join(map(str, digits))} stop`" in LESSON.text


def test_a_completion_that_never_stops_has_no_answer():
    assert modsum.Task().answers(np.zeros((1, modsum.T), int), np.ones((1, modsum.T)), np.array([False])) == [""]


def test_the_starting_policy_is_as_the_text_says():
    for number, rate in zip(("0.537", "0.239", "0.080", "0.021"), START):
        LESSON.says(number, rate)
    LESSON.says("0.219", START.mean())
    LESSON.says("112", modsum.Policy().params["theta"].size)
    assert modsum.TARGETS[running_batch.PROMPT] == 5 and "add up to 5 modulo 7: to 5, or 12, or 19" in LESSON.text
    assert modsum.TARGETS.tolist() == [3, 5, 6, 2] and "The four prompts ask for 3, 5, 6 and 2 modulo 7" in LESSON.text
    assert modsum.T == 12 and "one completion in five is right" in LESSON.text


def test_the_best_of_64_is_0_935_without_training():
    LESSON.says("0.935", np.mean(1 - (1 - START) ** 64))  # closed form


SEEDS = range(5)


@LESSON.when_changed
def test_the_whole_loop_ends_where_the_text_says():
    whole, free = ([settled(beta=beta, seed=seed) for seed in SEEDS] for beta in (0.1, 0.0))
    assert "0.91 to 0.93, depending on the seed" in LESSON.text and "about 2 nats" in LESSON.text
    assert all(0.905 < r.pass_rate[-1].mean() < 0.935 and abs(r.kl[-1] - 2) < 0.15 for r in whole)
    assert "0.96 to 0.98 and moves 2.5 to 2.9 nats" in LESSON.text
    assert all(0.96 < r.pass_rate[-1].mean() < 0.98 and 2.5 < r.kl[-1] < 2.9 for r in free)
    dear = [settled(beta=1.0, seed=seed).pass_rate[-1].mean() for seed in SEEDS]
    assert "between 0.35 and 0.38" in LESSON.text and min(dear) > 0.345 and max(dear) < 0.385
    assert settled(beta=1.0).kl[-1] < 0.4, "it hardly leaves the start"


@LESSON.when_changed
def test_without_the_sync_policy_and_batches_part_as_the_text_says():
    assert "between 0.61 and 0.64" in LESSON.text and "20 to 23 %" in LESSON.text
    for seed in SEEDS:
        r = settled(cut="weight sync", seed=seed)
        assert 0.605 < r.pass_rate[-1].mean() < 0.645 and r.behind == orientation.ITERATIONS == 60
        assert 0.195 < r.measured[-10:].mean() < 0.235 and abs(r.measured[:10].mean() - r.measured[-10:].mean()) < 0.04
        assert r.pass_rate[-1].mean() < settled(seed=seed).pass_rate[-1].mean() - 0.2, "the trainer is slower too"


def test_what_the_head_says_of_the_second_run_of_the_first_screen():
    r = catalogue.last(orientation, **asdict(orientation.OPENING.other))
    counted, learned = map(int, re.findall(r"\d+", LESSON.text.partition("\nsee: ")[2].partition("\n")[0]))
    assert abs(100 * r.measured.mean() - counted) < 1.5 and abs(100 * r.pass_rate[-1].mean() - learned) < 0.6
    assert len(r.measured) == 60 and "sixty rounds" in LESSON.text


def test_the_four_rows_are_those_of_the_running_batch():
    ratio, rate = running_batch.one_step(running_batch.RIGHT, figures.RATE)
    assert figures.RATE == cut_arrows.LEARNING_RATE and 0.6 < rate < 0.7 and (ratio[0, :3] > 1).all()
    assert (
        figures.FIGURES["lines"]
        .sentence(figures.PUSHED)
        .endswith(f"right {rate:.2f} of the time, before it {START[running_batch.PROMPT]:.2f}.")
    )
    grid = figures.four_lines(figures.SAMPLED)[0]["grid"]
    assert [words for words, _, _ in grid] == ["row 1", "row 2", "row 3", "row 4"]  # nobody has looked yet
    assert all(text == "" for _, cells, _ in grid for text in (cell["text"] for cell in cells))


def test_the_best_of_k_rises_and_one_completion_does_not():
    shown = figures.FIGURES["best"].sentence(64)
    assert "0.935" in shown and "0.219" in shown and "0.219" in figures.FIGURES["best"].sentence(1)


@pytest.mark.parametrize("cut", ["+reward", "loss_fn"])
def test_without_reward_or_loss_the_policy_is_the_first_one_to_the_last_digit(cut):
    r = settled(cut=cut)
    np.testing.assert_array_equal(r.pass_rate[-1], r.pass_rate[0])
    assert r.behind == 0


def test_the_reference_may_be_missing_and_the_loop_still_learns():
    assert settled(cut="ref_logp").pass_rate[-1].mean() > START.mean() + 0.5


def test_five_points_on_a_hundred_prompts_lie_well_inside_the_noise():
    LESSON.says("13.9", equal_models.half_width(100))
    assert equal_models.at_least(100, 5) == pytest.approx(0.5, abs=0.03)
    assert "differ by five points or more in half of all such comparisons" in LESSON.text


def test_the_setting_of_the_figure_is_as_the_text_says():
    assert cut_arrows.GROUPS == 8 and "eight groups" in LESSON.text
    assert orientation.ITERATIONS == 60 and "sixty iterations" in LESSON.text


def test_four_lines_and_six_roles():
    lines = LESSON.text.partition("## Four lines")[2].partition("## Take with you")[0]
    assert re.findall(r"^(\d)\. \*\*", lines, re.M) == ["1", "2", "3", "4"]
    roles = LESSON.text.partition("## Six roles")[2].partition("\n## ")[0]
    assert [name.lower() for name in re.findall(r"^- (?:The )?\*\*([\w.]+)\*\*", roles, re.M)] == [*maps_order()]


def maps_order():
    """The six boxes of the map, in the order of their steps, the controller, which calls them, last."""
    roles = sorted(pipeline_map.ROLES.values(), key=lambda role: role.step % 7 or 7)
    return [role.heading.lower() for role in roles[1:] + roles[:1]]


def test_what_nobody_counts_is_not_even_loop_a():
    assert np.isnan(settled(cut="trajs").measured).all()
    for cut in ("tokens", "ref_logp"):
        assert settled(cut=cut).pass_rate[-1].mean() > 0.9, "loop C without line 4"
