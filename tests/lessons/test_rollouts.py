"""The page that reads completions: its rules, its sources, its commands, and what its counts are computed by. The runs
were counted once, as recorded.
"""

import inspect
import json
import re
from pathlib import Path

from bench import rollout_runs
from rlpt.rollouts import nemo_rl, open_instruct, swift, trl, verl
from rlpt.rollouts.__main__ import settings
from sim.rollouts import advantages, attribution, blocks, findings, phrases, repeats
from tools.pages import bound

TEXT = bound.page("rollouts")
RULES = [*advantages.RULES, advantages.GDPO]


def test_every_finding_has_its_rule():
    table = TEXT.partition("| Finding | Rule |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z][\w, ]+) \|", table, re.M) == list(findings.ORDER)


def test_the_versions_and_files_are_those_of_the_readers():
    read = " ".join(map(inspect.getsource, (trl, verl, nemo_rl, swift, open_instruct)))
    for version, file in re.findall(r"^- \*code\* \[.+?\]\(https://\S+/tree/(\S+?)\): (.+)\.$", TEXT, re.M):
        assert version in read or version[:7] in read
        for name in re.findall(r"`(\w+\.py)`", file):
            assert name in read


def test_the_commands_are_understood():
    commands = re.findall(r"^\$ rlpt rollouts (.+)$", TEXT, re.M)
    assert len(commands) == 3 and all(settings(given.split()).files for given in commands)
    for option in set(re.findall(r"`(--(?:group|map)[^`]*)`", TEXT)):
        assert settings(["x", *(option if " " in option else f"{option} 1").split()])


# ── how far to trust it ──
KEPT = json.loads((Path(__file__).parents[1] / "data" / "rollout_runs.json").read_text(encoding="utf-8"))
RUNS = rollout_runs.RUNS

counted = [name for name, one in KEPT.items() if one["took"]]
sound = [name for name in counted if not RUNS[name].kind.must]
varied = [name for name in KEPT if RUNS[name].kind.rule]


def judged(name):
    """(findings that are true and there, those that are missed, false alarms) of a run."""
    return rollout_runs.judged(name, KEPT[name])


def of_all(which):
    """How many findings of the runs that are counted are of one of these three kinds."""
    return sum(len(judged(name)[which]) for name in counted)


def right():
    return of_all(0)


def missed():
    return of_all(1)


def false():
    return of_all(2)


def without_error():
    """How many runs have every finding that they must have, and none that is false."""
    return sum(not any(judged(name)[1:]) for name in counted)


def algorithms_right():
    """How many of the runs with any difference in reward have the algorithm that was used."""
    return sum(rollout_runs.rule_is_right(name, KEPT[name]) for name in varied)


def test_each_run_that_no_rule_was_made_on_is_there():
    assert KEPT.keys() == RUNS.keys()


def test_every_truth_names_findings_that_exist():
    named = {finding for run in RUNS.values() for finding in (*run.kind.must, *run.kind.may)}
    assert named <= set(findings.ORDER)


def test_a_finding_that_may_be_there_is_neither_right_nor_false():
    fired = dict(fired=[[findings.NEVER_PAID, 1], [findings.STUCK, 1]])  # of "cap": must be cut off, may never be paid
    assert rollout_runs.judged("cap", fired) == ([], [findings.CUT], [findings.STUCK])
