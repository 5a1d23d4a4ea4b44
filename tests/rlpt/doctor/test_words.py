"""What is said, and what never is."""

import json
import re
from dataclasses import fields
from importlib import import_module
from urllib.parse import parse_qsl

import pytest

from rlpt import doctor
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
    assert words.summary(report) == f"No sign of trouble. That is no proof that the run is sound. {words.UNSAID}"


def test_a_verdict_has_its_step_and_its_lesson():
    report = doctor.report(real_logs.read(real_logs.text("late-collapse")))
    assert words.summary(report).startswith("First sign of trouble, at step 26: the policy was destroyed here")
    assert words.summary(report).endswith("See lesson 10.")


def test_what_comes_after_is_said_to_follow():
    lines = list(words.lines(doctor.report(real_logs.read(real_logs.text("hack-plus")))))
    assert any(
        line.startswith("Later, perhaps as a consequence, at step 87: Many completions reach the length limit")
        for line in lines
    )


def test_the_lines_begin_with_kind_rows_and_batches():
    lines = list(words.lines(doctor.report(real_logs.read(real_logs.text("iterations-no-clip")))))
    assert lines[0] == "Read a CSV with TRL's column names: 400 rows, 25 batches, steps 1 to 400"
    assert any(
        re.match(r"! From step 17 on, every group has equal rewards\. \[steps 17 to \d+\]", line) for line in lines
    )
    assert any(re.match(r" +step 17  length up: [\d.]+ tokens, 8\.\d+ times the initial value", line) for line in lines)


def test_an_alarm_without_a_sign_is_a_fact():
    summary = words.summary(made.report(grad_norm=[0.0] * 40))
    assert summary.startswith("The gradient is exactly 0 in every row. The log shows no cause.")


@pytest.mark.parametrize("name", words.SIGNS)
def test_every_sign_has_a_setting_that_looks_the_same_and_a_short_name(name):
    sign = words.SIGNS[name]
    widget = import_module(f"widgets.{sign.widget}.widget")
    assert sign.preset in widget.PRESETS and len(sign.short.split()) <= 3
    turned = dict(parse_qsl(sign.turned))
    assert turned.keys() <= {field.name for field in fields(widget.Knobs)}
    knobs_from(widget.Knobs, turned)  # raises where a value is not on offer
