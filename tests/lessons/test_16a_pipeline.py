"""The numbers of the lesson on the pipeline, recomputed."""

import re
from functools import cache
from urllib.parse import parse_qsl

import numpy as np
import pytest

from sim.algorithms import dapo
from sim.estimators.attempts import informative
from sim.estimators.compounding import chain_accuracy
from sim.pipeline import corpus, path, report, stages
from sim.pipeline.stages import last
from sim.worlds.tasks import HELD, Chain, running_totals
from tests import skips
from tests.lessons.prose import Lesson, agrees
from tests.widgets.catalogue import last as last_result
from widgets.frame.values import knobs_from
from widgets.pipeline import figures
from widgets.pipeline import widget as pipeline
from widgets.pipeline.widget import Knobs, first

LESSON = Lesson("16a")
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


def test_every_link_turns_knobs_that_are_there():
    for query in re.findall(r'\(#pipeline\)\{ data-knobs="([^"]+)" \}', LESSON.text):
        knobs_from(Knobs, dict(parse_qsl(query)))


def test_the_smallest_case():
    assert running_totals(np.array([5388])).tolist() == [[5, 8, 6, 4]] and "running totals first, 8 6 4" in LESSON.text
    LESSON.says("10,000", len(Chain.examples))
    LESSON.says("2,000", len(HELD))
    LESSON.says("0.73", chain_accuracy(0.1, 3))
    LESSON.says("8,708", sum(array.size for array in path.checkpoint("base-0").params.values()))


def test_the_opening_ends_at_two_thirds_and_where_a_guess_does():
    one, other = result(), result(L_cache=4)
    assert first(one.reports[-1]) == pytest.approx(2 / 3, abs=0.05)
    assert first(other.reports[-1]) == pytest.approx(0.1, abs=0.05) and other.reports[-1].thinks < 0.1


def test_what_each_stage_moves():
    base, sft, cot, dpo = map(figures.measured, figures.WRITERS)
    assert corpus.MIX[0] + corpus.MIX[2] == pytest.approx(0.70)  # right thoughts and right answers alone
    LESSON.says("0.61", cot.thinks)
    LESSON.says("0.86", dpo.thinks)
    LESSON.says("0.36", dpo.accuracy_thinking)
    assert cot.accuracy_thinking == pytest.approx(dpo.accuracy_thinking, abs=0.02)
    assert result().reports[-1].accuracy_thinking == pytest.approx(2 / 3, abs=0.05)
    LESSON.says("0.87", base.skill)
    LESSON.says("0.04", sft.skill)


def test_what_a_stage_can_start_from():
    rollouts = 100 * stages.GROUPS * stages.K
    LESSON.says("25,600", rollouts)
    assert round(0.001 * rollouts) == 26
    LESSON.says("99.2", 100 * (1 - informative(0.001, 8)))
    batch, chosen, _ = stages.sample_pairs(path.checkpoint("base-0"), 0)
    LESSON.says("4,096", len(batch.tokens))
    assert len(chosen) == 0 and "there are no pairs" in LESSON.text
    LESSON.says("0.003", report.measure(path.checkpoint("base-0.01")).pass1)


@LESSON.when_changed
def test_borrowed_pairs_gain_one_to_two_nats_and_are_not_drawn():
    assert "one to two nats" in LESSON.text and "three to eight times likelier" in LESSON.text
    for seed in skips.some(range(5)):
        gained = last(path.borrowed(path.checkpoint("base-0"), seed, path.Settings())).rows["chosen"]
        assert 1 < gained < 2.3 and 3 <= round(np.exp(gained)) <= 9
    assert end(order="DPO of borrowed pairs RL") == 0


def test_sft_after_the_thoughts_takes_them_away():
    assert end(order="CoT SFT RL") < 0.2 and result(order="CoT SFT RL").reports[2].thinks < 0.01


@LESSON.when_changed
def test_the_same_few_thoughts():
    few, many = (result(thoughts=thoughts).reports for thoughts in ("200 × 400", "200 × 6400"))
    assert [first(seen[2]) for seen in (few, many)] == pytest.approx([0.1, 0.1], abs=0.03)
    assert many[2].pass_at[64][0] == pytest.approx(0.4, abs=0.06)
    assert few[2].pass_at[64][0] == pytest.approx(2 / 3, abs=0.06)
    assert first(many[-1]) < first(few[-1]) - 0.1


