"""What is said, and what never is."""

import json
import re
from dataclasses import fields
from importlib import import_module
from urllib.parse import parse_qsl

import numpy as np
import pytest

from rlpt import doctor, logs
from rlpt.doctor import words
from tests.rlpt.doctor import made, real_logs
from widgets.frame.contract.values import knobs_from

FORBIDDEN = r"\b(healthy|healthily|fine|good|well|solved|converged|normal|ok|okay|perfect|test \d)\b"


@pytest.mark.when_changed()
def test_no_run_is_ever_called_well():
    for name in real_logs.TRUTHS:
        report = doctor.report(real_logs.read(real_logs.text(name)))
        said = "\n".join([*words.lines(report), json.dumps(words.as_dict(report))])
        assert not re.search(FORBIDDEN, said, re.I)


def test_where_nothing_is_found_it_says_what_a_log_cannot_show():
    report = doctor.report(real_logs.read(real_logs.text("healthy-defaults")))
    assert words.headline(report) == "Nothing was found."
    assert words.lead(report) == f"This is no proof: {words.UNSAID}"


def said(name):
    return list(words.lines(doctor.report(real_logs.read(real_logs.text(name)))))


def test_the_answer_comes_first_then_the_change_then_events_facts_and_what_was_read():
    lines = said("late-collapse")
    assert lines[0] == "From step 26 on, the policy is destroyed."
    assert lines[1].startswith("An update was probably too large. The reward fell from 0.204 to 0.0495. Meanwhile, ")
    parts = ["Change one thing at a time:", "What happened:", "Read off the log:"]
    places = [lines.index(part) for part in parts]
    kind = next(n for n, line in enumerate(lines) if line.startswith("Read a CSV with TRL's column names: 200 rows"))
    assert [3, *places[1:]] == sorted(places) and kind > places[-1] and "See lesson 10." in lines


def test_a_run_that_is_lost_twice_is_said_to_be():
    mean, deviation = made.binary(np.r_[np.full(20, 0.7), np.full(10, 0.05), np.full(20, 0.7), np.full(20, 0.05)])
    entropy = np.r_[np.full(20, 1.0), np.full(10, 3.0), np.full(20, 1.0), np.full(20, 3.0)]
    report = made.report(70, reward=mean, reward_std=deviation, entropy=entropy)
    assert made.names(report) == ["spell", "step"]
    assert words.headline(report) == "At step 21, the policy collapses and recovers. From step 51 on, it is destroyed."


def test_what_comes_after_is_said_to_follow():
    lines = said("hack-length")
    later = lines.index("Other signs, which may follow from the first:")
    assert lines[later + 1].startswith("  From step 7 on, many completions reach the length limit. What is learned now")


def test_kind_rows_batches_alarms_and_events():
    lines = said("iterations-no-clip")
    assert "Read a CSV with TRL's column names: 400 rows, 25 batches, steps 1 to 400" in lines
    assert any(
        re.match(r"! From step 17 on, every group has equal rewards\. \[steps 17 to \d+\]", line) for line in lines
    )
    assert any(
        re.match(r" +step 17  completions longer: [\d.]+ tokens, 8\.\d+ times the initial value", line)
        for line in lines
    )


def test_rows_that_were_counted_are_called_rows():
    rows = "\n".join(f"{{'loss': 0.1, 'reward': 0.0, 'reward_std': 0.0, 'epoch': {n}}}" for n in range(9))
    report = doctor.report(logs.read([("x", [rows.encode()])]))
    text = "\n".join([*words.lines(report)])
    assert "rows 1 to 9" in text and "steps 1" not in text and words.as_dict(report)["unit"] == "row"


def test_an_alarm_without_a_sign_is_a_fact():
    summary = words.summary(made.report(grad_norm=[0.0] * 40))
    assert summary == "The gradient is exactly 0 in every row. The log shows no cause."


@pytest.mark.parametrize("name", words.SIGNS)
def test_every_sign_has_a_setting_that_looks_the_same_and_a_short_name(name):
    sign = words.SIGNS[name]
    widget = import_module(f"widgets.{sign.widget}.widget")
    assert sign.preset in widget.PRESETS and len(sign.short.split()) <= 3
    turned = dict(parse_qsl(sign.turned))
    assert turned.keys() <= {field.name for field in fields(widget.Knobs)}
    knobs_from(widget.Knobs, turned)  # raises where a value is not on offer
