"""The loop with at most one of its arrows cut: what remains of training without it.

REINFORCE as in its file, on MODSUM, with the KL to the start subtracted from the reward as in InstructGPT, Ouyang et
al. (2022), arXiv:2203.02155. A cut changes only what one role passes to the next. Best of n: closed form.
"""

from dataclasses import dataclass

import numpy as np

from sim.algorithms import reinforce
from sim.experiments.rare_token import completions
from sim.experiments.standard_runs import modsum_run
from sim.framework.weight_sync import WeightSync
from sim.worlds import modsum

ARROWS = ("trajs", "tokens", "+reward", "ref_logp", "loss_fn", "weight sync")
GROUPS = 8  # two groups for each of the four prompts
LEARNING_RATE = 5.0  # the uncut loop needs fewer than 60 iterations
DRAWN = 845  # seeds the random numbers of what is looked at: rows that are short, and as many right as the rate says


@dataclass(frozen=True)
class Twins:
    """The two copies of the weights, each asked for completions of one prompt with the same random numbers."""

    sampled: list  # eight rows of tokens under the rollout's weights
    trained: list  # under the trainer's weights
    sampled_rate: float  # exact pass rate on that prompt under the rollout's weights
    trained_rate: float


def twins(controller, prompt):
    """Both copies in their current state; they have the same weights right after a sync."""
    rollout, trainer = controller.rollout.policy, controller.trainer.policy
    rates = (float(modsum.exact(policy.params["theta"])["pass_rate"][prompt]) for policy in (rollout, trainer))
    return Twins(*(completions(policy, prompt, seed=DRAWN) for policy in (rollout, trainer)), *rates)


def twins_without(arrow, prompt, *, iterations):
    """iterations + 1 Twins of a run with groups of eight and a KL coefficient of 0.1: before training and after each
    iteration.
    """
    controller = run_without(arrow, K=8, beta=0.1, seed=0, iterations=iterations)
    return [twins(controller, prompt), *(twins(controller, prompt) for _ in frames(controller, arrow, iterations))]


def frames_without(arrow, *, K, beta, seed, iterations):
    """One Frame per iteration; `arrow` is one of ARROWS, or "none" for the whole loop."""
    return frames(run_without(arrow, K=K, beta=beta, seed=seed, iterations=iterations), arrow, iterations)


def run_without(arrow, *, K, beta, seed, iterations):
    """The run before its first iteration."""
    anchored = beta > 0 and arrow not in ("tokens", "ref_logp")
    hooks = {"shape_reward": lambda reward, hp, batch: reward - beta * batch.kl} if anchored else None
    controller = modsum_run(
        reinforce,
        seed=seed,
        learning_rate=LEARNING_RATE,
        groups=GROUPS,
        K=K,
        hyper={"beta": beta if anchored else 0.0},
        hooks=hooks,
        sync=WeightSync(every=iterations + 1) if arrow == "weight sync" else None,
    )
    if arrow == "loss_fn":
        controller.trainer.step = lambda *_: {}  # without a loss there is no step: no metrics, no new version
    return controller


def frames(controller, arrow, iterations):
    """One Frame per iteration of such a run."""
    for event in controller.iterate(iterations):
        if event.stage == 3 and arrow in ("trajs", "+reward"):
            withhold(event.summary["batch"], verdict=arrow == "trajs")
        if event.stage == 7:
            yield event.summary["frame"]


def withhold(batch, verdict):
    """The algorithm sees no reward; without the trajectories, the accuracy is unknown as well."""
    batch.reward = np.zeros(len(batch.reward))
    if verdict:
        batch.accuracy = np.full(len(batch.accuracy), np.nan)


def best_of(pass_rate, n):
    """Probability that at least one of n independent completions is correct, 1 - (1 - p)^n."""
    return 1 - (1 - np.asarray(pass_rate)) ** n
