import numpy as np
import pytest

from sim.framework.rollout import Batch
from sim.pipeline import path, report
from sim.pipeline.stages import sampled
from sim.worlds import tinylm
from sim.worlds.tasks import HELD, Chain
from sim.worlds.tinylm import EOS, PAD, encode


def written(*texts):
    """A verified batch of these completions to prompt 5388, whose answer is 4."""
    ids = [encode(text) for text in texts]
    tokens = np.array([row + [PAD] * (Chain.T - len(row)) for row in ids])
    mask, N = (tokens != PAD).astype(float), len(texts)
    example, finished = np.full(N, 5388), np.array([EOS in row for row in ids])
    batch = Batch(
        N, example, Chain().prompt_ids(example), tokens, mask, mask, 0 * mask, finished, np.zeros(N, np.int64)
    )
    batch.accuracy = np.array([float("Final: 4<eos>" in text) for text in texts])
    return batch


@pytest.fixture(scope="module")
def cot():
    return path.checkpoint("cot")


def test_modes_tell_a_thought_an_answer_alone_and_none():
    batch = written("864Final: 4<eos>", "863Final: 3<eos>", "Final: 4<eos>", "Final: 5<eos>", "864<eos>", "864Final: 4")
    assert [report.MODES[m] for m in report.modes(batch)] == [
        "thought, correct",
        "thought, wrong",
        "direct, correct",
        "direct, wrong",
        "no answer",
        "no answer",
    ]


def test_accuracy_is_a_mixture_over_modes(cot):
    seen = report.measure(cot, None, HELD[:40], 16)
    assert seen.modes.sum() == pytest.approx(1)
    direct = seen.answers - seen.thinks
    parts = seen.thinks * seen.accuracy_thinking + direct * (seen.modes[2] / direct)
    assert seen.pass1 == pytest.approx(parts, abs=1e-12)


def test_pass_at_k_of_whole_groups_is_the_share_of_prompts_ever_right(cot):
    seen = report.measure(cot, None, HELD[:40], 16)
    batch = [
        sampled(cot, HELD[at : at + report.PORTION], 16, rng)
        for rng in [np.random.default_rng(1)]
        for at in (0, report.PORTION)
    ]
    ever = np.concatenate([b.accuracy.reshape(-1, 16).max(axis=1) for b in batch])
    assert seen.pass_at[16][0] == pytest.approx(ever.mean()) and 64 not in seen.pass_at
    rates = np.concatenate([b.accuracy.reshape(-1, 16).mean(axis=1) for b in batch])
    assert seen.pass_at[1] == pytest.approx((rates.mean(), np.std(rates, ddof=1) / 40**0.5))


def test_the_kl_of_completions_is_the_mean_of_their_log_ratios(cot):
    """KL of whole completions is the sum of that of their tokens, each at its context."""
    base, batch = path.checkpoint("base-0"), sampled(cot, HELD[:200], 16, np.random.default_rng(0))
    entropy, kl = report.entropy_and_kl(cot, base, batch)
    now, ours, _ = cot.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    then, _, _ = base.token_logp(batch.prompt, batch.tokens, batch.response_mask)
    ratios = (now - then).sum(axis=1)
    assert entropy == pytest.approx(ours.sum())
    assert kl / len(ratios) == pytest.approx(ratios.mean(), abs=4 * ratios.std() / len(ratios) ** 0.5)
    assert report.entropy_and_kl(cot, cot, batch)[1] == pytest.approx(0, abs=1e-9)


def test_the_kl_of_two_steps_is_that_of_their_four_paths():
    """p: .7 .3, then .9 .1 or .5 .5; q: .4 .6, then .6 .4 or .5 .5; by enumeration .3421893102."""
    p, q = np.array([0.63, 0.07, 0.15, 0.15]), np.array([0.24, 0.16, 0.3, 0.3])
    first = 0.7 * np.log(0.7 / 0.4) + 0.3 * np.log(0.3 / 0.6)
    second = 0.7 * (0.9 * np.log(0.9 / 0.6) + 0.1 * np.log(0.1 / 0.4))
    assert (p * np.log(p / q)).sum() == pytest.approx(first + second) == pytest.approx(0.3421893102, abs=1e-9)


def test_skill_is_learned_from_the_corpus_and_not_there_at_first():
    """The first policy is near uniform over twenty tokens: 1/400."""
    assert report.skill(tinylm.Policy(0)) == pytest.approx(1 / 400, rel=0.2)
    assert 0.8 < report.skill(path.checkpoint("base-0")) < 1


def test_measuring_goes_in_portions_and_ends_in_the_report(cot):
    *portions, end = report.measuring(cot, None, HELD[:60], 16)
    assert portions == [None] * 3
    assert end.pass1 == report.measure(cot, None, HELD[:60], 16).pass1


def test_a_colder_draw_is_right_more_often_where_the_likeliest_token_is(cot):
    warm, cold = (report.right_when_drawn_at(t, cot, HELD[:100]) for t in (1.0, 0.05))
    assert warm == pytest.approx(report.measure(cot, None, HELD[:100], 64).pass1, abs=0.05)
    colder = cot.copy()  # the same, by the weights: logits times twenty
    colder.params |= {name: 20 * cot.params[name] for name in ("W2", "b2")}
    assert cold == report.right_when_drawn_at(1.0, colder, HELD[:100]) > warm + 0.2
