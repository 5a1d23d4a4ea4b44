"""A student that learns, on its own texts, from a teacher's judgment of every token: sums of four digits, written with
or without a thought.

On-policy distillation: Agarwal et al. (2023), arXiv:2306.13649; as a stage of post-training: Qwen3 (2025),
arXiv:2505.09388; several specialists and one student: MOPD (2026), arXiv:2606.30406. Students and teachers are policies
of `sim/pipeline`; learning rates were chosen by looking at held-out prompts. `python -m sim.experiments.distilled`
makes the stored teachers again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from sim.algorithms import dapo, grpo, reinforce
from sim.estimators import distillation, kl
from sim.framework.algorithm import Algorithm
from sim.framework.controller import Controller
from sim.framework.reference import Reference
from sim.framework.rollout import RolloutEngine
from sim.pipeline import corpus, path, report, stages
from sim.worlds import tasks, tinylm
from sim.worlds.optimizer import AdamW
from sim.worlds.tasks import HELD, TRAIN, Add, Chain
from sim.worlds.tinylm import PAD, V, log_softmax

P = 32  # prompts per update
UPDATES = 100
LOOK, COLD_LOOK = 10, 50  # updates between two measurements, and in a cold start
PROMPTS, TEXTS = HELD[:300], 4  # a measurement uses this many texts for each of these prompts
DEMONSTRATIONS, COLD_RATE, COLD_BATCH = 3_200, 0.02, 64  # texts of the teacher for a cold start to imitate
STUDENTS = {"thinks a little": "cot", "answers at once": "sft", "overfitted": "overcooked"}  # names of shipped policies


# A teacher's signal as the slope of the loss in the student's logits, (positions, V), from both sets of log-probs and
# from how often each token was sampled there
def everywhere(divergence):
    """All logits at each position that the student's texts passed through, weighted by how often they did."""
    return lambda logp, teacher_logp, drawn: divergence(logp, teacher_logp)[1] * drawn.sum(axis=1, keepdims=True)


def as_advantage(logp, teacher_logp, drawn):
    """Only the sampled token, pushed by log τ − log π."""
    return by_logits(-distillation.drawn(logp, teacher_logp) * drawn, logp)


def differentiated_k1(logp, teacher_logp, drawn):
    """Only the sampled token, with log π − log τ used as a loss and differentiated: the teacher drops out."""
    return by_logits(kl.k1_slope(logp, teacher_logp) * drawn, logp)


def differentiated_k3(logp, teacher_logp, drawn):
    """The same with k3, whose mean over samples has the slope of forward KL. verl's clamp at 10, included here, removes
    the slope of a token that the teacher wants about 14 times as much.
    """
    return by_logits(kl.clamped_k3(logp, teacher_logp)[1] * drawn, logp)


def by_logits(push, logp):
    """Slopes in the tokens' log-probs as slopes in the logits."""
    return push - np.exp(logp) * push.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Frame:
    """A measurement of the student."""

    update: int  # of the distillation; negative before the end of the cold start
    right: float  # fraction of its texts on held-out prompts
    modes: np.ndarray  # (5,) shares of these texts, as in report.MODES
    kl: float  # KL(π‖τ) at the tokens of these texts, nats per token
    own_texts: int  # sampled from the student and graded so far
    teacher_texts: int  # sampled from the teacher
    policy: tinylm.Policy


def run(student, teacher, signal, optimizer, seed, updates=UPDATES, K=1, cold=0, every=LOOK) -> Iterator[Frame]:
    """A Frame at the start and then one every `every` updates: first `cold` updates that imitate the teacher's texts,
    then distillation on the student's own texts, K for each of P prompts per update.
    """
    policy, rng, given = student.copy(), np.random.default_rng([seed, 7]), DEMONSTRATIONS if cold else 0
    yield look(policy, teacher, seed, -cold, 0, given)
    if cold:
        for stage in cold_start(policy, teacher, seed, cold):
            if stage.step < cold and stage.step % COLD_LOOK == 0:
                yield look(stage.policy, teacher, seed, stage.step - cold, 0, given)
        policy = stage.policy
        yield look(policy, teacher, seed, 0, 0, given)
    for update in range(1, updates + 1):
        batch = texts(policy, Chain(), rng.choice(TRAIN, P), K, rng)
        optimizer.step(policy.params, gradient(policy, teacher, signal, batch))
        if update % every == 0 or update == updates:
            yield look(policy, teacher, seed, update, update * P * K, given)


