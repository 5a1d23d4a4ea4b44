"""The lesson on the pipeline: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.algorithms import dapo
from sim.estimators.attempts import informative
from sim.estimators.compounding import chain_accuracy
from sim.pipeline import corpus, path, report, stages
from sim.pipeline.stages import last
from sim.worlds.tasks import HELD, Chain, running_totals
from tests import skips
from tests.lessons import spreads
from tests.widgets.catalogue import last as last_result
from widgets.pipeline import figures
from widgets.pipeline import widget as pipeline
from widgets.pipeline.widget import first

EXPENSIVE = "result", "writer", "worked_base"
kept = partial(spreads.values, "16a_pipeline")
SLIPS = "2000 × 400, all with a slip"
COLD = 0.05  # the temperature of the table's second column
PATHS = {  # rows of the table: words of the page and stages
    "SFT": "sft",
    "SFT, CoT": "cot",
    "SFT, CoT, DPO": "dpo",
    "SFT, CoT, RFT": "rft",
    "SFT, CoT, DPO, RL": "dpo rl",
    "SFT, CoT, RFT, RL": "rft rl",
    "SFT, CoT, RL": "cot rl",
    "CoT, RL": "plain rl",
    "SFT, RL": "sft rl",
    "RL, one answer in 100 documents": "rare rl",
}


def result(**knobs):
    return last_result(pipeline, **knobs)


def end(**knobs):
    return first(result(**knobs).reports[-1])


def weights():
    return sum(array.size for array in path.checkpoint("base-0").params.values())


writer = figures.measured
rollouts = 100 * stages.GROUPS * stages.K


@cache
def pairs_of_the_base():
    """(completions, chosen, rejected)."""
    return stages.sample_pairs(path.checkpoint("base-0"), 0)


@cache
def worked_base():
    """Of the base that read one worked answer in a hundred documents."""
    return report.measure(path.checkpoint("base-0.01"))


def price_of_a_thought(L_cache):
    thought, _ = dapo.shape_reward(np.zeros(2), dict(L_cache=L_cache), figures.Lengths)
    return -thought


def after_cot(thoughts):
    return result(thoughts=thoughts).reports[2]


def at_64(thoughts):
    """Held-out prompts right at one of 64 tries, after CoT."""
    return after_cot(thoughts).pass_at[64][0]


@cache
def courses(seed):
    """{name: Report} of the rows, every stage after the base reseeded."""
    base = path.checkpoint("base-0")
    made = dict(sft=last(stages.sft(base, seed)).policy, plain=last(stages.cot(base, seed)).policy)
    made["cot"] = last(stages.cot(made["sft"], seed)).policy
    pairs = stages.sample_pairs(made["cot"], seed)
    made["dpo"] = last(stages.dpo(made["cot"], seed, *pairs)).policy
    made["rft"] = last(stages.rft(made["cot"], seed, pairs[0])).policy
    made["rare"] = path.checkpoint("base-0.01")
    for name in ("sft", "plain", "cot", "dpo", "rft", "rare"):
        made[f"{name} rl"] = last(stages.rl(made[name], seed)).policy
    return {name: (report.measure(made[name]), report.right_when_drawn_at(COLD, made[name])) for name in PATHS.values()}


READ = {  # the columns of the table
    "right at one try": lambda seen, cold: first(seen),
    "drawn cold": lambda seen, cold: cold,
    "at one of 64": lambda seen, cold: seen.pass_at[64][0],
    "thinks": lambda seen, cold: seen.thinks,
}

MEASURED = {
    f"{words}: {column}": lambda seed, name=name, read=read: read(*courses(seed)[name])
    for words, name in PATHS.items()
    for column, read in READ.items()
}


def steady(words):
    """The mean of values that deviate by less than is shown."""
    assert kept(words).std(ddof=1) < 0.005
    return kept(words).mean()


def gained(path_of, other):
    return kept(f"{path_of}: right at one try") - kept(f"{other}: right at one try")


def by_stage(stage):
    """What RL ends higher by if this stage stands before it."""
    return gained(f"SFT, CoT, {stage}, RL", "SFT, CoT, RL")


def test_the_opening_ends_at_two_thirds_and_where_a_guess_does():
    one, other = result(), result(L_cache=4)
    assert first(one.reports[-1]) == pytest.approx(2 / 3, abs=0.05)
    assert first(other.reports[-1]) == pytest.approx(0.1, abs=0.05) and other.reports[-1].thinks < 0.1


def test_dpo_moves_how_often_it_thinks_and_rl_how_often_a_thought_is_right():
    assert writer("cot").accuracy_thinking == pytest.approx(writer("dpo").accuracy_thinking, abs=0.02)
    assert result().reports[-1].accuracy_thinking == pytest.approx(2 / 3, abs=0.05)


@pytest.mark.when_changed()
def test_borrowed_pairs_gain_one_to_two_nats_and_are_not_drawn():
    for seed in skips.some(range(5)):
        gained = last(path.borrowed(path.checkpoint("base-0"), seed, path.Settings())).rows["chosen"]
        assert 1 < gained < 2.3 and 3 <= round(np.exp(gained)) <= 9
    assert end(order="DPO of borrowed pairs RL") == 0


def test_sft_after_the_thoughts_takes_them_away():
    assert end(order="CoT SFT RL") < 0.2 and result(order="CoT SFT RL").reports[2].thinks < 0.01


@pytest.mark.when_changed()
def test_the_same_few_thoughts():
    few, many = (result(thoughts=thoughts).reports for thoughts in ("200 × 400", "200 × 6400"))
    assert [first(seen[2]) for seen in (few, many)] == pytest.approx([0.1, 0.1], abs=0.03)
    assert few[2].pass_at[64][0] == pytest.approx(2 / 3, abs=0.06)
    assert first(many[-1]) < first(few[-1]) - 0.1


@pytest.mark.when_changed()
def test_a_milder_price_costs_nothing_and_a_hard_one_does_no_harm_after_rl():
    assert price_of_a_thought(2) == 0 and end(L_cache=2) == pytest.approx(end(), abs=0.1)
    _, guess = dapo.shape_reward(np.zeros(2), dict(L_cache=4), figures.Lengths)
    assert guess == 0
    after = last(stages.rl(path.checkpoint("dpo"), 0)).policy
    assert report.measure(last(stages.rl(after, 0, L_cache=4)).policy).pass1 > report.measure(after).pass1


@pytest.mark.when_changed()
def test_further_on():
    assert end(order="CoT RL", prompts=32) < 0.35
    base = path.checkpoint("base-0")
    for seed in skips.some(range(5)):
        cot = last(stages.cot(path.checkpoint("sft"), seed)).policy
        pairs = stages.sample_pairs(cot, seed)
        few, many = (last(stages.dpo(cot, seed, *pairs, steps=steps)).policy for steps in (100, 800))
        assert report.measure(many, None, HELD[:100]).pass1 < report.measure(few, None, HELD[:100]).pass1 - 0.02
    longer = [report.measure(last(stages.sft(base, seed, steps=16 * 200)).policy).pass1 for seed in range(2)]
    assert longer == pytest.approx([0.3] * 2, abs=0.06)


@pytest.mark.when_changed()
def test_more_rl_under_the_price_does_not_bring_the_thought_back():
    for seed in skips.some(range(5)):
        priced = last(stages.rl(path.checkpoint("dpo"), seed, 300, L_cache=4)).policy
        assert report.measure(priced, None, HELD[:100]).thinks < 0.45  # 0.86 before


def test_sft_before_the_thoughts_changes_nothing_for_rl():
    difference = gained("SFT, CoT, RL", "CoT, RL")
    assert abs(difference.mean()) < 2 * difference.std(ddof=1) / 20**0.5
