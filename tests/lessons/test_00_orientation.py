import re
from functools import partial

import numpy as np
import pytest

from sim.estimators import equal_models
from sim.experiments import cut_arrows, running_batch
from sim.worlds import modsum
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from tools.pages import pipeline_map, recording
from widgets.frame import answers
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
    assert (
        modsum.TARGETS[running_batch.PROMPT] == 5
        and "add up to 5, and sevens do not count: 12 and 19 are 5 too" in LESSON.text
    )
    assert modsum.TARGETS.tolist() == [3, 5, 6, 2] and "The four prompts ask for 3, 5, 6 and 2 modulo 7" in LESSON.text
    assert modsum.T == 12 and "has not stopped after twelve tokens" in LESSON.text
    assert {5, 12, 19} == {total for total in range(1, 3 * modsum.T) if total % modsum.MODULUS == 5 and total < 26}


def test_the_best_of_64_is_0_935_without_training():
    LESSON.says("0.935", np.mean(1 - (1 - START) ** 64))  # closed form


def end(read, **knobs):
    return lambda seed: read(settled(seed=seed, **knobs))


def right(r):
    return r.pass_rate[-1].mean()


MEASURED = {
    "whole": end(right),
    "whole, nats": end(lambda r: r.kl[-1]),
    "no price": end(right, beta=0.0),
    "no price, nats": end(lambda r: r.kl[-1], beta=0.0),
    "price 1": end(right, beta=1.0),
    "no sync": end(right, cut="weight sync"),
    "no sync, percent of the last ten batches": end(lambda r: 100 * r.measured[-10:].mean(), cut="weight sync"),
    "no sync, percent of the first ten batches": end(lambda r: 100 * r.measured[:10].mean(), cut="weight sync"),
}


kept = LESSON.kept


def test_the_whole_loop_ends_where_the_text_says():
    LESSON.spread("0.92 ± 0.01", kept("whole"))
    assert kept("whole, nats").mean() == pytest.approx(2, abs=0.1) and "about 2 nats" in LESSON.text
    LESSON.spread("0.97 ± 0.01", kept("no price"))
    LESSON.spread("2.7 ± 0.1", kept("no price, nats"))
    LESSON.spread("0.36 ± 0.01", kept("price 1"))
    assert settled(beta=1.0).kl[-1] < 0.4, "it hardly leaves the start"


def test_without_the_sync_policy_and_batches_part_as_the_text_says():
    LESSON.spread("0.63 ± 0.02", kept("no sync"))
    last, first = (kept(f"no sync, percent of the {which} ten batches") for which in ("last", "first"))
    LESSON.spread("22 ± 1", last)
    assert abs(first.mean() - last.mean()) < 1, "as the first ten were"
    assert (kept("no sync") < kept("whole") - 0.2).all(), "the trainer is slower too"
    assert settled(cut="weight sync").behind == orientation.ITERATIONS == 60


def rows_right(name, i):
    now = figures.asked(name)[i]
    return [answers.right(rows, running_batch.PROMPT) for rows in (now.sampled, now.trained)]


def test_what_the_head_says_of_the_second_run_of_the_first_screen():
    said = (
        "After sixty rounds the log of one run shows two right answers of eight, as before training. The model itself"
    )
    assert f"see: {said} gives six." in LESSON.text
    assert rows_right("the other", 0) == [2, 2] and rows_right("the other", 60) == [2, 6]


def test_what_becomes_of_the_first_setting_is_as_the_text_says():
    assert "before training two of the eight answers are right, after sixty rounds all eight" in LESSON.text
    assert rows_right("one setting", 0)[1] == 2 and rows_right("one setting", 60)[1] == 8


def test_the_four_rows_are_those_of_the_running_batch():
    ratio, rate = running_batch.one_step(running_batch.RIGHT, figures.RATE)
    assert figures.RATE == cut_arrows.LEARNING_RATE and 0.6 < rate < 0.7 and (ratio[0, :3] > 1).all()
    assert figures.said(figures.PUSHED).endswith(f"Of a hundred {100 * rate:.0f} are right now.")
    assert figures.said(figures.SAMPLED).endswith(f"to this prompt {100 * START[running_batch.PROMPT]:.0f} are right.")


def test_a_row_that_nobody_pushed_lost_as_the_answer_of_the_question_says():
    factors = figures.likelier()
    assert (factors[running_batch.RIGHT == 0] < 1).all() and (factors[running_batch.RIGHT == 1] > 1).all()
    assert running_batch.ROWS[1] == (0, 0, modsum.EOS) and 0.2 < factors[1] < 0.3
    assert "`1 1 stop` became about a quarter as likely" in LESSON.text


def test_the_map_follows_the_four_rows_through_the_step_of_the_figure():
    here = recording.four_rows()
    assert here["rollout"].startswith("2 3 stop; 1 1 stop; 3 2 3 1 3 stop; 3 stop.")
    assert here["reward"] == "1, 0, 1, 0, one for each row" and here["algorithm"].startswith(
        "rows 1 and 3 are pushed up"
    )
    before, after = START[running_batch.PROMPT], running_batch.one_step(running_batch.RIGHT, figures.RATE)[1]
    assert here["trainer"] == f"one step: of a hundred answers {100 * before:.0f} were right, now {100 * after:.0f} are"
    assert here["sync"] == "112 numbers; rollout now has version 1"
    assert here.keys() == {*pipeline_map.ORDER}


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
