"""The lesson on rollouts: what its numbers are computed by, and what it says without a number."""

from functools import cache, partial

import numpy as np
import pytest

from sim.algorithms import grpo
from sim.estimators import attempts, kl, surrogate
from sim.experiments import uniform_groups
from sim.experiments.standard_runs import add_run
from sim.framework.rollout import nucleus
from sim.worlds import tasks
from sim.worlds.tinylm import TEXT, log_softmax
from tests.lessons import spreads
from tests.widgets import catalogue
from widgets.rollout import figures, widget
from widgets.rollout.widget import ONCE, ONE

kept = partial(spreads.values, "02_rollout")
last = partial(catalogue.last, widget)

LOGITS = np.array([2.0, 1.0, 0.0, -1.0])
cut = np.exp(nucleus(log_softmax(LOGITS[None]), 0.8)[0])
start = tasks.exact_pass(tasks.checkpoint("add")).mean()
two_of_eight = np.array([1, 1, 0, 0, 0, 0, 0, 0])
row, place = figures.deciding()
sampled, read = (column[row][place] for column in (figures.reading(1.0).drawn, figures.reading(1.0).read))
second_row = figures.recorded().old_logp[1]
recorded_2 = second_row[2]


def at(temperature):
    """The probabilities of four tokens."""
    return np.exp(log_softmax(LOGITS / temperature))


def dead(temperature):
    """The share of groups of eight that are all right or all wrong before training."""
    return uniform_groups.share(temperature, 8)


def run_of(seed, groups=16, K=8, eps=0.2, temperature=1.0, trainer=None):
    return add_run(
        grpo,
        seed=seed,
        groups=groups,
        K=K,
        hyper=dict(inner_epochs=1, beta=0.0, eps=eps),
        hooks=dict(weights=lambda mask, hp, batch: mask / mask.sum()),
        temperature=temperature,
        trainer_temperature=trainer,
        exact_every=60,
    )


def trained(seed, **settings):
    """The policy after sixty updates."""
    run = run_of(seed, **settings)
    for _ in run.frames(60):
        pass
    return run.trainer.policy


def right(policy, temperature=1.0):
    policy = policy.copy()
    policy.params |= {name: policy.params[name] / temperature for name in ("W2", "b2")}
    return tasks.exact_pass(policy).mean()


def end(r):
    return r.pass_rate[-1][1]


def of(read, **knobs):
    return lambda seed: read(last(**knobs, seed=seed))


@cache
def one_batch(seed):
    """Of one large batch that is read at another temperature, before any step: the mean ratio, and what the clip takes
    from the pushes, ratio times advantage, up and down.
    """
    run = run_of(seed, groups=160, temperature=1.5, trainer=1.0)
    for event in run.iterate(1):
        if event.stage == 3:
            batch = event.summary["batch"]
            logp = run.trainer.policy.token_logp(batch.prompt, batch.tokens, batch.response_mask, 1.0)[0]
        if event.stage == 5:
            ratio, A = np.exp(logp - batch.old_logp), batch.advantage * np.ones(logp.shape)
            gone, own = surrogate.removed(ratio, A, 0.2, 0.2), batch.response_mask > 0
    praised, blamed = own & (A > 0), own & (A < 0)

    def lost(which):
        return (ratio * A * gone)[which].sum() / (ratio * A)[which].sum()

    return {"mean ratio": ratio[own].mean(), "praise lost": lost(praised), "blame lost": lost(blamed)}


APART = dict(temperature=1.5, trainer=ONE)

MEASURED = {
    "sixteen prompts of 8": lambda seed: right(trained(seed)),
    "two prompts of 64": lambda seed: right(trained(seed, groups=2, K=64)),
    "sampled at 1.5": of(end, temperature=1.5),
    "sampled at 1.5, trained at 1": of(end, **APART),
    "sampled at 1.5, trained at 1, nats off": of(lambda r: r.off[0], **APART),
    "sampled at 1.5, trained at 1, share removed": of(lambda r: r.removed[0], **APART),
    "sampled at 1.5, recomputed": of(end, **APART, old=ONCE),
    "sampled at 1.5, trained at 1, no clip": lambda seed: right(trained(seed, eps=1e9, temperature=1.5, trainer=1.0)),
    "top-p 0.8": of(end, top_p=0.8),
    "top-p 0.8, nats off": of(lambda r: r.off[0], top_p=0.8),
    "top-p 0.8, share removed": of(lambda r: r.removed[0], top_p=0.8),
    "top-p 0.5": of(end, top_p=0.5),
    "top-p 0.5, nats off": of(lambda r: r.off[0], top_p=0.5),
    "temperature 0.05": of(end, temperature=0.05),
    "temperature 0.05, sampled at it": lambda seed: right(trained(seed, temperature=0.05), 0.05),
    "temperature 0.05, live in the first batch": of(lambda r: r.live[0], temperature=0.05),
    "temperature 0.05, live in the second batch": of(lambda r: r.live[1], temperature=0.05),
    "temperature 0.05, live after ten batches": of(lambda r: np.mean(r.live[10:]), temperature=0.05),
    **{
        f"two temperatures, {words}": lambda seed, words=words: one_batch(seed)[words]
        for words in ("mean ratio", "praise lost", "blame lost")
    },
}


def test_the_token_of_the_figure_is_pushed_no_more_before_any_step():
    group = figures.reading(1.0)
    assert group.ratio[row][place] == pytest.approx(np.exp(read - sampled)) and group.ratio[row][place] > 1.2
    assert sum(group.right) == 2


def test_the_record_of_an_answer():
    record = figures.recorded()
    assert [TEXT[token].strip() for token in record.tokens[1][:4]] == ["Final:", "1", "2", "<eos>"]
    assert record.response_mask[1][:4].all()
    assert not record.finished[-1] and record.response_mask[-1].all()  # the last row ran into the limit


def test_two_prompts_of_64_always_end_below_sixteen_of_8():
    assert max(kept("two prompts of 64")) < min(kept("sixteen prompts of 8"))


@pytest.mark.when_changed()
def test_the_two_runs_of_the_head():
    first = last(**APART)
    assert round(100 * end(last(temperature=1.5))) == 83
    assert end(first) < first.pass_rate[0][1]


def test_a_trainer_that_recomputes_the_record_ends_as_one_that_reads_at_the_same_temperature():
    recomputed, same = kept("sampled at 1.5, recomputed"), kept("sampled at 1.5")
    assert abs(recomputed.mean() - same.mean()) < 0.01
    assert kept("sampled at 1.5, trained at 1, share removed").mean() == pytest.approx(0.18, abs=0.02)


def test_of_pushing_up_a_third_is_lost_and_of_pushing_down_a_tenth():
    assert kept("two temperatures, praise lost") == pytest.approx(1 / 3, abs=0.04)
    assert kept("two temperatures, blame lost") == pytest.approx(0.1, abs=0.03)


def test_a_ratio_averages_to_one_whoever_reads():
    ratio = kept("two temperatures, mean ratio")
    assert abs(ratio.mean() - 1) < 3 * ratio.std(ddof=1) / 20**0.5


def test_a_gap_of_top_p_at_08_moves_hardly_any_token_by_a_fifth():
    assert kept("top-p 0.8, share removed").max() < 0.01
    assert kept("top-p 0.5, nats off").min() > 0.1


@pytest.mark.when_changed()
def test_a_sampler_that_leaves_nothing_to_compare():
    same = last(top_p=0.1)
    assert end(same) == same.pass_rate[0][1] and not any(same.live)


def test_ten_batches_at_005_leave_no_live_group():
    assert kept("temperature 0.05, live after ten batches").mean() < 1
