from dataclasses import replace

import pytest

from rlpt.planning import far_off, planner
from rlpt.planning.planner import Scenario
from sim.cluster.hardware import ACCELERATORS
from sim.cluster.lengths import Law
from sim.cluster.models import MODELS

# a 235B in one pool of 96 H100s, four in ten completions of 16,384 tokens cut off
S = Scenario(MODELS["qwen3-235b-a22b"], ACCELERATORS["h100"], Law(6000, 9000, 12000, 8192), gpus=96, prompts=256)


def timed(**times):
    s = replace(S, expert_parallel=8, training_parallel=4)
    roles = planner.roles(s)
    own = dict(step=planner.seconds(s), rollout=roles.rollout, update=roles.train)
    return planner.calibrated(s, {role: factor * own[role] for role, factor in times.items()})


def test_nothing_is_said_of_a_job_that_takes_about_what_is_predicted():
    assert far_off.sentences(S) == far_off.sentences(timed(step=2.0)) == far_off.sentences(timed(update=2.9)) == []


def test_an_update_of_ten_times_its_seconds_points_at_the_host_and_at_micro_batches():
    (said,) = far_off.sentences(timed(update=10.0))
    assert said.startswith("The update took 10 times what is predicted. Look first at")
    assert "host memory" in said


def test_a_rollout_of_ten_times_its_seconds_points_at_the_engine():
    (said,) = far_off.sentences(timed(rollout=10.0))
    assert "CUDA graphs" in said and "update" not in said


@pytest.mark.parametrize("role", ["rollout", "update"])
def test_what_is_suspected_would_add_as_many_times_as_it_says(role):
    job = timed(step=10.0).calibration.job
    for words, there in far_off.others(job, role):
        times = far_off.seconds(there, role) / far_off.seconds(job, role)
        shown = [look for look in far_off.suspects(job, role) if look.startswith(words)]
        assert (shown == [f"{words} ({times:.1f} times as long)"]) == (times >= far_off.SHOWN)


def test_a_whole_step_that_is_far_off_points_at_both():
    (said,) = far_off.sentences(timed(step=10.0))
    assert said.startswith("The step took 10 times") and "CUDA graphs" in said
