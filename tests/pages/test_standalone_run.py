"""A run that is taken away: one file, which prints what the page shows in an interpreter that knows nothing of us."""

import re
import subprocess
import sys
from math import isfinite

import pytest

from tests.widgets.catalogue import each_where_changed
from tools.pages import frames, results, standalone_run
from widgets.frame.drawing.written import figures, with_unit
from widgets.frame.reader import host


def printed(place, text):
    file = place / "run.py"
    file.write_text(text, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-I", str(file)], cwd=place, capture_output=True, encoding="utf-8", timeout=300
    )
    return ran.stdout.splitlines(), ran.stderr


def shown(frame):
    return [f"{row['label']}: {row['text']} {row['unit']}".rstrip() for row in frame["readouts"]]


@each_where_changed()
def test_the_standalone_script_prints_the_readouts_of_the_page(name, tmp_path):
    output, errors = printed(tmp_path, standalone_run.text(name))
    assert not errors and output[:-1] == shown(frames.settled(name))


@pytest.mark.slow
def test_the_standalone_script_runs_the_setting_and_the_code_of_the_reader(tmp_path):
    text = standalone_run.text("grpo").replace("SETTING = {}", 'SETTING = {"K": "64"}')
    knobs = host.widget("grpo").Knobs(K=64)
    assert printed(tmp_path, text)[0][:-1] == shown(frames.settled("grpo", knobs))
    mean = 'CHANGED = "def z_score(rewards, eps=1e-6, ddof=1):\\n    return less_mean(rewards)\\n"'
    output, errors = printed(tmp_path, standalone_run.text("grpo").replace('CHANGED = ""', mean))
    assert not errors and "Push on a lone correct answer: 0.875" in output  # (K - 1) / K, closed form


@pytest.mark.slow
def test_the_standalone_script_reports_a_break(tmp_path):
    broken = host.widget("grpo").PRESETS["Hard sums, fours"]
    text = standalone_run.text("grpo").replace(
        "SETTING = {}", 'SETTING = {"K": "4", "prompts": "almost never correct"}'
    )
    output, _ = printed(tmp_path, text)
    assert output[-1] == "Broken. " + host.widget("grpo").broken(broken, results.last("grpo", broken)).why


def test_a_knob_that_does_not_exist_is_reported_in_one_sentence(tmp_path):
    output, errors = printed(tmp_path, standalone_run.text("grpo").replace("SETTING = {}", 'SETTING = {"k": "4"}'))
    assert not output and errors.strip() == "SETTING has k, and this run has no such knob."


def test_a_script_spells_a_tiny_number_and_one_of_a_unit_as_the_page_does():
    script, names = standalone_run.text("ppo"), {"isfinite": isfinite, "re": re}
    exec(script[script.index("def figures") : script.index("def read")], names)
    assert names["figures"](3.1e-7) == figures(3.1e-7) == "3.10 × 10⁻⁷"
    assert names["with_unit"]("1", "nats") == with_unit("1", "nats") == "1 nat"