def cold_start(student, teacher, seed, updates):
    """SFT on texts of the teacher, as a stage."""
    rng = np.random.default_rng([seed, 8])
    example = rng.choice(TRAIN, DEMONSTRATIONS, replace=False)
    shown = texts(teacher, Chain(), example, 1, rng)
    return stages.fitted(
        "cold start", student, stages.batches(example, shown.tokens, COLD_BATCH, rng), updates, COLD_RATE
    )


def gradient(student, teacher, signal, batch):
    """The gradient of the student's parameters, averaged over the tokens of a batch."""
    context, where = tinylm.distinct(batch.prompt, batch.tokens, batch.response_mask)
    own = batch.tokens[batch.response_mask > 0]
    drawn = np.bincount(where * V + own, minlength=len(context) * V).reshape(-1, V)
    hidden = tinylm.forward(student.params, context)
    logp = log_softmax(tinylm.output(student.params, hidden))
    slope = signal(logp, log_pi(teacher, context), drawn) / len(own)
    return tinylm.gradient(student.params, context, hidden, slope)


def look(policy, teacher, seed, update, own_texts, teacher_texts):
    """Always uses the same random numbers, so a difference between two measurements comes from the policy."""
    batch = stages.sampled(policy, PROMPTS, TEXTS, np.random.default_rng([seed, 9]))
    modes = np.bincount(report.modes(batch), minlength=len(report.MODES)) / len(batch.tokens)
    _, nats = report.entropy_and_kl(policy, teacher, batch)
    right = float(batch.accuracy.mean())
    return Frame(update, right, modes, nats / batch.response_mask.sum(), own_texts, teacher_texts, policy.copy())


def texts(policy, task, prompts, K, rng):
    """K texts for each of prompts (P,), without checking whether they are correct."""
    return RolloutEngine(policy).generate(task, prompts, K, rng)[0]


def log_pi(policy, context):
    return log_softmax(tinylm.output(policy.params, tinylm.forward(policy.params, context)))


# The same for sampled tokens with existing parts: RL whose reference is the teacher, without a reward
def graded(R, hp, batch):
    """log τ − log π of each token, (P, K, T); R is not used."""
    return ((batch.ref_logp - batch.old_logp) * batch.response_mask).reshape(*R.shape, -1)


def in_the_controller(student, teacher, optimizer, seed, K=1):
    """A Controller of REINFORCE with the teacher in place of its reference."""
    algorithm = Algorithm(reinforce, dict(beta=1.0), dict(advantage=graded, weights=dapo.weights))
    run = Controller(algorithm, Chain(), student.copy(), optimizer, groups=P, K=K, seed=seed)
    run.reference = Reference(teacher)
    return run


def after_totals(prompts):
    """(P, 8): the context of the fourth token in a text of three correct totals, for each of prompts (P,)."""
    total = tasks.running_totals(prompts)
    tokens = corpus.rows(len(prompts), total[:, 1], total[:, 2], total[:, 3])
    return tinylm.contexts(Chain().prompt_ids(prompts), tokens)[:, 3]


def three_totals(policy, seed):
    """Fraction of texts on held-out prompts that begin with three correct running totals."""
    batch = stages.sampled(policy, PROMPTS, TEXTS, np.random.default_rng([seed, 9]))
    return float((batch.tokens[:, :3] == tasks.running_totals(batch.example)[:, 1:]).all(axis=1).mean())


# What is written, token by token
@dataclass(frozen=True)
class Written:
    """A text with one number per token: what was sampled, what the teacher would write there, and its grade."""

    tokens: tuple
    wanted: tuple  # the teacher's most likely token
    grade: tuple  # log τ − log π of the sampled token
    chance: tuple  # the student's probability of the teacher's most likely token
    right: bool


