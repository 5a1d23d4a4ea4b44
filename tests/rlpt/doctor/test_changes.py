"""What is advised: two changes at most, in the names of the framework whose log it is, with values out of the log."""

import inspect
import re

import numpy as np
import pytest

from rlpt import doctor, options
from rlpt.doctor import changes, signs, words
from tests.rlpt.doctor import made, real_logs

REPORTS = {}


def advice(table):
    report = doctor.report(real_logs.read(table))
    return words.advised(report)


def test_every_sign_has_an_advice():
    assert changes.ADVICE.keys() == words.SIGNS.keys()


@pytest.mark.parametrize("name", [name for name, truth in real_logs.TRUTHS.items() if truth.right])
def test_of_a_faulty_run_one_or_two_changes_and_what_to_expect(name):
    found = advice(real_logs.text(name))
    assert 1 <= len(found.changes) <= 2
    for each in found.changes:
        assert words.change_line(each).endswith((".", "?")) and "nan" not in words.change_line(each)
    assert found.expect.endswith(".") and "nan" not in found.expect


@pytest.mark.parametrize(
    "framework, option",
    [
        ("TRL", r"learning_rate=\de-\d+"),
        ("verl", r"actor_rollout_ref\.actor\.optim\.lr=\de-\d+"),
        ("OpenRLHF", r"--actor\.adam\.lr \de-\d+"),
    ],
)
def test_the_rate_of_a_wreck_is_a_tenth_of_the_highest_in_the_framework_s_own_name(framework, option):
    name = "lr-1e-2"
    found = advice(real_logs.text(name) if framework == "TRL" else real_logs.renamed(name, framework))
    assert re.fullmatch(option, found.changes[0].option)
    assert float(re.search(r"\de-\d+", found.changes[0].option)[0]) == 1e-3  # of 1e-2


def test_a_rate_that_has_just_jumped_goes_back_to_where_it_was():
    mean, deviation = made.binary(np.r_[np.full(30, 0.6), np.full(30, 0.02)])
    rate = np.r_[np.full(28, 1e-6), np.full(32, 2e-4)]
    entropy = np.r_[np.full(30, 1.0), np.full(30, 4.0)]
    report = made.report(60, reward=mean, reward_std=deviation, learning_rate=rate, entropy=entropy)
    assert report.first.name == "step" and "the learning rate has just gone from 1e-06 to 0.0002" in report.first.says
    assert words.advised(report).changes[0].option == "learning_rate=1e-06"


def test_several_updates_on_a_batch_are_the_second_thing_to_change():
    found = advice(real_logs.text("iterations-no-clip"))
    assert found.changes[1].option == "num_iterations=1" and "16 updates" in found.changes[1].says


def test_a_cap_that_the_log_shows_is_doubled():
    zeros = np.zeros(10)
    report = made.report(
        10,
        reward=zeros,
        reward_std=zeros,
        **{"completions/mean_length": np.full(10, 256.0), "completions/clipped_ratio": np.ones(10)},
    )
    assert report.first.name == "truncation"
    assert words.advised(report).changes[0].option == "max_completion_length=512"


def test_what_the_log_rules_out_is_said():
    zeros = np.zeros(10)
    report = made.report(10, reward=zeros, reward_std=zeros, **{"completions/clipped_ratio": zeros})
    assert report.first.name == "verifier"
    assert words.advised(report).excluded == "The log rules out the length limit (no completion is cut off)."


def test_a_framework_without_an_option_gets_the_words_alone():
    def change(framework):
        report = made.report(reward=np.full(40, 0.0), reward_std=np.zeros(40))
        case = changes.Case(report, report.first)
        case.column = framework
        return case.change("weights", "a larger weight", 1)

    assert words.change_line(change("verl")) == "A larger weight."
    assert words.change_line(change("GRPOConfig")) == "reward_weights: a larger weight."


def test_options_are_those_of_the_table():
    asked = set(re.findall(r"(?:case|self)\.change\(\s*\"(\w+)\"", inspect.getsource(changes)))
    assert len(asked) > 10 and asked <= options.TABLE.keys()


def test_rows_and_what_weights_and_biases_counts_are_no_steps_to_stop_at():
    rows = real_logs.rows("hack-plus")
    stated = words.advised(doctor.report(real_logs.read(rows)))
    assert stated.changes[1].option == "max_steps=23"
    counted = [{("_step" if name == "step" else name): value for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in counted for name in row))
    text = "\n".join([",".join(names), *(",".join(str(row.get(name, "")) for name in names) for row in counted)])
    assert words.advised(doctor.report(made.read(text))).changes[1].option == "max_steps"


def test_a_run_of_pairs_without_a_reward_is_promised_no_number():
    nothing = changes.Case(report := made.report(), signs.sign(report.run, "step", 0))
    nothing.run.reward = np.full(40, np.nan)
    assert nothing.held() == "The reward does not fall."


def test_at_a_quarter_nine_in_ten_groups_of_eight_differ():
    """What the advice for uniform groups says: 1 - p^8 - (1 - p)^8."""
    said = advice(real_logs.text("grpo-sparse")).changes[1].says
    assert "one in four, nine in ten groups of eight" in said and round(1 - 0.25**8 - 0.75**8, 1) == 0.9
