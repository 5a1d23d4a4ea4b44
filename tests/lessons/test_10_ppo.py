"""The lesson on PPO: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.algorithms import ppo as algorithm
from sim.estimators import surrogate
from sim.experiments import rare_token, running_batch
from sim.experiments.standard_runs import modsum_run
from sim.worlds import modsum
from sim.worlds.optimizer import AdamW
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.ppo import widget as ppo

EXPENSIVE = ("last",)
TIMES = "after ten updates", "after twenty updates", "at the end"
USUAL, WIDE = "right at the end, sixteen passes", "right at the end, sixteen passes, six times"
kept = partial(spreads.values, "10_ppo")
last = partial(catalogue.last, ppo)
first_row = running_batch.advantage(modsum.Policy())[0]


def finals(result):
    return result.pass_rate[:, -1].mean(axis=1)


def cell(ratio, A, dual_clip=np.inf):
    """(loss, slope) of a token."""
    return surrogate.loss_and_slope(ratio, A, 0.2, 0.2, dual_clip)


def lost_prompts(**knobs):
    """Prompts of the six runs that are lost."""
    return ppo.lost(last(**knobs)).sum()


def losers(result):
    return ppo.lost(result).any(axis=1)


def under_adamw(seed, rate, critic_rate=0.5, **hyper):
    """(updates, prompts): right completions of one run with AdamW in place of SGD."""
    settings = dict(groups=4, K=4, critic_rate=critic_rate, hyper=hyper)
    run = modsum_run(algorithm, seed=seed, optimizer=AdamW(rate, clip=None), **settings)
    return np.array([frame.exact["pass_rate"] for frame in run.frames(60)])


def lost_under_adamw(rate, seed):
    right = under_adamw(seed, rate, inner_epochs=16, eps=1e9)
    return ((right.max(axis=0) >= ppo.SOLVED) & (right[-1] < ppo.LOST)).sum()


def of(read, **knobs):
    return lambda seed: read(last(seed=seed, **knobs))


def right_after(update, **knobs):
    return of(lambda r: r.pass_rate[:, update - 1].mean(), **knobs)


def farthest(**knobs):
    return of(lambda r: np.median(r.kl_step.max(axis=1)), **knobs)


FREE, REUSE = dict(clip=False), ((4, 20), (1, 20), (1, 40), (4, 60), (1, 60))  # (passes, rate)

MEASURED = {
    **{
        f"runs of six that lose a prompt, {passes} passes, {words}": of(
            lambda r: losers(r).sum(), passes=passes, **knobs
        )
        for passes in (2, 4, 16)
        for words, knobs in (("no clip", FREE), ("clip", {}))
    },
    "largest ratio": of(lambda r: r.ratio_max.max(axis=1).min()),
    "right at the end, sixteen passes": of(lambda r: finals(r).mean(), passes=16),
    "right at the end, sixteen passes, six times": of(lambda r: finals(r).mean(), passes=16, eps_high=5.0),
    "farthest update, sixteen passes, six times": of(lambda r: r.kl_step.max(), passes=16, eps_high=5.0),
    "farthest update, sixteen passes": of(lambda r: r.kl_step.max(), passes=16),
    **{
        f"farthest update, {passes} passes, no clip": of(lambda r: r.kl_step.max(), passes=passes, **FREE)
        for passes in (2, 4, 16)
    },
    "right after ten updates, no clip": right_after(10, **FREE),
    "runs of six above 0.99, no critic": of(lambda r: (finals(r) > 0.99).sum(), critic=False),
    "runs of six above 0.99": of(lambda r: (finals(r) > 0.99).sum()),
    **{
        f"{words}, {passes} at {rate}": measured(passes=passes, learning_rate=float(rate))
        for passes, rate in REUSE
        for words, measured in (
            ("right after ten updates", partial(right_after, 10)),
            ("right after twenty updates", partial(right_after, 20)),
            ("right at the end", partial(right_after, 60)),
            ("farthest update", farthest),
        )
    },
    "AdamW at 0.2, one pass": lambda seed: under_adamw(seed, 0.2, inner_epochs=1)[-1].mean(),
    "AdamW at 0.05, four passes": lambda seed: under_adamw(seed, 0.05, inner_epochs=4)[-1].mean(),
    **{f"AdamW at {rate}, prompts lost of four": partial(lost_under_adamw, rate) for rate in (0.05, 0.2)},
}


@cache
def story():
    """Of the fifth run without a clip: the second update, pass by pass."""
    return rare_token.passes(np.inf)


@cache
def without_ratio():
    """The same update, with tokens paid by their log-probability."""

    def logp(logp, old_logp, A, hp, batch):
        return (A * logp, A)

    run = modsum_run(algorithm, seed=4, learning_rate=20.0, hyper=dict(inner_epochs=1), hooks=dict(surrogate=logp))
    return rare_token.followed(run)


def prompts_lost(words):
    """Runs of 120 that lose a prompt."""
    return kept(f"runs of six that lose a prompt, {words}").sum()


def lost_with_a_clip():
    return sum(prompts_lost(f"{passes} passes, clip") for passes in (2, 4, 16))


def ahead(when):
    """Whether one pass at twice the rate is ahead of four passes in every seed."""
    return (kept(f"right {when}, 1 at 40") > kept(f"right {when}, 4 at 20")).all()


def ends_of(values):
    return min(values), max(values)


def test_what_four_passes_do_to_the_batch():
    last_pass, own = list(running_batch.passes(4))[-1], running_batch.tokens()[1] > 0
    A = running_batch.advantage(modsum.Policy())
    assert A[0, 2] < A[0, 0]
    assert (last_pass.ratio[own & (A > 0)] < 1).any(), "a wanted token may even have lost"
    assert (last_pass.ratio > 2).sum() >= 3, "some tokens are more than twice as likely"
    assert last_pass.dead.sum() > own.sum() / 2, "most tokens of the batch are silent"


@pytest.mark.when_changed()
def test_in_one_pass_the_two_runs_are_the_same_run():
    np.testing.assert_array_equal(last(passes=1).pass_rate, last(passes=1, clip=False).pass_rate)


def test_how_far_an_update_goes():
    assert kept("largest ratio").min() > 1.2
    assert (kept("farthest update, 2 passes, no clip") < kept("farthest update, 4 passes, no clip")).all()
    assert (kept("farthest update, sixteen passes, six times") > 2 * kept("farthest update, sixteen passes")).all()


@pytest.mark.when_changed()
def test_some_lost_prompts_are_found_again():
    """A prompt of a run counts once: solved, then under a tenth at some update; found again if it passes 0.9 after."""
    fallen = found = 0
    for seed in range(3):
        for right in last(seed=seed, passes=16, clip=False).pass_rate.transpose(0, 2, 1).reshape(-1, ppo.UPDATES):
            solved = np.flatnonzero(right >= ppo.SOLVED)
            after = right[solved[0] :] if len(solved) else right[:0]
            low = np.flatnonzero(after < ppo.LOST)
            fallen += len(low) > 0
            found += len(low) > 0 and after[low[0] :].max() > 0.9
    assert 0 < found < fallen


def test_what_the_batch_of_the_rare_token_says_of_it_and_of_the_stop():
    """The policy sees the sum modulo 7, so at 12 it is where it was at 5."""
    _, drawn = rare_token.batch()
    there = {}
    for row in np.flatnonzero(drawn.example == rare_token.PROMPT):
        tokens = [int(token) for token in drawn.tokens[row][drawn.response_mask[row] > 0]]
        for place, (token, sum_) in enumerate(zip(tokens, rare_token.running_sums(tokens), strict=True)):
            if sum_ % modsum.MODULUS == rare_token.SUM:
                there.setdefault(token, []).append((sum_, drawn.advantage[row][place], drawn.accuracy[row]))
    assert there == {rare_token.RARE: [(5, 1, 1)], modsum.EOS: [(5, 1, 1), (12, 1, 1), (5, 1, 1), (12, 1, 1)]}


def test_without_the_ratio_the_prompt_stays_and_with_it_the_rare_token_gets_everything():
    assert f"{1 / story().rare[0]:.0f}" == f"{1 / 0.0092:.0f}"  # a reader who divides gets what is printed
    assert without_ratio().pass_rate.min() > 0.88
    assert without_ratio().pass_rate[-1] > without_ratio().stop[-1] + 0.1, "who goes past 5 can stop at 12"
    assert story().rare[-1] / story().rare[0] > 100


def test_with_the_clip_the_rare_token_is_carried_beyond_the_range_and_brought_back():
    ratio = rare_token.passes(0.2).rare / rare_token.passes(0.2).rare[0]
    assert ratio[1] == pytest.approx(2, abs=0.1) and ratio[1:].min() < 1.2 < ratio[-1]
    below = 1 + int(np.flatnonzero(ratio[1:] < 1.2)[0])
    assert ratio[below + 1 :].max() > ratio[below]


def test_the_clip_costs_speed_at_first_and_reuse_buys_nothing_in_the_end():
    assert (kept("right after ten updates, no clip") > kept("right after ten updates, 4 at 20")).all()
    assert abs((kept("right at the end, 4 at 60") - kept("right at the end, 1 at 60")).mean()) < 0.003


def test_how_the_fifth_run_lost_its_prompt():
    run = modsum_run(algorithm, seed=4, learning_rate=20.0, groups=4, K=4, hyper=dict(inner_epochs=16, eps=1e9))
    batches, frames = [], []
    for event in run.iterate(60):
        if event.role == "rollout":
            batches.append(event.summary["batch"])
        if event.stage == 7:
            frames.append(event.summary["frame"])
    rows = np.flatnonzero(batches[1].example == 1)
    said = {" ".join(map(str, batches[1].tokens[row][batches[1].response_mask[row] > 0] + 1)) for row in rows}
    assert (batches[1].accuracy[rows] == 1).all() and "1 3 1 3 3 1 4" in said  # 4 is the stop
    stops = (batches[1].tokens[rows] == modsum.EOS) & (batches[1].response_mask[rows] > 0)
    assert stops.sum() == 4  # all of them at 5 modulo 7, being right
    assert all((batch.accuracy[batch.example == 1] == 0).all() for batch in batches[2:])
    assert frames[-1].exact["truncated"][1] > 0.9
