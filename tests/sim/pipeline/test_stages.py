"""What each stage does, and what it buys over seeds."""

import numpy as np
import pytest

from sim.algorithms import dapo
from sim.estimators.attempts import informative, pass_at_k
from sim.estimators.preference_losses import pref_loss
from sim.pipeline import path, stages
from sim.pipeline.report import measure
from sim.pipeline.stages import last
from sim.worlds.tasks import TRAIN
from tests import skips

SEEDS = range(4)
OVERLONG = {2: 0.0, 3: -1 / 3, 4: -0.5, 5: -0.6}  # (8 − L − 6) / L, at most 0
BREAK_EVEN = {2: 0.10, 3: 0.4333, 4: 0.60, 5: 0.70}


def pass1(policy, previous=None):
    return measure(policy, previous).pass1


@pytest.fixture(scope="module")
def shipped():
    return {name: path.checkpoint(name) for name in ("base-0", "base-0.01", "sft", "cot", "dpo", "overcooked")}


@pytest.fixture(scope="module")
def pairs(shipped):
    return stages.sample_pairs(shipped["cot"], 0)


# Closed forms that the stages rest on


@pytest.mark.parametrize(
    "p, K, dead", [(0.236, 8, 0.1160868079), (0.1, 8, 0.4304672200), (1e-4, 25_600, 0.0772948454 + 1e-4**25_600)]
)
def test_a_group_has_no_gradient_where_all_are_alike(p, K, dead):
    assert 1 - informative(p, K) == pytest.approx(dead, abs=1e-9)


@pytest.mark.parametrize(
    "n, c, k, expected", [(64, 15, 16, 0.9931465212), (64, 1, 16, 0.25), (64, 40, 4, 0.9832760444)]
)
def test_pass_at_k_counts_the_ways(n, c, k, expected):
    assert pass_at_k(n, c, k) == pytest.approx(expected, abs=1e-9)


def test_a_pair_that_has_gained_a_little_still_pushes():
    """Margin 1.467 nats, β .3: log(1 + exp(−.4401)), and −.3 / (1 + exp(.4401))."""
    loss, slope_w, slope_l = pref_loss("sigmoid", *(np.array([x]) for x in (0.168, -1.299, 0, 0, 6, 6)), 0.3)
    assert loss[0] == pytest.approx(0.4971152774, abs=1e-9)
    assert slope_w[0] == pytest.approx(-0.1175151425, abs=1e-9) == pytest.approx(-slope_l[0])


@pytest.mark.parametrize("L_cache", OVERLONG)
def test_the_overlong_term_taxes_a_thought_of_six_tokens_of_eight(L_cache):
    class Six:
        T, length = 8, np.array([6.0, 3.0])

    thought, direct = dapo.shape_reward(np.zeros(2), dict(L_cache=L_cache), Six())
    assert thought == pytest.approx(OVERLONG[L_cache], abs=1e-4) and direct == 0
    assert 0.10 - thought == pytest.approx(BREAK_EVEN[L_cache], abs=1e-4)  # a guess is right one time in ten


# Single stages


def test_rl_from_a_base_that_is_never_right_leaves_it_as_it_is_to_the_last_bit(shipped):
    end = last(stages.rl(shipped["base-0"], 0, steps=5))
    assert end.rows["live"] == (0.0,) * 5 and end.rows["rollouts"] == 1280
    assert all(np.array_equal(end.policy.params[key], array) for key, array in shipped["base-0"].params.items())


def test_a_base_that_is_never_right_has_neither_pairs_nor_right_ones(shipped):
    batch, chosen, rejected = stages.sample_pairs(shipped["base-0"], 0, prompts=64)
    assert len(chosen) == len(rejected) == 0 and chosen.dtype == np.int64
    with pytest.raises(stages.NothingToLearn, match="0 pairs from 512 samples, every one wrong"):
        last(stages.dpo(shipped["base-0"], 0, batch, chosen, rejected))
    with pytest.raises(stages.NothingToLearn, match="0 correct completions among 512 samples"):
        last(stages.rft(shipped["base-0"], 0, batch))


