"""The page that reads completions: its rules, its sources and its commands."""

import inspect
import re

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
