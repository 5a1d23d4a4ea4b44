"""The numbers of the lesson on rollouts, recomputed."""

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
from tests.lessons.prose import Lesson
from tests.widgets import catalogue
from widgets.rollout import figures, widget
from widgets.rollout.widget import ONCE, ONE

LESSON = Lesson("02")
LOGITS = np.array([[2.0, 1.0, 0.0, -1.0]])


last = partial(catalogue.last, widget)


def after(**knobs):
    return last(**knobs).pass_rate[-1][1]


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
    lost = lambda which: (ratio * A * gone)[which].sum() / (ratio * A)[which].sum()
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


def test_one_token_read_at_another_temperature():
    group = figures.reading(1.0)
    row, place = figures.deciding()
    drawn, read, ratio = (column[row][place] for column in (group.drawn, group.read, group.ratio))
    LESSON.says("−0.96", drawn)
    LESSON.says("−0.65", read)
    LESSON.says("0.38", np.exp(drawn))
    LESSON.says("0.52", np.exp(read))
    LESSON.says("1.36", ratio)
    assert "e^{-0.65+0.96}=1.36" in LESSON.text and np.exp(0.96 - 0.65) == pytest.approx(1.36, abs=0.005)
    assert np.exp(read - drawn) == pytest.approx(ratio) and ratio > 1.2
    LESSON.says("1.05", 1 / 0.95)


def test_the_record_of_an_answer():
    drawn = figures.recorded()
    logp = drawn.old_logp[1][drawn.response_mask[1] > 0]
    assert [TEXT[token].strip() for token in drawn.tokens[1][:4]] == ["Final:", "1", "2", "<eos>"]
    LESSON.says("−0.55", logp[2])
    LESSON.says("0.57", np.exp(logp[2]))
    assert not drawn.finished[-1] and drawn.response_mask[-1].all() and "The last row ran into the limit" in LESSON.text


def test_the_push_in_a_group_of_which_two_are_right():
    R = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    LESSON.says("0.25", R.mean())
    LESSON.says("0.75", (R - R.mean())[0])
    assert sum(figures.reading(1.0).right) == 2


def test_four_distributions_of_one_set_of_logits():
    for name, logp in (
        ("$\\tau=0.5$", log_softmax(LOGITS / 0.5)),
        ("$\\tau=1$", log_softmax(LOGITS)),
        ("$\\tau=2$", log_softmax(LOGITS / 2)),
    ):
        assert f"| {name} | {' | '.join(f'{p:.3f}' for p in np.exp(logp[0]))} |" in LESSON.text
    kept = np.exp(nucleus(log_softmax(LOGITS), 0.8)[0])
    assert f"| $\\tau=1$, top-p 0.8 | {kept[0]:.3f} | {kept[1]:.3f} | 0 | 0 |" in LESSON.text and (kept[2:] == 0).all()
    raw, cooler = np.exp(log_softmax(LOGITS)), np.exp(log_softmax(LOGITS / 0.7))
    LESSON.says("0.040", kl.divergence(cooler, raw)[0])
    assert (raw / cooler).max() == pytest.approx(3.05, abs=0.01)


def test_groups_and_attempts():
    LESSON.says("0.959", attempts.informative(0.33, 8))
    LESSON.says("0.077", attempts.informative(0.01, 8))
    LESSON.says("0.474", attempts.informative(0.01, 64))
    LESSON.says("1.24", 16 * attempts.informative(0.01, 8))
    LESSON.says("0.95", 2 * attempts.informative(0.01, 64))
    LESSON.says("0.403", attempts.plug_in_pass_at_k(16, 1, 8))
    assert attempts.pass_at_k(16, 1, 8) == 0.5 and "pass@8 = 0.5" in LESSON.text


kept = LESSON.kept


def test_more_prompts_against_more_samples():
    LESSON.says("0.329", tasks.exact_pass(tasks.checkpoint("add")).mean())
    many, few = kept("sixteen prompts of 8"), kept("two prompts of 64")
    LESSON.spread("0.86 ± 0.01", many)
    LESSON.spread("0.59 ± 0.05", few)
    assert max(few) < min(many)


@LESSON.when_changed
def test_the_two_runs_of_the_head():
    first = last(**APART)
    assert "83 right answers of 100" in LESSON.text and round(100 * end(last(temperature=1.5))) == 83
    assert end(first) < first.pass_rate[0][1]


def test_two_temperatures():
    LESSON.spread("0.85 ± 0.02", kept("sampled at 1.5"))
    LESSON.spread("0.24 ± 0.07", kept("sampled at 1.5, trained at 1"))
    LESSON.spread("0.85 ± 0.02", kept("sampled at 1.5, recomputed"))
    assert kept("sampled at 1.5, trained at 1, nats off").mean() == pytest.approx(0.2, abs=0.02)
    assert kept("sampled at 1.5, trained at 1, share removed").mean() == pytest.approx(0.18, abs=0.02)


def test_of_pushing_up_a_third_is_lost_and_of_pushing_down_a_tenth():
    praise, blame = (kept(f"two temperatures, {of} lost") for of in ("praise", "blame"))
    assert praise == pytest.approx(1 / 3, abs=0.04) and blame == pytest.approx(0.1, abs=0.03)
    assert "a third of the praise is lost and a tenth of the blame" in LESSON.text


def test_without_the_rule_the_gap_does_no_harm():
    LESSON.spread("0.88 ± 0.01", kept("sampled at 1.5, trained at 1, no clip"))


def test_a_ratio_averages_to_one_whoever_reads():
    ratio = kept("two temperatures, mean ratio")
    assert abs(ratio.mean() - 1) < 3 * ratio.std(ddof=1) / 20**0.5


def test_a_gap_without_damage():
    LESSON.spread("0.083 ± 0.005", kept("top-p 0.8, nats off"))
    assert kept("top-p 0.8, share removed").max() < 0.01
    LESSON.spread("0.82 ± 0.01", kept("top-p 0.8"))
    LESSON.spread("0.70 ± 0.03", kept("top-p 0.5"))
    assert kept("top-p 0.5, nats off").min() > 0.1


@LESSON.when_changed
def test_a_sampler_that_leaves_nothing_to_compare():
    same = last(top_p=0.1)
    assert end(same) == same.pass_rate[0][1] and not any(same.live)


def test_one_answer_eight_times():
    LESSON.says("0.704", uniform_groups.pass_rates(0.05).mean())
    LESSON.says("22.8", 100 * uniform_groups.share(0.05, 8))
    LESSON.says("29.5", 100 * uniform_groups.share(2.0, 8))
    assert min(widget.TEMPERATURES, key=lambda tau: uniform_groups.share(tau, 8)) == 0.5
    LESSON.spread("12.6 ± 1.4", kept("temperature 0.05, live in the first batch"))
    second = kept("temperature 0.05, live in the second batch")
    LESSON.counts("The second batch has no live group, here and in {} of twenty seeds", second == 0)
    LESSON.spread("0.40 ± 0.09", kept("temperature 0.05"))
    LESSON.spread("0.49 ± 0.14", kept("temperature 0.05, sampled at it"))
    assert kept("temperature 0.05, live after ten batches").mean() < 1
