"""The page that diagnoses a run: what its counts are computed by, its tables, versions and commands."""

import gzip
import json
import re
from collections import Counter
from functools import cache

import pytest

from bench import real_runs
from rlpt import doctor, metric_names
from rlpt.doctor import marks, words
from rlpt.doctor.__main__ import settings
from tests import skips
from tests.rlpt.doctor import made, real_logs, test_order
from tools.pages import bound

EXPENSIVE = ("diagnosed",)
TRUTHS = real_logs.TRUTHS
TEXT = bound.page("doctor")


def test_the_thresholds_of_the_text():
    table = dict(re.findall(r"^\| (.+?) \| ([\d.]+) \|$", TEXT.partition("## Thresholds")[2], re.M))
    assert table == {words: f"{value:g}" for words, value in marks.LIMITS.values()}


def test_the_versions_and_the_sources():
    assert dict(re.findall(r"^\| (\w[\w -]+) (\d[\d.]+) \|", TEXT, re.M)) == metric_names.VERSIONS
    sources = TEXT.partition("## Sources")[2]
    assert set(re.findall(r"`([\w/]+\.py)`", sources)) == set(re.findall(r"[\w/]+\.py", metric_names.__doc__))


def test_the_commands_are_understood():
    for given in re.findall(r"^\$ python -m rlpt\.doctor (.+)$", TEXT, re.M):
        assert settings(given.split()).files
    options = set(re.findall(r"--[a-z]+", TEXT))
    assert {"--heldout", "--k", "--updates", "--map", "--json", "--run", "--help"} == options


def test_every_sign_of_the_table_is_explained_where_the_doctor_says():
    numbers = {page for row in re.findall(r"^\| .+ \|$", TEXT, re.M) for page in re.findall(r"\[(\d\d[a-z]?)\]", row)}
    assert numbers <= {sign.lesson for sign in words.SIGNS.values()}


# ── how far to trust it ──
@cache
def diagnosed(program="TRL"):
    """(right, weak, silent, wrong): how many real logs, with the names of a program, get which answer."""
    logs = {name: real_logs.text(name) if program == "TRL" else real_logs.renamed(name, program) for name in TRUTHS}
    reports = {name: doctor.report(real_logs.read(log)) for name, log in logs.items() if log}
    got = Counter(real_logs.judged(name, made.names(report)) for name, report in reports.items())
    return [got[one] for one in ("right", "weak", "silent", "wrong")]


sound = [name for name, truth in TRUTHS.items() if not truth.right]


def status(name):
    """1 where a real log gets a sign or an alarm, else 0."""
    return doctor.report(real_logs.read(real_logs.text(name))).status


def told(series):
    """{name: what whoever made it wrote down} of the runs of a series of bench/real_runs.py."""
    return json.loads((real_logs.FOLDER / series / "runs.json").read_text(encoding="utf-8"))


FIRST, SECOND = told("first"), told("second")
counted = [name for name, one in SECOND.items() if one["took"]]
new_sound = [name for name in counted if not real_runs.RUNS[name].kind.right]


def text(name, series="second"):
    return gzip.decompress((real_logs.FOLDER / series / f"{name}.gz").read_bytes()).decode()


def table(name):
    return doctor.report(real_logs.read(text(name))).found


@cache
def signs(name, series="second"):
    return real_runs.said(text(name, series))[0]


def answers():
    """How many of the runs that no rule was made on get which answer."""
    return Counter(real_runs.judged(real_runs.RUNS[name].kind, signs(name)) for name in counted)


def test_each_run_that_no_rule_was_made_on_is_there():
    assert FIRST.keys() == real_runs.FIRST.keys() and SECOND.keys() == real_runs.SECOND.keys()


def test_the_first_series_keeps_its_answers():
    """17 of 20 when it was counted; now it has been seen."""
    took = [name for name, one in FIRST.items() if one["took"]]
    got = Counter(real_runs.judged(real_runs.RUNS[name].kind, signs(name, "first")) for name in took)
    assert len(took) == 20 and got["right"] >= 17 and got["wrong"] <= 1


TABLE = re.findall(r"^\| (TRL|verl|OpenRLHF), (.+?) \| (\d+) \| (\d+) \|$", TEXT, re.M)


@pytest.mark.when_changed()
@skips.bands
@pytest.mark.parametrize("framework, options, with_score, without", TABLE)
def test_the_table_of_the_trace_lab_on_one_seed_of_thirty(framework, options, with_score, without):
    for scored, of_240 in ((True, int(with_score)), (False, int(without))):
        right = test_order.lab_runs(framework, not options.startswith("defaults"), scored, (11,))
        assert abs(sum(right) - of_240 / 30) <= 1  # of eight


@pytest.mark.nightly
@skips.bands
@pytest.mark.parametrize("framework, options, with_score, without", TABLE)
def test_the_table_of_the_trace_lab(framework, options, with_score, without):
    for scored, of_240 in ((True, int(with_score)), (False, int(without))):
        right = test_order.lab_runs(framework, not options.startswith("defaults"), scored, range(30))
        assert abs(sum(right) - of_240) <= test_order.ACCEPTED


def test_the_table_has_all_six_rows():
    assert len(TABLE) == 6