def written(policy, teacher, prompts, rng):
    """One text for each of prompts (P,)."""
    batch = stages.sampled(policy, prompts, 1, rng)
    completions = []
    for i in range(len(prompts)):
        own = batch.response_mask[i] > 0
        context = tinylm.contexts(batch.prompt[i : i + 1], batch.tokens[i : i + 1])[0][own]
        token, logp, teacher_logp = batch.tokens[i][own], log_pi(policy, context), log_pi(teacher, context)
        at, wanted = np.arange(len(token)), teacher_logp.argmax(axis=1)
        grade = distillation.drawn(logp, teacher_logp)[at, token]
        row = (token, wanted, grade, np.exp(logp[at, wanted]))
        completions.append(Written(*(tuple(column.tolist()) for column in row), bool(batch.accuracy[i] > 0)))
    return completions


# One student and two specialists: sums of two digits and of four
def merged(student, teachers, signal, optimizer, seed, updates=UPDATES):
    """The student after distillation on prompts of both tasks, half a batch each; `teachers` are those of Add and
    Chain.
    """
    policy, rng = student.copy(), np.random.default_rng([seed, 10])
    for _ in range(updates):
        parts = []
        for task, teacher in zip((Add(), Chain()), teachers, strict=True):
            batch = texts(policy, task, task.batch_prompts(P // 2, rng), 1, rng)
            parts.append(gradient(policy, teacher, signal, batch))
        optimizer.step(policy.params, {name: (parts[0][name] + parts[1][name]) / 2 for name in parts[0]})
    return policy


def mean_of_weights(one, other):
    """The policy halfway between two policies."""
    return path.with_params({name: (one.params[name] + other.params[name]) / 2 for name in one.params})


def both_right(policy, seed=1):
    """(correct sums of two digits, exact; correct sums of four digits, among TEXTS texts on held-out prompts)."""
    drawn = stages.sampled(policy, PROMPTS, TEXTS, np.random.default_rng([seed, 9]))
    return float(tasks.exact_pass(policy).mean()), float(drawn.accuracy.mean())


def specialized(policy, task, seed, updates=UPDATES):
    """RL on one task, with GRPO as in the pipeline."""
    run = Controller(
        Algorithm(grpo), task, policy.copy(), AdamW(0.005, clip=1.0), groups=32, K=8, seed=seed, exact_every=updates
    )
    for _ in run.frames(updates):
        pass
    return run.trainer.policy


def generalist(seed=0, updates=400):
    """A little of both tasks: the shipped policy that has seen thoughts, fitted to demonstrations of both."""
    policy, rng, optimizer = path.checkpoint("cot"), np.random.default_rng([seed, 11]), AdamW(0.005, clip=1.0)
    for _ in range(updates):
        prompt, tokens, mask = tasks.add_demonstrations(COLD_BATCH // 2, rng)
        example = rng.choice(TRAIN, COLD_BATCH // 2)
        shown = corpus.thoughts(example, rng)
        both = np.concatenate([tokens, shown])
        mask = np.concatenate([mask, (shown != PAD).astype(float)])
        _, _, tape = policy.token_logp(np.concatenate([prompt, Chain().prompt_ids(example)]), both, mask)
        optimizer.step(policy.params, policy.backward(tape, -mask / mask.sum()))
    return policy


# Stored policies
STORED = ("teacher", "generalist", "adds", "chains")


def teacher():
    """The stored policy that thinks a little after a hundred updates of RL."""
    return stored("teacher").copy()


def two_teachers():
    """(a stored policy that knows a little of both tasks, one made from it by RL on sums of two digits, and one by RL
    on sums of four).
    """
    return tuple(stored(name).copy() for name in STORED[1:])


def made(name):
    """A stored policy made again; four passes over a batch amplify the last bit, so it ends near the stored one but not
    on it.
    """
    if name == "teacher":
        return stages.last(stages.rl(path.checkpoint("cot"), 0)).policy
    if name == "generalist":
        return generalist()
    return specialized(stored("generalist"), Add() if name == "adds" else Chain(), 0)


@cache
def stored(name):
    with np.load(files("sim.experiments") / "data" / f"distilled_{name}.npz") as arrays:
        return path.with_params({key: arrays[key] for key in arrays.files})


if __name__ == "__main__":
    for name in STORED:
        place = files("sim.experiments") / "data" / f"distilled_{name}.npz"
        np.savez(place, **path.in_32_bits(made(name)))
        print(place)
