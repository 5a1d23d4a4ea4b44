"""The seconds of training to be changed, and loops to be cut so that nobody waits for long."""

from dataclasses import replace

import numpy as np

from sim.cluster import topology
from sim.cluster.topology import ASYNC, CARRY, ONE_OFF
from widgets.frame.contract.exercises import Challenge, Change, Exercise
from widgets.topology.widget import Knobs, rate


class Small:
    """A job with a model of 100 weights, on chips of 1,000 FLOP/s of which half are reached."""

    completions, prompts, prompt, mfu = 2, 1, 10, 0.5
    model = accelerator = property(lambda self: self)

    def active_params(self):
        return 100

    def flops(self):
        return 1000

    def __repr__(self):
        return "100 weights and 2 completions of one prompt of 10 tokens"


CALLS = ((Small(), np.array([[30.0, 10.0]]), 2), (Small(), np.array([[5.0, 80.0]]), 4))
PASSES = "    return 10 * job.model.active_params()"
TOKENS = "    tokens = lengths.sum() + job.completions * job.prompt"


def seconds(flops, tokens, job, gpus):
    return flops * 100 * tokens / (1000 * 0.5) / gpus


CHANGE = Change(
    (topology.train_seconds,),
    "the seconds of training",
    (
        Exercise(
            "There is no KL penalty, and the log-probs recorded by the engine serve as the old ones. "
            "Leave out both passes that only compute log-probs.",
            CALLS,
            lambda job, lengths, gpus: seconds(6, lengths.sum() + 20, job, gpus),
            (
                "A forward pass costs 2 FLOP per weight and token, a backward pass 4. Log-probs need a forward pass.",
                "Of 2 + 2 + 6, only the 6 is left.",
            ),
            (PASSES, PASSES.replace("10", "6")),
        ),
        Exercise(
            "Run each prompt through the model once for all its completions, not once for each of them.",
            CALLS,
            lambda job, lengths, gpus: seconds(10, lengths.sum() + 10, job, gpus),
            (
                "Only the tokens change. Those of the completions stay, and those of the prompts become fewer.",
                "job.prompts is the number of prompts per step, and job.completions the number of completions.",
            ),
            (TOKENS, TOKENS.replace("job.completions", "job.prompts")),
        ),
    ),
)


def opens(k, **free):
    """Whether nothing but these knobs differs from the default."""
    return k == replace(Knobs(), **free)


def reached(k, r, tokens_per_second):
    return bool(not r.misfits and rate(r, k) >= tokens_per_second)


CHALLENGES = (
    Challenge(
        "With one-step off-policy, change only the cut and the size of engines: reach 95,000 tokens per second.",
        lambda k, r: (
            opens(k, way=ONE_OFF, generating=k.generating, tensor_parallel=k.tensor_parallel) and reached(k, r, 95_000)
        ),
        Knobs(way=ONE_OFF, generating=12, tensor_parallel=4),
    ),
    Challenge(
        "With the same job and 32 GPUs, reach 110,000 tokens per second at a lag of at most 1.",
        lambda k, r: (
            opens(k, way=k.way, generating=k.generating, tensor_parallel=k.tensor_parallel, sync=k.sync)
            and reached(k, r, 110_000)
            and bool(r.runs[k.way].lag <= 1)
        ),
        Knobs(way=CARRY, tensor_parallel=4),
    ),
    Challenge(
        "With llama3.1-70b on 128 GPUs and the same batch, reach 55,000 tokens per second.",
        lambda k, r: (
            opens(
                k,
                model="llama3.1-70b",
                gpus=128,
                way=k.way,
                generating=k.generating,
                tensor_parallel=k.tensor_parallel,
                sync=k.sync,
            )
            and reached(k, r, 55_000)
        ),
        Knobs(model="llama3.1-70b", gpus=128, way=ASYNC, generating=26, tensor_parallel=8),
    ),
)
