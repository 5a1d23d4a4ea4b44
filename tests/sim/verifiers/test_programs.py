"""Seven submissions before four graders."""

import pytest

from sim.verifiers.programs import CATALOGUE, GRADERS, HIDDEN, VISIBLE, run_tests

# by reading: an exit with status 0 and an emptied list pass where the exit status is all that counts; an overridden ==
# fools asserts; a wrong rule that the visible tests do not touch falls to hidden ones
PASSES = {
    "exit_code": {"correct", "buggy", "hardcode", "always_eq", "exit0", "tamper"},
    "asserts": {"correct", "buggy", "hardcode", "always_eq"},
    "strict": {"correct", "buggy", "hardcode"},
    "strict+hidden": {"correct"},
}


@pytest.mark.parametrize("mode", GRADERS)
def test_each_grader_passes_what_its_flaw_lets_pass(mode):
    assert {name for name in CATALOGUE if run_tests(name, mode)} == PASSES[mode]


def test_the_tests_ask_for_the_sum_of_the_even_numbers():
    for xs, want in VISIBLE + HIDDEN:
        assert want == sum(x for x in xs if not x % 2)


def test_grading_one_submission_leaves_the_tests_as_they_were():
    run_tests("tamper", "exit_code")
    assert len(VISIBLE) == 3 and not run_tests("crash", "exit_code")


def test_an_exit_with_another_status_fails():
    def leaves(namespace):
        raise SystemExit(1)

    from sim.verifiers.programs import Submission

    assert not GRADERS["exit_code"](Submission("raise SystemExit(1)", leaves))
