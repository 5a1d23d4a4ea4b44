from dataclasses import replace

import numpy as np
import pytest

from sim.rollouts import findings, mismatch, phrases
from sim.rollouts.attribution import Attribution, attribution, paid
from tests.sim.rollouts.shipped import rollouts, small

EXPECTED = {  # README of the runs
    "sound": [],
    "verifier": [findings.PAID_NOT_RIGHT, findings.PARTS, findings.PHRASE, findings.CUT, findings.HABIT],
    "length": [findings.STUCK, findings.LENGTH, findings.CUT, findings.LOOPS],
    "one-text": [findings.ONE_TEXT, findings.STUCK],
    "cut-off": [findings.NEVER_PAID, findings.CUT, findings.CONSTANT],
}


def all_of(file, rule=None):
    rule = rule or attribution(file)
    file = paid(file, rule)
    read = phrases.grams(file)
    said = [] if file.reward is None else phrases.paid_phrases(file, read)
    return findings.found(file, rule, mismatch.mismatch(file), read, said)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_shipped_runs_have_the_findings_that_are_true_of_them(name):
    assert [one.name for one in all_of(rollouts(name))] == EXPECTED[name]


def of(name, finding):
    (one,) = [one for one in all_of(rollouts(name)) if one.name == finding]
    return one


def test_what_the_verifier_pays_is_not_right_from_step_8_on():  # README: at 20, 52 are paid and 3 are right
    one = of("verifier", findings.PAID_NOT_RIGHT)
    assert (one.since, one.about) == (8, "exact")
    file = rollouts("verifier")
    assert (file.step[one.rows] == 20).sum() == 49
    assert (one.numbers["paid"], one.numbers["wrong"]) == (40, 40) and one.first == 60  # none of 40 is right there


def test_the_rows_of_a_finding_are_those_that_it_is_about():
    text = of("one-text", findings.ONE_TEXT)
    assert text.about == "Final: 6"
    assert (rollouts("one-text").step[text.rows] == 160).sum() == 42  # README of the runs
    cut = of("length", findings.CUT)
    assert (cut.numbers["count"], len(cut.rows)) == (65, 65)  # the table's 1 + 64
    stuck = of("one-text", findings.STUCK)
    assert (rollouts("one-text").step[stuck.rows] == 160).sum() == 6 * 8


def test_in_the_first_block_length_pays():  # README: from the first step
    one = of("length", findings.LENGTH)
    assert one.since == 1 and one.numbers["groups"] == 23  # 8 + 8 + 7 groups are mixed, says the table


def made(score, reward, step, name="exact", **columns):
    """A file with an unpaid score, from (groups, K) of both."""
    file = small(reward, step=step, **columns)
    return replace(file, reward=np.ravel(reward).astype(float), scores={name: np.ravel(score).astype(float)})


UNPAID = Attribution(None, {"exact": 0.0, "too_long": 0.0}, np.nan)


def names(file, rule=UNPAID):
    return [one.name for one in all_of(file, rule)]


@pytest.mark.parametrize(
    "steps, wrong, fires", [(3, 4, True), (2, 4, False), (3, 3, False)]
)  # three steps running; half of 8
def test_paid_not_right_needs_three_steps_running_and_half(steps, wrong, fires):
    bad = [0] * wrong + [1] * (8 - wrong)
    score = [bad if s < steps else [1] * 8 for s in range(6)]
    assert (findings.PAID_NOT_RIGHT in names(made(score, np.ones((6, 8)), np.arange(6)))) == fires


@pytest.mark.parametrize("trainer, fires", [(-1.05, False), (-3.0, True)])  # by hand: 1.00 and 0.63
def test_log_probs_that_are_far_apart_are_a_finding(trainer, fires):
    file = small(
        [[1, 0]], sampler=[np.full(2, -1.0)] * 2, trainer=[np.array([-1.0, trainer]), np.array([-1.0, trainer])]
    )
    assert (findings.APART in [one.name for one in all_of(file)]) == fires


def test_a_flag_that_is_0_where_all_is_well_judges_nothing():
    reward, step = np.tile([1] * 8 + [0], (40, 1)), np.arange(40)
    exact = np.zeros((40, 9))
    exact[0, 0] = 1
    assert findings.PAID_NOT_RIGHT in names(made(exact, reward, step))
    assert names(made(1 - reward, reward, step, name="too_long")) == []
    assert names(made(1 - reward, reward, step)) == []  # a name may say "exact" of what is not


