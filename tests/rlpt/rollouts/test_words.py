import numpy as np
import pytest

from rlpt.rollouts import seen as steps
from rlpt.rollouts import words
from sim.rollouts import pushes, report
from tests.rlpt.rollouts.test_seen import reported
from tests.sim.rollouts import shipped


def seen(name, step):
    return steps.seen(reported(name), step)


@pytest.mark.parametrize(
    "name, step, said",
    [
        ("verifier", 20, ("Step 20: 52 of 64 are paid.", "Three are correct.")),
        ("verifier", 60, ("Step 60: 40 of 64 are paid.", "None is correct.")),
        ("length", 40, ("Step 40: the mean reward is 0.80.", "None is correct.")),
        ("one-text", 160, ("Step 160: the mean reward is 0.66.", "42 are the same text.")),
        ("cut-off", 50, ("Step 50: none of 64 is paid.", "63 are cut off.")),
        ("sound", 160, ("Step 160: 53 of 64 are paid.", "6 of 8 groups teach nothing.")),
    ],
)
def test_the_headline_counts(name, step, said):
    assert words.headline(seen(name, step)) == said


def facts(name, step):
    return {one.key: one for one in words.facts(seen(name, step))}


def test_facts_are_counted_and_have_their_rows():
    found = facts("verifier", 20)
    assert (found["wrong"].big, found["wrong"].says, len(found["wrong"].rows)) == (
        "49",
        "of 52 paid are not correct",
        49,
    )
    texts = reported("verifier").rollouts.completions
    held = [row for row in seen("verifier", 20).rows if texts[row].count("\nFinal: ") >= 2]
    assert found["phrase"].big == str(len(held)) and found["phrase"].rows.tolist() == held
    assert found["tied"].big == "1" and "is dead and teaches nothing" in found["tied"].says
    assert found["whose"].big == "GRPO" and found["whose"].more.endswith("weights “any_line” 1, “exact” 0")
    assert facts("one-text", 160)["text"].more == "“Final: 6”" and facts("one-text", 160)["text"].big == "42"
    assert facts("cut-off", 1)["cut"].big == "64" and facts("cut-off", 1)["whose"].big == "Any"


def test_alarms_come_first_and_at_most_five_are_shown():
    for name in shipped.NAMES:
        for step in reported(name).rollouts.steps:
            alarms = [one.alarm for one in words.facts(seen(name, step))[:-1]]
            assert alarms == sorted(alarms, reverse=True) and len(alarms) < words.FACTS


def test_a_text_that_got_two_rewards_is_an_alarm():
    paid = [[1, 0, 1, 0], [1, 1, 0, 0]]
    r = shipped.small(paid, ["a", "a", "b", "c", "d", "d", "e", "e"], reward=np.ravel(paid).astype(float))
    found = {one.key: one for one in words.facts(steps.seen(report.report(r), 0))}
    assert found["two"].big == "1" and found["two"].alarm and found["two"].rows.tolist() == [0, 1]


def test_the_push_and_its_sums_are_those_of_the_recording_script():
    here = seen("verifier", 20)
    held = pushes.shares(here.report.rollouts.at(20), "GRPO", pushes.PER_TOKEN)
    rows = here.of_group(steps.telling(here))
    assert words.sums(here, held, rows)[0] == ("12 %", "of the step’s push is in this group")  # 0.1237
    assert words.push(held[rows[1]]) == "−3.2 %" and words.push(0.0) == "0 %"
    assert words.paid(here, here.rows[rows[0]]) == "paid 1, exact 1, 10 tokens"