def test_a_pair_is_a_right_and_a_wrong_completion_of_one_prompt(pairs):
    batch, chosen, rejected = pairs
    assert (batch.accuracy[chosen] == 1).all() and (batch.accuracy[rejected] == 0).all()
    assert (batch.example[chosen] == batch.example[rejected]).all()
    assert len(set(batch.example[chosen].tolist())) == len(chosen)
    assert set(batch.example.tolist()) <= set(TRAIN.tolist())


def test_a_stage_leaves_the_policy_it_was_given_as_it_was(shipped, pairs):
    before = path.checkpoint("cot").params
    for stage in (
        stages.cot(shipped["cot"], 0, steps=3),
        stages.dpo(shipped["cot"], 0, *pairs, steps=3),
        stages.rft(shipped["cot"], 0, pairs[0], steps=3),
        stages.rl(shipped["cot"], 0, steps=2),
    ):
        end = last(stage)
        assert not np.array_equal(end.policy.params["W1"], before["W1"])
        assert end.step == end.steps and end.rows["trained_tokens"] > 0
    assert all(np.array_equal(shipped["cot"].params[key], array) for key, array in before.items())


def test_a_stage_shows_itself_on_the_way(shipped):
    seen = list(stages.sft(shipped["base-0"], 0, steps=25))
    assert [stage.step for stage in seen] == [10, 20, 25]
    assert [stage.rows["trained_tokens"] for stage in seen] == [64 * 3 * step for step in (10, 20, 25)]
    assert not np.array_equal(seen[0].policy.params["b1"], seen[1].policy.params["b1"])


def test_turning_one_stage_does_not_reshuffle_another(shipped):
    """SFT draws from [seed, 1]: as many demonstrations, whatever was drawn before."""
    one, two = (last(stages.sft(shipped["base-0"], 0, steps=3)).policy.params for _ in range(2))
    assert all(np.array_equal(one[key], two[key]) for key in one)


@pytest.mark.when_changed()
@skips.bands
def test_dpo_pushes_down_more_than_up_and_falls_below_its_start_when_it_goes_on(shipped, pairs):
    end = last(stages.dpo(shipped["cot"], 0, *pairs))
    assert end.rows["pairs"] > 300 and 0 < end.rows["chosen"] < -end.rows["rejected"] / 3
    start, end = pass1(shipped["cot"]), pass1(end.policy)
    assert pass1(last(stages.dpo(shipped["cot"], 0, *pairs, steps=800)).policy) < start < end


@skips.bands
def test_pairs_of_another_policy_are_a_margin_and_no_policy(shipped, pairs):
    """The loss falls and the chosen gain nats, and still they are never sampled."""
    first, *_, end = stages.dpo(shipped["base-0"], 0, *pairs)
    assert end.rows["loss"] < first.rows["loss"] and end.rows["chosen"] > 1
    assert pass1(end.policy) == 0


@pytest.mark.when_changed()
@skips.bands
def test_a_length_penalty_unlearns_a_thought_that_does_not_pay_yet_and_no_other(shipped):
    """At .37 a thought pays less than a guess under L_cache 4, at .66 more; and 2 does not reach six of eight."""
    dpo, taxed = measure(shipped["dpo"]), measure(last(stages.rl(shipped["dpo"], 0, L_cache=4)).policy)
    assert taxed.thinks < dpo.thinks / 2 and taxed.pass1 < dpo.pass1
    grown = last(stages.rl(shipped["dpo"], 0)).policy
    assert measure(last(stages.rl(grown, 0, L_cache=4)).policy).pass1 > pass1(grown) > 0.56
    assert pass1(last(stages.rl(shipped["dpo"], 0, L_cache=2)).policy) > 0.56