def test_paid_not_right_is_strongest_in_one_of_its_three_steps():
    wrong = [8, 0, 4, 5, 4, 0, 7]  # of 8; the steps with 8 and 7 stand alone
    score = [[0] * n + [1] * (8 - n) for n in wrong]
    (one,) = [
        one for one in all_of(made(score, np.ones((7, 8)), np.arange(7)), UNPAID) if one.name == findings.PAID_NOT_RIGHT
    ]
    assert (one.since, one.first, one.numbers["wrong"]) == (2, 3, 5)


def test_a_score_outside_0_to_1_is_no_verdict():
    assert findings.PAID_NOT_RIGHT not in names(
        made(3 * [[-5, -5, -5, 0, 0, 0, -5, -5]], np.ones((3, 8)), np.arange(3))
    )


def test_a_score_that_rises_with_the_reward_does_not_part():
    step = np.arange(40)
    low, high = [1, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 0, 0]
    reward = 20 * [low] + 20 * [high]
    rising, falling = reward, 20 * [high] + 20 * [low]
    assert findings.PARTS in names(made(falling, reward, step))
    assert findings.PARTS not in names(made(rising, reward, step))


def test_three_of_sixty_sets_of_equal_texts_that_differ_in_reward_are_one_text_with_two_rewards():
    texts = [text for g in range(60) for text in (f"t{g}", f"t{g}", "x", "y")]
    reward = np.zeros((60, 4))
    reward[:, 2] = 1
    for differ, fires in ((3, True), (2, False)):
        noisy = reward.copy()
        noisy[:differ, 0] = 1
        file = made(noisy, noisy, np.zeros(60, np.int64), completions=texts)
        assert (findings.TWO_REWARDS in names(file, Attribution(None, {"exact": 1.0}, np.nan))) == fires


def test_a_fifth_of_blank_texts_is_empty():
    texts = [text for _ in range(20) for text in ("", "a", "b", "c", " \n")]
    reward = np.tile([0, 1, 0, 1, 0], (20, 1))
    assert findings.EMPTY in names(made(reward, reward, np.zeros(20, np.int64), completions=texts))
    texts = [text or "d" for text in texts]  # the other fifth is blank
    assert findings.EMPTY in names(made(reward, reward, np.zeros(20, np.int64), completions=texts))
    texts[4] = "e"
    assert findings.EMPTY not in names(made(reward, reward, np.zeros(20, np.int64), completions=texts))


def test_a_score_that_is_the_same_in_20_groups_never_varies_and_in_19_may_be_chance():
    for groups, fires in ((20, True), (19, False)):
        file = made(np.ones((groups, 2)), np.tile([0, 1], (groups, 1)), np.zeros(groups, np.int64))
        assert (findings.CONSTANT in names(file)) == fires


def test_a_text_that_was_there_from_the_start_is_no_finding():
    texts = (160 * ["same"]) + [f"t{i}" for i in range(160)]
    reward, step = np.tile([0, 1, 0, 1], (80, 1)), np.repeat(np.arange(20), 4)
    late = made(reward, reward, step, completions=texts[::-1])
    assert findings.ONE_TEXT not in names(made(reward, reward, step, completions=texts))
    (one,) = [one for one in all_of(late, UNPAID) if one.name == findings.ONE_TEXT]
    assert one.about == "same" and one.since == 10 and len(one.rows) == 160


@pytest.mark.parametrize(
    "rewards",
    [
        [[1.0]],
        [[np.nan, np.nan]],
        [[1], [0], [1]],
        [[0, 0, 0]],
        30 * [[np.nan, 1.0]],
        30 * [[2.0, 2.0]],
        30 * [[-1, -2]],
    ],
)
def test_whatever_the_file_nothing_breaks(rewards):
    file = small(rewards, step=np.arange(len(rewards)), completions=["" for one in rewards for _ in one])
    for one in (
        file,
        replace(file, advantage=np.zeros(len(file))),
        replace(file, reward=file.scores["paid"], scores={}),
    ):
        assert all(finding.name in findings.ORDER for finding in all_of(one))
