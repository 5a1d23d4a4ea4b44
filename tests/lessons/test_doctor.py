"""What the page that diagnoses a run says of thresholds, versions, commands and its own trustworthiness."""

import gzip
import json
import re
from collections import Counter

import pytest

from bench import real_runs
from sim import doctor, metric_names
from sim.doctor import marks, words
from sim.doctor.__main__ import settings
from tests import skips
from tests.lessons.test_plan import Page
from tests.sim.doctor import made, real_logs, test_order

PAGE = Page("doctor.md")


def test_the_thresholds_of_the_text():
    table = dict(re.findall(r"^\| (.+?) \| ([\d.]+) \|$", PAGE.text.partition("## Thresholds")[2], re.M))
    assert table == {words: f"{value:g}" for words, value in marks.LIMITS.values()}


def test_the_versions_and_the_sources():
    for framework, version in metric_names.VERSIONS.items():
        assert f"{framework} {version}" in PAGE.text
    sources = PAGE.text.partition("## Sources")[2]
    assert set(re.findall(r"`([\w/]+\.py)`", sources)) <= set(re.findall(r"[\w/]+\.py", metric_names.__doc__)) | {
        "dpo_trainer.py"
    }


def test_the_commands_are_understood():
    for given in re.findall(r"^\$ python -m sim\.doctor (.+)$", PAGE.text, re.M):
        assert settings(given.split()).files
    options = set(re.findall(r"--[a-z]+", PAGE.text))
    assert {"--heldout", "--k", "--updates", "--map", "--json", "--run", "--help"} == options


def test_every_sign_of_the_table_is_explained_where_the_doctor_says():
    lessons = {
        page for row in re.findall(r"^\| .+ \|$", PAGE.text, re.M) for page in re.findall(r"\[(\d\d[a-z]?)\]", row)
    }
    assert lessons <= {sign.lesson for sign in words.SIGNS.values()}


# ── how far to trust it ──
@pytest.mark.slow
def test_the_counts_of_real_logs():
    def counted(tables):
        return Counter(
            real_logs.judged(name, made.names(doctor.report(real_logs.read(table)))) for name, table in tables.items()
        )

    found = counted({name: real_logs.text(name) for name in real_logs.TRUTHS})
    assert found == {"right": 46, "weak": 1}
    assert "46 get the right sign, one is called" in PAGE.text and "twelve sound runs" in PAGE.text
    assert sum(not truth.right for truth in real_logs.TRUTHS.values()) == 12
    verl = counted({n: t for n in real_logs.TRUTHS if (t := real_logs.renamed(n, "verl"))})
    assert verl == {"right": 39, "weak": 1, "silent": 2, "wrong": 1}
    assert "43 of them: 39 right, 1 weak, 2 nothing, 1 misleading" in PAGE.text
    openrlhf = counted({n: t for n in real_logs.TRUTHS if (t := real_logs.renamed(n, "OpenRLHF"))})
    assert openrlhf == {"right": 33, "weak": 4, "silent": 6} and "33, 4, 6, 0" in PAGE.text


def test_the_count_of_runs_that_no_rule_was_made_on():
    folder = real_logs.FOLDER / "new"
    told = json.loads((folder / "runs.json").read_text(encoding="utf-8"))
    logs = {name: gzip.decompress((folder / f"{name}.csv.gz").read_bytes()).decode() for name in told}
    kinds = {name: real_runs.RUNS[name].kind for name in told}
    took = [name for name, one in told.items() if one["took"]]
    found = Counter(real_runs.judged(kinds[name], real_runs.said(logs[name])[0]) for name in took)
    assert found == {"right": 17, "silent": 2, "wrong": 1} and "17 right, two silent, one wrong" in PAGE.text
    assert told.keys() == real_runs.RUNS.keys() and len(told) == 21 and len(took) == 20
    assert sum(not kinds[name].right for name in took) == 5
    before, after = told["ten-prompts"]["greedy_others"]
    PAGE.says("0.88", before)
    PAGE.says("0.72", after)
    log = real_logs.read(logs["ten-prompts"]).columns["eval_rewards/exact/mean"].values
    PAGE.says("0.38", log[0])
    PAGE.says("0.63", (log[-1] + log[-2]) / 2)
    before, after = told["coin"]["greedy_trained"]
    PAGE.says("1.00", before)
    PAGE.says("0.04", after)
    assert len(real_logs.read(logs["coin"]).columns["reward"].values) == 80


TABLE = re.findall(r"^\| (TRL|verl|OpenRLHF), (.+?) \| (\d+) \| (\d+) \|$", PAGE.text, re.M)


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