@LESSON.when_changed
def test_the_price_of_a_thought():
    thought, guess = dapo.shape_reward(np.zeros(2), dict(L_cache=4), figures.Lengths)
    LESSON.says("0.60", 0.10 - thought)
    assert guess == 0 and dapo.shape_reward(np.zeros(2), dict(L_cache=2), figures.Lengths)[0] == 0
    assert end(L_cache=2) == pytest.approx(end(), abs=0.1)
    after = last(stages.rl(path.checkpoint("dpo"), 0)).policy
    assert report.measure(last(stages.rl(after, 0, L_cache=4)).policy).pass1 > report.measure(after).pass1


@LESSON.when_changed
def test_further_on():
    assert end(order="CoT RL", prompts=32) < 0.35
    base = path.checkpoint("base-0")
    for seed in skips.some(range(5)):
        cot = last(stages.cot(path.checkpoint("sft"), seed)).policy
        pairs = stages.sample_pairs(cot, seed)
        few, many = (last(stages.dpo(cot, seed, *pairs, steps=steps)).policy for steps in (100, 800))
        assert report.measure(many, None, HELD[:100]).pass1 < report.measure(few, None, HELD[:100]).pass1 - 0.02
    longer = [report.measure(last(stages.sft(base, seed, steps=16 * 200)).policy).pass1 for seed in range(2)]
    assert "direct answers are right about 0.3 of the time" in LESSON.text and longer == pytest.approx(
        [0.3] * 2, abs=0.06
    )


@LESSON.when_changed
def test_more_rl_under_the_price_does_not_bring_the_thought_back():
    for seed in skips.some(range(5)):
        priced = last(stages.rl(path.checkpoint("dpo"), seed, 300, L_cache=4)).policy
        assert report.measure(priced, None, HELD[:100]).thinks < 0.45  # 0.86 before


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


kept = LESSON.kept


@pytest.mark.parametrize("words", PATHS)
def test_the_table_of_every_stage(words):
    row = re.search(rf"^    \| {words} \| (.*) \|$", LESSON.text, flags=re.M)[1].split(" | ")
    for said, column in zip(row, READ, strict=True):
        agrees(said if "±" in said else f"{said} ± 0.00", kept(f"{words}: {column}"))


def test_what_the_text_takes_from_the_table():
    one = {words: kept(f"{words}: right at one try") for words in PATHS}
    with_sft = one["SFT, CoT, RL"] - one["CoT, RL"]
    assert abs(with_sft.mean()) < 2 * with_sft.std(ddof=1) / 20**0.5 and "RL ends as high with SFT" in LESSON.text
    LESSON.counts("as without it: lower in {} of twenty seeds, higher in the others", with_sft < 0)
    dpo, rft = (one[f"SFT, CoT, {stage}, RL"] - one["SFT, CoT, RL"] for stage in ("DPO", "RFT"))
    LESSON.spread("0.016 ± 0.011", dpo)
    LESSON.counts("0.016 ± 0.011, in {} of twenty seeds", dpo > 0)
    LESSON.spread("0.047 ± 0.017", rft)
    LESSON.counts("0.047 ± 0.017, in {} of twenty.", rft > 0)
    for number, path_of in (
        ("over twenty seeds {} right", "CoT, RL"),
        ("right against {}.", "SFT, CoT, RL"),
        ("RL alone ends at {},", "RL, one answer in 100 documents"),
        ("all four stages without them at {}.", "SFT, CoT, DPO, RL"),
    ):
        said = re.search(number.replace(".", r"\.").format(r"(\S+ ± [\d.]*\d)"), LESSON.text)[1]
        agrees(said, one[path_of])


def test_how_much_of_it_is_sharpening():
    """Read from the columns drawn cold and at one of 64."""
    at = lambda words, column: kept(f"{words}: {column}").mean()
    for words, path_of, column in (
        ("policy is right {} of the time at temperature 1", "SFT, CoT, DPO", "right at one try"),
        ("1 and {} drawn cold.", "SFT, CoT, DPO", "drawn cold"),
        ("of RL bring it to {} at temperature 1", "SFT, CoT, DPO, RL", "right at one try"),
        ("own policy is right {} of the time", "SFT, CoT, DPO, RL", "drawn cold"),
        ("one of 64*: {} before it", "SFT", "at one of 64"),
        ("before it, {} after", "SFT, RL", "at one of 64"),
        ("draw before RL is right {} of the time", "SFT, CoT, DPO", "drawn cold"),
        ("of the time and after it {}.", "SFT, CoT, DPO, RL", "drawn cold"),
    ):
        assert words.format(f"{round(at(path_of, column), 2):.2f}") in LESSON.text, words