@pytest.mark.when_changed()
@skips.bands
def test_one_worked_answer_in_a_hundred_documents_is_enough_for_rl(shipped):
    """Over eight seeds .67 to .75."""
    assert pass1(shipped["base-0.01"]) < 0.02
    assert 0.56 < pass1(last(stages.rl(shipped["base-0.01"], 0)).policy) < 0.78


@pytest.mark.when_changed()
@skips.bands
def test_too_much_sft_shows_in_pass_at_64_and_after_rl_and_not_in_pass_at_1(shipped):
    usual = last(stages.cot(shipped["sft"], 0, demos=200)).policy
    few, many = measure(usual), measure(shipped["overcooked"])
    assert many.pass1 == pytest.approx(few.pass1, abs=0.03)
    assert many.pass_at[64][0] < few.pass_at[64][0] - 0.15
    after = [pass1(last(stages.rl(policy, 0)).policy) for policy in (usual, shipped["overcooked"])]
    assert after[1] < after[0] - 0.1


@pytest.mark.when_changed()
@skips.bands
def test_rl_on_few_prompts_learns_these_prompts(shipped):
    """Over eight seeds own .959, held out .220."""
    end = last(stages.rl(shipped["cot"], 0, prompts=TRAIN[:32])).policy
    assert measure(end, None, TRAIN[:32], 16).pass1 > 0.85 and pass1(end) < 0.4


# The path over seeds


def courses():
    """{what: report} for each seed, every stage reseeded."""
    for seed in SEEDS:
        base = last(stages.pretrain(seed)).policy
        sft = last(stages.sft(base, seed)).policy
        cot = last(stages.cot(sft, seed)).policy
        pairs = stages.sample_pairs(cot, seed)
        dpo = last(stages.dpo(cot, seed, *pairs)).policy
        rft = last(stages.rft(cot, seed, pairs[0])).policy
        plain = last(stages.cot(base, seed)).policy
        made = dict(base=base, sft=sft, cot=cot, dpo=dpo, rft=rft, plain=plain)
        for name in ("sft", "cot", "dpo", "plain"):
            made[f"{name} rl"] = last(stages.rl(made[name], seed)).policy
        yield {name: measure(policy) for name, policy in made.items()}


MEANS = {  # pass@1 and its standard deviation over eight seeds of another program for the same design
    "base": (0.0, 0.0),
    "sft": (0.112, 0.015),
    "cot": (0.236, 0.022),
    "dpo": (0.308, 0.034),
    "rft": (0.404, 0.045),
    "dpo rl": (0.646, 0.049),
}


@skips.bands
@pytest.mark.when_changed()
def test_what_each_stage_buys_over_seeds():
    seeds = list(courses())
    for name, (mean, deviation) in MEANS.items():
        error = deviation * (1 / 8 + 1 / len(seeds)) ** 0.5  # of the difference of two means
        assert np.mean([seen[name].pass1 for seen in seeds]) == pytest.approx(mean, abs=3 * error), name
    for seen in seeds:
        rate = {name: report.pass1 for name, report in seen.items()}
        assert rate["base"] < rate["sft"] < rate["cot"] < rate["dpo"] < rate["rft"] < rate["dpo rl"]
        # SFT alone is not worth a stage: it unlearns what was read, and without it RL ends as high
        assert seen["sft"].skill < 0.1 < 0.8 < seen["base"].skill
        assert rate["plain rl"] == pytest.approx(rate["cot rl"], abs=0.1)
        assert rate["dpo rl"] == pytest.approx(rate["cot rl"], abs=0.08)
        # without a thought RL sharpens: more at one try, less at 64
        assert rate["sft"] < rate["sft rl"] < 0.25
        assert seen["sft rl"].pass_at[64][0] < seen["sft"].pass_at[64][0] - 0.05
        assert seen["cot rl"].pass_at[64][0] > seen["cot"].pass_at[64][0] - 0.02
